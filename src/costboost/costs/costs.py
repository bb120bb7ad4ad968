"""`Costs`: what each decision costs, given the truth, ``C[true, action]``.

A ``Costs`` is immutable: it holds one `State` (the canonical form, `costboost.costs.state`), and
its longer methods call pure functions of it in the other modules of this folder.

Boundary convention: a tie goes to the action with the lowest index, except that of two classes the
positive one is answered only when its probability is strictly above the threshold.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs import binding, pricing, reading, text
from costboost.costs import regret as regretting
from costboost.costs import uncertain as uncertainty
from costboost.costs.state import Factor, State, dense, packed, same, unpacked
from costboost.inputs.arrays import read_weights
from costboost.inputs.checks import check_choice, check_number, plain_labels, warn_caller
from costboost.typing import Floats

__all__ = ["Costs", "as_costs"]


class Costs:
    """What each decision costs, given the truth: ``C[true, action]``, constant or one per row.

    This constructor is for two classes; `from_matrix` takes any number of classes and actions,
    `of_rows` takes a price per row. `bind` ties costs to the labels of a data set; what needs
    labels (`of_labels`, `of_errors`, `decide`, `total` ...) works on bound costs. With
    ``encoded=True`` methods take and return numbers, 0 .. K - 1 or 0 .. A - 1, instead of labels.

    Per-row costs are cut by row like an array, so scikit-learn's splitters and meta-estimators
    give each fold its own rows; constant costs have one row, are not cut, and pass whole. So do
    costs by column: they are read from the table wherever it is given (``fit``, ``predict``,
    ``score``, scorers, cross-validation), and never need to be cut.

    ``np.asarray(costs)`` has one order: that of ``classes`` down and of ``actions`` across. It is
    sorted, as ``classes_`` of every model is, once costs are bound to a model's:
    ``np.asarray(costs.bind_table(X).bind(model.classes_))`` is what ONNX graphs take.

    Parameters
    ----------
    fp, fn : float, array-like of shape (n_samples,), str or callable
        Cost of a false positive (a negative row answered positive) and of a false negative.
        A number holds for every row. Prices per row must all have the same length: nothing is
        broadcast from length 1; the index of a pandas Series is remembered, and must be that of
        the table. A string names a column of the table, a function is given the table and returns
        one price per row, each of its own row only; see `bind_table`. An `expression` is such a
        function that can be written down, ``expression("0.75 * amount + 20")``. A price that is
        not known exactly is `uncertain`: costs train and decide by its mean.
    tp, tn : float, array-like of shape (n_samples,), str or callable, default=0
        Cost of the two correct answers. They may exceed the cost of the wrong ones (an
        investigation that costs more than the fraud); see `cheapest_labels`.
    positive : label, default=None
        The class that a positive decision means. It is known for the labels 0/1, -1/+1 and
        booleans, and must be named for any others: the alphabet does not tell it.
    benefits : bool, default=False
        Allow negative costs. Without it they are refused.

    Examples
    --------
    Blocking a good payment costs 5, letting a fraud through costs its amount:

    >>> from costboost import Costs
    >>> costs = Costs(fp=5, fn=[10.0, 45.0, 495.0])
    >>> costs
    Costs(fp=5, fn=<3 values from 10 to 495>)
    >>> costs[[0, 2]].shape
    (2, 2, 2)
    >>> bound = costs.bind([0, 1])
    >>> bound.decide([[0.8, 0.2], [0.8, 0.2], [0.999, 0.001]]).tolist()
    [0, 1, 0]
    >>> bound.total([1, 1, 0], [0, 1, 1])
    15.0

    The same by column, whatever rows the table has:

    >>> by_column = Costs(fp=5, fn="amount", positive="fraud")
    >>> print(by_column.describe())
    a false positive costs 5
    a false negative costs its amount
    everything else is free
    """

    __slots__ = ("_state",)
    __array_ufunc__ = None  # array == costs asks Costs; array * costs is refused

    _state: State

    def __init__(
        self,
        fp: Any,
        fn: Any,
        tp: Any = 0,
        tn: Any = 0,
        *,
        positive: Any = None,
        benefits: bool = False,
    ) -> None:
        self._state = _warned(reading.read_binary(fp, fn, tp, tn, positive, benefits))

    @classmethod
    def _of(cls, state: State) -> Self:
        costs = object.__new__(cls)
        costs._state = state
        return costs

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
        """Return the costs of a whole matrix, ``C[true, action]``, constant or one per row.

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
            The class of each row of C. With it the costs survive a fold that lacks a class. Without
            it the labels must be numbers, and the rows all of them in order: the order of other
            labels is not guessed from the alphabet, unless C says the same in any.
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
        return cls._of(_warned(reading.read_matrix(C, classes, actions, benefits, positive)))

    @classmethod
    def of_actions(cls, prices: Any, *, benefits: bool = False) -> Self:
        """Return costs of actions that are not the classes, each priced given the true class.

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
        """Return costs of training rows: one price for each row, rather than a matrix.

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
        """Concatenate the rows of several costs, as ``pandas.concat`` does.

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
        return cls._of(pricing.concat([part._state for part in parts]))

    @classmethod
    def check(
        cls,
        value: Any,
        classes: ArrayLike | None = None,
        n_samples: int | None = None,
        table: Any = None,
    ) -> Costs:
        """Turn every accepted form into a ``Costs``.

        Parameters
        ----------
        value, classes, n_samples, table
            As in `as_costs`.
        """
        costs = value
        if not isinstance(costs, Costs):
            costs = cls._of(_warned(reading.read_value(value)))
        costs = costs if table is None else costs.bind_table(table)
        return costs if classes is None else costs.bind(classes, n_samples)

    # Attributes

    @property
    def n_rows(self) -> int | None:
        """Number of rows that have their own costs; None for constants."""
        return self._state.n_rows

    @property
    def per_row(self) -> bool:
        """Whether rows have costs of their own, at hand or in a column of their table."""
        return self.n_rows is not None or self.needs_table

    @property
    def needs_table(self) -> bool:
        """Whether prices are still to be read from a table; see `Costs.bind_table`."""
        return bool(self._state.sources)

    @property
    def column_names(self) -> list[str]:
        """Names of the columns that are still to be read; functions do not say theirs."""
        return binding.named_columns(self._state)

    @property
    def names_every_column(self) -> bool:
        """Whether all that is still to be read has a name: none of it is a function."""
        return all(source.columns is not None for source in self._state.sources)

    @property
    def index(self) -> Any:
        """The pandas index of the rows, if the prices came with one; else None."""
        return self._state.index

    @property
    def loc(self) -> Any:
        """Rows by the labels of their index: ``costs.loc[labels]``, slices and masks as in pandas.

        Constants and unread columns come back unchanged.
        """
        return _RowsByLabel(self)

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
        """The class that a positive decision means; None if not named, or there are not two."""
        return self._state.positive_label

    @property
    def positive_number(self) -> int | None:
        """The number of the positive of two classes, 0 or 1, once bound; None if it has no name."""
        classes, label = self._state.classes, self._state.positive_label
        return None if classes is None or label is None else classes.tolist().index(label)

    @property
    def contain_truth(self) -> bool:
        """Whether prices are of the answers of each row, given its truth: paid, not decided by."""
        return self._state.form == "answers"

    @property
    def awaits_positive(self) -> bool:
        """Whether prices of `fp` and `fn` were given, and not yet which class is positive."""
        return self._state.signed and self._state.positive is None

    @property
    def fp(self) -> Any:
        """Cost of a false positive: a float, an array of shape (n_samples,), or what is read."""
        return text.price_of(self._state, "fp")

    @property
    def fn(self) -> Any:
        """Cost of a false negative; as `fp`."""
        return text.price_of(self._state, "fn")

    @property
    def tp(self) -> Any:
        """Cost of a true positive; as `fp`."""
        return text.price_of(self._state, "tp")

    @property
    def tn(self) -> Any:
        """Cost of a true negative; as `fp`."""
        return text.price_of(self._state, "tn")

    # Prices that are not known exactly

    @property
    def factors(self) -> dict[str, Factor]:
        """The factors of prices that are `uncertain`, by name; empty where all are certain.

        A factor has the name of its cell, such as ``"fn"``, or that of ``together=``.
        """
        return self._state.factors

    def at(self, values: Mapping[str, float] | None = None) -> Self:
        """Return certain costs: factors have these values, and their means where none is given.

        Parameters
        ----------
        values : dict of str to float, default=None
            Values of `factors` by name, within their ranges or not.

        Examples
        --------
        >>> from costboost.costs import uncertain
        >>> Costs(fp=1, fn=uncertain(10, low=0.5, high=2)).at({"fn": 2})
        Costs(fp=1, fn=20)
        """
        return self._of(uncertainty.at(self._state, {} if values is None else values))

    def draw(self, n: int, random_state: Any = None) -> list[Self]:
        """Return `n` certain costs, whose factors are drawn independently of each other.

        Parameters
        ----------
        n : int
        random_state : int, RandomState instance or None, default=None

        Examples
        --------
        >>> from costboost.costs import uncertain
        >>> costs = Costs(fp=1, fn=uncertain(10, low=0.5, high=2))
        >>> [5 <= one.fn <= 20 for one in costs.draw(3, random_state=0)]
        [True, True, True]
        """
        check_number("n", n, whole=True, low=1)
        return [self._of(state) for state in uncertainty.draw(self._state, n, random_state)]

    def stays_within(self, proba: ArrayLike) -> dict[str, Floats]:
        """Return between which values of each factor the decisions of `decide` stay as they are.

        All other factors are at their means. Prices of one name with draws of their own are left
        out: no single number says where they are.

        Parameters
        ----------
        proba : array-like of shape (n_samples, K)
            Class probabilities, in the columns that `expected` takes.

        Returns
        -------
        dict of str to ndarray of shape (n_samples, 2)
            Both ends; 0 or infinity where the decision never turns on that side.

        Examples
        --------
        >>> from costboost.costs import uncertain
        >>> costs = Costs(fp=1, fn=uncertain(10, low=0.5, high=2)).bind([0, 1])
        >>> costs.stays_within([[0.75, 0.25]])["fn"].round(3).tolist()
        [[0.3, inf]]
        """
        return regretting.stays_within(self._state, proba)

    def regrets(self, proba: ArrayLike) -> Floats:
        """Return the largest regret of each action within the ranges, shape (n_samples, A).

        The regret of an action at some prices is its expected cost less that of the cheapest
        action there. Ranges are those of `factors`, ``low`` to ``high``.

        Parameters
        ----------
        proba : array-like of shape (n_samples, K)
            Class probabilities, in the columns that `expected` takes.

        Examples
        --------
        >>> from costboost.costs import uncertain
        >>> costs = Costs(fp=2, fn=uncertain(10, low=0.5, high=2)).bind([0, 1])
        >>> costs.regrets([[0.75, 0.25]]).tolist()  # 0 may cost 5 where 1 costs 1.5
        [[3.5, 0.25]]
        """
        return regretting.regrets(self._state, proba)

    # An array of rows

    def __len__(self) -> int:
        return self._state.length

    def __iter__(self) -> Iterator[Self]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, index: Any) -> Self:
        """Select rows: an int, slice, integer array or mask, or the pandas index of a table.

        Constants and unread columns come back unchanged; the result of others stays per row, even
        for one row. scikit-learn's ``(index, ...)`` is accepted.
        """
        if self._state.n_rows is None:
            return self
        rows = pricing.positions(self._state, index)
        return self._of(pricing.cut(self._state, rows))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("Costs are stored by cell; an array of them is always a copy.")
        if self._state.signed and self._state.positive is not None:
            raise ValueError(
                "An array of costs has its classes in the order of the labels, and it is not known "
                f"yet whether positive={self._state.positive!r} is the first or the second of "
                "them: give np.asarray(costs.bind(model.classes_))."
            )
        return dense(self._state).astype(np.float64 if dtype is None else dtype, copy=False)

    def __eq__(self, other: object) -> bool:
        return same(self._state, other._state) if isinstance(other, Costs) else NotImplemented

    def __hash__(self) -> int:
        return pricing.hash_of(self._state)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __repr__(self) -> str:
        return text.as_call(self._state)

    def __getstate__(self) -> dict[str, Any]:
        # A plain dictionary: pickle and skops both write it, and read it into __setstate__.
        return packed(self._state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._state = unpacked(state)

    # Arithmetic

    def __mul__(self, factor: Any) -> Self:
        if not pricing.is_number(factor):
            return NotImplemented
        return self._of(pricing.scaled(self._state, factor))

    __rmul__ = __mul__

    def __add__(self, number: Any) -> Self:
        """Add a number to every price; to that of getting a row wrong for ``of_rows``."""
        if not pricing.is_number(number):
            return NotImplemented
        return self._of(pricing.shifted(self._state, number))

    __radd__ = __add__

    # Labels, tables, more actions

    def bind(self, classes: ArrayLike, n_samples: int | None = None) -> Costs:
        """Tie the costs to the labels of a data set: return costs in the order of `classes`.

        Costs whose classes are named keep only those that occur here: rows of the matrix, and its
        columns too if it is square.

        Parameters
        ----------
        classes : array-like of shape (K,)
            The labels' classes, in the order of the columns of ``predict_proba`` (sorted).
        n_samples : int, default=None
            How many rows the data have; per-row costs must have as many.

        Examples
        --------
        >>> costs = Costs(fp=1, fn=10, positive="bad").bind(["bad", "good"])
        >>> costs.of_labels(["bad", "good"]).tolist()
        [[0.0, 10.0], [1.0, 0.0]]
        """
        bound = binding.bind(self._state, classes, n_samples)
        return self if bound is self._state else self._of(bound)

    def with_positive(self, label: Any) -> Costs:
        """Name the positive of two classes, where the labels do not tell.

        Costs by `fp` and `fn` that are not yet bound are read by it. What is bound, or was given as
        a matrix, keeps its prices: it only says what `fp`, `thresholds` and curves are about.

        Parameters
        ----------
        label : label
            Of the positive class.

        Examples
        --------
        >>> C = Costs.from_matrix([[0, 10], [1, 0]], classes=["fraud", "legit"])
        >>> C.with_positive("fraud").thresholds().round(3).tolist()
        0.091
        """
        return self._of(binding.with_positive(self._state, label))

    def bind_table(self, X: Any) -> Costs:
        """Read the columns that the costs name from a table: return ordinary costs per row.

        Every estimator, scorer and cross-validation of this library does so where it is given a
        table. Do it yourself where there is none (measures take labels and decisions only), and to
        hand costs past steps that transform the table: ``pipeline.fit(X, y,
        model__costs=costs.bind_table(X))``.

        Costs that remember the index of their rows must have that of X, in the same order.

        Parameters
        ----------
        X : DataFrame (pandas, polars, pyarrow) or array of shape (n_samples, n_features)
            The table. Columns are found by name; functions are given X as it is.

        Examples
        --------
        >>> import pandas as pd
        >>> X = pd.DataFrame({"amount": [10.0, 45.0]})
        >>> Costs(fp=5, fn="amount", tp=lambda X: 0.1 * X["amount"]).bind_table(X)
        Costs(fp=5, fn=<2 values from 10 to 45>, tp=<2 values from 1 to 4.5>)
        """
        if self._state.is_constant:  # the same for every table
            return self
        bound = binding.bind_table(self._state, X)
        return self if bound is self._state else self._of(bound)

    def with_defer(self, price: Any, *, action: Any = "defer") -> Costs:
        """Return these costs with one more action, whose price does not depend on the truth.

        Where every decision is expected to cost more than `price`, the cheapest is then to abstain:
        to hand the row to a person, or to wait.

        Parameters
        ----------
        price : float, array-like of shape (n_samples,), str or callable
            What it costs to defer a row; a column's name or a function of the table, as any price.
        action : label, default="defer"
            What the action is called.

        Examples
        --------
        >>> costs = Costs(fp=10, fn=40).bind([0, 1]).with_defer(3)
        >>> costs.decide([[0.95, 0.05], [0.8, 0.2], [0.1, 0.9]]).tolist()
        [0, 'defer', 1]
        """
        return self._of(reading.with_defer(self._state, price, action))

    # Prices and decisions

    def of_labels(self, y: ArrayLike, *, encoded: bool = False) -> Floats:
        """Return the price of each action for each row, a new array of shape (n_samples, A).

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            True labels.
        encoded : bool, default=False
            Whether labels and actions are numbers, 0 .. K - 1 and 0 .. A - 1, in place of
            themselves.
        """
        s = self._knowing(encoded, y)._state
        return pricing.of_labels(s, binding.numbers_of_labels(s, y, encoded))

    def of_class(self, k: int) -> tuple[Floats, ...]:
        """Return the price of each action for rows of one class, by its number: nothing is copied.

        One array for each action, of shape (n_samples,), or () where all rows pay the same.

        Examples
        --------
        >>> [part.tolist() for part in Costs(fp=5, fn=[10, 30]).bind([0, 1]).of_class(1)]
        [[10.0, 30.0], 0.0]
        """
        return pricing.of_class(self._state, k)

    def _knowing(self, encoded: bool, *labels: ArrayLike) -> Costs:
        """Return these costs, bound to the labels that occur if they know none yet."""
        if encoded or self._state.classes is not None:
            return self
        named = zip(labels, ("y", "predicted"), strict=False)
        parts = [plain_labels(np.asarray(part), name) for part, name in named]
        return self.bind(np.unique(np.concatenate(parts)))

    def of_errors(
        self,
        y: ArrayLike,
        *,
        how: Literal["mean", "max"] = "mean",
        target: ArrayLike | None = None,
        encoded: bool = False,
    ) -> Floats:
        """Return the price of getting each row wrong, shape (n_samples,).

        A wrong answer costs its price less that of the right one, ``C[y, a] - C[y, y]``, and
        nothing where that is negative. With two classes there is one wrong answer. With more, the
        mean over the wrong answers is taken (the Average Cost weights of Margineantu 2001), or the
        largest (his MaxCost).

        Where the right answer costs more than a wrong one, methods that train on costs aim at the
        cheapest label instead (Lozano and Abe): give `cheapest_labels` as `target`, and the price
        is that of missing it; with two classes, ``abs(C[y, 0] - C[y, 1])``.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            True labels.
        how : {"mean", "max"}, default="mean"
            How the wrong answers of more than two classes become one price.
        target : array-like of shape (n_samples,), default=None
            The label that counts as right; None is `y`.
        encoded : bool, default=False
            Whether labels and actions are numbers, 0 .. K - 1 and 0 .. A - 1, in place of
            themselves.

        Examples
        --------
        An investigation costs 50, here more than one of the frauds:

        >>> costs = Costs(fp=50, fn=[20, 80], tp=50).bind([0, 1])
        >>> costs.of_errors([1, 1]).tolist()
        [0.0, 30.0]
        >>> aim = costs.cheapest_labels([1, 1])
        >>> aim.tolist(), costs.of_errors([1, 1], target=aim).tolist()
        ([0, 1], [30.0, 30.0])
        """
        s = self._knowing(encoded, y)._state
        binding.refuse_unless_square(s, "of_errors")
        if how not in ("mean", "max"):
            raise ValueError(f"how must be 'mean' or 'max', but {how!r} was given.")
        numbers = binding.numbers_of_labels(s, y, encoded)
        right = numbers if target is None else binding.numbers_of_labels(s, target, encoded)
        return pricing.of_misses(pricing.of_labels(s, numbers), right, how)

    def cheapest_labels(self, y: ArrayLike, *, encoded: bool = False) -> NDArray[Any]:
        """Return the label that is cheapest to answer for each row: what training aims at.

        It is the true label where no other is cheaper.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            True labels.
        encoded : bool, default=False
            Whether labels and actions are numbers, 0 .. K - 1 and 0 .. A - 1, in place of
            themselves.
        """
        s = self._knowing(encoded, y)._state
        binding.refuse_unless_square(s, "cheapest_labels")
        numbers = binding.numbers_of_labels(s, y, encoded)
        best = pricing.cheapest_labels(pricing.of_labels(s, numbers), numbers)
        return binding.labels_of_actions(s, best, encoded)

    def mean(self, sample_weight: ArrayLike | None = None, *, y: ArrayLike | None = None) -> Costs:
        """Return constant costs: the weighted mean of each cell over the rows.

        Parameters
        ----------
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows.
        y : array-like of shape (n_samples,), default=None
            True labels. Prices of `of_rows` were given with the truth in sight, so with `y` they
            are averaged within each class; required for the price of each answer, and ignored for
            costs that are already ``C[true, action]``.

        Examples
        --------
        >>> Costs(fp=5, fn=[10, 30]).mean()
        Costs(fp=5, fn=20)
        >>> Costs.of_rows([1, 3, 9]).bind([0, 1]).mean(y=[0, 0, 1])
        Costs(fp=2, fn=9, positive=1)
        """
        if self.is_constant:
            return self
        known = self if y is None else self._knowing(False, y)
        return self._of(pricing.mean(known._state, read_weights(sample_weight, len(self)), y))

    def expected(self, proba: ArrayLike, *, interval: float | None = None) -> Floats:
        """Return the expected cost of each action, shape (n_samples, A): ``sum_k p(k) C[k, a]``.

        Parameters
        ----------
        proba : array-like of shape (n_samples, K)
            Class probabilities. The columns of a labelled table are read by their labels; those of
            an array are in the order of ``classes``: of a model, ``predict_proba`` has them sorted,
            so ``bind(model.classes_)`` costs that name their classes in another order. Unbound
            two-class costs take (negative, positive).
        interval : float, default=None
            A share above 0 and at most 1: return, too, between which two ends the expected cost
            lies with that probability, as uncertain prices vary by their laws (as often below as
            above); 1 is all that it may be. The shape is then (n_samples, A, 3): the expected cost
            at the means, the low and the high end. Ends are exact where one factor moves the cost
            of an action, and for 1; where several do they are quantiles at 4,096 points of
            Sobol's sequence. Probabilities are taken as they are.

        Examples
        --------
        >>> Costs(fp=1, fn=10).expected([[0.75, 0.25]]).tolist()
        [[2.5, 0.75]]

        Between half and twice a loss of 10, which a quarter of such rows would cause:

        >>> from costboost.costs import uncertain
        >>> costs = Costs(fp=1, fn=uncertain(10, low=0.5, high=2))
        >>> costs.expected([[0.75, 0.25]], interval=1).tolist()
        [[[3.125, 1.25, 5.0], [0.75, 0.75, 0.75]]]
        """
        if interval is not None:
            return regretting.expected_interval(self._state, proba, interval)
        return pricing.expected(self._state, proba)

    def thresholds(self) -> Floats:
        """Return the probability of the positive class above which it is the cheaper answer.

        Elkan (2001), for the full matrix: with ``a = C_FP - C_TN``, the extra cost of a wrong
        positive, and ``b = C_FN - C_TP``, that of a wrong negative, the positive answer is cheaper
        if and only if ``p (a + b) > a``. Where ``a + b > 0`` the threshold is ``a / (a + b)``,
        never rounded up to 0 or 1, so that `decide` answers what is certain; it may lie outside
        [0, 1], and one answer is then always the cheaper. Otherwise it is

        - ``inf`` where ``a >= 0 >= b``: the positive answer is never cheaper;
        - ``-inf`` where ``a < 0 <= b``: the positive answer never costs more;
        - ``nan`` where ``a < 0 > b``: each wrong answer is cheaper than the right one, so no
          threshold exists; the positive answer is cheaper where p is *below* ``a / (a + b)``.

        The shape is (n_samples,), or () for constants.

        Examples
        --------
        >>> Costs(fp=50, fn=[20, 150], tp=50).thresholds().round(3).tolist()
        [2.5, 0.333]
        """
        binding.refuse_unless_signed(self._state)
        return pricing.thresholds(self._state)

    def second_thresholds(self) -> Floats:
        """Return the probability of the second class above which `decide` answers it.

        It is that of `thresholds` if the second class is the positive one, and does not ask which
        is: what models use, whose margins are those of the second class.
        """
        return pricing.second_thresholds(self._state)

    def decide(
        self, proba: ArrayLike, *, encoded: bool = False, regret: str | None = None
    ) -> NDArray[Any]:
        """Return the cheapest action of each row, shape (n_samples,).

        With two classes the positive one is answered exactly where its probability is above
        `thresholds`, strictly; where that is ``nan``, where it is strictly below ``a / (a + b)``.
        Otherwise the least `expected` cost decides.

        Parameters
        ----------
        proba : array-like of shape (n_samples, K)
            Class probabilities, in the columns that `expected` takes.
        encoded : bool, default=False
            Whether labels and actions are numbers, 0 .. K - 1 and 0 .. A - 1, in place of
            themselves.
        regret : "minimax" or None, default=None
            "minimax" takes the action whose largest regret within the ranges of uncertain prices
            is the least (see `regrets`), which is not the cheapest on average; None: the cheapest
            at their means.

        Examples
        --------
        >>> costs = Costs(fp=1, fn=3, positive="yes").bind(["no", "yes"])
        >>> costs.decide([[0.75, 0.25], [0.7, 0.3]]).tolist()
        ['no', 'yes']
        """
        s = self._state
        check_choice("regret", regret, (None, "minimax"))
        numbers = pricing.decide(s, proba) if regret is None else regretting.minimax(s, proba)
        return numbers if encoded else binding.labels_of_actions(s, numbers, encoded)

    def of_decisions(self, y: ArrayLike, predicted: ArrayLike, *, encoded: bool = False) -> Floats:
        """Return the cost of each row's decision, ``C[y, predicted]``, shape (n_samples,).

        Parameters
        ----------
        y, predicted : array-like of shape (n_samples,)
            True labels, and labels of the actions taken.
        encoded : bool, default=False
            Whether labels and actions are numbers, 0 .. K - 1 and 0 .. A - 1, in place of
            themselves.
        """
        both = (y, predicted) if self.is_square else (y,)
        costs = self._knowing(encoded, *both)
        prices = costs.of_labels(y, encoded=encoded)
        taken = binding.numbers_of_actions(costs._state, predicted, encoded)
        return pricing.paid(prices, taken, "predicted")

    def total(
        self,
        y: ArrayLike,
        predicted: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        encoded: bool = False,
    ) -> float:
        """Return the total cost of the decisions, the weighted sum of `of_decisions`.

        Parameters
        ----------
        y, predicted, sample_weight : array-like of shape (n_samples,)
            True labels, labels of the actions taken, and weights of the rows.
        encoded : bool, default=False
            Whether labels and actions are numbers, 0 .. K - 1 and 0 .. A - 1, in place of
            themselves.

        Examples
        --------
        >>> Costs(fp=1, fn=10, positive="yes").total(["no", "yes", "yes"], ["yes", "yes", "no"])
        11.0
        """
        paid = self.of_decisions(y, predicted, encoded=encoded)
        return float(np.sum(read_weights(sample_weight, paid.size) * paid))

    def cheapest_constant(
        self, y: ArrayLike, sample_weight: ArrayLike | None = None, *, encoded: bool = False
    ) -> tuple[Any, float]:
        """Return the one action that is cheapest when taken for every row, and its total cost.

        Parameters
        ----------
        y, sample_weight : array-like of shape (n_samples,)
            True labels, and weights of the rows.
        encoded : bool, default=False
            Whether labels and actions are numbers, 0 .. K - 1 and 0 .. A - 1, in place of
            themselves.

        Examples
        --------
        >>> Costs(fp=1, fn=10).bind([0, 1]).cheapest_constant([0, 0, 0, 1])
        (1, 3.0)
        """
        s = self._knowing(encoded, y)._state
        numbers = binding.numbers_of_labels(s, y, encoded)
        weights = read_weights(sample_weight, numbers.size)
        best, cost = pricing.cheapest_constant(s, numbers, weights)
        return binding.labels_of_actions(s, best, encoded).tolist()[0], cost

    # Shown

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
        return text.to_frame(self._state)

    def describe(self, X: Any = None) -> str:
        """Return the costs in words: one line for every price that is not zero.

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
        state = self._state if X is None else binding.bind_table(self._state, X)
        return text.in_words(state)

    def warn_if_reversed(self) -> None:
        """Warn where the right answer to a class costs more than any other in all rows.

        For the costs of many rows, such as those of ``fit``: of a single row it says nothing.
        """
        found = text.costly_right_answers(self._state)
        if found and not text.looks_reversed(self._state):  # of which their maker was warned
            warn_caller(text.reversed_warning(found))


