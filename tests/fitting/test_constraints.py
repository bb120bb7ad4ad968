"""Constraints hold for every built-in tree, by name or position; what cannot hold is refused."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression

from costboost import (
    CostBoostClassifier,
    Costs,
    GradientBoostClassifier,
    GradientBoostRegressor,
    PNormBoostClassifier,
)
from costboost.boosting.adaboost.rules import RULES
from costboost.trees.tree import Interactions, make_interactions

METHODS = sorted(name for name, rule in RULES.items() if not rule.negative_steps)


def table(seed=0, n=250):
    """The first column matters without order, the others as they please; some values miss."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    y = np.sin(3 * X[:, 0]) + 0.4 * X[:, 0] + X[:, 1] * X[:, 2] + 0.4 * rng.normal(size=n)
    X[rng.random(X.shape) < 0.08] = np.nan
    return X, y


def answer_of(model):
    return getattr(model, "decision_function", None) or getattr(model, "predict", model)


def steps_along(model, X, column, n_rows=40):
    """Return how the answer moves along a grid of one column, all others as they are."""
    answer = answer_of(model)
    grid = np.linspace(-3.5, 3.5, 90)
    tracks = []
    for value in grid:
        moved = X[:n_rows].copy()
        moved[:, column] = value
        tracks.append(answer(moved))
    return np.array([after - before for before, after in pairwise(tracks)])


def holds(model, X, ways, exact=True):
    """Assert that the answer goes the way it must; the columns that are free go both ways."""
    for column, way in ways.items():
        steps = way * steps_along(model, X, column)
        assert steps.min() >= (0.0 if exact else -1e-12)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("max_depth", [1, 3])
def test_every_method_keeps_the_order(method, max_depth):
    X, y = table()
    ways = {0: 1, 3: -1}
    options = {"n_estimators": 12, "max_depth": max_depth, "calibration": None, "random_state": 0}
    model = CostBoostClassifier(method, monotonic_cst=ways, **options)
    holds(model.fit(X, y > 0, costs=Costs(fp=1, fn=2)), X, ways)
    free = CostBoostClassifier(method, **options).fit(X, y > 0, costs=Costs(fp=1, fn=2))
    if max_depth == 3 and free.n_iter_ > 3:
        assert steps_along(free, X, 0).min() < 0.0  # or the test could not fail


@pytest.mark.parametrize("votes", ["discrete", "confidence", "real", "gentle"])
@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
@given(seed=st.integers(0, 10**6), way=st.sampled_from([-1, 1]), laplace=st.booleans())
@settings(max_examples=6, deadline=None)
def test_every_kind_of_votes_keeps_the_order(votes, criterion, seed, way, laplace):
    X, y = table(seed)
    model = CostBoostClassifier(
        "adaboost",
        8,
        max_depth=None,
        max_leaf_nodes=9,
        votes=votes,
        criterion=criterion,
        laplace=laplace and votes != "discrete",
        subsample=0.8,
        max_features=3,
        monotonic_cst={0: way, 2: -way},
        random_state=seed,
    )
    holds(model.fit(X, y > 0), X, {0: way, 2: -way})


def test_the_recipe_keeps_the_order():
    X, y = table(n=400)
    model = CostBoostClassifier(n_estimators=40, monotonic_cst=[1, 0, 0, 0], random_state=0)
    model.fit(X, y > 0)
    for ensemble in model._model.members:
        holds(lambda rows, one=ensemble: one.margins(rows)[:, 0], X, {0: 1}, exact=False)
    holds(model, X, {0: 1}, exact=False)
    holds(lambda rows: model.predict_proba(rows)[:, 1], X, {0: 1}, exact=False)


