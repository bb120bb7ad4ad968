"""What each mistake costs: every accepted form becomes one canonical form, ``C[true, action]``.

A ``Costs`` is immutable, its arrays are read-only, and it is no more than a `State` (drawn in
`costboost.costs.state`) that is cut like an array (`costboost.costs.rows`), shows its cells
(`costboost.costs.faces`) and is made in several ways (`costboost.costs.makers`); every other method
calls a pure function of it.

Boundary convention: a tie goes to the action with the lowest index, except that of two classes the
positive one is answered only when its probability is strictly above the threshold.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs import binding, deferring, pricing, reading, tables
from costboost.costs.makers import Makers, undoubted
from costboost.costs.state import packed, unpacked
from costboost.inputs.arrays import FloatArray, read_weights
from costboost.inputs.checks import plain_labels

__all__ = ["Costs", "as_costs"]


class Costs(Makers):
    """What each decision costs, given the truth: ``C[true, action]``, constant or one per row.

    This constructor is for two classes; `from_matrix` takes any number of classes and actions,
    `of_rows` takes a price per row. `bind` ties costs to the labels of a data set; what needs
    labels (`of_labels`, `of_errors`, `decide`, `total` ...) works on bound costs. With
    ``encoded=True`` methods take and return numbers, 0 .. K - 1 or 0 .. A - 1, instead of labels.

    Per-row costs are cut by row like an array, so scikit-learn's splitters and meta-estimators
    give each fold its own rows; constant costs have one row, are not cut, and pass whole. So do
    costs by column: they are read from the table wherever it is given (``fit``, ``predict``,
    ``score``, scorers, cross-validation), and never need to be cut.

    Parameters
    ----------
    fp, fn : float, array-like of shape (n_samples,), str or callable
        Cost of a false positive (a negative row answered positive) and of a false negative.
        A number holds for every row. Prices per row must all have the same length: nothing is
        broadcast from length 1; the index of a pandas Series is remembered, and must be that of
        the table. A string names a column of the table, a function is given the table and returns
        one price per row, each of its own row only; see `bind_table`. An `expression` is such a
        function that can be written down, ``expression("0.75 * amount + 20")``.
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

    __slots__ = ()

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
        self._state = undoubted(reading.read_binary(fp, fn, tp, tn, positive, benefits))

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
            costs = cls._of(undoubted(reading.read_value(value)))
        costs = costs if table is None else costs.bind_table(table)
        return costs if classes is None else costs.bind(classes, n_samples)

    def __getstate__(self) -> dict[str, Any]:
        # A plain dictionary: pickle and skops both write it, and read it into __setstate__.
        return packed(self._state)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._state = unpacked(state)

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
        bound = tables.bind_table(self._state, X)
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
        return self._of(deferring.with_defer(self._state, price, action))

    def of_labels(self, y: ArrayLike, *, encoded: bool = False) -> FloatArray:
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

    def of_class(self, k: int) -> tuple[FloatArray, ...]:
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
    ) -> FloatArray:
        """Return the price of getting each row wrong, shape (n_samples,).

        A wrong answer costs its price less that of the right one, ``C[y, a] - C[y, y]``, and
        nothing where that is negative. With two classes there is one wrong answer. With more, the
        mean over the wrong answers is taken (the Average Cost weights of Margineantu 2001), or the
        largest (his MaxCost).

        Where the right answer is dearer than a wrong one, methods that train on costs aim at the
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

    def expected(self, proba: ArrayLike) -> FloatArray:
        """Return the expected cost of each action, shape (n_samples, A): ``sum_k p(k) C[k, a]``.

        Parameters
        ----------
        proba : array-like of shape (n_samples, K)
            Class probabilities, columns in the order of the classes; unbound two-class costs take
            (negative, positive).

        Examples
        --------
        >>> Costs(fp=1, fn=10).expected([[0.75, 0.25]]).tolist()
        [[2.5, 0.75]]
        """
        return pricing.expected(self._state, proba)

    def thresholds(self) -> FloatArray:
        """Return the probability of the positive class above which it is the cheaper answer.

        Elkan (2001), for the full matrix: with ``a = C_FP - C_TN``, the extra cost of a wrong
        positive, and ``b = C_FN - C_TP``, that of a wrong negative, the positive answer is cheaper
        if and only if ``p (a + b) > a``. Where ``a + b > 0`` the threshold is ``a / (a + b)``,
        never rounded up to 0 or 1, so that `decide` answers what is certain; it may lie outside
        [0, 1], and one answer is then always the cheaper. Otherwise it is

        - ``inf`` where ``a >= 0 >= b``: the positive answer is never cheaper;
        - ``-inf`` where ``a < 0 <= b``: the positive answer is never dearer;
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

    def second_thresholds(self) -> FloatArray:
        """Return the probability of the second class above which `decide` answers it.

        It is that of `thresholds` if the second class is the positive one, and does not ask which
        is: what models use, whose margins are those of the second class.
        """
        return pricing.second_thresholds(self._state)

    def decide(self, proba: ArrayLike, *, encoded: bool = False) -> NDArray[Any]:
        """Return the cheapest action of each row, shape (n_samples,).

        With two classes the positive one is answered exactly where its probability is above
        `thresholds`, strictly; where that is ``nan``, where it is strictly below ``a / (a + b)``.
        Otherwise the least `expected` cost decides.

        Parameters
        ----------
        proba : array-like of shape (n_samples, K)
            Class probabilities, columns in the order of the classes.
        encoded : bool, default=False
            Whether labels and actions are numbers, 0 .. K - 1 and 0 .. A - 1, in place of
            themselves.

        Examples
        --------
        >>> costs = Costs(fp=1, fn=3, positive="yes").bind(["no", "yes"])
        >>> costs.decide([[0.75, 0.25], [0.7, 0.3]]).tolist()
        ['no', 'yes']
        """
        s = self._state
        return binding.labels_of_actions(s, pricing.decide(s, proba), encoded)

    def of_decisions(
        self, y: ArrayLike, predicted: ArrayLike, *, encoded: bool = False
    ) -> FloatArray:
        """Return what each row's decision cost, ``C[y, predicted]``, shape (n_samples,).

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
        """Return what the decisions cost altogether, the weighted sum of `of_decisions`.

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
        ``{"fp": 1, "fn": 10}``. A square array is ``C[true, predicted]``, in sorted class order;
        a data frame with labels on both sides is read by them.
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