def as_costs(
    value: Any,
    classes: ArrayLike | None = None,
    n_samples: int | None = None,
    table: Any = None,
) -> Costs:
    """Turn every accepted form of costs into a `Costs`: the one entry that estimators use.

    Parameters
    ----------
    value : None, dict, array-like of shape (K, K), or Costs
        None: every mistake costs 1. A dict holds the arguments of `Costs`, such as
        ``{"fp": 1, "fn": 10}``. A square array is ``C[true, predicted]``; it may stand for labels
        that are numbers, in their order, or say the same in any order. Other labels are named:
        ``Costs.from_matrix(C, classes=...)``, or a data frame with labels on both sides.
    classes : array-like of shape (K,), default=None
        If given, the costs are bound to these labels; see `Costs.bind`.
    n_samples : int, default=None
        How many rows the data have, checked together with `classes`.
    table : DataFrame or array of shape (n_samples, n_features), default=None
        If given, columns are read from it; see `Costs.bind_table`.

    Examples
    --------
    >>> as_costs({"fp": 1, "fn": 10, "positive": "no"}, classes=["no", "yes"])
    Costs(fp=1, fn=10, positive='no')
    """
    return Costs.check(value, classes, n_samples, table)


class _RowsByLabel:
    """``costs.loc``: rows by the labels of their index, as pandas finds them."""

    def __init__(self, rows: Costs) -> None:
        self._rows = rows

    def __getitem__(self, labels: Any) -> Any:
        rows = self._rows
        index = rows._state.index
        if rows.n_rows is None:
            return rows
        if index is None:
            raise IndexError(
                "These costs have no index, so their rows have no names: cut them by position, "
                "costs[rows], or make them from Series of the table."
            )
        import pandas as pd  # an index is there, so pandas is

        return rows[np.atleast_1d(pd.Series(np.arange(len(index)), index=index).loc[labels])]


def _warned(state: State) -> State:
    """Return the state; warn if it is constant and looks as if benefits were given as costs."""
    if text.looks_reversed(state):
        warn_caller(text.reversed_warning(text.costly_right_answers(state)))
    return state
