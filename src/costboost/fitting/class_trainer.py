"""Trainers of classes with prices: what the AdaBoost and the L_p family share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.costs import Costs
from costboost.fitting.plan import TrainingPlan
from costboost.fitting.trainer import TableTrainer

Floats = NDArray[np.float64]
Int64 = NDArray[np.int64]


class ClassTrainer(TableTrainer):
    """Holds a table, its codes and its costs; trains on any of its rows.

    Parameters
    ----------
    plan : TrainingPlan
    X : the table
    y : int64 array of shape (n,), class numbers
    weights : float64 array of shape (n,) or None
    costs : Costs, bound to the classes and, if per row, to the rows
    classes : ndarray of shape (K,)
    observer : callable, or None
        Told of every round; True stops.
    """

    def __init__(
        self,
        plan: TrainingPlan,
        X: Any,
        y: Int64,
        weights: Floats | None,
        costs: Costs,
        classes: NDArray[Any],
        observer: Any = None,
    ) -> None:
        super().__init__(plan, X, y, weights, costs, observer)
        self.classes = classes

    @property
    def costs(self) -> Costs:
        """The costs of all rows."""
        found = self.said.costs
        assert found is not None
        return found

    def _of(self, rows: Int64 | None) -> tuple[Int64, Costs, Floats | None]:
        """Return the classes, the costs and the weights of some rows, or of all."""
        said = self.said if rows is None else self.said.take(rows)
        assert said.costs is not None
        return said.y, said.costs, said.weights

    def _cheapest_constant(self, rows: Int64 | None) -> int:
        """Return the class number that is cheapest to answer on some rows, whatever they are."""
        y, costs, weights = self._of(self._some(rows))
        if not costs.is_square:
            return int(np.argmax(np.bincount(y, weights, minlength=self.plan.n_classes)))
        label, _ = costs.cheapest_constant(self.classes[y], weights)
        return int(np.searchsorted(self.classes, label))