@given(seed=st.integers(0, 10**6), way=st.sampled_from([-1, 1]))
@settings(max_examples=8, deadline=None)
def test_gradient_boosting_keeps_the_order(seed, way):
    X, y = table(seed)
    ways = {0: way, 3: -way}
    options = {"n_estimators": 8, "min_samples_leaf": 4, "monotonic_cst": ways}
    holds(GradientBoostClassifier(**options).fit(X, y > 0), X, ways, exact=False)
    holds(GradientBoostRegressor(**options).fit(X, y), X, ways, exact=False)
    holds(GradientBoostRegressor("absolute", **options).fit(X, y), X, ways, exact=False)


def test_free_columns_change_nothing():
    X, y = table()
    for make in (
        lambda **k: CostBoostClassifier("adaboost", 10, calibration=None, **k),
        lambda **k: GradientBoostClassifier(n_estimators=10, **k),
    ):
        free = make().fit(X, y > 0).decision_function(X)
        for given_ways in ([0, 0, 0, 0], {}, {1: 0}):
            model = make(monotonic_cst=given_ways).fit(X, y > 0)
            np.testing.assert_array_equal(model.decision_function(X), free)
        whole = make(interaction_cst=[[0, 1, 2, 3]]).fit(X, y > 0)
        np.testing.assert_array_equal(whole.decision_function(X), free)


def test_names_and_positions_are_the_same():
    X, y = table()
    frame = pd.DataFrame(X, columns=list("abcd"))
    results = [
        CostBoostClassifier("adaboost", 8, monotonic_cst=ways, interaction_cst=groups)
        .fit(frame, y > 0)
        .decision_function(frame)
        for ways, groups in (
            ({"a": 1, "d": -1}, [["a", "b"], ["c"]]),
            ({0: 1, 3: -1}, [[0, 1], [2]]),
            ([1, 0, 0, -1], [{"a", "b"}, {2}]),
        )
    ]
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


def test_shards_do_not_matter():
    X, y = table(n=20_000)
    options = {"n_estimators": 4, "max_depth": 4, "monotonic_cst": {0: 1}, "calibration": None}
    one, two = (
        CostBoostClassifier("adaboost", n_jobs=jobs, interaction_cst="pairwise", **options)
        .fit(X, y > 0)
        .decision_function(X)
        for jobs in (1, 3)
    )
    np.testing.assert_array_equal(one, two)


# --- interactions


def paths(model):
    """Return the sets of columns on the paths of all trees."""
    found = set()
    for _, tree in model.to_frame().groupby(["model", "tree"]):
        nodes = tree.set_index("node")
        pending = [(0, frozenset())]
        while pending:
            node, seen = pending.pop()
            row = nodes.loc[node]
            if pd.isna(row["column"]):
                found.add(seen)
                continue
            seen = seen | {int(row["column"][1:])}
            pending += [(int(row["left"]), seen), (int(row["right"]), seen)]
    return found


ESTIMATORS = [
    lambda **k: CostBoostClassifier("adaboost", 10, max_depth=4, calibration=None, **k),
    lambda **k: CostBoostClassifier(n_estimators=10, random_state=0, **k),
    lambda **k: CostBoostClassifier("adac2", 10, max_depth=4, max_features=2, **k),
    lambda **k: GradientBoostClassifier(n_estimators=10, max_features=0.7, **k),
    lambda **k: PNormBoostClassifier(n_estimators=5, max_features=3, **k),
]


@pytest.mark.parametrize("make", ESTIMATORS)
@pytest.mark.parametrize(
    ("given", "groups"),
    [
        ([[0, 1], [2, 3]], [{0, 1}, {2, 3}]),
        ([[0, 1], [1, 2]], [{0, 1}, {1, 2}, {3}]),
        ([[2]], [{2}, {0, 1, 3}]),
        ("pairwise", [{a, b} for a in range(4) for b in range(a)]),
        ("no_interactions", [{0}, {1}, {2}, {3}]),
    ],
)
def test_only_columns_of_a_group_meet(make, given, groups):
    X, y = table()
    model = make(interaction_cst=given).fit(X, y > 0)
    for path in paths(model):
        assert any(path <= group for group in groups)


