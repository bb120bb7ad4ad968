"""What each mistake costs: every accepted form becomes one canonical form, ``C[true, action]``.

A ``Costs`` is immutable, its arrays are read-only, and it is no more than a `State` (drawn in
`costboost.costs.state`) that is cut like an array (`costboost.costs.rows`); every other method
calls a pure function of it.

Boundary convention: a tie goes to the action with the lowest index, except that of two classes the
positive one is answered only when its probability is strictly above the threshold.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from costboost.costs import binding, pricing, reading
from costboost.costs.rows import Rows
from costboost.costs.state import State, frozen
from costboost.inputs.arrays import FloatArray, read_weights

__all__ = ["Costs", "as_costs"]


class Costs(Rows):
    """What each decision costs, given the truth: ``C[true, action]``, constant or one per row.

    This constructor is for two classes; `from_matrix` takes any number of classes and actions,
    `of_rows` takes a price per row. `bind` ties costs to the labels of a data set; what needs
    labels (`of_labels`, `of_errors`, `decide`, `total` ...) works on bound costs. With
    ``encoded=True`` methods take and return codes, 0 .. K - 1 or 0 .. A - 1, instead of labels.

    Per-row costs are cut by row like an array, so scikit-learn's splitters and meta-estimators
    give each fold its own rows; constant costs have one row, are not cut, and pass whole.

    Parameters
    ----------
    fp, fn : float or array-like of shape (n_samples,)
        Cost of a false positive (a negative row answered positive) and of a false negative.
        Scalars hold for every row. Prices per row must all have the same length: nothing is
        broadcast from length 1. Series and data frames are read by position.
    tp, tn : float or array-like of shape (n_samples,), default=0
        Cost of the two correct answers. They may exceed the cost of the wrong ones (an
        investigation that costs more than the fraud); see `cheapest_labels`.
    positive : label, default=None
        The class that a positive decision means. None is the last of the sorted classes.
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
    """

    __slots__ = ()

    def __init__(
        self,
        fp: ArrayLike,
        fn: ArrayLike,
        tp: ArrayLike = 0,
        tn: ArrayLike = 0,
        *,
        positive: Any = None,
        benefits: bool = False,
    ) -> None:
        self._state = reading.read_binary(fp, fn, tp, tn, positive, benefits)

    @classmethod
    def from_matrix(
        cls,
        C: ArrayLike,
        *,
        classes: ArrayLike | None = None,
        actions: ArrayLike | None = None,
        benefits: bool = False,
    ) -> Costs:
        """Take a whole cost matrix, ``C[true, action]``, constant or one per row.

        Parameters
        ----------
        C : array-like of shape (K, K), (K, A) or (n_samples, K, A)
            Rows are the truth, columns the decision. Two dimensions always mean constant costs;
            if they differ, `classes` is required, because prices of shape (n_samples, K), which
            belong to `of_rows`, look the same. Labels of a data frame are not read.
        classes : array-like of shape (K,), default=None
            The class of each row of C. With it the costs survive a fold that lacks a class; without
            it the rows must be in the order of the labels' sorted classes, all of them.
        actions : array-like of shape (A,), default=None
            The decision that each column of C means. None: the classes if C is square, else
            0 .. A - 1. Actions that are the classes in another order are sorted into theirs.
        benefits : bool, default=False
            Allow negative costs.

        Examples
        --------
        >>> C, actions = [[0, 1, 6], [30, 2, 0]], ["approve", "review", "no"]
        >>> loan = Costs.from_matrix(C, classes=["good", "bad"], actions=actions)
        >>> loan.decide([[0.99, 0.01], [0.9, 0.1], [0.1, 0.9]]).tolist()
        ['approve', 'review', 'no']
        """
        return cls._of(reading.read_matrix(C, classes, actions, benefits))

    @classmethod
    def of_rows(cls, c: ArrayLike, *, classes: ArrayLike | None = None) -> Costs:
        """Take the price of each training row, rather than a matrix.

        Parameters
        ----------
        c : array-like of shape (n_samples,) or (n_samples, K)
            The price of getting row i wrong, whatever the wrong answer; or the price of each
            answer for row i (Lozano and Abe's C_x,y). The latter contains the truth, so `expected`,
            `decide` and `thresholds` refuse it.
        classes : array-like of shape (K,), default=None
            The class of each column; as in `from_matrix`.

        Examples
        --------
        >>> Costs.of_rows([1, 20, 3]).bind(["a", "b"]).of_labels(["a", "b", "a"]).tolist()
        [[0.0, 1.0], [20.0, 0.0], [0.0, 3.0]]
        """
        return cls._of(reading.read_rows(c, classes))

    @classmethod
    def check(
        cls, value: Any, classes: ArrayLike | None = None, n_samples: int | None = None
    ) -> Costs:
        """Turn every accepted form into a ``Costs``; see `as_costs`."""
        costs = value if isinstance(value, Costs) else cls._of(reading.read_value(value))
        return costs if classes is None else costs.bind(classes, n_samples)

    def __getstate__(self) -> dict[str, Any]:
        # A plain dictionary: pickle and skops both write it, and read it into __setstate__.
        return self._state._asdict()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._state = frozen(State(**state))

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

    def of_labels(self, y: ArrayLike, *, encoded: bool = False) -> FloatArray:
        """Return the price of each action for each row, a new array of shape (n_samples, A).

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            True labels.
        """
        s = self._knowing(encoded, y)._state
        return pricing.of_labels(s, binding.codes_of_labels(s, y, encoded))

    def _knowing(self, encoded: bool, *labels: ArrayLike) -> Costs:
        """Return these costs, bound to the labels that occur if they know none yet."""
        if encoded or self._state.classes is not None:
            return self
        return self.bind(np.unique(np.concatenate([np.asarray(part) for part in labels])))

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
        codes = binding.codes_of_labels(s, y, encoded)
        right = codes if target is None else binding.codes_of_labels(s, target, encoded)
        return pricing.of_misses(pricing.of_labels(s, codes), right, how)

    def cheapest_labels(self, y: ArrayLike, *, encoded: bool = False) -> NDArray[Any]:
        """Return the label that is cheapest to answer for each row: what training aims at.

        It is the true label where no other is cheaper.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            True labels.
        """
        s = self._knowing(encoded, y)._state
        binding.refuse_unless_square(s, "cheapest_labels")
        codes = binding.codes_of_labels(s, y, encoded)
        best = pricing.cheapest_labels(pricing.of_labels(s, codes), codes)
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
        return self._of(pricing.mean(self._state, read_weights(sample_weight, len(self)), y))

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
        if and only if ``p (a + b) > a``. Where ``a + b > 0`` the threshold is ``a / (a + b)``; it
        may lie outside [0, 1], and one answer is then always the cheaper. Otherwise it is

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
        return pricing.thresholds(self._state)

    def decide(self, proba: ArrayLike, *, encoded: bool = False) -> NDArray[Any]:
        """Return the cheapest action of each row, shape (n_samples,).

        With two classes the positive one is answered exactly where its probability is above
        `thresholds`, strictly; where that is ``nan``, where it is strictly below ``a / (a + b)``.
        Otherwise the least `expected` cost decides.

        Parameters
        ----------
        proba : array-like of shape (n_samples, K)
            Class probabilities, columns in the order of the classes.

        Examples
        --------
        >>> Costs(fp=1, fn=3).bind(["no", "yes"]).decide([[0.75, 0.25], [0.7, 0.3]]).tolist()
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
        """
        both = (y, predicted) if self.is_square else (y,)
        costs = self._knowing(encoded, *both)
        prices = costs.of_labels(y, encoded=encoded)
        taken = binding.codes_of_actions(costs._state, predicted, encoded)
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

        Examples
        --------
        >>> Costs(fp=1, fn=10).total(["no", "yes", "yes"], ["yes", "yes", "no"])
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

        Examples
        --------
        >>> Costs(fp=1, fn=10).bind([0, 1]).cheapest_constant([0, 0, 0, 1])
        (1, 3.0)
        """
        s = self._knowing(encoded, y)._state
        codes = binding.codes_of_labels(s, y, encoded)
        best, cost = pricing.cheapest_constant(s, codes, read_weights(sample_weight, codes.size))
        return binding.labels_of_actions(s, best, encoded).tolist()[0], cost


def as_costs(value: Any, classes: ArrayLike | None = None, n_samples: int | None = None) -> Costs:
    """Turn every accepted form of costs into a `Costs`: the one entry that estimators use.

    Parameters
    ----------
    value : None, dict, array-like of shape (K, K), or Costs
        None: every mistake costs 1. A dict holds the arguments of `Costs`, such as
        ``{"fp": 1, "fn": 10}``. A square array is ``C[true, predicted]``, in sorted class order.
    classes : array-like of shape (K,), default=None
        If given, the costs are bound to these labels; see `Costs.bind`.
    n_samples : int, default=None
        How many rows the data have, checked together with `classes`.

    Examples
    --------
    >>> as_costs({"fp": 1, "fn": 10}, classes=["no", "yes"])
    Costs(fp=1, fn=10, positive='yes')
    """
    return Costs.check(value, classes, n_samples)
