"""What rows need of the columns that have prices: paths followed one node at a time."""

import numpy as np
import pandas as pd
import pytest

import costboost
from costboost import (
    CostBoostClassifier,
    Costs,
    FeatureCosts,
    GradientBoostClassifier,
    ParquetTable,
    PNormBoostClassifier,
)

N = 400
# Named methods without a column to split on say that they took no step.
pytestmark = pytest.mark.filterwarnings("ignore:.*(single step|best constant answer)")
PRICES = {"a": 0.5, "g": {"columns": {"b": 0.2, "c": 0.3}, "cost": 0.1}, "f": np.inf}
COSTS = Costs(fp=10, fn=20)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 9, (N, 6)).astype(float), columns=list("abcdef"))
    y = (((X.a + X.b > 8) | (X.c > 7)) ^ (rng.random(N) < 0.03)).astype(int)
    X.iloc[::7, 1] = np.nan
    return X, y.to_numpy()


def needed(model, X, tests):
    """Return what each row pays, by walking down every tree of a model in Python."""
    codes = model._model.encode(X)
    bought = [set() for _ in range(len(X))]
    for forest in model._model.forests:
        for t in range(len(forest)):
            tree, values = forest.tree(t), X.to_numpy()
            for i in range(len(codes)):
                node = 0
                while tree.left[node] >= 0:
                    j = tree.feature[node]
                    bought[i] |= {int(tests.test_of[j])} - {-1}
                    value = values[i, j]
                    left = (
                        tree.missing_left[node]
                        if np.isnan(value)
                        else value <= tree.threshold[node]
                    )
                    node = int(tree.left[node] if left else tree.right[node])
    asked = np.array([[t in one for t in range(len(tests))] for one in bought])
    return tests.cost(asked)


@pytest.mark.parametrize(
    "model",
    [
        CostBoostClassifier("adaboost", n_estimators=8, max_depth=2, feature_costs=PRICES),
        CostBoostClassifier(n_estimators=20, feature_costs=PRICES, random_state=0),
        GradientBoostClassifier(n_estimators=5, feature_costs=PRICES, min_samples_leaf=5),
    ],
)
def test_rows_pay_for_their_paths(table, model):
    X, y = table
    model.fit(X, y, costs=COSTS)
    got = model.test_cost(X)
    assert got == pytest.approx(needed(model, X, model.feature_costs_))
    assert 5 not in np.concatenate([f.used_features for f in model._model.forests])
    # Other prices: what the same paths would cost.
    dearer = {"a": 1, "g": {"columns": {"b": 0.4, "c": 0.6}, "cost": 0.2}, "f": np.inf}
    assert model.test_cost(X, dearer) == pytest.approx(2 * got)


def test_a_model_that_pays_shares_the_price_among_its_rows(table):
    X, y = table
    prices = FeatureCosts({"a": N * 0.5, "d": N * 40.0}, pay="model")
    model = CostBoostClassifier("adaboost", n_estimators=5, feature_costs=prices)
    weights = np.full(N, 2.0)
    model.fit(X, y, costs=COSTS)
    assert model.test_cost(X[:3]).tolist() == [0.5] * 3
    model.fit(X, y, costs=COSTS, sample_weight=weights)  # twice as many rows share it
    assert model.test_cost(X[:3]).tolist() == [0.25] * 3


def test_prices_are_asked_for(table):
    X, y = table
    model = CostBoostClassifier("adaboost", n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match=r"trained without feature_costs.*Give feature_costs="):
        model.test_cost(X)
    with pytest.raises(ValueError, match="names column 'z'"):
        model.test_cost(X, {"z": 1})
    assert model.test_cost(X, {"f": 0}).tolist() == [0.0] * N
    pnorm = PNormBoostClassifier(n_estimators=2).fit(X, y)
    assert pnorm.test_cost(X, [1, 1, 1, 1, 1, 1]).max() <= 6.0


METHODS = {
    "named": lambda **more: CostBoostClassifier("adacost", n_estimators=6, **more),
    "recipe": lambda **more: CostBoostClassifier(n_estimators=12, random_state=0, **more),
    "gradient": lambda **more: GradientBoostClassifier(
        n_estimators=6, subsample=0.7, random_state=0, **more
    ),
}


