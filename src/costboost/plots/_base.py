"""The way from a fitted model to a picture, the same for all pictures of two classes."""

from __future__ import annotations

import warnings
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.pipeline import Pipeline

from costboost.costs import Costs, as_costs
from costboost.decisions.responses import all_classes, probabilities
from costboost.inputs.checks import USUAL
from costboost.metrics.prices import (
    bind_costs,
    check_labels,
    check_weights,
    positive_label,
    power_of_two,
)
from costboost.plots.style import explain, highest, need_matplotlib, once, point
from costboost.typing import Floats

# ---- What a picture is made from: scores of the positive class, and costs bound to the classes.

ResponseMethod = Literal["auto", "predict_proba", "decision_function"]


class Response(NamedTuple):
    """Scores of the positive class, shape (n,), and whether they are probabilities."""

    score: Floats
    probability: bool


def innermost(estimator: Any) -> Any:
    """Return the model inside searches and pipelines."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif isinstance(estimator, Pipeline):
            estimator = estimator[-1]
        else:
            return estimator


def model_name(estimator: Any) -> str:
    """Return the class name of a model, which a legend shows where no name was given."""
    return type(innermost(estimator)).__name__


def fitted_costs(estimator: Any, *, warn: bool = True) -> Costs | None:
    """Return the costs that a model decides by when it is given none, if it has any.

    With `warn` it warns where they stand in for costs per row. Actions that are not the classes
    have no threshold, so such costs are not taken over.
    """
    model = innermost(estimator)
    costs = getattr(model, "costs_", None)
    if not isinstance(costs, Costs) or not costs.is_square:
        return None
    if warn and getattr(model, "costs_per_row_", False):
        warnings.warn(
            f"{type(model).__name__} was fitted with costs per row and is drawn without costs: "
            "their mean is used, which is in costs_. Pass costs= to draw each row's own.",
            UserWarning,
            stacklevel=4,
        )
    return costs


def two_classes(estimator: Any, y: ArrayLike) -> NDArray[Any]:
    """Return the classes of the model and the labels, of which there must be two."""
    classes = all_classes(estimator, check_labels(y, "y"))
    if len(classes) != 2:
        raise ValueError(
            f"this picture is for two classes, but the model and y have {len(classes)}: "
            f"{classes.tolist()[:10]}"
        )
    return classes


def positive_class(costs: Costs | None, pos_label: Any, classes: NDArray[Any]) -> Any:
    """Return the positive class: that of the costs or the one given, which must agree."""
    if pos_label is not None and pos_label not in classes.tolist():
        raise ValueError(f"pos_label={pos_label!r} is not one of {classes.tolist()}")
    named = None if costs is None else costs.positive
    if named is not None and pos_label is not None and named != pos_label:
        raise ValueError(
            f"pos_label={pos_label!r}, but these costs are for the positive class {named!r}: "
            "give one, or Costs(..., positive=)"
        )
    if named is None and pos_label is None:
        raise ValueError(
            f"the labels {classes.tolist()} do not tell which is positive (that is known for "
            f"{USUAL} only): say so with pos_label=, or Costs(..., positive=)"
        )
    return pos_label if named is None else named


def respond(
    estimator: Any, X: Any, classes: NDArray[Any], positive: Any, method: ResponseMethod
) -> Response:
    """Return the model's score of the positive class for every row."""
    if method not in ("auto", "predict_proba", "decision_function"):
        raise ValueError(
            f"response_method={method!r}: use 'auto', 'predict_proba' or 'decision_function'"
        )
    tried = ("predict_proba", "decision_function") if method == "auto" else (method,)
    for name in tried:
        if hasattr(estimator, name):
            return _call(estimator, X, classes, positive, name)
    raise ValueError(
        f"{type(estimator).__name__} has no {' and no '.join(tried)}, so there is nothing to draw: "
        "wrap it in MinimumCostClassifier to get probabilities"
    )


