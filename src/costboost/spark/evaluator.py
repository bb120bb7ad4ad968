"""`CostEvaluator`: what decisions cost, for searches of `pyspark.ml`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.ml.evaluation import Evaluator
from pyspark.ml.param.shared import HasLabelCol, HasPredictionCol, HasWeightCol

from costboost.costs import Costs
from costboost.spark.columns import check_there, price_columns, quoted
from costboost.spark.functions import arrow_function
from costboost.spark.parameters import CostParams
from costboost.spark.saving import SavedParams

__all__ = ["CostEvaluator"]


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
        """Say that it is not."""
        return False

    def _evaluate(self, dataset: Any) -> float:
        from pyspark.sql import functions

        costs, weight = self.given_costs(), self.getOrDefault("weightCol")
        label, said = self.getLabelCol(), self.getPredictionCol()
        names = {"label_col": label, "prediction_col": said, "weight_col": weight}
        for parameter, name in names.items():
            if name is not None:
                check_there(dataset, parameter, name)
        prices = price_columns(costs)
        for name in prices:
            check_there(dataset, "costs", name)
        paid = _Paid(costs.bind(_classes(dataset, label)), prices)
        columns = [functions.col(quoted(name)) for name in (label, said, *prices)]
        row = arrow_function(paid, "double")(*columns)
        share = functions.lit(1.0) if weight is None else functions.col(quoted(weight))
        mean = functions.sum(row * share) / functions.sum(share)
        return float(dataset.select(mean.alias("mean")).first()[0])


def _classes(dataset: Any, label: str) -> list[Any]:
    """Return the labels that there are, sorted."""
    found = [row[0] for row in dataset.select(quoted(label)).distinct().collect()]
    if not found or None in found:
        what = "is null in some rows" if found else "has no rows"
        raise ValueError(f"label_col={label!r} {what}: decisions have no cost there. Drop them.")
    return sorted(found)


@dataclass(frozen=True)
class _Paid:
    """What Spark calls with labels, decisions and prices of some rows."""

    costs: Costs
    prices: tuple[str, ...]

    def __call__(self, labels: Any, said: Any, *prices: Any) -> Any:
        """Return what every decision costs."""
        import pyarrow as pa

        table = pa.Table.from_arrays(list(prices), names=list(self.prices))
        costs = self.costs.bind_table(table) if self.prices else self.costs
        if not len(labels):
            return pa.array([], type=pa.float64())
        arrays = (array.to_numpy(zero_copy_only=False) for array in (labels, said))
        return pa.array(costs.of_decisions(*arrays), type=pa.float64())
