"""Hard inputs, for every method: no NaN, no stray warning, no silent model without rounds.

Warnings are errors here as everywhere; the one that is allowed, that no round could be taken, is
asked for where it belongs.
"""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from costboost import CostBoostClassifier, Costs
from costboost.boosting.adaboost.rules import RULES
from naive.rules import METHODS, METHODS_K

ROWS = 120


def problem(seed=0, n=ROWS, noise=0.15):
    """(X, y): one informative column, labels turned round with probability `noise`."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] > 0).astype(int)
    return X, np.where(rng.uniform(size=n) < noise, 1 - y, y)


def spread(low, high, n=ROWS, seed=0):
    return 10.0 ** np.random.default_rng(seed).uniform(low, high, n)


def check(method, X, y, costs=None, sample_weight=None, *, new=None, **options):
    """Fit and look at everything that can be looked at; return the model."""
    options = {"n_estimators": 6, "calibration": None, "random_state": 0, **options}
    model = CostBoostClassifier(method, **options)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model.fit(X, y, sample_weight, costs)
    said = [str(warning.message) for warning in said]
    early = [message for message in said if "rounds: under its weights" in message]
    none = [message for message in said if "could not take a single step" in message]
    assert len(early) + len(none) == len(said), said
    alone = [model.n_iter_] if model.calibration is None else [len(m) for m in model._model.members]
    assert len(none) == alone.count(0)
    assert len(early) <= (options["n_estimators"] >= 20 and min(alone) <= model.n_estimators / 10)
    for table in (X, X if new is None else new):
        proba = model.predict_proba(table)
        assert np.isfinite(proba).all()
        assert np.all(proba >= 0)
        assert_allclose(proba.sum(axis=1), 1)
        assert np.isfinite(model.decision_function(table)).all()
        decided = model.predict(table, **_prices(model, table))
        assert set(decided) <= set(model.classes_)
    for name in ("estimator_weights_", "estimator_errors_", "normalizers_", "train_cost_"):
        series = getattr(model, name)
        for values in series if isinstance(series, list) else [series]:
            assert np.isfinite(values).all()
    if model.calibration is None:
        assert np.all(model.normalizers_ > 0)
        assert np.all((model.estimator_errors_ >= 0) & (model.estimator_errors_ <= 1))
        assert np.all(model.train_cost_ >= 0)
        if hasattr(model, "cost_bound_"):
            assert np.all(model.train_cost_ <= model.cost_bound_ * (1 + 1e-9))
    return model


def _prices(model, table):
    """Prices to predict by, where the training's were one per row (else ``predict`` warns)."""
    if model.costs_per_row_ and model._decides_by_costs():
        return {"costs": Costs(fp=1, fn=1)} if len(model.classes_) == 2 else {"costs": None}
    return {}


# ---------------------------------------------------------------- costs


@pytest.mark.parametrize("calibration", [None, "sigmoid"])
@pytest.mark.parametrize("ratio", [1, 10, 100, 1000, 10_000, 1e-4])
@pytest.mark.parametrize("method", METHODS)
def test_cost_ratios(method, ratio, calibration):
    X, y = problem()
    for depth in (1, 3):
        check(method, X, y, Costs(fp=1, fn=ratio), max_depth=depth, calibration=calibration, cv=3)