def _call(estimator: Any, X: Any, classes: NDArray[Any], positive: Any, name: str) -> Response:
    if name == "predict_proba":
        proba = probabilities(estimator, X, classes)
        return Response(proba[:, classes.tolist().index(positive)], True)
    score = np.asarray(estimator.decision_function(X), dtype=np.float64)
    if score.ndim != 1:
        raise ValueError(f"decision_function has shape {score.shape}: one score per row is needed")
    # scikit-learn's margins are those of the last class.
    last = np.asarray(estimator.classes_).tolist()[-1]
    return Response(score if last == positive else -score, False)


def _with_positive(costs: Any, pos_label: Any) -> Any:
    """Name the positive class of costs that leave it open."""
    if costs is None:
        return Costs(fp=1, fn=1, positive=pos_label)
    known = as_costs(costs)
    return known.with_positive(pos_label) if known.awaits_positive else known


def bound_costs(
    costs: Any,
    y_true: ArrayLike,
    pos_label: Any = None,
    labels: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> Costs:
    """Return costs of two classes bound to them, their positive class settled."""
    y = check_labels(y_true)
    if pos_label is not None:
        positive_label(y, pos_label)
        costs = _with_positive(costs, pos_label)
    bound = bind_costs(as_costs(costs), y, labels=labels, classes=classes, n_classes=2)
    if not bound.is_square or bound.classes is None or len(bound.classes) != 2:
        raise ValueError(
            f"this picture is for two classes that are also the decisions, but these costs are for "
            f"the classes {bound.classes} and the actions {bound.actions}"
        )
    return bound.with_positive(positive_class(bound, pos_label, bound.classes))


class BinaryDisplay:
    """A picture that `from_predictions` makes from true labels and scores of the positive class."""

    _probabilities_only: ClassVar[bool] = False
    _priced: ClassVar[bool] = True  # whether costs play a part beyond their positive class

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        costs: Any = None,
        sample_weight: ArrayLike | None = None,
        response_method: ResponseMethod = "auto",
        pos_label: Any = None,
        name: str | None = None,
        ax: Any = None,
        **kwargs: Any,
    ) -> Self:
        """Draw a fitted model on some rows.

        Parameters
        ----------
        estimator : classifier
            Fitted, for two classes; also a pipeline or a search around one.
        X : array-like of shape (n_samples, n_features)
            Rows that the model was not trained on.
        y : array-like of shape (n_samples,)
            Their true labels.
        costs : Costs, dict, array-like of shape (2, 2) or None, default=None
            What each decision costs, constant or per row. None: the costs that the model decides
            by, if it has any (``costs_``).
        sample_weight : array-like of shape (n_samples,), default=None
            Row weights.
        response_method : {"auto", "predict_proba", "decision_function"}, default="auto"
            Where scores come from; "auto" prefers probabilities.
        pos_label : label, default=None
            The positive class; by default that of the costs, else of 0/1, -1/+1, booleans.
        name : str, default=None
            What the legend calls the model; by default its class.
        ax : matplotlib Axes, default=None
            Where to draw: several models on one picture are drawn on the same axes. None: on a new
            figure.
        **kwargs : dict
            Passed to `from_predictions`: the options of this picture and of the curve.

        Returns
        -------
        display
            The picture, drawn; its arrays and artists are attributes.
        """
        need_matplotlib(f"{cls.__name__}.from_estimator")
        classes = two_classes(estimator, y)
        if costs is None:
            costs = fitted_costs(estimator, warn=cls._priced)
        if costs is not None:
            costs = as_costs(costs, table=X)
        bound = bound_costs(costs, y, pos_label, classes=classes)
        if cls._probabilities_only and response_method == "auto":
            response_method = "predict_proba"
        response = respond(estimator, X, classes, bound.positive, response_method)
        return cls._from_response(
            y,
            response.score,
            costs=None if costs is None else bound,
            pos_label=bound.positive,
            sample_weight=sample_weight,
            name=model_name(estimator) if name is None else name,
            ax=ax,
            **cls._known_of(estimator, response.probability, kwargs),
        )

    @classmethod
    def _known_of(cls, estimator: Any, probability: bool, kwargs: dict[str, Any]) -> dict[str, Any]:
        """Add keywords that only the model knows; those of the user prevail."""
        return kwargs

    @classmethod
    def _from_response(cls, y: ArrayLike, score: ArrayLike, **kwargs: Any) -> Self:
        made: Self = cls.from_predictions(y, score, **kwargs)  # type: ignore[attr-defined]
        return made


