"""Uncertain prices: at their means everywhere, and drawn, regretted and bounded where asked for."""

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats

import costboost
from costboost import Costs, GradientBoostClassifier
from costboost.costs import expression, uncertain

X = pd.DataFrame({"amount": [10.0, 400.0, 0.0, 7.5], "margin": [1.0, 2.0, 3.0, 4.0]})
DRAWS = np.array([0.5, 2.0, 1.1, 0.9])
LAWS = {
    "range": {"low": 0.6, "high": 1.0},
    "mean": {"low": 0.6, "high": 1.0, "mean": 0.9},
    "zero": {"low": 0, "high": 3},
    "beta": {"distribution": stats.beta(6, 14)},
    "lognorm": {"distribution": stats.lognorm(s=0.3, scale=2.0)},
    "poisson": {"distribution": stats.poisson(3)},
    "draws": {"draws": DRAWS},
}
PRICES = {
    "number": 7.0,
    "rows": [1.0, 2.0, 30.0, 0.0],
    "series": X["amount"],
    "column": "amount",
    "expression": expression("0.75 * amount + margin"),
    "function": lambda table: 2 * table["margin"],
}


def name_of(law):
    return next(name for name, one in LAWS.items() if one is law)


def mean_of(law):
    if "draws" in law:
        return np.mean(law["draws"])
    if "distribution" in law:
        return law["distribution"].mean()
    return law.get("mean", (law["low"] + law["high"]) / 2)


def read(price):
    """The prices of the rows of X, whichever way they are given."""
    given = price(X) if callable(price) else X[price] if isinstance(price, str) else price
    return np.broadcast_to(np.asarray(given, dtype=float), (4,))


@pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_costs_are_those_at_the_mean(law, price):
    """Prices, decisions, thresholds are those of certain costs, bit for bit."""
    costs = Costs(fp=3, fn=uncertain(price, **law)).bind_table(X).bind([0, 1], 4)
    plain = Costs(fp=3, fn=read(price) * mean_of(law)).bind([0, 1], 4)
    y, proba = [0, 1, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.5, 0.5], [0.6, 0.4]]
    np.testing.assert_array_equal(costs.of_labels(y), plain.of_labels(y))
    np.testing.assert_array_equal(costs.expected(proba), plain.expected(proba))
    np.testing.assert_array_equal(costs.decide(proba), plain.decide(proba))
    np.testing.assert_array_equal(costs.at().of_labels(y), plain.of_labels(y))
    assert not costs.at().factors
    assert costs.at() != costs


@pytest.mark.parametrize("price", PRICES.values(), ids=PRICES)
@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_draws_multiply_the_price(law, price):
    """Every draw is the price times one number, of the law; unread columns are drawn as well."""
    costs = Costs(fp=3, fn=uncertain(price, **law))
    found = [one.bind_table(X).fn * np.ones(4) for one in costs.draw(300, random_state=0)]
    base = read(price)
    factors = np.array([one[base > 0] / base[base > 0] for one in found])
    np.testing.assert_allclose(factors, np.tile(factors[:, :1], factors.shape[1]), rtol=1e-12)
    drawn, factor = factors[:, 0], costs.factors["fn"]
    spread = np.std(drawn) / np.sqrt(300)
    assert abs(drawn.mean() - mean_of(law)) < 4 * spread
    if "distribution" in law:
        assert stats.kstest(drawn, law["distribution"].cdf).pvalue > 1e-4 or "poisson" in str(
            factor
        )
    else:
        assert factor.law.low - 1e-12 <= drawn.min() < drawn.max() <= factor.law.high + 1e-12
    again = costs.draw(300, random_state=0)
    assert [one.bind_table(X) for one in again] == [
        one.bind_table(X) for one in costs.draw(300, random_state=0)
    ]


