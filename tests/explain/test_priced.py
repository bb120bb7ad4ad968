"""Changes of columns that prices read: every one claimed turns `predict`, and no other does."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from costboost import Costs, GradientBoostClassifier
from costboost.costs import expression

AMOUNTS = pd.DataFrame({"amount": np.tile(np.arange(1.0, 21), 20)})


def amounts(costs):
    y = (AMOUNTS["amount"] <= 5).astype(int).to_numpy().copy()
    y[::7] = 1 - y[::7]
    return GradientBoostClassifier(n_estimators=20).fit(AMOUNTS, y, costs=costs)


def at(amount):
    return pd.DataFrame({"amount": [amount]})


def test_a_price_is_that_of_the_changed_row():
    # Below 5.5 a positive is likely, but what is missed there costs little.
    model = amounts(Costs(fp=3.5, fn="amount"))
    (change,) = model.explain(at(15.0)).changes
    assert change.to.startswith("at least 16.")
    assert model.predict(at(change.limit))[0] == change.decision == 1
    assert model.predict(at(np.nextafter(change.limit, 0)))[0] == 0
    grid = pd.DataFrame({"amount": np.linspace(14.0, 16.5, 5001)})
    assert not model.predict(grid).any()


@pytest.mark.parametrize("fp", [30, 0.1])
def test_values_that_training_has_not_seen_are_not_proposed(fp):
    model = amounts(Costs(fp=fp, fn="amount"))
    beyond = pd.DataFrame({"amount": np.geomspace(1e-3, 1e4, 500)})
    own = model.predict(at(15.0))[0]
    assert (model.predict(beyond) != own).any()  # at 145, or at .027; amounts are 1 to 20
    assert model.explain(at(15.0)).changes == ()
    constant = AMOUNTS.assign(fee=5.0)
    model = GradientBoostClassifier(n_estimators=5).fit(constant, np.arange(400) % 2)
    found = model.explain(constant.iloc[[14]], costs=Costs(fp="fee", fn=5)).changes
    assert "fee" not in {change.column for change in found}


def test_a_price_alone_turns_the_decision_within_a_bin():
    model = amounts(Costs(fp=2, fn="amount"))
    (change,) = model.explain(at(15.0)).changes
    assert change.to.startswith("at most 13.6")
    assert model.predict(at(change.limit))[0] == change.decision == 0
    assert model.predict(at(np.nextafter(change.limit, 20)))[0] == 1
    near = model.explain(at(14.2))
    assert (near.changes[0].limit, near.changes[0].distance) == (change.limit, 0.0)
    assert f"amount {change.to} (now 14.2): 0" in str(near)


def test_prices_given_as_values_stay_and_are_said_to():
    model = amounts(None)
    fixed = model.explain(at(15.0), costs=Costs(fp=30, fn=[15.0]))
    assert fixed.prices_stay
    assert str(fixed).endswith("prices given for this row stay as they are")
    (change,) = model.explain(at(15.0), costs=Costs(fp=3, fn=[15.0])).changes
    moved = model.predict(at(change.limit), costs=Costs(fp=3, fn=[15.0]))
    assert moved[0] == change.decision
    assert not model.explain(at(15.0), costs=Costs(fp=30, fn="amount")).prices_stay
    assert not model.explain(at(15.0), costs=Costs(fp=30, fn=15)).prices_stay
    # Beside a column, too: the one stays, the other is read again.
    both = Costs(fp=[3.5], fn="amount")
    (change,) = model.explain(at(15.0), costs=both).changes
    assert model.predict(at(change.limit), costs=both)[0] == change.decision


def test_a_column_that_no_tree_reads_may_turn_the_decision_by_its_price():
    X = AMOUNTS.assign(fee=np.tile([2.0, 3.0, 200.0, 300.0], 100))
    y = (X["amount"] <= 5).astype(int).to_numpy()
    model = GradientBoostClassifier(n_estimators=5, max_leaf_nodes=2).fit(X, y)
    for price in ("fee", lambda X: X["fee"], expression("fee + 0")):
        costs = Costs(fp=price, fn=4)
        seen = model.explain(X.iloc[[1]], costs=costs)  # positive, and dear to call so
        fee = {change.column: change for change in seen.changes}["fee"]
        assert model.predict(X.iloc[[1]].assign(fee=fee.limit), costs=costs)[0] == fee.decision
        assert fee.to.startswith("at least")


def test_what_is_missing_is_told_from_where_to_where():
    gap = np.append(np.tile(np.arange(10.0), 20), [np.nan] * 40)
    X = pd.DataFrame({"gap": gap})
    model = GradientBoostClassifier(n_estimators=10).fit(X, (gap >= 4).astype(int))
    costs = Costs(fp=expression("if(missing(gap), 1, max(30 - 5 * gap, 0))"), fn=1)
    (change,) = model.explain(X.iloc[[-1]], costs=costs).changes
    assert (change.decision, change.distance, change.to[:8]) == (1, 1.0, "at least")
    first, last = (float(part.split()[-1]) for part in change.to.split(" and "))
    assert last == change.limit == 5.5
    for value in (first, (first + last) / 2, last, change.limit):
        assert model.predict(pd.DataFrame({"gap": [value]}), costs=costs)[0] == 1
    lower = pd.DataFrame({"gap": np.linspace(0.0, first - 1e-5, 1000)})
    assert not model.predict(lower, costs=costs).any()


def test_a_narrow_stretch_for_a_missing_value_is_not_rounded_away():
    # Cheap from midway between two values seen to 1.000001: few digits would leave nothing.
    edge = (1.0 + 1.00000024) / 2
    gap = np.append(np.repeat([1.0, 1.00000024, 2.0], 80), [np.nan] * 40)
    y = ((np.nan_to_num(gap) < 2) ^ (np.arange(len(gap)) % 3 == 0)).astype(int)
    model = GradientBoostClassifier(n_estimators=2, max_leaf_nodes=2)
    model.fit(X := pd.DataFrame({"gap": gap}), y)
    cheap = lambda X: (X["gap"] > edge) & (X["gap"] <= 1.000001)  # noqa: E731
    costs = Costs(fp=lambda X: np.where(cheap(X), 1e-6, 1e6), fn=1)
    (change,) = model.explain(X.iloc[[-1]], costs=costs).changes
    (low_word, low), (high_word, high) = (p.rsplit(" ", 1) for p in change.to.split(" and "))
    assert (change.decision, low_word, high_word) == (1, "above", "at most")
    assert edge <= float(low) < float(high) <= 1.000001
    inside = pd.DataFrame({"gap": [np.nextafter(float(low), 2.0), float(high)]})
    assert model.predict(inside, costs=costs).tolist() == [1, 1]


def test_whole_numbers_and_truths_are_changed_to_such():
    X = pd.DataFrame({"qty": np.tile(np.arange(12), 30), "vip": np.arange(360) % 5 == 0})
    y = (np.arange(360) % 3 == 0).astype(int)
    model = GradientBoostClassifier(n_estimators=5, min_samples_leaf=5).fit(X, y)
    costs = Costs(fp=10, fn=expression("if(vip, 90, 2.1 * qty)"))
    row = X.iloc[[1]]
    changes = {change.column: change for change in model.explain(row, costs=costs).changes}
    assert changes["vip"].decision == model.predict(row.assign(vip=True), costs=costs)[0] == 1
    qty = changes["qty"]
    first = int(qty.limit) + qty.to.startswith("above")
    grid = row.loc[row.index.repeat(40)].assign(qty=np.arange(40))
    turns = np.flatnonzero(model.predict(grid, costs=costs))
    assert first in turns
    assert not (turns < first).any()


# --- random tables

PRICES = [
    "amount",
    "0.75 * amount + 20",
    "amount - 10",  # refused below
    "max(amount - 30, 0)",
    "abs(amount - 50)",
    "if(amount > 40 and amount < 60, 200, 3)",
    "if(shop == 'a', 3, 1) * amount",
    "if(vip, 2, amount)",
    "amount / (1 + qty)",
    "round(amount)",
    "min(amount, qty * 5)",
    "if(missing(gap), 5, gap)",
]


def random_table(rng, n=250):
    gap = rng.normal(10, 4, n).clip(0)
    gap[rng.random(n) < 0.2] = np.nan
    X = pd.DataFrame(
        {
            "amount": rng.lognormal(3.4, 0.8, n).round(2),
            "qty": rng.integers(0, 15, n),
            "vip": rng.random(n) < 0.3,
            "shop": pd.Categorical(rng.choice(["a", "b", "c"], n)),
            "gap": gap,
        }
    )
    score = 2 - X["amount"] / 30 - X["shop"].eq("a") + X["qty"] / 10
    return X, (rng.random(n) < 1 / (1 + np.exp(score))).astype(int)


def random_price(rng):
    text = str(rng.choice(PRICES))
    return [
        lambda: float(rng.integers(1, 60)),
        lambda: str(rng.choice(["amount", "qty"])),
        lambda: expression(text),
        lambda: expression(text),
        lambda: lambda X: np.asarray(X["amount"], dtype=float) ** 2 / 50,
    ][rng.integers(0, 5)]()


def random_costs(rng):
    if rng.random() < 0.7:
        return Costs(fp=random_price(rng), fn=random_price(rng))
    return Costs.of_actions(
        {
            "pay": {0: 0, 1: random_price(rng)},
            "ask": {0: float(rng.integers(1, 20)), 1: float(rng.integers(1, 20))},
            "stop": {0: random_price(rng), 1: 0},
        }
    )


def decisions(model, row, column, values, costs, convert):
    """Decide about a row with other values of a column; None where a price is refused."""
    rows = row.loc[row.index.repeat(len(values))].copy()
    kind = {
        "shop": lambda v: pd.Categorical(v, ["a", "b", "c"]),
        "vip": lambda v: np.array(v, bool),
    }
    rows[column] = kind.get(column, lambda v: np.array(v, dtype=float))(values)
    try:
        return model.predict(convert(rows), costs=costs).tolist()
    except ValueError:
        if len(values) == 1:
            return [None]
    half = len(values) // 2
    parts = (values[:half], values[half:])
    return [d for part in parts for d in decisions(model, row, column, part, costs, convert)]


def stated(change):
    """Return the values that a change names: its limit, and what the text says."""
    words = change.to.split()
    named = [(w, float(words[i + 1])) for i, w in enumerate(words) if w in WORDS]
    if change.limit is not None:
        last = "above" if len(named) == 1 and named[0][0] == "above" else named[-1][0]
        named.append((last, change.limit))
    whole = change.column in ("qty", "vip")
    after = (lambda x: np.floor(x) + 1) if whole else (lambda x: float(np.nextafter(x, np.inf)))
    return [after(x) if word == "above" else np.floor(x) if whole else x for word, x in named]


WORDS = ("above", "most", "least")


@pytest.mark.parametrize("seed", range(30))
def test_every_claim_turns_predict_and_what_is_not_claimed_does_not(seed):
    rng = np.random.default_rng(seed)
    X, y = random_table(rng)
    costs = random_costs(rng)
    shape = {"max_leaf_nodes": int(rng.integers(2, 8)), "max_bins": int(rng.choice([8, 255]))}
    model = GradientBoostClassifier(n_estimators=int(rng.integers(2, 15)), **shape).fit(X, y)
    priced = [i for i in range(len(X)) if X["amount"][i] > 10 or not costs.needs_table]
    row = X.iloc[[int(rng.choice(priced))]]
    convert = pl.from_pandas if seed % 2 else lambda frame: frame
    own = model.predict(convert(row), costs=costs)[0]
    changes = {c.column: c for c in model.explain(convert(row), costs=costs).changes}
    edges = model._model.members[0].forest.binner.edges
    for j, column in enumerate(X.columns):
        fine = np.concatenate([np.linspace(-20, 400, 1001), np.geomspace(1e-6, 1e6, 200), edges[j]])
        grid = {"shop": ["a", "b", "c"], "vip": [False, True], "qty": [*range(-5, 300)]}
        grid = grid.get(column, fine.tolist())
        found = decisions(model, row, column, grid, costs, convert)
        turned = [v for v, d in zip(grid, found, strict=True) if d not in (own, None)]
        if column != "shop":  # between edges that training has seen values on either side of
            turned = [v for v in turned if edges[j][0] <= v <= edges[j][-1]]
        change = changes.get(column)
        if change is None:
            assert not turned
            continue
        assert change.decision != own
        if column == "shop":
            assert change.to == turned[0]
            continue
        values = stated(change)
        told = decisions(model, row, column, values, costs, convert)
        assert set(told) <= {change.decision}
        assert X[column].min() <= values[-1] <= X[column].max()
        now = row[column].iloc[0]
        if not pd.isna(now):
            assert not [v for v in turned if far(edges[j], v, now) < far(edges[j], values[-1], now)]


def far(edges, value, now):
    """Return the bins between two values, then the numbers."""
    one, other = np.searchsorted(edges, [float(value), float(now)])
    return abs(int(one) - int(other)), abs(float(value) - float(now))