# ---- Where costs lie among all cost ratios, and axes over all of them.


def positive_of(costs: Any, y_true: ArrayLike, pos_label: Any) -> tuple[Costs | None, Any]:
    """Return the costs, bound, if any were given, and the positive class."""
    if costs is None:
        return None, positive_label(check_labels(y_true), pos_label)
    bound = bound_costs(costs, y_true, pos_label)
    return bound, bound.positive


def both_columns(costs: Costs, p: Floats) -> Floats:
    """Return probabilities of both classes, (n, 2), in their order, from that of the positive."""
    assert costs.classes is not None  # bound
    columns = [1 - p, p] if costs.positive == costs.classes.tolist()[1] else [p, 1 - p]
    return np.stack(columns, axis=1)


def own_decisions(costs: Costs | None, y_score: ArrayLike) -> NDArray[Any] | None:
    """Return a model's decisions at these costs; None if they do not follow from its scores."""
    score = np.asarray(y_score, dtype=np.float64)
    if costs is None or len(costs.shape) == 2 or not np.all((score >= 0) & (score <= 1)):
        return None
    return costs.decide(both_columns(costs, score))


def mark_own(ax: Any, x: float, y: float, color: Any) -> Any:
    """Mark what a model's own decisions come to: a diamond, where hindsight has a disc."""
    explain(ax, "costboost-own", "own decisions at these costs", marker="D")
    return point(ax, x, y, color, "D", zorder=6)


def stakes(costs: Costs, y: ArrayLike, sample_weight: ArrayLike | None) -> tuple[float, float]:
    """Return the sums of wrong minus right prices over the negative and over the positive rows."""
    labels = check_labels(y)
    weight = check_weights(sample_weight, len(labels))
    prices = costs.of_labels(labels)
    assert costs.classes is not None  # bound
    is_positive = labels == costs.positive
    at = costs.classes.tolist().index(costs.positive)
    extra = np.where(is_positive, 1.0, -1.0) * (prices[:, 1 - at] - prices[:, at])
    extra[weight == 0] = 0.0  # their prices must not even influence the scale
    extra = extra / power_of_two(extra) * weight
    return float(extra[~is_positive].sum()), float(extra[is_positive].sum())


def probability_cost(costs: Costs, y: ArrayLike, sample_weight: ArrayLike | None) -> float | None:
    """Return where costs lie on the axis of `PC(+)`; costs per row, where their sums do."""
    negative, positive = stakes(costs, y, sample_weight)
    if negative < 0 or positive < 0 or negative + positive == 0:
        return None  # wrong answers that are cheaper than right ones have no place on the axis
    return positive / (positive + negative)


def share_of_positives(y: ArrayLike, positive: Any, sample_weight: ArrayLike | None) -> float:
    """Return the share of the weight that positive rows have."""
    labels = check_labels(y)
    weight = check_weights(sample_weight, len(labels))
    return float(weight[labels == positive].sum() / weight.sum())


def limit_loss(ax: Any, trivial_peak: float) -> None:
    """Fit the axis to the curves: a good model much below the trivial ones must not look flat."""
    top = highest(ax)
    flat = 0 < 1.6 * top < 0.6 * trivial_peak
    ax.set(xlim=(0, 1), ylim=(0, 1.6 * top if flat else 1.05 * max(top, trivial_peak)))


def mark(ax: Any, x: float, y: float, color: Any) -> Any:
    """Mark one point of a curve, and where it lies on the axis."""
    tag = f"costboost-at-{x:.12g}"
    once(ax, tag, [x, x], [0, 1], linestyle=":", linewidth=1.0, label="these costs")
    return point(ax, x, y, color, "o")