def test_independent_unless_together():
    law = {"low": 0.5, "high": 1.5}
    one = Costs(fp=uncertain(1, **law), fn=uncertain(1, **law))
    both = Costs(fp=uncertain(1, **law, together="m"), fn=uncertain(2, **law, together="m"))
    drawn = np.array([[c.fp, c.fn] for c in one.draw(500, 0)])
    assert abs(np.corrcoef(drawn.T)[0, 1]) < 0.15
    assert all(c.fn == 2 * c.fp for c in both.draw(500, 0))
    assert list(one.factors) == ["fn", "fp"]
    assert list(both.factors) == ["m"]


def test_draws_of_one_name_belong_together():
    """Recovered and lost shares add up to one in every draw, though neither has the other's law."""
    lost = np.random.default_rng(0).uniform(size=50)
    costs = Costs(
        fp=1,
        fn=uncertain(10, draws=lost, together="r"),
        tp=uncertain(10, draws=1 - lost, together="r"),
    )
    for one in costs.draw(40, 3):
        assert one.fn + one.tp == pytest.approx(10)
    with pytest.raises(ValueError, match=r"draws of their own.*use draw\(n\)"):
        costs.at({"r": 0.5})
    assert costs.bind([0, 1]).stays_within([[0.5, 0.5]]) == {}


def made_everywhere():
    """The same uncertain costs after what happens to costs on their way."""
    costs = Costs(fp=uncertain(2, low=1, high=3), fn=uncertain(X["amount"], low=0.6, high=1))
    bound = costs.bind([0, 1], 4)
    return {
        "bound": bound,
        "swapped": Costs(
            fp=uncertain(2, low=1, high=3),
            fn=uncertain(X["amount"], low=0.6, high=1),
            positive="a",
        ).bind(["a", "b"]),
        "by table": bound.bind_table(X),
        "pickled": pickle.loads(pickle.dumps(bound)),
        "concat": Costs.concat([bound[:2], bound[2:]]),
        "scaled": bound * 4 * 0.25,
        "sliced": bound[[0, 1, 2, 3]],
        "by label": bound.loc[[0, 1, 2, 3]],
    }


@pytest.mark.parametrize("way", made_everywhere())
def test_factors_survive(way):
    costs = made_everywhere()[way]
    assert {name: (f.law.low, f.law.high) for name, f in costs.factors.items()} == {
        "fn": (0.6, 1.0),
        "fp": (1.0, 3.0),
    }
    end = costs.at({"fn": 0.6, "fp": 1})
    np.testing.assert_allclose(end.fn, X["amount"] * 0.6)
    assert end.fp == pytest.approx(2)


