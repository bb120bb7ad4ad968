"""Costs as an immutable array of rows: shape, labels, slicing, equality; no arithmetic."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from costboost.costs.reading import read_row_index
from costboost.costs.state import State, dense, same
from costboost.costs.text import describe
from costboost.inputs.arrays import freeze

__all__ = ["Rows"]


class Rows:
    """What `costboost.costs.Costs` shares with an array; constants have one row, never cut."""

    __slots__ = ("_state",)
    __array_ufunc__ = None  # array == costs asks Costs; array * costs is refused

    _state: State

    @classmethod
    def _of(cls, state: State) -> Self:
        rows = object.__new__(cls)
        rows._state = state
        return rows

    @property
    def n_rows(self) -> int | None:
        """Number of rows that have their own costs; None for constants."""
        return self._state.n_rows

    @property
    def per_row(self) -> bool:
        """Whether rows have costs of their own."""
        return self.n_rows is not None

    @property
    def largest(self) -> float:
        """The largest of all costs, by size: benefits count as much."""
        return max(float(np.max(np.abs(column), initial=0.0)) for column in self._state.columns)

    @property
    def is_constant(self) -> bool:
        """Whether all rows share the same costs."""
        return not self.per_row

    @property
    def shape(self) -> tuple[int, ...]:
        """``(1, K, A)``, ``(n, K, A)``, or ``(n,)`` and ``(n, K)`` for `of_rows`."""
        return self._state.shape

    @property
    def classes(self) -> NDArray[Any] | None:
        """Labels of the true classes, shape (K,); None until named or bound."""
        return self._state.classes

    @property
    def actions(self) -> NDArray[Any] | None:
        """Labels of the decisions, shape (A,): the classes unless others were named."""
        return self._state.action_labels

    @property
    def is_square(self) -> bool:
        """Whether the decisions are the classes."""
        return self._state.is_square

    @property
    def positive(self) -> Any:
        """The class that a positive decision means; None for other than two classes."""
        return self._state.positive_label

    def __len__(self) -> int:
        return self._state.length

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Self:
        """Select rows: an int, slice, integer array or mask; constants come back unchanged.

        The result stays per row, even for one row. scikit-learn's ``(index, ...)`` is accepted.
        """
        if self.is_constant:
            return self
        rows = read_row_index(index)
        columns = tuple(freeze(c[rows]) if c.ndim else c for c in self._state.columns)
        return self._of(self._state._replace(columns=columns))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("Costs are stored by cell; an array of them is always a copy.")
        return dense(self._state).astype(np.float64 if dtype is None else dtype, copy=False)

    def __eq__(self, other: object) -> bool:
        return same(self._state, other._state) if isinstance(other, Rows) else NotImplemented

    def __hash__(self) -> int:
        # Equal costs agree in their first row; hashing all of a million would be slow.
        first = tuple(float(c.flat[0]) for c in self._state.columns) if len(self) else ()
        return hash((self._state.form, self.n_rows, self.shape, first))

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        return describe(self._state)