def test_without_interactions_margins_are_sums_of_functions_of_one_column():
    X, y = table()
    X = np.nan_to_num(X)
    model = GradientBoostClassifier(n_estimators=20, interaction_cst="no_interactions")
    model.fit(X, y > 0)
    one, other = X[:20], X[20:40]
    mixed, rest = one.copy(), other.copy()
    mixed[:, 1], rest[:, 1] = other[:, 1], one[:, 1]
    f = model.decision_function
    np.testing.assert_allclose(f(one) + f(other), f(mixed) + f(rest), atol=1e-12)
    free = GradientBoostClassifier(n_estimators=20).fit(X, y > 0).decision_function
    assert np.abs(free(one) + free(other) - free(mixed) - free(rest)).max() > 0.1


@given(seed=st.integers(0, 10**6))
@settings(max_examples=50, deadline=None)
def test_allowed_columns_by_their_definition(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 7))
    groups = [set(rng.choice(d, size=int(rng.integers(1, d + 1))).tolist()) for _ in range(3)]
    rule = make_interactions(d, groups)
    every = [*groups, set(range(d)) - set().union(*groups)]
    path = frozenset(rng.choice(sorted(groups[0]), size=int(rng.integers(0, 3))).tolist())
    expected = {j for j in range(d) if any(path | {j} <= group for group in every)}
    assert set(rule.allowed(path).tolist()) == expected
    assert Interactions(d, most=1).allowed(frozenset({0})).tolist() == [0]


# --- refusals


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"monotonic_cst": {"zip": 1}}, "'zip', which X does not have"),
        ({"monotonic_cst": {"kind": 1}}, "'kind', whose categories have no order"),
        ({"monotonic_cst": {"a": 2}}, "2 of column 'a'"),
        ({"monotonic_cst": {"a": True}}, "True of column 'a'"),
        ({"monotonic_cst": [1, 0]}, "each of the 3 columns"),
        ({"monotonic_cst": [0, "up", 0]}, "'up' of column 'b'"),
        ({"interaction_cst": [["a", "zip"]]}, "'zip', which X does not have"),
        ({"interaction_cst": [[7]]}, "7, which X does not have"),
        ({"interaction_cst": ["ab"]}, "list of groups"),
        ({"interaction_cst": [[]]}, "empty group"),
        ({"interaction_cst": "all"}, "'all' is not known"),
    ],
)
@pytest.mark.parametrize(
    "make",
    [
        lambda **k: CostBoostClassifier("adaboost", 3, **k),
        lambda **k: CostBoostClassifier(n_estimators=10, **k),
        lambda **k: GradientBoostClassifier(n_estimators=3, **k),
        lambda **k: GradientBoostRegressor(n_estimators=3, **k),
    ],
)
def test_what_cannot_be_kept_is_refused_by_name(make, options, said):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    X["kind"] = pd.Categorical(rng.choice(["u", "v"], 60))
    with pytest.raises(ValueError, match=said):
        make(**options).fit(X, np.arange(60) % 2)


def test_constraints_need_two_classes_steps_forward_and_own_trees():
    X, y = table()
    for model in (
        CostBoostClassifier("adaboost", 3, monotonic_cst={1: 1}),
        GradientBoostClassifier(n_estimators=3, monotonic_cst={1: 1}),
    ):
        with pytest.raises(ValueError, match="rise with column 1"):
            model.fit(X, np.digitize(y, [-0.5, 0.5]))
    with pytest.raises(ValueError, match="negative steps"):
        CostBoostClassifier("gradient-csb", 3, monotonic_cst={1: 1}).fit(X, y > 0)
    for options in ({"monotonic_cst": {1: 1}}, {"interaction_cst": "pairwise"}):
        with pytest.raises(ValueError, match="estimator=LogisticRegression was given"):
            CostBoostClassifier("adaboost", 3, LogisticRegression(), **options).fit(X, y > 0)


def test_a_warm_start_keeps_its_constraints():
    X, y = table()
    model = GradientBoostClassifier(n_estimators=3, warm_start=True, monotonic_cst={0: 1})
    model.fit(X, y > 0)
    model.set_params(n_estimators=5, monotonic_cst={0: -1})
    with pytest.raises(ValueError, match="monotonic_cst"):
        model.fit(X, y > 0)