def test_means_keep_factors():
    mean = Costs(fp=1, fn=uncertain(X["amount"], low=0.6, high=1)).mean()
    assert mean.fn == pytest.approx(0.8 * X["amount"].mean())
    assert mean.at({"fn": 1.0}).fn == pytest.approx(X["amount"].mean())
    rows = Costs.of_rows(uncertain([1, 3, 9], low=1, high=3)).bind([0, 1]).mean(y=[0, 0, 1])
    assert np.asarray(rows.at({"c": 1})).tolist() == [[[0, 2], [9, 0]]]


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_model_files(law, tmp_path):
    """Saved and loaded, a model has the factors of its prices, without a line of code."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"amount": rng.uniform(1, 9, 200), "b": rng.normal(size=200)})
    y = (table["b"] + rng.normal(size=200) > 0).astype(int)
    costs = Costs(fp=3, fn=uncertain("amount", **law))
    model = GradientBoostClassifier(n_estimators=2, costs=costs, random_state=0).fit(table, y)
    plain = GradientBoostClassifier(n_estimators=2, costs=costs.at(), random_state=0)
    plain.fit(table, y)
    np.testing.assert_array_equal(model.predict_proba(table), plain.predict_proba(table))
    np.testing.assert_array_equal(model.predict(table), plain.predict(table))
    costboost.save(model, tmp_path / "model.cb")
    loaded = costboost.load(tmp_path / "model.cb")
    assert loaded.costs_ == model.costs_
    assert loaded.costs_.factors == costs.factors


def test_matrices_actions_and_deferring():
    law = {"low": 0.5, "high": 1.5}
    matrix = Costs.from_matrix([[0, 1, uncertain("amount", **law)], [2, 0, 1], [1, 1, 0]])
    assert list(matrix.factors) == ["C[0, 2]"]
    loans = Costs.of_actions(
        {
            "yes": {"bad": uncertain("amount", **law), "good": 0},
            "ask": uncertain(25, **law),
            "no": 9,
        }
    )
    assert list(loans.factors) == ["'yes' given 'bad'", "ask"]  # one price, whatever is true
    asked = loans.at({"ask": 1.5}).bind_table(X)
    np.testing.assert_allclose(asked.of_labels(["bad", "good"] * 2)[:, 1], 37.5)
    deferred = Costs(fp=1, fn=2).bind([0, 1]).with_defer(uncertain(3, **law))
    assert deferred.at({"defer": 0.5}).of_labels([0, 1])[:, 2].tolist() == [1.5, 1.5]
    polars = Costs(fp=1, fn=uncertain("amount", **law)).bind_table(pl.from_pandas(X))
    assert polars.at({"fn": 0.5}).fn.tolist() == [5, 200, 0, 3.75]


# ---- Regrets, against brute force


def drawn_problem(seed, n_classes=3, n_actions=3, decades=0):
    """Costs over some decades, half of their cells uncertain, some of those together."""
    rng = np.random.default_rng(seed)
    prices = rng.uniform(0.1, 3, (n_classes, n_actions)) * 10.0 ** rng.uniform(
        -decades, decades, (n_classes, n_actions)
    )
    cells = prices.tolist()
    for k, a in np.ndindex(n_classes, n_actions):
        if rng.random() < 0.5:
            low = rng.uniform(0, 1)
            together = "both" if rng.random() < 0.4 else None
            ends = (0.2, 1.4) if together else (low, low + rng.uniform(0.1, 2))
            cells[k][a] = uncertain(cells[k][a], low=ends[0], high=ends[1], together=together)
    labels = [f"c{k}" for k in range(n_classes)]
    actions = None if n_classes == n_actions else [f"a{a}" for a in range(n_actions)]
    cells[0][0] = uncertain(float(prices[0, 0]), low=0.5, high=2)
    costs = Costs.from_matrix(cells, classes=labels, actions=actions)
    return costs, rng.dirichlet(np.ones(n_classes), 40)


def grid_of(costs, n=5):
    ends = {name: np.linspace(f.law.low, f.law.high, n) for name, f in costs.factors.items()}
    return (dict(zip(ends, values, strict=True)) for values in itertools.product(*ends.values()))


@pytest.mark.parametrize(
    ("seed", "sizes", "decades"),
    [(0, (2, 2), 0), (1, (2, 3), 3), (2, (3, 2), 0), (3, (2, 2), 6), (4, (2, 3), 0)],
)
def test_regrets_against_a_grid(seed, sizes, decades):
    """No point of a grid is regretted more, and its corners are regretted as much."""
    costs, proba = drawn_problem(seed, *sizes, decades)
    brute = np.zeros((len(proba), sizes[1]))
    for values in grid_of(costs, 5 if len(costs.factors) < 5 else 2):
        there = costs.at(values).expected(proba)
        brute = np.maximum(brute, there - there.min(axis=1, keepdims=True))
    scale = costs.largest
    np.testing.assert_allclose(costs.regrets(proba), brute, rtol=1e-10, atol=1e-12 * scale)
    taken = costs.decide(proba, encoded=True, regret="minimax")
    rows = np.arange(len(proba))
    np.testing.assert_allclose(brute[rows, taken], brute.min(axis=1), rtol=1e-9, atol=1e-12 * scale)


def test_minimax_differs_from_the_mean():
    """With a mean below the middle of its range, a missed positive may be regretted more."""
    costs = Costs(fp=3, fn=uncertain(10, low=0.1, high=2, mean=0.2)).bind([0, 1])
    proba = [[0.6, 0.4], [0.9, 0.1]]
    assert costs.decide(proba).tolist() == [0, 0]
    assert costs.decide(proba, regret="minimax").tolist() == [1, 0]
    np.testing.assert_allclose(costs.regrets(proba), [[6.2, 1.4], [0.0, 2.6]], atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_decisions_stay_within(seed):
    """Just inside its interval a decision is as it was; just outside it is another."""
    costs, proba = drawn_problem(seed, 2, 3)
    decided = costs.decide(proba)
    for name, ends in costs.stays_within(proba).items():
        mean = costs.factors[name].law.mean
        assert (ends[:, 0] <= mean + 1e-12).all()
        assert (ends[:, 1] >= mean - 1e-12).all()
        for row, (low, high) in enumerate(ends.tolist()):
            one = proba[row : row + 1]
            for end, inward in ((low, 1 + 1e-9), (high, 1 - 1e-9)):
                if not 0 < end < np.inf:
                    assert costs.at({name: 1e-9 if end == 0 else 1e9}).decide(one) == decided[row]
                    continue
                assert costs.at({name: end * inward}).decide(one) == decided[row]
                assert costs.at({name: end * (2 - inward)}).decide(one) != decided[row]


def test_regrets_of_joint_draws():
    """Draws that belong together are regretted one by one, never in combinations that none is."""
    lost = np.array([0.2, 0.9, 0.4])
    costs = Costs(
        fp=1,
        fn=uncertain(10, draws=lost, together="r"),
        tp=uncertain(2, draws=1 - lost, together="r"),
    ).bind([0, 1])
    proba = np.array([[p, 1 - p] for p in np.linspace(0, 1, 21)])
    brute = np.zeros((21, 2))
    for f in lost:
        there = Costs(fp=1, fn=10 * f, tp=2 * (1 - f)).bind([0, 1]).expected(proba)
        brute = np.maximum(brute, there - there.min(axis=1, keepdims=True))
    np.testing.assert_allclose(costs.regrets(proba), brute, atol=1e-12)


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_expected_interval_of_one_factor(law):
    """Expected costs are linear in the factor: their quantiles are those of the factor, exactly."""
    costs = Costs(fp=3, fn=uncertain([2.0, 1e-6, 1e6], **law), tp=1).bind([0, 1])
    p = np.array([0.25, 0.5, 1.0])
    found = costs.expected(np.column_stack([1 - p, p]), interval=0.9)
    draws = law.get("draws")
    u = np.array([0.05, 0.95])
    ends = np.quantile(draws, u) if draws is not None else costs.factors["fn"].law.quantile(u)
    expected = p[:, None] * np.array([[2.0], [1e-6], [1e6]]) * ends
    np.testing.assert_allclose(found[:, 0, 1:], expected, rtol=1e-12)
    np.testing.assert_array_equal(found[:, :, 0], costs.expected(np.column_stack([1 - p, p])))
    np.testing.assert_array_equal(found[:, 1, 1:], np.repeat(found[:, 1, :1], 2, axis=1))
    least = costs.expected(np.column_stack([1 - p, p]), interval=1)[:, 0, 1]
    lowest = {"range": 0.6, "mean": 0.6, "draws": 0.5}.get(name_of(law), 0.0)
    np.testing.assert_allclose(least, p * [2.0, 1e-6, 1e6] * np.array(lowest), rtol=1e-12)


@pytest.mark.parametrize(("seed", "sizes"), [(0, (2, 2)), (1, (2, 3)), (2, (3, 2))])
def test_expected_interval_of_ranges(seed, sizes):
    """All that may be lies between the least and the most of a grid's corners, and reaches them."""
    costs, proba = drawn_problem(seed, *sizes, 3)
    corners = np.stack([costs.at(v).expected(proba) for v in grid_of(costs, 2)])
    found = costs.expected(proba, interval=1)
    tight = 1e-12 * costs.largest
    np.testing.assert_allclose(found[..., 1], corners.min(axis=0), rtol=1e-10, atol=tight)
    np.testing.assert_allclose(found[..., 2], corners.max(axis=0), rtol=1e-10, atol=tight)
    inner = costs.expected(proba, interval=0.8)
    assert (
        np.diff(np.stack([found[..., 1], inner[..., 1], inner[..., 0]]), axis=0) >= -tight
    ).all()
    assert (
        np.diff(np.stack([inner[..., 0], inner[..., 2], found[..., 2]]), axis=0) >= -tight
    ).all()


