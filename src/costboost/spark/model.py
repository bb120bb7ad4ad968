"""`SparkCostBoostModel`: a fitted model that adds its columns to a DataFrame."""

from __future__ import annotations

import secrets
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pyspark.ml import Model
from pyspark.ml.evaluation import Evaluator
from pyspark.ml.param.shared import HasLabelCol, HasPredictionCol, HasWeightCol

from costboost.costs import Costs, as_costs
from costboost.estimators.adaboost import CostBoostClassifier
from costboost.spark.frame_columns import (
    FrameColumns,
    check_there,
    features_of,
    price_columns,
    quoted,
    read_columns,
)
from costboost.spark.parameters import (
    ColumnParams,
    CostParams,
    SavedModel,
    SavedParams,
    arrow_function,
)
from costboost.typing import Floats

__all__ = ["SparkCostBoostModel", "CostEvaluator"]

# Decisions by the kind of labels: Spark's evaluators take doubles.
_KINDS = {"i": "double", "u": "double", "f": "double", "b": "boolean"}


class SparkCostBoostModel(ColumnParams, SavedModel, Model):
    """A fitted model, which decides by the cheapest expected cost.

    `transform` adds ``prediction_col`` (the decision), ``probability_col`` and, if it has a name,
    ``expected_cost_col``. Costs by column are read from the DataFrame that is transformed. New
    prices need no new model: ``model.setParams(costs=...)``.

    Parameters
    ----------
    local : CostBoostClassifier
        Fitted.

    Examples
    --------
    `SparkCostBoostClassifier.fit` makes it; ``payments`` is a Spark DataFrame:

    >>> from costboost.spark import SparkCostBoostClassifier
    >>> classifier = SparkCostBoostClassifier(label_col="fraud")
    >>> model = classifier.fit(payments)  # doctest: +SKIP
    >>> model.transform(payments).select("prediction")  # doctest: +SKIP
    """

    def __init__(self, local: CostBoostClassifier | None = None) -> None:
        super().__init__()
        self._local = local

    def to_local(self) -> CostBoostClassifier:
        """Return the model as the estimator of a single machine: it predicts, explains, is saved.

        Returns
        -------
        CostBoostClassifier
            Fitted. The same object at every call.
        """
        if self._local is None:
            raise ValueError("This model was never fitted: fit a SparkCostBoostClassifier.")
        local: CostBoostClassifier = self._local
        return local

    @property
    def numClasses(self) -> int:  # noqa: N802  # as Spark's classification models have it
        """The number of classes."""
        return len(self.to_local().classes_)

    @property
    def numFeatures(self) -> int:  # noqa: N802
        """The number of columns learnt from."""
        return int(self.to_local().n_features_in_)

    def _transform(self, dataset: Any) -> Any:
        outputs, costs = self._outputs(), self._decision_costs()
        columns = read_columns(
            dataset,
            **self.feature_keywords(),
            costs=Costs(fp=1, fn=1) if costs is None else costs,
            width=self.numFeatures,
        )
        _refuse_taken(dataset, outputs)
        answers = PredictColumns(self.to_local(), columns, costs, tuple(outputs))
        answer = arrow_function(answers, answers.schema)(*columns.expressions(dataset))
        return _with_columns(dataset, answer, outputs)

    def _decision_costs(self) -> Costs | None:
        """Return the prices to decide by; None where what was learnt contains them."""
        local, given = self.to_local(), self.given_costs()
        if local._decides_by_costs():
            return given.bind(local.classes_)
        if given != as_costs(local.costs) or self.getOrDefault("expected_cost_col"):
            local._refuse_costs()
        return None

    def _outputs(self) -> dict[str, str]:
        """Return the columns to make, by what they hold."""
        names = {
            "probability": self.getProbabilityCol(),
            "prediction": self.getPredictionCol(),
            "expected_cost": self.getOrDefault("expected_cost_col"),
        }
        return {what: name for what, name in names.items() if name}


def _refuse_taken(dataset: Any, outputs: dict[str, str]) -> None:
    for what, name in outputs.items():
        if name in dataset.columns:
            raise ValueError(
                f"{what}_col={name!r} is a column of the DataFrame already: drop it, or give "
                "another name."
            )


def _with_columns(dataset: Any, answer: Any, outputs: dict[str, str]) -> Any:
    """Add the parts of an answer as columns; probabilities as a vector of `pyspark.ml`."""
    from pyspark.ml.functions import array_to_vector
    from pyspark.sql import functions

    mark = f"answer_{secrets.token_hex(4)}"
    parts = {name: functions.col(mark)[what] for what, name in outputs.items()}
    if "probability" in outputs:
        name = outputs["probability"]
        parts[name] = array_to_vector(parts[name])
    return dataset.withColumn(mark, answer).withColumns(parts).drop(mark)


