"""What columns a row needs, what they cost, and which to ask for next.

The methods of classifiers about prices of columns. Which columns a row needs is read from the paths
of its trees, test by test; what is worth asking is judged in `sequential`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from costboost.costs import ColumnTests, Costs, as_feature_costs
from costboost.decisions.sequential import Asking, NextTest, PolicyRun, PricedTest, run_policy
from costboost.inputs.arrays import find_column, is_missing
from costboost.inputs.checks import (
    answers_tables,
    check_choice,
    check_number,
    check_table,
    count_threads,
)
from costboost.model import FittedModel
from costboost.runtime.machine import need
from costboost.trees.forest import Forest
from costboost.trees.walking import find_leaves
from costboost.typing import Codes, Floats, Indices

Bools = NDArray[np.bool_]
_PLACE = "number of the row"
_CELLS = 1 << 20  # rows by trees that are walked at a time


def asked_by_node(forest: Forest, tests: ColumnTests) -> Bools:
    """Return which tests the path to each node of each tree asks for, (n_nodes, T)."""
    asked = np.zeros((len(forest.words), len(tests)), dtype=bool)
    starts = np.append(forest.roots, len(forest.words)).tolist()
    for t in range(len(forest)):
        tree, start = forest.tree(t), starts[t]
        for node in np.flatnonzero(tree.left >= 0).tolist():  # children stand after their parents
            below = asked[start + node].copy()
            test = int(tests.test_of[tree.feature[node]])
            if test >= 0:
                below[test] = True
            left = start + int(tree.left[node])
            asked[left] = asked[left + 1] = below
    return asked


def asked_tests(model: FittedModel, codes: Codes, tests: ColumnTests, n_threads: int = 1) -> Bools:
    """Return which tests the paths of binned rows ask for, in any tree, (n, T)."""
    asked = np.zeros((len(codes), len(tests)), dtype=bool)
    for forest in model.forests:
        if not len(forest):
            continue
        by_node = asked_by_node(forest, tests)
        step = max(1, _CELLS // len(forest))
        for begin in range(0, len(codes), step):
            rows = slice(begin, begin + step)
            nodes = np.empty((len(codes[rows]), len(forest)), dtype=np.int64)
            find_leaves(forest.nodes, 0, len(forest), codes[rows], nodes, n_threads)
            nodes += forest.roots
            for t in range(len(forest)):
                asked[rows] |= by_node[nodes[:, t]]
    return asked


class BoughtTest(NamedTuple):
    """What a test saves on rows whose truth is known.

    Attributes
    ----------
    name : str
    price : float
        What a row pays for it on average.
    saves : float
        By how much a row's mistakes cost less on average.

    Examples
    --------
    >>> BoughtTest("blood", price=20.0, saves=90.0).per_price
    4.5
    """

    name: str
    price: float
    saves: float

    @property
    def per_price(self) -> float:
        """What is saved for each unit of money that is paid; NaN where nothing is."""
        return self.saves / self.price if self.price > 0.0 else float("nan")


class ColumnCostsMixin:
    """What the columns that rows need cost, for models of built-in trees."""

    feature_costs_: ColumnTests | None
    n_features_in_: int
    n_jobs: int | None

    def _column_keys(self) -> list[Any]:
        """Return the names of the columns of the fit; their positions where they had none."""
        names = getattr(self, "feature_names_in_", None)
        return list(range(self.n_features_in_)) if names is None else [str(n) for n in names]

    def _column_tests(self, feature_costs: Any) -> ColumnTests:
        """Return the prices of columns that were given, or those of the fit."""
        if feature_costs is None:
            tests: ColumnTests | None = getattr(self, "feature_costs_", None)
            if tests is None:
                raise ValueError(
                    "This model was trained without feature_costs, so what its columns cost is "
                    'not known. Give feature_costs={"column": price, ...}.'
                )
            return tests
        given = as_feature_costs(feature_costs)
        assert given is not None
        fitted: ColumnTests | None = getattr(self, "feature_costs_", None)
        tests = given.bind(self._column_keys())
        return tests if fitted is None else tests.for_rows(fitted.rows)

    def _own_trees(self) -> FittedModel:
        """Return the model; raise where columns are read by something else than built-in trees."""
        model: FittedModel = self._fitted_model()  # type: ignore[attr-defined]
        plain = all(m.trees is not None and m.init is None for m in model.members)
        if not plain:
            raise ValueError(
                "The columns that a row needs are read from built-in trees, and this model has "
                "estimators of its own. Use estimator=None and init=None."
            )
        return model

    @answers_tables
    def test_cost(self, X: Any, feature_costs: Any = None) -> Floats:
        """Return what the columns that each row needs cost, (n_samples,).

        A row needs the columns on its paths through all trees; each is paid for once. Where the
        model pays (``pay="model"``) every row bears an equal share, that of a row of `fit`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        feature_costs : dict, array-like or FeatureCosts, default=None
            Other prices than those of the fit.

        Returns
        -------
        ndarray of shape (n_samples,)
            In the currency of the costs.
        """
        model = self._own_trees()
        tests = self._column_tests(feature_costs)
        X, n_threads = check_table(self, X, reset=False), count_threads(self.n_jobs)
        if tests.pay == "row":
            codes = model.encode(X, n_threads)
            assert codes is not None
            return tests.cost(asked_tests(model, codes, tests, n_threads))
        return np.full(X.shape[0], float(tests.cost(used_tests(model, tests))) / tests.rows)

    def test_savings(
        self,
        X: Any,
        y: Any,
        costs: Any = None,
        feature_costs: Any = None,
        *,
        sample_weight: Any = None,
        n_repeats: int = 10,
        random_state: Any = 0,
    ) -> tuple[BoughtTest, ...]:
        """Return what each test saves of what mistakes cost, and for how much.

        Its columns are shuffled among the rows, and decisions made again: what they then cost more
        is what the test saves, in money on the rows of y. Most is saved for the price first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        costs, feature_costs : prices to use instead of those of ``fit``
        sample_weight : array-like of shape (n_samples,), default=None
        n_repeats : int, default=10
            Shuffles, of which the mean is returned.
        random_state : int, RandomState or None, default=0

        Returns
        -------
        tuple of BoughtTest
        """
        check_number("n_repeats", n_repeats, low=1, whole=True)
        model, tests = self._own_trees(), self._column_tests(feature_costs)
        if model.decision != "cheapest":
            self._refuse_costs()  # type: ignore[attr-defined]
        codes = model.encode(check_table(self, X, reset=False), count_threads(self.n_jobs))
        assert codes is not None
        bound: Costs = self._decision_costs(costs, X)  # type: ignore[attr-defined]
        weight = float(len(codes) if sample_weight is None else np.sum(sample_weight))

        def mistakes(rows: Codes) -> float:
            decided = bound.decide(model.proba_to_price(model.margins(None, rows)))
            return bound.total(y, decided, sample_weight) / weight

        before, rng, found = mistakes(codes), check_random_state(random_state), []
        spent = asked_tests(model, codes, tests).mean(axis=0)
        for test, columns in enumerate(tests.columns):
            costs_after = []
            for _ in range(n_repeats):
                shuffled = codes.copy()
                shuffled[:, list(columns)] = codes[rng.permutation(len(codes))][:, list(columns)]
                costs_after.append(mistakes(shuffled))
            alone = tests.price_of(test, np.zeros(len(tests), dtype=bool))
            price = alone * float(spent[test])
            if tests.pay == "model":
                price = alone * float(spent[test] > 0.0) / tests.rows
            found.append(BoughtTest(tests.names[test], price, float(np.mean(costs_after)) - before))
        # Tests that no row pays for come last.
        rank = {one: one.per_price if one.price > 0.0 else -np.inf for one in found}
        return tuple(sorted(found, key=lambda one: -rank[one]))

    # --- what to ask next

    def _asking(self, feature_costs: Any, reference: Any, unknown: Any) -> Asking:
        check_choice("unknown", unknown, ("reference", "missing"))
        model = self._own_trees()
        if model.decision != "cheapest":
            self._refuse_costs()  # type: ignore[attr-defined]
        tests = self._column_tests(feature_costs)
        if reference is not None:
            X = check_table(self, reference, reset=False)
            codes = model.encode(X, count_threads(self.n_jobs))
        else:
            codes = getattr(self, "reference_codes_", None)
        if codes is None or not len(codes):
            raise ValueError(
                "What a column may say is read from rows that were trained on, and this model, "
                "fitted without feature_costs, keeps none. Give reference=, such as X_train, or "
                "fit with feature_costs."
            )
        return Asking(model, tests, codes, unknown)

    def _prices(self, costs: Any, X: Any, n_rows: int) -> Floats:
        """Return the prices of decisions for each row, (n, K, A)."""
        bound: Costs = self._decision_costs(costs, X)  # type: ignore[attr-defined]
        n_classes = len(self.classes_)  # type: ignore[attr-defined]
        certain = np.eye(n_classes)
        parts = [bound.expected(np.tile(one, (n_rows, 1))) for one in certain]
        return np.stack(parts, axis=1)

    def next_test(
        self,
        row: Any,
        costs: Any = None,
        feature_costs: Any = None,
        *,
        known: Any = None,
        reference: Any = None,
        unknown: str = "reference",
    ) -> NextTest:
        """Return what to do next with a row of which not all columns are known.

        Parameters
        ----------
        row : dict, or table of shape (1, n_features)
            A dict holds what is known; in a table missing values of columns with a price are not
            known. Free columns are known, if only to be missing.
        costs : None, dict, array-like of shape (K, K) or Costs, default=None
            Prices of mistakes to use instead of those of ``fit``.
        feature_costs : dict, array-like or FeatureCosts, default=None
            Prices of columns to use instead of those of ``fit``.
        known : list of columns, default=None
            The columns with a price that are known, by name or position, also if they are missing.
        reference : table, default=None
            Rows to draw unknown columns from; by default those that ``fit`` has kept.
        unknown : {"reference", "missing"}, default="reference"
            Whether columns that are not known are drawn from reference rows, or are missing values
            to the model: for one that was trained on rows `with_unknown_tests`, and knows what
            to make of each.

        Returns
        -------
        NextTest
            The best test to buy or None, the cheapest decision now and its expected cost, and what
            each test is expected to save.
        """
        asking = self._asking(feature_costs, reference, unknown)
        tests = asking.tests
        X, given = self._one_row(row, known)
        paid = [all(given[c] for c in columns) for columns in tests.columns]
        part = [any(given[c] for c in columns) for columns in tests.columns]
        if part != paid:
            torn = next(t for t in range(len(tests)) if part[t] != paid[t])
            raise ValueError(
                f"Test {tests.names[torn]!r} brings several columns, of which this row has some "
                "and lacks others. Give all of them (say with known= which are missing), or none."
            )
        codes = asking.model.encode(check_table(self, X, reset=False), 1)
        assert codes is not None
        prices, bought = self._prices(costs, X, 1)[0], np.array(paid, dtype=bool)
        proba, offers = asking.judge(codes[0], bought, prices)
        expected = proba @ prices
        test, gain = asking.choose(offers, float(np.abs(prices).max()))
        bound: Costs = self._decision_costs(costs, X)  # type: ignore[attr-defined]
        singles = [
            PricedTest(tests.names[offer.tests[0]], offer.price, offer.saves)
            for offer in offers
            if len(offer.tests) == 1
        ]
        assert bound.actions is not None
        return NextTest(
            best=None if test is None else tests.names[test],
            decision=bound.actions[expected.argmin()],
            expected_cost=float(expected.min()),
            tests=tuple(sorted(singles, key=lambda test: -test.gain)),
            gain=gain,
        )

    def _one_row(self, row: Any, known: Any) -> tuple[Any, Bools]:
        """Return a row as a table of all columns, and which of them are known."""
        listed = self._column_keys()
        X = row
        if isinstance(row, Mapping):
            values: list[Any] = [None] * len(listed)
            for key, value in row.items():
                values[find_column(key, listed, "row")] = value
            X = _as_table(values, listed, named=hasattr(self, "feature_names_in_"))
        frame = nw.from_native(X, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            cells = [frame[name].to_list() for name in frame.columns]
            n_rows = len(frame)
        else:
            X = np.atleast_2d(np.asarray(X))
            cells, n_rows = [list(column) for column in X.T], len(X)
        if n_rows != 1:
            raise ValueError(f"next_test is about one row, and was given {n_rows}.")
        given = np.array([not is_missing(column[0]) for column in cells], dtype=bool)
        if known is not None:
            given[:] = False
            given[[find_column(key, listed, "known") for key in known]] = True
        return X, given

    def sequential_policy(
        self,
        X: Any,
        costs: Any = None,
        feature_costs: Any = None,
        *,
        reference: Any = None,
        unknown: str = "reference",
    ) -> PolicyRun:
        """Ask for columns one test after the other, row by row, until deciding is the best.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            With all columns; each row sees what it has bought.
        costs, feature_costs, reference, unknown : see `next_test`

        Returns
        -------
        PolicyRun
            Decisions, the tests that each row bought, and what they cost.
        """
        asking = self._asking(feature_costs, reference, unknown)
        table = check_table(self, X, reset=False)
        codes = asking.model.encode(table, count_threads(self.n_jobs))
        assert codes is not None
        actions, bought, expected = run_policy(asking, codes, self._prices(costs, X, len(codes)))
        bound: Costs = self._decision_costs(costs, X)  # type: ignore[attr-defined]
        assert bound.actions is not None
        spent = asking.tests.cost(bought) / asking.share
        return PolicyRun(bound.actions[actions], asking.tests.names, bought, spent, expected)


def _as_table(values: list[Any], names: list[Any], *, named: bool) -> Any:
    """Return one row of values as a table: a frame where the columns have names."""
    cells = [np.nan if value is None else value for value in values]
    if not named:
        return np.array([cells], dtype=float)
    columns = {name: [cell] for name, cell in zip(names, cells, strict=True)}
    library = next((name for name in ("pandas", "polars") if find_spec(name)), "pandas")
    return need(library, "a row given as a dict").DataFrame(columns)


def with_unknown_tests(
    X: Any, feature_costs: Any, n_copies: int = 8, random_state: Any = 0
) -> tuple[Any, Indices]:
    """Return copies of rows in which some tests are unknown, to train a model that asks for them.

    One copy has all tests, one has none, and every other one a random number of random tests; the
    columns of the others are missing values. Train on the copies, with ``groups=rows``, so that
    those of one row are never both trained on and calibrated on, then ask with
    ``unknown="missing"``.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n, d)
    feature_costs : dict, array-like or FeatureCosts
    n_copies : int, default=8
        Of every row, at least 2.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    table : of the same kind, (n * n_copies, d)
    rows : ndarray of shape (n * n_copies,)
        The row that each copy is of; ``y[rows]`` are the labels, ``costs[rows]`` the prices.

    Examples
    --------
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> table, rows = with_unknown_tests(X, {1: 5.0}, n_copies=2)
    >>> rows.tolist()
    [0, 1, 2, 0, 1, 2]
    >>> table[:, 1].tolist()
    [1.0, 3.0, 5.0, nan, nan, nan]
    """
    check_number("n_copies", n_copies, low=2, whole=True)
    given = as_feature_costs(feature_costs)
    assert given is not None
    frame = nw.from_native(X, pass_through=True)
    is_frame = isinstance(frame, nw.DataFrame)
    table = X if is_frame else np.asarray(X)
    n = len(frame) if is_frame else len(table)
    tests = given.bind(frame.columns if is_frame else range(table.shape[1]))
    rng, rows = check_random_state(random_state), np.tile(np.arange(n), n_copies)
    # As many tests as drawn: those with the smallest random numbers.
    rank = rng.uniform(size=(n * n_copies, len(tests))).argsort(axis=1).argsort(axis=1)
    held = rng.randint(0, len(tests) + 1, size=n * n_copies)
    held[:n], held[n : 2 * n] = len(tests), 0
    unknown = np.zeros((n * n_copies, tests.n_features), dtype=bool)
    for test, columns in enumerate(tests.columns):
        unknown[:, list(columns)] = (rank[:, test] >= held)[:, None]
    if not is_frame:
        return np.where(unknown, np.nan, table[rows].astype(float)), rows
    place = nw.col(_PLACE)
    masked = [
        nw.when(place.is_in(np.flatnonzero(~unknown[:, j]).tolist())).then(nw.col(name)).alias(name)
        for j, name in enumerate(frame.columns)
        if unknown[:, j].any()
    ]
    taken = frame[rows.tolist()].with_row_index(_PLACE).with_columns(*masked)
    return taken.drop(_PLACE).to_native(), rows


def used_tests(model: FittedModel, tests: ColumnTests) -> Bools:
    """Return which tests any tree asks for, (T,)."""
    used = np.zeros(len(tests), dtype=bool)
    for forest in model.forests:
        found = tests.test_of[forest.used_features]
        used[found[found >= 0]] = True
    return used
