"""`costboost decide --parity` and `--regret`: what Python decides, and what is said of it."""

import json

import numpy as np
import polars as pl
import pytest

from costboost import load
from costboost.costs import Costs, uncertain
from costboost.decisions import Parity
from payments import PRICES, payments

_dear = (payments(400, 4)["amount"].rank() > 200).to_numpy()
_HALVES = np.where(_dear, "north", "south")
REGIONS = np.where(np.arange(400) < 20, "small", _HALVES)


@pytest.fixture
def decided(run, folder, tmp_path):
    rows = payments(400, 4)
    table = tmp_path / "in.parquet"
    rows.with_columns(
        region=pl.Series(REGIONS),
        lone=pl.Series(["one"] + ["rest"] * 399),
        same=pl.lit("x"),
        gaps=pl.Series([None] + ["a", "b"] * 199 + ["a"]),
        vip=pl.Series(np.arange(400) % 5 == 0),
    ).write_parquet(table)

    def call(*more, screen=False, model="model.cb"):
        out = tmp_path / "d.parquet"
        how = () if screen else ("--json",)
        ran = run("decide", folder / model, table, "-o", out, "--force", *how, *more)
        return ran, pl.read_parquet(out) if ran.code == 0 else None

    return call


def in_python(folder, costs, **how):
    rows = payments(400, 4)
    model = load(folder / "model.cb")
    X = rows.select(list(model.feature_names_in_))
    bound = costs.bind_table(rows).bind(["no", "yes"])
    return model.decide(X, costs=bound, **how), model.predict_proba(X)[:, 1]


PAID = Costs(fp=8, tp=8, fn="amount", positive="yes")


@pytest.mark.parametrize("of", ["rate", "blocked", "missed"])
@pytest.mark.parametrize("limit", [None, 12])
def test_rates_differ_as_little_as_asked(decided, folder, of, limit):
    capacity = () if limit is None else ("--capacity", f"yes={limit}")
    asked = ("--parity", "region", "--parity-of", of, "--parity-within", "0.03", *capacity)
    ran, table = decided(*asked)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)["parity"]
    acted, region = (table["decision"] == "yes").to_numpy(), table["region"].to_numpy()
    plan, p = in_python(
        folder,
        PAID,
        parity=Parity(region, of=of, within=0.03),
        capacity=None if limit is None else {"yes": limit},
    )
    assert table["decision"].to_list() == np.asarray(plan).tolist()
    weight = {"rate": np.ones(400), "blocked": 1 - p, "missed": p}[of]
    hit = ~acted if of == "missed" else acted
    rates = {
        g: np.sum((weight * hit)[region == g]) / np.sum(weight[region == g])
        for g in ("north", "small", "south")
    }
    assert {line["group"]: line["rate"] for line in found["groups"]} == pytest.approx(rates)
    assert found["difference"] == pytest.approx(max(rates.values()) - min(rates.values()))
    assert found["difference"] <= 0.03 + 1e-6
    assert limit is None or acted.sum() <= limit
    # The bill of each group, and what it would be without: recomputed from the table.
    _, free = decided(*capacity)
    for line in found["groups"]:
        here = pl.Series(region == line["group"])
        own = table.filter(here)["expected_cost"].sum()
        assert line["rows"] == here.sum()
        assert line["cost"] == pytest.approx(own)
        assert line["more"] == pytest.approx(own - free.filter(here)["expected_cost"].sum())
    assert found["cost"] == pytest.approx(sum(line["more"] for line in found["groups"]))
    assert found["cost"] > 0
    assert found["one_point_more_saves"] == plan.shadow_price
    assert found["few_rows"] == ["small"]


def test_it_is_said_what_parity_costs(decided):
    ran, _ = decided("--parity", "region", "--parity-within", "0.03", screen=True)
    said, found = " ".join(ran.out.split()), decided("--parity", "region")[0]
    assert "rate of each region within 3 points costs EUR" in said
    assert "one point more would save EUR" in said
    assert "small: " in said
    assert "of 20 rows, costs EUR" in said
    assert "fewer than 50 rows, whose rate says little: small" in said
    assert json.loads(found.out)["parity"]["within"] == 0.02  # as in Python