def test_expected_interval_of_several_factors():
    """Against draws; draws of one name stay together, and rows do not depend on their number."""
    law = stats.lognorm(0.4)
    price = uncertain(7.0, low=0.5, high=3)
    costs = Costs(fp=price, fn=uncertain(5.0, distribution=law), tp=uncertain(2.0, low=0.1, high=3))
    costs = costs.bind([0, 1])
    proba = np.tile([[0.6, 0.4], [0.1, 0.9]], (400, 1))  # more than are looked at in one block
    found = costs.expected(proba, interval=0.9)
    drawn = np.stack([one.expected(proba[:2]) for one in costs.draw(20000, random_state=0)])
    np.testing.assert_allclose(
        found[:2, :, 1:].T, np.quantile(drawn, [0.05, 0.95], axis=0).swapaxes(1, 2), rtol=0.02
    )
    np.testing.assert_allclose(found[-2:], found[:2], rtol=1e-12)
    lost = np.array([0.2, 0.9, 0.4, 0.7])
    joint = Costs(
        fp=uncertain(8, draws=1 - lost, together="r"),
        tp=uncertain(3, draws=lost, together="r"),
        fn=9,
    ).bind([0, 1])
    both = 0.6 * 8 * (1 - lost) + 0.4 * 3 * lost
    made = joint.expected(proba[:1], interval=0.5)[0, 1]
    np.testing.assert_allclose(made[1:], np.quantile(both, [0.25, 0.75]), rtol=1e-12)
    everything = joint.expected(proba[:1], interval=1)[0, 1]
    np.testing.assert_allclose(everything, [both.mean(), both.min(), both.max()], rtol=1e-12)


