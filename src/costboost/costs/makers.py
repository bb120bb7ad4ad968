"""The ways to make costs besides ``Costs(fp=, fn=)``: a matrix, named actions, prices of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import ArrayLike

from costboost.costs import arithmetic, doubts, reading
from costboost.costs.faces import Faces
from costboost.costs.state import State
from costboost.inputs.checks import warn_caller

__all__ = ["Makers", "undoubted"]


class Makers(Faces):
    """How `costboost.costs.Costs` is made of what users have."""

    __slots__ = ()

    @classmethod
    def from_matrix(
        cls,
        C: Any,
        *,
        classes: ArrayLike | None = None,
        actions: ArrayLike | None = None,
        benefits: bool = False,
        positive: Any = None,
    ) -> Self:
        """Take a whole cost matrix, ``C[true, action]``, constant or one per row.

        Parameters
        ----------
        C : array-like of shape (K, K), (K, A) or (n_samples, K, A)
            Rows are the truth, columns the decision. Two dimensions always mean constant costs;
            if they differ, `classes` is required, because prices of shape (n_samples, K), which
            belong to `of_rows`, look the same. Labels of a data frame are read: those of its rows
            are the classes, those of its columns the decisions, in whatever order they stand (a
            polars frame may hold the former in a first column of strings). In a list of lists any
            cell may be an array, the name of a column or a function, as in `Costs`; a list of
            lists of nothing but arrays is refused, for it may be a list of matrices as well.
        classes : array-like of shape (K,), default=None
            The class of each row of C. With it the costs survive a fold that lacks a class; without
            it the rows must be in the order of the labels' sorted classes, all of them.
        actions : array-like of shape (A,), default=None
            The decision that each column of C means. None: the classes if C is square, else
            0 .. A - 1. Actions that are the classes in another order are sorted into theirs.
        benefits : bool, default=False
            Allow negative costs.
        positive : label, default=None
            The class that a positive decision means, for `fp`, `fn`, `thresholds` and curves. The
            prices themselves do not depend on it.

        Examples
        --------
        >>> from costboost import Costs
        >>> C, actions = [[0, 1, 6], [30, 2, 0]], ["approve", "review", "no"]
        >>> loan = Costs.from_matrix(C, classes=["good", "bad"], actions=actions)
        >>> loan.decide([[0.99, 0.01], [0.9, 0.1], [0.1, 0.9]]).tolist()
        ['approve', 'review', 'no']
        """
        return cls._of(undoubted(reading.read_matrix(C, classes, actions, benefits, positive)))

    @classmethod
    def of_actions(cls, prices: Any, *, benefits: bool = False) -> Self:
        """Take what each action costs given each class: decisions that are not the classes.

        Parameters
        ----------
        prices : dict of dicts, ``prices[action][class]``
            Every price is a number, an array with one per row, the name of a column or a function
            of the table, mixed as they come; see `Costs`. An action that costs the same whatever
            the truth may have that one price in place of a dict.
        benefits : bool, default=False
            Allow negative costs.

        Examples
        --------
        >>> import pandas as pd
        >>> from costboost import Costs
        >>> loans = Costs.of_actions({
        ...     "approve": {"default": "amount", "paid": 0},
        ...     "review": 25,
        ...     "decline": {"default": 0, "paid": "margin"},
        ... })
        >>> X = pd.DataFrame({"amount": [1000.0, 9000.0], "margin": [50.0, 900.0]})
        >>> loans.bind_table(X).decide([[0.02, 0.98], [0.5, 0.5]]).tolist()
        ['approve', 'review']
        """
        return cls._of(reading.read_actions(prices, benefits))

    @classmethod
    def of_rows(cls, c: Any, *, classes: ArrayLike | None = None) -> Self:
        """Take the price of each training row, rather than a matrix.

        Parameters
        ----------
        c : array-like of shape (n_samples,) or (n_samples, K), str or callable
            The price of getting row i wrong, whatever the wrong answer (an array, the name of a
            column or a function of the table); or the price of each answer for row i (Lozano and
            Abe's C_x,y). The latter contains the truth, so `expected`, `decide` and `thresholds`
            refuse it; `PNormBoostClassifier` trains on it. Labels of the columns of a data frame
            are its classes.
        classes : array-like of shape (K,), default=None
            The class of each column; as in `from_matrix`.

        Examples
        --------
        >>> from costboost import Costs
        >>> Costs.of_rows([1, 20, 3]).bind(["a", "b"]).of_labels(["a", "b", "a"]).tolist()
        [[0.0, 1.0], [20.0, 0.0], [0.0, 3.0]]
        """
        return cls._of(reading.read_rows(c, classes))

    @classmethod
    def concat(cls, parts: Sequence[Self]) -> Self:
        """Put the rows of several costs one after the other, as ``pandas.concat`` does.

        Parameters
        ----------
        parts : list of Costs
            Of the same form and for the same classes and actions. Rows keep their index where all
            have one. Constants that are all equal stay constant; costs by column stay unread.

        Examples
        --------
        >>> from costboost import Costs
        >>> Costs.concat([Costs(fp=5, fn=[1, 2]), Costs(fp=5, fn=[9])])
        Costs(fp=5, fn=<3 values from 1 to 9>)
        """
        return cls._of(arithmetic.concat([part._state for part in parts]))


def undoubted(state: State) -> State:
    """Warn of constant costs that look as if benefits had been given as costs."""
    if doubts.looks_reversed(state):
        warn_caller(doubts.doubt(doubts.dearer_when_right(state)))
    return state
