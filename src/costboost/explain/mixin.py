"""What explains a model, as methods of every estimator with built-in trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from costboost.explain.contributions import Contributions, explain_rows
from costboost.explain.decision import Explanation, Part
from costboost.explain.listing import Kind, importances, list_nodes, shap_model, tree_text
from costboost.explain.rows import Encoded, encode, one_row, values_of_row
from costboost.inputs.checks import OneFit, check_table, count_threads
from costboost.model import FittedModel, Member
from costboost.typing import Floats


class ExplainMixin(OneFit):
    """Importances, contributions and readable trees, for estimators with a `FittedModel`."""

    n_features_in_: int
    n_jobs: int | None
    estimator: Any
    _model: FittedModel

    def _explained_model(self) -> FittedModel:
        """Return the fitted model; raise where it is not made of trees."""
        check_is_fitted(self)
        if self.estimator is not None:
            raise AttributeError(
                f"{type(self).__name__} was fitted with estimator={type(self.estimator).__name__}: "
                "only the built-in trees are explained here. Fit with estimator=None, or explain "
                "the models in estimators_ by their own means."
            )
        return self._model

    def _classes(self) -> NDArray[Any] | None:
        """Return the labels of the classes; None of a regressor."""
        return getattr(self, "classes_", None)

    def _names(self) -> tuple[str, ...]:
        names = getattr(self, "feature_names_in_", None)
        return tuple(f"x{j}" for j in range(self.n_features_in_)) if names is None else tuple(names)

    def _rows_to_explain(self, X: Any, what: str) -> Any:
        X = check_table(self, X, reset=False)
        if sp.issparse(X):
            raise ValueError(
                f"{what} gives a value to every column of every row, which is no sparse table: "
                "give some rows as a dense one, X[rows].toarray()."
            )
        return X

    # --- importances

    @property
    def feature_importances_(self) -> Floats:
        """The importance of each column: its share of what all splits gained, (n_features,)."""
        return self.importances()

    def importances(self, kind: Kind = "gain") -> Floats:
        """Return how much each column matters, as shares that add up to 1.

        Parameters
        ----------
        kind : {"gain", "cover", "count"}, default="gain"
            What the splits on the column gained (in the AdaBoost and L_p families every tree
            counts by its alpha); the training rows that passed them; or their number. The models
            of calibration folds are averaged.

        Returns
        -------
        ndarray of shape (n_features,)
            All 0 if no tree was split.
        """
        return importances(self._explained_model().members, kind)

    # --- contributions

    def contributions(self, X: Any, *, background: Any = None, output: Any = None) -> Contributions:
        """Return what each column adds to the decision value of each row: Shapley values.

        ``contributions(X).total`` is ``decision_function(X)`` (of a regressor, ``predict``). Of two
        classes that is the value of the second; where `output` is the first, it is minus that. The
        margins of the trees are opened exactly. Calibrated, the decision value is the log odds of
        the mean of the models' probabilities: there every model's margin is opened exactly, and
        the models count by how much each of them moves the answer on the way from its mean margin
        to the row's own (see `costboost.explain.contributions`).

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        background : array-like or DataFrame of shape (m, n_features), default=None
            Rows that stand for "not known": unknown columns are averaged over them ("true to the
            model", causal questions). None averages along the paths of each tree, by the training
            rows that took them ("true to the data", as LightGBM and XGBoost do). A hundred rows
            are enough for most uses; the time grows with their number.
        output : label, default=None
            The class to speak for. None: of two classes the positive one where the costs of ``fit``
            know it, else the second; of more than two all of them.

        Returns
        -------
        Contributions
            With ``values`` of shape (n_samples, n_features), or (n_samples, n_features, K) for
            K > 2 classes, ``base``, and ``output``, the class that one value speaks for.
        """
        fitted = self._explained_model()
        output = self._check_output(output)
        X = self._rows_to_explain(X, "contributions")
        rows = encode(fitted, X, count_threads(self.n_jobs))
        added = self._contributions(fitted, rows, background)
        return added if output is None else of_class(added, output)

    def _check_output(self, output: Any) -> Any:
        """Return the class to speak for; None for all of them, or where there are none."""
        if output is not None:
            raise ValueError(f"output={output!r}: a regressor has one answer, leave output out.")
        return None

    def _contributions(self, model: FittedModel, rows: Encoded, background: Any) -> Contributions:
        n_threads, others = count_threads(self.n_jobs), None
        if background is not None:
            others = encode(model, self._rows_to_explain(background, "background"), n_threads)
        return explain_rows(model, rows, self._names(), others, n_threads, self._classes())

    # --- trees

    def to_frame(self) -> Any:
        """Return a data frame (pandas, else polars) of every node of every tree.

        Columns: model, tree, node, depth; column, threshold (values up to it go left) or categories
        (which go left), missing ("left" or "right": where missing values and categories not seen in
        training go); left, right; gain; cover (training rows, by sample_weight); value (what a leaf
        adds to the margin, of two classes that of the second; with K > 2 one column for each).
        """
        return list_nodes(self._explained_model(), self._names(), self._classes())

    def print_tree(self, tree: int = 0, *, model: int = 0) -> None:
        """Print one tree.

        Parameters
        ----------
        tree : int, default=0
        model : int, default=0
            Which of the models of the calibration folds.
        """
        forest = self._member(model).forest
        assert forest is not None
        _check_index("tree", tree, len(forest))
        print(tree_text(forest, tree, self._names()))

    def to_shap(self, *, model: int | None = None) -> dict[str, Any]:
        """Return the trees as a dictionary that ``shap.TreeExplainer`` takes.

        Its values add up to the margin of one uncalibrated model. What shap's trees cannot express
        is refused: sets of categories, ``init=`` models, and the mean of calibrated models, unless
        one of them is named.

        Parameters
        ----------
        model : int or None, default=None
            Explain the margin, before calibration, of this one of the models.

        Returns
        -------
        dict
        """
        fitted = self._explained_model()
        if model is None and fitted.is_calibrated:
            raise ValueError(
                f"The decision value is calibrated and comes from {len(fitted.members)} model(s): "
                "it is no sum of trees, which is all that shap can take. Use contributions, or "
                "to_shap(model=0) for the margin of one model."
            )
        return shap_model(self._member(0 if model is None else model))

    def _member(self, model: int) -> Member:
        members = self._explained_model().members
        _check_index("model", model, len(members))
        return members[model]

    # --- one row

    def _explained_parts(
        self, model: FittedModel, x: Any, background: Any
    ) -> tuple[Encoded, Contributions, list[Any]]:
        """Return the row as a table, its contributions, and its values."""
        X = self._rows_to_explain(one_row(x), "explain")
        if X.shape[0] != 1:
            raise ValueError(
                f"explain is about one row, X has {X.shape[0]}: give one, or use contributions."
            )
        row = encode(model, X, count_threads(self.n_jobs))
        return row, self._contributions(model, row, background), values_of_row(X)

    def explain(self, x: Any, *, background: Any = None) -> Explanation:
        """Explain the prediction for one row.

        Parameters
        ----------
        x : one row: a table of one row, or an array, list or Series of n_features values
        background : table, default=None
            As in `contributions`.

        Returns
        -------
        Explanation
            Prints as text, and as HTML in a notebook.
        """
        _, added, values = self._explained_parts(self._explained_model(), x, background)
        return Explanation(
            model=type(self).__name__,
            decision=None,
            probabilities={},
            expected_cost={},
            stays_within=None,
            turning_prices=(),
            output=None,
            unit=added.unit,
            base=float(added.base[0]),
            total=float(added.total[0]),
            parts=ranked_parts(added, values),
            changes=(),
        )


def of_class(added: Contributions, output: Any) -> Contributions:
    """Return contributions to one class, of two or of more."""
    if added.outputs is not None:
        return added.of_output(output)
    return added if added.output == output else added.reversed(output)


def ranked_parts(added: Contributions, values: list[Any]) -> tuple[Part, ...]:
    """Return what each column added to one number of one row, the largest first."""
    parts = [
        Part(name, value, float(part))
        for name, value, part in zip(added.columns, values, added.values[0], strict=True)
    ]
    return tuple(sorted(parts, key=lambda part: -abs(part.added)))


def _check_index(name: str, value: Any, size: int) -> None:
    if not isinstance(value, int | np.integer) or not 0 <= value < size:
        raise ValueError(f"{name}={value!r}: there are {size}, numbered from 0.")