def test_expected_interval_refused():
    for share in (0, -1, 1.5, True, "0.9"):
        with pytest.raises(ValueError, match="must be a number above 0 and at most 1"):
            Costs(fp=1, fn=uncertain(2, low=1, high=3)).expected([[0.5, 0.5]], interval=share)
    with pytest.raises(ValueError, match="every price of these costs is certain"):
        Costs(fp=1, fn=2).expected([[0.5, 0.5]], interval=0.9)
    endless = Costs(fp=1, fn=uncertain(2, distribution=stats.lognorm(1.0)))
    assert endless.expected([[1.0, 0.0], [0.5, 0.5]], interval=1)[:, 0, 2].tolist() == [0.0, np.inf]


# ---- What makes no sense

WRONG = {
    "crosses zero": ({"low": -0.5, "high": 1.0}, "crosses zero"),
    "ends swapped": ({"low": 1.0, "high": 0.6}, "low=1.0 is above high=0.6: swap them"),
    "no range": ({"low": 1.0, "high": 1.0}, "such a price is certain"),
    "one end": ({"low": 0.6}, "A range has two ends"),
    "other end": ({"high": 0.6}, "A range has two ends"),
    "nothing": ({}, "one of the three, but none of them was given"),
    "two ways": ({"low": 0, "high": 1, "draws": [1, 2]}, "one of the three"),
    "text": ({"low": "0.6", "high": 1}, "low must be a finite number"),
    "boolean": ({"low": False, "high": 1}, "low must be a finite number"),
    "infinite end": ({"low": 0, "high": np.inf}, "high must be a finite number"),
    "mean outside": ({"low": 0.6, "high": 1, "mean": 1.2}, "is not between"),
    "mean of draws": ({"draws": [1, 2], "mean": 1}, "mean= belongs to low= and high="),
    "infinite mean": ({"distribution": stats.pareto(0.9)}, "finite mean"),
    "no mean": ({"distribution": stats.cauchy(3)}, r"crosses zero|finite mean"),
    "normal": ({"distribution": stats.norm(1, 0.1)}, "truncnorm"),
    "not frozen": ({"distribution": stats.norm}, "no frozen distribution"),
    "not of scipy": ({"distribution": lambda: 3}, "give draws="),
    "wrong parameters": ({"distribution": stats.beta(-1, 2)}, r"finite mean"),
    "one draw": ({"draws": [1.0]}, "at least two values"),
    "matrix of draws": ({"draws": [[1.0, 2.0]]}, r"shape \(1, 2\)"),
    "draws of text": ({"draws": ["a", "b"]}, "draws must be numbers"),
    "missing draws": ({"draws": [1.0, np.nan]}, "infinite or missing"),
    "draws cross zero": ({"draws": [-1.0, 2.0]}, "crosses zero"),
    "same draws": ({"draws": [2.0, 2.0]}, "such a price is certain"),
    "nameless": ({"low": 0.5, "high": 1, "together": 3}, "together must be a name"),
}