def test_the_action_whose_rate_counts_can_be_named(decided):
    _, one = decided("--parity", "region", "--parity-action", "no")
    _, other = decided("--parity", "region", "--parity-action", "yes")
    assert one.equals(other)  # the rates of two actions differ alike
    costs = ("--capacity", "defer=40", "--defer", "2")
    ran, table = decided("--parity", "region", "--parity-action", "defer", *costs)
    assert ran.code == 0, ran.err
    shares = table.group_by("region").agg((pl.col("decision") == "defer").mean())["decision"]
    assert 0 < shares.max() <= shares.min() + 0.02 + 1e-6


WRONG = [
    (("--parity-of", "rate"), "--parity-of says more of --parity COLUMN"),
    (("--parity-within", "0.1"), "--parity-within says more of --parity COLUMN"),
    (("--parity", "region", "--parity-of", "kept"), "'kept': write one of rate, missed, blocked"),
    (("--parity", "region", "--parity-within", "2"), "give a difference of shares, 0 to 1"),
    (("--parity", "region", "--explore", "0.1"), "--explore draws at random, which --parity"),
    (("--parity", "nowhere"), "nowhere"),
    (("--parity", "lone"), "Groups of one row have no rate: 'one'"),
    (("--parity", "same"), "All rows are in one group"),
    (("--parity", "gaps"), "--parity 'gaps' is empty in some rows"),
    (
        ("--parity", "region", "--parity-action", "wave"),
        "--parity-action 'wave' is none of no, yes",
    ),
    (
        ("--parity", "region", "--parity-of", "missed", "--parity-action", "yes"),
        "--parity-action is for --parity-of rate, not for missed",
    ),
    (
        ("--parity", "vip", "--parity-within", "0", "--never", "yes=vip", "--capacity", "no=90"),
        "keep the parity and the capacities at once: raise --parity-within, or a capacity",
    ),
    (("--regret", "most"), "--regret 'most': write --regret minimax"),
    (("--regret", "minimax"), "every price is certain: give one, such as --fn-range"),
    (("--regret", "minimax", "--capacity", "yes=3"), "leave out --capacity"),
    (("--regret", "minimax", "--explore", "0.1"), "leave out --explore"),
    (("--regret", "minimax", "--never", "yes=vip"), "leave out --never"),
    (("--regret", "minimax", "--parity", "region"), "leave out --parity"),
]


@pytest.mark.parametrize(("more", "said"), WRONG)
def test_wrong_options_say_what_to_do(decided, more, said):
    ran, _ = decided(*more)
    assert ran.code in (1, 2)
    told = " ".join(ran.err.split())
    assert said in told
    assert "Traceback" not in told


def test_the_least_regret(decided, folder):
    asked = (*PRICES[:-1], "0.4 * amount", "--fn-range", "0.2..1.0")
    ran, table = decided(*asked, "--regret", "minimax")
    assert ran.code == 0, ran.err
    _, mean = decided(*asked)
    amount = payments(400, 4)["amount"].to_numpy()
    plan, p = in_python(
        folder,
        Costs(fp=8, tp=8, fn=uncertain("amount", low=0.2, high=1.0, mean=0.4), positive="yes"),
        regret="minimax",
    )
    assert table["decision"].to_list() == np.asarray(plan).tolist()
    # Waiting costs p * share * amount, acting 8: the regret of each is at an end of the shares.
    wait, act = p * amount - 8, 8 - 0.2 * p * amount
    assert (table["decision"] == "yes").to_list() == (act < wait).tolist()
    found = json.loads(ran.out)["regret"]
    differ = (table["decision"] != mean["decision"]).sum()
    assert found["decisions_that_differ"] == differ > 0
    more = table["expected_cost"].sum() - mean["expected_cost"].sum()
    assert found["more"] == pytest.approx(more)
    said = " ".join(decided(*asked, "--regret", "minimax", screen=True)[0].out.split())
    assert f"not the cheapest at the means of prices: {differ} decisions, expected" in said