@dataclass(frozen=True)
class PredictColumns:
    """The function that Spark maps over batches of rows; returns a struct of prediction columns.

    Parameters
    ----------
    local : CostBoostClassifier
    columns : FrameColumns
    costs : Costs or None
        Bound to the classes, perhaps still to be read from columns.
    outputs : tuple of {"probability", "prediction", "expected_cost"}
    """

    local: CostBoostClassifier
    columns: FrameColumns
    costs: Costs | None
    outputs: tuple[str, ...]

    @property
    def schema(self) -> str:
        """The type of the struct, in Spark's words."""
        kinds = {
            "probability": "array<double>",
            "prediction": _KINDS.get(self._labels.dtype.kind, "string"),
            "expected_cost": "double",
        }
        return ", ".join(f"{what} {kinds[what]}" for what in self.outputs)

    @property
    def _labels(self) -> NDArray[Any]:
        other = self.costs is not None and not self.costs.is_square
        return np.asarray(self.costs.actions if other and self.costs else self.local.classes_)

    def __call__(self, *arrays: Any) -> Any:
        """Answer for a batch."""
        import pyarrow as pa

        table = pa.Table.from_arrays(list(arrays), names=self.columns.all)
        answers = {what: self._answer(what, table) for what in self.outputs}
        return pa.StructArray.from_arrays(list(answers.values()), names=list(answers))

    def _answer(self, what: str, table: Any) -> Any:
        import pyarrow as pa

        if not table.num_rows:
            return pa.array([], type=self._type(what))
        X = features_of(table, self.columns)
        if what == "probability":
            return pa.array(list(self.local.predict_proba(X)), type=self._type(what))
        prices = {} if self.costs is None else {"costs": self.costs.bind_table(table)}
        if what == "prediction":
            return pa.array(self.local.predict(X, **prices).tolist(), type=self._type(what))
        each = self.costs_of_actions(X, prices)
        return pa.array(each.min(axis=1), type=self._type(what))

    def costs_of_actions(self, X: Any, prices: dict[str, Costs]) -> Floats:
        """Return the expected cost of every action, (m, A)."""
        local = copy(self.local).set_output(transform="default")
        return np.asarray(local.expected_cost(X, prices.get("costs")))

    def _type(self, what: str) -> Any:
        import pyarrow as pa

        if what == "probability":
            return pa.list_(pa.float64())
        kinds = {"double": pa.float64(), "boolean": pa.bool_(), "string": pa.string()}
        kind = _KINDS.get(self._labels.dtype.kind, "string") if what == "prediction" else "double"
        return kinds[kind]


# `CostEvaluator`: the cost of decisions, for searches of `pyspark.ml`.


class CostEvaluator(
    CostParams, HasLabelCol, HasPredictionCol, HasWeightCol, SavedParams, Evaluator
):
    """The mean cost of decisions, lower is better: what a search should go by.

    Parameters
    ----------
    costs : None, dict, array-like of shape (K, K) or Costs, default=None
        What each mistake costs, constant or by column of the DataFrame.
    label_col, prediction_col : str, default="label" and "prediction"
    weight_col : str, default=None

    Examples
    --------
    >>> from costboost import Costs
    >>> from costboost.spark import CostEvaluator
    >>> judge = CostEvaluator(costs=Costs(fp=8, fn="amount"), label_col="fraud")  # doctest: +SKIP
    >>> CrossValidator(estimator=..., evaluator=judge, ...)  # doctest: +SKIP
    """

    def __init__(
        self,
        *,
        costs: Any = None,
        label_col: str = "label",
        prediction_col: str = "prediction",
        weight_col: str | None = None,
    ) -> None:
        super().__init__()
        self._setDefault(weightCol=None)
        self._set_those_given(
            {
                "costs": costs,
                "label_col": label_col,
                "prediction_col": prediction_col,
                "weight_col": weight_col,
            }
        )

    def isLargerBetter(self) -> bool:  # noqa: N802  # Spark's name
        """Return False: costs are better lower."""
        return False

    def _evaluate(self, dataset: Any) -> float:
        from pyspark.sql import functions

        costs, weight = self.given_costs(), self.getOrDefault("weightCol")
        label, decisions = self.getLabelCol(), self.getPredictionCol()
        names = {"label_col": label, "prediction_col": decisions, "weight_col": weight}
        for parameter, name in names.items():
            if name is not None:
                check_there(dataset, parameter, name)
        prices = price_columns(costs)
        for name in prices:
            check_there(dataset, "costs", name)
        paid = _Paid(costs.bind(_classes(dataset, label)), prices)
        columns = [functions.col(quoted(name)) for name in (label, decisions, *prices)]
        row = arrow_function(paid, "double")(*columns)
        share = functions.lit(1.0) if weight is None else functions.col(quoted(weight))
        mean = functions.sum(row * share) / functions.sum(share)
        return float(dataset.select(mean.alias("mean")).first()[0])


def _classes(dataset: Any, label: str) -> list[Any]:
    """Return the sorted labels."""
    found = [row[0] for row in dataset.select(quoted(label)).distinct().collect()]
    if not found or None in found:
        what = "is null in some rows" if found else "has no rows"
        raise ValueError(f"label_col={label!r} {what}: decisions have no cost there. Drop them.")
    return sorted(found)


@dataclass(frozen=True)
class _Paid:
    """The function that Spark maps over labels, decisions and prices; returns realised costs."""

    costs: Costs
    prices: tuple[str, ...]

    def __call__(self, labels: Any, decisions: Any, *prices: Any) -> Any:
        """Return the realised cost of every decision, (m,)."""
        import pyarrow as pa

        table = pa.Table.from_arrays(list(prices), names=list(self.prices))
        costs = self.costs.bind_table(table) if self.prices else self.costs
        if not len(labels):
            return pa.array([], type=pa.float64())
        arrays = (array.to_numpy(zero_copy_only=False) for array in (labels, decisions))
        return pa.array(costs.of_decisions(*arrays), type=pa.float64())
