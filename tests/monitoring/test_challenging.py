"""`challenge`: bills by hand, when it pays, when to wait, what it learns from, what it refuses."""

import numpy as np
import pytest

from costboost import Costs, GradientBoostClassifier
from costboost.monitoring import challenge


def rows(n, seed, *, turned=False):
    """Rows of which one column says which class is likely, and the other nothing."""
    rng = np.random.RandomState(seed)
    X = rng.uniform(size=(n, 2))
    y = (rng.uniform(size=n) < np.where(X[:, 0] > 0.5, 0.8, 0.1)).astype(int)
    if turned:
        X[:, 0] = 1 - X[:, 0]
    return X, y


@pytest.fixture(scope="module")
def old():
    return GradientBoostClassifier(n_estimators=20, random_state=0).fit(*rows(1000, 0))


def test_it_pays_where_a_column_means_something_else(old):
    X, y = rows(1200, 1, turned=True)
    price = np.random.RandomState(5).lognormal(2, 1, 1200)
    day = np.arange(1200) // 10
    found = challenge(old, X, y, time=day, costs=Costs(fp=4, fn=price), label_delay=7)
    assert found.advice == "replace"
    # By hand: 120 days, of which the last 30 judge; a week before them is not known yet.
    assert found.judged.tolist() == list(range(900, 1200))
    assert found.learnt.tolist() == list(range(830))
    model = GradientBoostClassifier(n_estimators=20, random_state=0)
    model.fit(X[:830], y[:830], costs=Costs(fp=4, fn=price[:830]))
    late = slice(900, 1200)
    paid = []
    for one in (old, model):
        p = one.predict_proba(X[late])[:, 1]
        acts = p * price[late] > (1 - p) * 4
        paid.append(np.where(acts, 4.0 * (y[late] == 0), price[late] * y[late]))
    saved = paid[0] - paid[1]
    assert found.saved.total == pytest.approx(saved.sum())
    assert 0 < found.saved.low < found.saved.total < found.saved.high
    assert found.swap.total.n_rows == np.count_nonzero(found.swap.old != found.swap.new)
    half = (found.saved.high - found.saved.low) / 2
    needed = max((half / saved.sum()) ** 2, 30 / found.swap.total.n_rows) * 300
    assert found.rows_needed == np.ceil(needed)
    back = challenge(found.model, X, y, time=day, costs=Costs(fp=4, fn=price), challenger=old)
    assert back.advice == "wait"  # both have learnt the same


def test_one_that_is_worse_is_not_taken(old):
    X, y = rows(1200, 3)
    turned = rows(1200, 3, turned=True)[0]
    mixed = np.concatenate([turned[:900], X[900:]])
    found = challenge(old, mixed, y, time=np.arange(1200), costs={"fp": 4, "fn": 9})
    assert found.advice == "keep"
    assert found.saved.high < 0


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_wait_where_nothing_has_changed(old, seed):
    X, y = rows(800, seed)
    found = challenge(old, X, y, time=np.arange(800), costs={"fp": 4, "fn": 9})
    assert found.advice == "wait"
    assert found.rows_needed is None or found.rows_needed > len(found.judged)


def test_wait_where_few_rows_are_decided_differently(old):
    X, y = rows(100, 1, turned=True)
    found = challenge(old, X, y, time=np.arange(100), costs={"fp": 4, "fn": 9})
    assert found.saved.low > 0
    assert found.swap.total.n_rows < 30
    assert found.advice == "wait"
    assert found.rows_needed >= 25 * 30 / found.swap.total.n_rows


def test_costs_of_the_old_model_are_taken_and_labels_may_have_any_order():
    X, y = rows(600, 1)
    text = np.where(y == 1, "a fraud", "not")
    costs = {"fp": 1, "fn": 20, "positive": "a fraud"}
    old = GradientBoostClassifier(n_estimators=5, random_state=0).fit(X, text, costs=costs)
    X, y = rows(600, 2, turned=True)
    order = np.random.RandomState(0).permutation(600)  # rows need not be in the order of time
    text = np.where(y == 1, "a fraud", "not")
    own = challenge(old, X, text, time=np.arange(600))
    told = challenge(old, X[order], text[order], time=np.arange(600)[order], costs=costs)
    assert own.saved.total == pytest.approx(told.saved.total)
    assert sorted(order[told.judged]) == own.judged.tolist()


def test_columns_of_frames_are_prices(old):
    pd = pytest.importorskip("pandas")
    X, y = rows(600, 1)
    frame = pd.DataFrame(X, columns=["one", "amount"]).assign(amount=lambda f: 100 * f["amount"])
    model = GradientBoostClassifier(n_estimators=5, random_state=0).fit(frame, y)
    by_name = challenge(model, frame, y, time=np.arange(600), costs={"fp": 9, "fn": "amount"})
    amount = frame["amount"].to_numpy()
    by_row = challenge(model, frame, y, time=np.arange(600), costs=Costs(fp=9, fn=amount))
    assert by_name.saved == by_row.saved
    assert by_name.model.costs_.needs_table
    assert len(by_name.model.predict(frame)) == 600


X, Y = rows(100, 1)
GOOD = {"X": X, "y": Y, "time": np.arange(100)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"holdout": 0}, "holdout"),
        ({"holdout": 1.5}, "holdout"),
        ({"y": np.where(Y == 1, 1.0, np.nan)}, "y is missing in row"),
        ({"y": np.zeros(100, dtype=int)}, "no row to learn from has the label 1"),
        ({"y": np.where(np.arange(100) < 75, Y, 0)}, "no row to judge by has the label 1"),
        ({"y": Y[:90]}, "time has 100 rows and y 90"),
        ({"time": np.zeros(100)}, "no row had a known label"),
        ({"label_delay": "400D"}, "a shorter gap or label_delay"),
        ({"old": GradientBoostClassifier()}, "no fitted classifier"),
        ({"old": "model.cb"}, "no fitted classifier"),
    ],
)
def test_what_is_refused(old, change, message):
    given = {"old": old, **GOOD, **change}
    with pytest.raises(ValueError, match=message):
        challenge(given.pop("old"), given.pop("X"), given.pop("y"), **given)


def test_prices_of_other_rows_are_not_taken():
    prices = Costs(fp=1, fn=np.arange(1.0, 101.0))
    old = GradientBoostClassifier(n_estimators=2).fit(X, Y, costs=prices)
    with pytest.raises(ValueError, match="costs of other rows: give costs"):
        challenge(old, X, Y, time=np.arange(100))