def loans(names, n=400):
    """Return a frame in which income matters both ways, and labels by these names, bad first."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"Income": rng.normal(size=n), "Age": rng.normal(size=n)})
    risk = -0.6 * X["Income"] + 1.5 * np.sin(3 * X["Income"]) + X["Age"]
    return X, np.where(risk + 0.5 * rng.normal(size=n) > 0, *names)


def told(how, names):
    """Return prices that call the first name positive, said in several ways."""
    bad, good = names
    table = [[0, 8], [1, 0]]  # true bad, called good: 8
    return {
        "by name": Costs(fp=1, fn=8, positive=bad),
        "dict": {"fp": 1, "fn": 8, "positive": bad},
        "by column": Costs(fp=1, fn=lambda X: 8.0 + 0.0 * X["Age"], positive=bad),
        "matrix": Costs.from_matrix(table, classes=[bad, good], positive=bad),
    }[how]


@pytest.mark.parametrize("names", [("bad", "good"), ("worse", "fine"), (0, 1), (1, 0), (7, 9)])
@pytest.mark.parametrize("how", ["by name", "dict", "by column", "matrix"])
@pytest.mark.parametrize("where", ["constructor", "fit"])
def test_constraints_are_about_the_positive_class(names, how, where):
    X, y = loans(names)
    costs, way = told(how, names), {"Income": -1}
    options = {"n_estimators": 15, "max_depth": 3, "random_state": 0}
    if where == "constructor":
        options, given = {**options, "costs": costs}, {}
    else:
        given = {"costs": costs}
    makers = [
        lambda **more: CostBoostClassifier(**more, **options),
        lambda **more: CostBoostClassifier("csb2", calibration=None, **more, **options),
        lambda **more: CostBoostClassifier("adamec", **more, **options),
        lambda **more: GradientBoostClassifier(**more, **options),
        lambda **more: GradientBoostClassifier("cost-exponential", **more, **options),
    ]
    for make in makers[:: 1 if how == "by name" else 3]:
        model = make(monotonic_cst=way).fit(X, y, **given)
        free = make().fit(X, y, **given)
        at = model.classes_.tolist().index(names[0])
        chance = np.array([_chances_along(m, X, at) for m in (model, free)])
        assert np.diff(chance[0], axis=0).max() <= 1e-12  # P(bad) never rises with income
        assert np.diff(chance[0], axis=0).min() < 0.0
        assert np.diff(chance[1], axis=0).max() > 0.0  # or the test could not fail


def _chances_along(model, X, at):
    rows = []
    for income in np.linspace(-2.5, 2.5, 60):
        rows.append(model.predict_proba(X[:20].assign(Income=income))[:, at])
    return np.array(rows)


def test_without_a_positive_class_constraints_are_about_the_second():
    X, y = loans(("bad", "good"))
    unsaid = Costs.from_matrix([[0, 8], [1, 0]], classes=["bad", "good"])
    for costs in (None, unsaid):
        model = GradientBoostClassifier(n_estimators=15, monotonic_cst={"Income": -1}, costs=costs)
        assert np.diff(_chances_along(model.fit(X, y), X, 1), axis=0).max() <= 1e-12


def test_a_warm_start_refuses_another_positive_class():
    X, y = loans(("bad", "good"))
    model = CostBoostClassifier(
        "adaboost", 3, calibration=None, warm_start=True, monotonic_cst={"Income": -1}
    )
    model.fit(X, y, costs=Costs(fp=1, fn=1, positive="bad"))
    model.set_params(n_estimators=5).fit(X, y, costs=Costs(fp=1, fn=1, positive="bad"))
    with pytest.raises(ValueError, match="another monotonic_cst"):
        model.set_params(n_estimators=6).fit(X, y, costs=Costs(fp=1, fn=1, positive="good"))
