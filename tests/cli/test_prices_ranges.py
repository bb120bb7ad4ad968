"""Ranges of prices, on the command line and in files."""

import json

import numpy as np
import polars as pl
import pytest
from scipy import stats

from costboost import Costs
from costboost.cli import InputError
from costboost.cli.prices import Prices, read_prices, read_toml
from costboost.cli.recipe import Recipe
from costboost.costs import uncertain

FRAME = pl.DataFrame({"amount": [10.0, 20.0]})
NONE = {"costs": None, "currency": None, "positive": None, "benefits": False}


def made(fn, ends):
    return Prices(fp="8", fn=fn, ranges={"fn": ends}).costs([0, 1]).bind_table(FRAME)


@pytest.mark.parametrize(
    ("fn", "ends", "mean", "low"),
    [
        ("0.75 * amount", "0.6..0.9", [7.5, 15.0], [6.0, 12.0]),
        ("0.8*amount", "0.6 .. 0.9", [8.0, 16.0], [6.0, 12.0]),  # the mean is not the middle
        ("0.75 * amount * 2", "0.6..0.9", [15.0, 30.0], [12.0, 24.0]),
        ("0.75 * (amount + 2) * 2", "0.6..0.9", [18.0, 33.0], [14.4, 26.4]),
        ("(0.5 * amount) * 2", "0.5..1.5", [10.0, 20.0], [5.0, 10.0]),
        ("10 * amount / 2", "9..12", [50.0, 100.0], [45.0, 90.0]),
        ("amount", "0.6..1.0", [8.0, 16.0], [6.0, 12.0]),  # without a number, the middle
        ("0.5 * amount + 5", "0.5..1.5", [10.0, 15.0], [5.0, 7.5]),  # no product
        ("40", "30..60", 40.0, 30.0),
        ("2e1", "1e1..3e1", 20.0, 10.0),
    ],
)
def test_a_range_is_of_the_number_in_front(fn, ends, mean, low):
    costs = made(fn, ends)
    assert np.asarray(costs.fn).tolist() == pytest.approx(mean)
    factor = costs.factors["fn"]
    assert np.asarray(costs.at({"fn": factor.law.low}).fn).tolist() == pytest.approx(low)


def test_names_move_together():
    prices = Prices(fp="8", fn="amount", tp="3", ranges={"fn": "0.5..2 rate", "fp": "7..9"})
    assert sorted(prices.costs([0, 1]).factors) == ["fp", "rate"]


@pytest.mark.parametrize(
    ("fn", "ends", "law"),
    [
        ("amount", "beta(6, 2)", {"distribution": stats.beta(6, 2)}),
        ("0.75 * amount", "beta(6,2)", {"distribution": stats.beta(6, 2)}),  # 0.75 is its mean
        ("amount", "lognorm(s=0.3, scale=2)", {"distribution": stats.lognorm(s=0.3, scale=2)}),
        ("amount", " triang( 0.5, loc = 1e-6 ) ", {"distribution": stats.triang(0.5, loc=1e-6)}),
        ("amount", "0.5, 2, 1.1", {"draws": [0.5, 2, 1.1]}),
        ("1 * amount", "0.5, 2", {"draws": [0.5, 2]}),
    ],
)
def test_distributions_and_draws(fn, ends, law):
    """They say what the price is multiplied by, as `uncertain` does."""
    expected = Costs(fp=8, fn=uncertain("amount", **law)).bind_table(FRAME).bind([0, 1])
    found = made(fn, ends).bind([0, 1])
    assert found.factors == expected.factors
    np.testing.assert_allclose(found.fn, expected.fn, rtol=1e-12)
    recipe = Recipe(prices=Prices(fp="8", fn=fn, ranges={"fn": ends}))
    assert Recipe.of_notes(json.loads(json.dumps(recipe.to_notes()))).prices == recipe.prices


def test_draws_that_belong_together(tmp_path):
    """What is recovered and what is lost add up to the amount, in every draw."""
    path = tmp_path / "costs.toml"
    path.write_text(
        'fp = 8.25\nfn = "amount"\ntp = "amount"\n'
        '[ranges]\nfn = "0.2, 0.9, 0.4 recovery"\ntp = "0.8, 0.1, 0.6 recovery"\nfp = [7, 9.5]\n'
    )
    costs = read_toml(path).costs([0, 1])
    assert sorted(costs.factors) == ["fp", "recovery"]
    assert costs.factors["fp"].law.values.tolist() == [7, 9.5]
    for one in costs.bind_table(FRAME).draw(9, random_state=0):
        np.testing.assert_allclose(one.fn + one.tp, FRAME["amount"], rtol=1e-12)
    path.write_text('fp = 1\nfn = "amount"\n[ranges]\nfn = "0.2, 0.9 r"\nfp = "1, 2, 3 r"\n')
    with pytest.raises(ValueError, match="3 draws for one price and 2 for another"):
        read_toml(path).costs([0, 1])