@pytest.mark.parametrize("unit", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("method", METHODS)
def test_units_of_cost(method, unit):
    """Tiny and huge units of money give the model of ordinary ones."""
    X, y = problem(1)
    fn = np.random.default_rng(1).uniform(0.5, 1, len(y))
    for price in (1.0, fn):
        one = check(method, X, y, Costs(fp=0.75, fn=price), max_depth=2)
        other = check(method, X, y, Costs(fp=0.75 * unit, fn=price * unit), max_depth=2)
        assert one.n_iter_ == other.n_iter_
        assert_allclose(one.estimator_weights_, other.estimator_weights_, rtol=1e-9)
        assert_allclose(one.train_cost_ * unit, other.train_cost_, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_costs_many_orders_apart(method):
    X, y = problem(2)
    check(method, X, y, Costs.of_rows(spread(-6, 6)))
    check(method, X, y, Costs.of_rows(spread(-300, 300)))
    check(method, X, y, Costs(fp=1e-300, fn=1e300))
    check(method, X, y, Costs(fp=1e300, fn=1e-300))


@pytest.mark.parametrize("method", METHODS)
def test_free_mistakes(method):
    X, y = problem(3)
    check(method, X, y, Costs(fp=0, fn=1))
    check(method, X, y, Costs(fp=1, fn=0))
    check(method, X, y, Costs(fp=1, fn=np.where(np.arange(ROWS) < 100, 0.0, 1.0)))


@pytest.mark.parametrize("method", METHODS)
def test_right_answers_dearer_than_wrong_ones(method):
    """An investigation of 50 for a fraud of 1 to 100: cheap frauds are better left alone."""
    X, y = problem(4)
    amount = np.random.default_rng(4).uniform(1, 100, ROWS)
    costs = Costs(fp=50, fn=amount, tp=50)
    model = check(method, X, y, costs, max_depth=2)
    if RULES[method].trains_on_costs and model.n_iter_:
        assert model.predict(X).mean() < y.mean()


@pytest.mark.parametrize("method", METHODS_K)
def test_many_classes(method):
    X, y = problem(5)
    y = y + (X[:, 1] > 0.8)
    C = np.array([[0.0, 1, 10], [1, 0, 10_000], [100, 1, 0]])
    for costs in (None, C, 1e295 * C, 1e-300 * C):
        check(method, X, y, costs)
    check(method, X, y, None, spread(-300, 300))
    check(method, X, y, C, estimator=DecisionTreeClassifier(max_depth=2))
    check(method, X[y != 1], y[y != 1] * 7, None)  # two of three classes
    if RULES[method].decision == "sign":
        check(method, X, y, Costs.from_matrix(C[None] * spread(-6, 6)[:, None, None]))


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("method", METHODS)
def test_weights(method):
    X, y = problem(6)
    costs = Costs(fp=1, fn=1.5)
    plain = check(method, X, y, costs)
    for unit in (1e-300, 1e-10, 1e10, 1e300):
        other = check(method, X, y, costs, np.full(ROWS, unit))
        assert_allclose(other.estimator_weights_, plain.estimator_weights_, rtol=1e-9)
        assert_array_equal(other.predict(X), plain.predict(X))
    check(method, X, y, costs, spread(-300, 300))
    check(method, X, y, Costs(fp=1, fn=1 + spread(-3, 0)), spread(-300, 300))


@pytest.mark.parametrize("method", METHODS)
def test_rows_of_weight_zero_are_as_good_as_absent(method):
    X, y = problem(7)
    weights = np.where(np.arange(ROWS) % 3 == 0, 0.0, 1.0)
    kept = weights > 0
    one = check(method, X, y, Costs(fp=1, fn=1.5), weights, max_depth=2)
    other = check(method, X[kept], y[kept], Costs(fp=1, fn=1.5), max_depth=2)
    assert_array_equal(one.estimator_weights_, other.estimator_weights_)
    assert_array_equal(one.decision_function(X[kept]), other.decision_function(X[kept]))


@pytest.mark.parametrize("votes", ["discrete", "confidence", "real", "gentle"])
@pytest.mark.parametrize("estimator", [DecisionTreeClassifier(max_depth=1), LogisticRegression()])
@pytest.mark.parametrize("method", ["adaboost", "cgada", "asymada", "adamec"])
def test_outside_learners(method, estimator, votes):
    X, y = problem(8)
    options = {"estimator": estimator, "votes": votes}
    check(method, X, y, Costs(fp=1, fn=1000), **options)
    check(method, X, y, Costs(fp=1, fn=1 + spread(-3, 3)), np.full(ROWS, 1e300), **options)
    check(method, X, (X[:, 0] > 0).astype(int), Costs(fp=1, fn=100), **options)


# ---------------------------------------------------------------- tables


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("method", METHODS)
def test_separable_data_end_with_a_perfect_learner(method, kind):
    X, y = problem(9, noise=0)
    fn = 5.0 if kind == "constant" else np.random.default_rng(9).uniform(1, 5, ROWS)
    model = check(method, X, y, Costs(fp=1, fn=fn))
    if method != "adacost":  # whose c = 1 leaves no room at a right answer: Z falls for ever
        assert model.n_iter_ == 1
    assert_array_equal(model.predict(X, **_prices(model, X)), y)
    assert model.train_cost_[-1] == 0


@pytest.mark.parametrize("noise", [0.02, 0.3, 0.5])
@pytest.mark.parametrize("method", METHODS)
def test_label_noise_and_many_rounds(method, noise):
    X, y = problem(10, noise=noise)
    check(method, X, y, Costs(fp=1, fn=30), n_estimators=100, max_depth=4)
    check(method, X, y, Costs(fp=1, fn=1.2), n_estimators=100, max_depth=1)


@pytest.mark.parametrize("method", METHODS)
def test_one_informative_row(method):
    X, y = np.zeros((ROWS, 2)), np.zeros(ROWS, dtype=int)
    X[17, 0] = y[17] = 1
    model = check(method, X, y, Costs(fp=1, fn=5))
    assert_array_equal(model.predict(X), y)


@pytest.mark.parametrize("calibration", [None, "sigmoid"])
@pytest.mark.parametrize("method", METHODS)
def test_tables_that_tell_nothing(method, calibration):
    """Constant columns, missing ones, and a class that is rare."""
    _, y = problem(11)
    for X in (np.ones((ROWS, 2)), np.full((ROWS, 1), np.nan)):
        for labels in (y, np.arange(ROWS) % 2, (np.arange(ROWS) < 6).astype(int)):
            model = check(method, X, labels, Costs(fp=1, fn=5), calibration=calibration, cv=3)
            assert len(set(model.predict(X))) == 1


@pytest.mark.parametrize("method", METHODS)
def test_zero_rounds_are_explained_and_answer_the_cheapest_constant(method):
    y = np.arange(ROWS) % 2  # equal classes, nothing to tell them apart: no learner beats chance
    model = CostBoostClassifier(method, 5, calibration=None)
    with pytest.warns(UserWarning, match=f"method='{method}' could not take a single step") as said:
        model.fit(np.ones((ROWS, 1)), y, costs=Costs(fp=1, fn=1))
    assert "Try" in str(said[0].message)
    assert said[0].filename == __file__  # the warning points at the user's own line
    assert model.n_iter_ == 0
    assert len(model.estimator_weights_) == len(model.train_cost_) == 0
    assert set(model.predict(np.ones((3, 1)))) == {0}
    assert list(model.staged_predict(np.ones((3, 1)))) == []


def test_the_constant_answer_is_the_cheapest():
    X, y = problem(12, noise=0.5)
    for fp, fn, answer in ((1, 3, 1), (3, 1, 0)):
        model = CostBoostClassifier("adacost", max_depth=1, calibration=None, cost_scale=1.0)
        with pytest.warns(UserWarning, match="smaller cost_scale"):
            model.fit(X, y, costs=Costs(fp=fp, fn=fn))
        assert set(model.predict(X)) == {answer}


@pytest.mark.parametrize("method", METHODS)
def test_missing_infinite_and_huge_values(method):
    X, y = problem(13)
    holes = np.where(np.random.default_rng(13).uniform(size=X.shape) < 0.3, np.nan, X)
    empty = np.column_stack([X, np.full(ROWS, np.nan)])
    new = np.full((4, 3), np.nan)
    check(method, holes, y, new=new)
    check(method, empty, y, new=empty[:3])
    check(method, X * 1e300, y, new=new)
    check(method, np.where(X > 1, np.inf, np.where(X < -1, -np.inf, X)), y, new=X)
    check(method, sp.csr_matrix(np.where(X > 0.5, X, 0)), y, new=sp.csc_matrix(X))


@pytest.mark.parametrize("method", METHODS)
def test_categories_seen_and_unseen(method):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(14)
    colour = rng.choice(["red", "green", "blue"], ROWS)
    y = np.where(rng.uniform(size=ROWS) < 0.8, colour == "red", colour != "red").astype(int)
    X = pd.DataFrame({"colour": pd.Categorical(colour), "size": rng.normal(size=ROWS)})
    new = pd.DataFrame(
        {"colour": pd.Categorical(["mauve", None, "red"]), "size": [np.nan, 0.0, 1e9]}
    )
    model = check(method, X, y, Costs(fp=1, fn=1.2), new=new)
    assert model.predict(new.iloc[2:])[0] == 1
    text = X.astype({"colour": object})
    again = check(method, text, y, Costs(fp=1, fn=1.2))
    assert_array_equal(again.decision_function(text), model.decision_function(X))


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((0, 2)), [], "0 sample"),
        (np.zeros((4, 0)), [0, 1, 0, 1], "0 feature"),
        (np.zeros((1, 2)), [1], "1 class only, 1"),
        (np.zeros((4, 2)), ["no"] * 4, "1 class only, 'no'"),
        (np.zeros((4, 2)) + 1j, [0, 1, 0, 1], "[Cc]omplex"),
        (np.zeros((4, 2)), [0, 1, 0], "inconsistent"),
        (np.zeros((4, 2)), [0, 1, np.nan, 1], "NaN"),
        (np.zeros((4, 2)), [0.1, 0.2, 0.3, 0.4], "Unknown label type"),
        (np.zeros(4), [0, 1, 0, 1], "Expected 2D"),
        (np.zeros((2, 2, 2)), [0, 1], "3"),
    ],
    ids=str,
)
@pytest.mark.parametrize("method", ["auto", "adacost", "csada"])
def test_tables_that_are_refused(method, X, y, message):
    with pytest.raises(ValueError, match=message):
        CostBoostClassifier(method).fit(X, y)