@pytest.mark.parametrize("make", METHODS.values(), ids=METHODS)
def test_the_same_model_for_free_columns_any_unit_and_wherever_rows_are(table, make, tmp_path):
    X, y = table
    margins = lambda model: model.decision_function(X)  # noqa: E731
    free = make(feature_costs=dict.fromkeys("abcdef", 0)).fit(X, y, costs=COSTS)
    assert np.array_equal(margins(free), margins(make().fit(X, y, costs=COSTS)))
    model = make(feature_costs=PRICES, n_jobs=1).fit(X, y, costs=COSTS)
    assert model.test_cost(X).max() > 0
    # All prices times a power of two: exactly the same numbers, in another unit.
    units = {"a": 4.0, "g": {"columns": {"b": 1.6, "c": 2.4}, "cost": 0.8}, "f": np.inf}
    other = make(feature_costs=units).fit(X, y, costs=Costs(fp=80, fn=160))
    assert np.array_equal(margins(other), margins(model))
    assert other.test_cost(X) == pytest.approx(8 * model.test_cost(X))
    X.assign(y=y).to_parquet(tmp_path / "rows.parquet", row_group_size=64)
    rows = ParquetTable(tmp_path / "rows.parquet", "y", cache=tmp_path / "cache", part_rows=90)
    spread = make(feature_costs=PRICES, n_jobs=2).fit(rows, costs=COSTS)
    assert np.array_equal(margins(spread), margins(model))
    costboost.save(model, tmp_path / "model.costboost")
    loaded = costboost.load(tmp_path / "model.costboost")
    assert np.array_equal(loaded.test_cost(X), model.test_cost(X))
    assert loaded.get_params()["feature_costs"] == PRICES


@pytest.mark.parametrize("make", METHODS.values(), ids=METHODS)
def test_a_column_of_infinite_price_is_as_good_as_absent(table, make):
    X, y = table
    prices = {"a": np.inf, "e": np.inf}
    model = make(feature_costs=prices, max_features=None).fit(X, y, costs=COSTS)
    absent = make(max_features=None).fit(X.drop(columns=["a", "e"]), y, costs=COSTS)
    assert np.array_equal(
        model.decision_function(X), absent.decision_function(X.drop(columns=["a", "e"]))
    )
    everything = make(feature_costs=[np.inf] * 6).fit(X, y, costs=COSTS)
    assert len(np.unique(everything.predict_proba(X)[:, 1])) == 1


def test_prices_decide_what_is_bought(table):
    """From free to beyond all that mistakes cost, rows pay for less and less of the columns."""
    X, y = table
    for make in METHODS.values():
        shares = []
        for price in (0.01, 2.0, 100.0):
            model = make(feature_costs=dict.fromkeys("abcdef", price)).fit(X, y, costs=COSTS)
            shares.append(model.test_cost(X).mean() / price)
        assert shares[0] >= shares[1] >= shares[2] == 0.0
        assert shares[0] > 1.0


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (CostBoostClassifier("csada", max_depth=1), "chooses a stump and its step together"),
        (GradientBoostClassifier("exponential"), "Use loss='log'"),
        (GradientBoostClassifier("expected-cost"), "Use loss='log'"),
        (GradientBoostClassifier(step="line-search"), "step='newton'"),
        (GradientBoostClassifier(init=CostBoostClassifier("adaboost")), "reads all columns"),
        (CostBoostClassifier("adaboost", estimator=CostBoostClassifier()), "the built-in tree"),
    ],
)
def test_what_cannot_pay_says_so(table, model, words):
    X, y = table
    model.set_params(feature_costs={"a": 1})
    with pytest.raises(ValueError, match=words):
        model.fit(X, y, costs=COSTS)


def test_a_warm_start_goes_on_with_what_is_paid(table):
    X, y = table
    model = CostBoostClassifier(
        "adaboost", n_estimators=4, feature_costs=PRICES, warm_start=True, max_depth=2
    ).fit(X, y, costs=COSTS)
    model.set_params(n_estimators=9).fit(X, y, costs=COSTS)
    whole = CostBoostClassifier("adaboost", n_estimators=9, feature_costs=PRICES, max_depth=2)
    assert np.array_equal(
        model.decision_function(X), whole.fit(X, y, costs=COSTS).decision_function(X)
    )


def test_what_a_test_saves_is_counted_in_money(table):
    X, y = table
    prices = {"a": 0.5, "g": {"columns": {"b": 0.2, "c": 0.3}, "cost": 0.1}, "e": 0.1}
    model = CostBoostClassifier("adamec", n_estimators=8, random_state=0).fit(X, y, costs=COSTS)
    found = {one.name: one for one in model.test_savings(X, y, feature_costs=prices)}
    assert set(found) == {"a", "b", "c", "e"}
    asked = model.test_cost(X, {"a": 1.0}).mean()
    assert found["a"].price == pytest.approx(0.5 * asked)
    assert found["a"].per_price == pytest.approx(found["a"].saves / found["a"].price)
    assert found["a"].saves > found["e"].saves > -0.5
    order = [one.per_price for one in found.values() if one.price > 0]
    assert order == sorted(order, reverse=True)
    # One shuffle, by hand.
    (once,) = model.test_savings(X, y, feature_costs={"a": 1}, n_repeats=1, random_state=3)
    shuffled = X.assign(a=X.a.to_numpy()[np.random.RandomState(3).permutation(N)])
    more = [COSTS.bind([0, 1]).total(y, model.predict(table)) / N for table in (shuffled, X)]
    assert once.saves == pytest.approx(more[0] - more[1])