@pytest.mark.parametrize("case", WRONG)
def test_refused(case):
    given, message = WRONG[case]
    with pytest.raises(ValueError, match=message):
        uncertain("amount", **given)


def test_refused_later():
    law = {"low": 0.5, "high": 1.5}
    with pytest.raises(ValueError, match="is uncertain already"):
        uncertain(uncertain(3, **law), **law)
    with pytest.raises(ValueError, match=r"together='m' is given with .* and with"):
        Costs(fp=uncertain(1, **law, together="m"), fn=uncertain(1, low=1, high=2, together="m"))
    with pytest.raises(ValueError, match="2 draws for one price and 3 for another"):
        Costs(
            fp=uncertain(1, draws=[1, 2], together="m"),
            fn=uncertain(1, draws=[1, 2, 3], together="m"),
        )
    with pytest.raises(ValueError, match=r"fn.*negative|negative.*fn"):
        Costs(fp=1, fn=uncertain(10, low=-1, high=-0.5))
    costs = Costs(fp=1, fn=uncertain(10, **law)).bind([0, 1])
    assert Costs(fp=1, fn=2, tp=uncertain(10, low=-1, high=-0.5), benefits=True).tp == -7.5
    with pytest.raises(ValueError, match="no uncertain price 'fq'; those of these costs: 'fn'"):
        costs.at({"fq": 1})
    with pytest.raises(ValueError, match="no value of its factor"):
        costs.at({"fn": [1, 2]})
    with pytest.raises(ValueError, match="no value of its factor"):
        costs.at({"fn": -1})
    with pytest.raises(ValueError, match="to which nothing can be added"):
        costs + 1
    with pytest.raises(ValueError, match="n=0 must be a whole number at least 1"):
        costs.draw(0)
    with pytest.raises(ValueError, match="every price of these costs is certain"):
        costs.at().decide([[0.5, 0.5]], regret="minimax")
    with pytest.raises(ValueError, match="regret='maximin' is not known"):
        costs.decide([[0.5, 0.5]], regret="maximin")
    with pytest.raises(ValueError, match="uncertain where others are not"):
        Costs.concat(
            [
                Costs(fp=1, fn=uncertain([2.0], **law)),
                Costs(fp=1, fn=uncertain([2.0], low=0, high=2)),
            ]
        )


def test_words():
    costs = Costs(fp=8, fn=uncertain("amount", low=0.6, high=1.0), positive=1) * 2
    assert repr(costs) == "Costs(fp=16, fn=uncertain('amount', low=0.6, high=1) * 2, positive=1)"
    assert "its amount times 0.80 times 2, uncertain: 0.75 to 1.25 times that" in costs.describe()