@pytest.mark.parametrize("shape", [(0, 2), (3, 0)])
def test_empty_frames_are_refused(shape):
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame(np.zeros(shape), columns=[f"x{j}" for j in range(shape[1])])
    with pytest.raises(ValueError, match=r"0 sample|0 feature"):
        CostBoostClassifier("adaboost").fit(X, np.arange(shape[0]) % 2)
    model = CostBoostClassifier("adaboost", 2).fit(
        pd.DataFrame({"x0": [0, 1], "x1": [1, 0]}), [0, 1]
    )
    if shape == (0, 2):
        with pytest.raises(ValueError, match="0 sample"):
            model.predict(X)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.full(ROWS, -1.0), "negative"),
        (np.full(ROWS, np.nan), "NaN|nan|finite"),
        (np.full(ROWS, np.inf), "inf|finite"),
        (np.zeros(ROWS), "zero|positive"),
        (np.ones(3), "3"),
        ((np.arange(ROWS) == 0).astype(float), "two classes"),
    ],
    ids=["negative", "nan", "inf", "zero", "short", "one-class"],
)
def test_weights_that_are_refused(weights, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        CostBoostClassifier("adaboost").fit(X, y, weights)


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        (Costs(fp=1, fn=np.ones(3)), "3"),
        ({"fp": 1}, "fn"),
        (np.zeros((3, 3)) + 1, "3"),
        ("dear", "costs"),
    ],
    ids=["short", "half", "three-classes", "text"],
)
def test_costs_that_are_refused(costs, message):
    X, y = problem()
    with pytest.raises((ValueError, TypeError), match=message):
        CostBoostClassifier("adaboost").fit(X, y, costs=costs)
