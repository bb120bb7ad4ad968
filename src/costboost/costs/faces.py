"""Costs as people look at them: the four prices of two classes, a table, words; and arithmetic."""

from __future__ import annotations

from typing import Any, Self

from costboost.costs import arithmetic, doubts
from costboost.costs.rows import CostRows
from costboost.costs.state import Source
from costboost.costs.tables import bind_table
from costboost.costs.text import as_call, signs
from costboost.costs.words import in_words, to_frame
from costboost.inputs.checks import warn_caller

__all__ = ["Faces"]


class Faces(CostRows):
    """What `costboost.costs.Costs` shows of its cells, and its arithmetic with numbers."""

    __slots__ = ()

    @property
    def fp(self) -> Any:
        """Cost of a false positive: a float, an array of shape (n_samples,), or what is read."""
        return self._sign("fp")

    @property
    def fn(self) -> Any:
        """Cost of a false negative; as `fp`."""
        return self._sign("fn")

    @property
    def tp(self) -> Any:
        """Cost of a true positive; as `fp`."""
        return self._sign("tp")

    @property
    def tn(self) -> Any:
        """Cost of a true negative; as `fp`."""
        return self._sign("tn")

    def _sign(self, name: str) -> Any:
        state = self._state
        known = state.signed or state.positive_label is not None
        if state.form != "matrix" or not state.is_binary or not known:
            raise AttributeError(
                f"{name} is a price of two classes of which one is positive; {as_call(state)} does "
                "not say so. Name it with positive=, or use np.asarray(costs) or to_frame()."
            )
        k, a = signs(state)[name]
        value = state.cells[2 * k + a].value
        if isinstance(value, Source):
            return value.read if not value.steps else value
        return value if value.ndim else float(value)

    def to_frame(self) -> Any:
        """Return the costs as a pandas DataFrame, with the index that they remember.

        Constants become the matrix with its labels, which `from_matrix` reads again; prices per
        row become columns ``fp fn tp tn``, or ``(true, action)``; those of `of_rows` one column,
        or one for each class. Needs pandas.

        Examples
        --------
        >>> from costboost import Costs
        >>> Costs(fp=5, fn=[10, 45]).to_frame()
            fp    fn   tp   tn
        0  5.0  10.0  0.0  0.0
        1  5.0  45.0  0.0  0.0
        """
        return to_frame(self._state)

    def describe(self, X: Any = None) -> str:
        """Say what is priced, in words: one line for every price that is not zero.

        Parameters
        ----------
        X : table of shape (n_samples, n_features), default=None
            Where to read the columns of costs by column; without it they are only named.

        Examples
        --------
        >>> from costboost import Costs
        >>> costs = Costs(fp=8, tp=8, fn=[0.71, 1797, 25], positive="fraud")
        >>> print(costs.bind(["fraud", "legit"]).describe())
        recognising a fraud costs 8
        calling a fraud legit costs a price of its own, 0.71 to 1,797 (mean 608)
        calling a legit fraud costs 8
        everything else is free
        """
        return in_words(self._state if X is None else bind_table(self._state, X))

    def warn_if_doubtful(self) -> None:
        """Warn where the right answer to a class is dearer than any other in all rows.

        For the costs of many rows, such as those of ``fit``: of a single row it says nothing.
        """
        found = doubts.dearer_when_right(self._state)
        if found and not doubts.looks_reversed(self._state):  # of which their maker was warned
            warn_caller(doubts.doubt(found))

    def __mul__(self, factor: Any) -> Self:
        if not arithmetic.is_number(factor):
            return NotImplemented
        return self._of(arithmetic.scaled(self._state, factor))

    __rmul__ = __mul__

    def __add__(self, number: Any) -> Self:
        """Add a number to every price; to that of getting a row wrong for ``of_rows``."""
        if not arithmetic.is_number(number):
            return NotImplemented
        return self._of(arithmetic.shifted(self._state, number))

    __radd__ = __add__