def test_files_have_ranges(tmp_path):
    path = tmp_path / "costs.toml"
    path.write_text(
        '[actions]\nreview = 25\n[actions.approve]\nbad = "0.75 * amount"\ngood = 0\n'
        '[ranges]\nreview = "20..35"\n[ranges.approve]\nbad = "0.6..0.9"\n'
    )
    prices = read_toml(path)
    costs = prices.costs(["bad", "good"])
    assert sorted(costs.factors) == ["'approve' given 'bad'", "review"]
    review = costs.at({"review": 35}).bind_table(FRAME).of_labels(["bad", "good"])
    assert review[:, costs.actions.tolist().index("review")].tolist() == [35, 35]
    option = read_prices(**{**NONE, "costs": str(path)}, ranges={"fn": None})
    assert option == prices
    path.write_text('fp = 1\nfn = "2 * amount"\n[ranges]\nfn = "1..4"\n')
    assert read_toml(path).ranges == {"fn": "1..4"}
    asked = read_prices(**{**NONE, "costs": str(path)}, ranges={"fn": "1..3", "fp": None})
    assert asked.ranges == {"fn": "1..3"}


def test_new_prices_drop_the_ranges_of_old_ones():
    old = Prices(fp="8", fn="amount", ranges={"fn": "0.5..1", "fp": "7..9"})
    assert old.changed(Prices(fn="2")).ranges == {"fp": "7..9"}
    assert old.changed(Prices(ranges={"fn": "0.5..2"})).ranges == {"fn": "0.5..2", "fp": "7..9"}
    assert old.changed(Prices()) == old
    assert old.changed(Prices(fp="1", fn="2")).ranges is None


def test_recipes_keep_ranges():
    for ranges in (None, {"fn": "0.5..1"}):
        recipe = Recipe(prices=Prices(fp="8", fn="amount", ranges=ranges))
        notes = json.loads(json.dumps(recipe.to_notes()))
        assert Recipe.of_notes(notes).prices == recipe.prices


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        ("0.6-0.9", "is no range: write LOW..HIGH"),
        ("0.9..0.6", "low=0.9 is above high=0.6"),
        ("-1..1", "crosses zero"),
        ("0.8..0.9", "mean=0.75 is not between"),
        ("0.6..", "is no range"),
        ("beta(6, 14)", r"begins with 0.75, but the mean of .* 0.3, .* write amount w"),
        ("0.1, 0.2", "the mean of 0.1, 0.2 is 0.15"),
        ("beta(6)", "beta takes the parameters a, b, loc, scale"),
        ("beta(6, 2, 0, 1, 1)", "beta takes the parameters a, b, loc, scale"),
        ("beta(6, c=2)", "beta takes the parameters a, b, loc, scale"),
        ("beta(-6, 2)", "mean of beta.* is nan"),
        ("betta(6, 2)", "no distribution 'betta'. Did you mean 'beta'"),
        ("norm(0.75, 0.1)", "crosses zero"),
        ("pareto(0.9)", "finite mean"),
        ("beta(6, two)", "the parameter 'two' of beta is no number"),
        ("beta(a=6, 2)", "the parameter 2 of beta stands after a named one"),
        ("beta", "a distribution of scipy.stats, such as beta"),
        ("0.7, 0.8 0.9", "or draws, such as"),
        ("0.7, 0.7", "All draws are 0.7"),
        ("0.7, -0.8", "crosses zero"),
    ],
)
def test_refused(ends, message, tmp_path):
    with pytest.raises(InputError, match=message):
        Prices(fp="8", fn="0.75 * amount", ranges={"fn": ends})


def test_ranges_of_nothing(tmp_path):
    with pytest.raises(InputError, match="of 'tp', which has no price; prices are given of: 'fp'"):
        Prices(fp="8", fn="1", ranges={"tp": "1..2"}).check(FRAME, None)
    path = tmp_path / "costs.toml"
    for wrong in ("3", "[3]", "[true, 1]", '["1", "2"]'):
        path.write_text(f"fp = 1\nfn = 2\n[ranges]\nfn = {wrong}\n")
        with pytest.raises(InputError, match=r"write LOW\.\.HIGH in quotes"):
            read_toml(path)
