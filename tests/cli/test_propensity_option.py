"""`--propensity`: rows with a label weigh 1 / their chance of one, in training and on the bill."""

import json

import numpy as np
import polars as pl
import pytest

from costboost import load

START = ("--target", "bad", "--fp", "2", "--fn", "10", "--method", "cgada", "--rounds", "5",
         "--skip-unlabelled")  # fmt: skip


@pytest.fixture(scope="module")
def loans(tmp_path_factory):
    rng = np.random.default_rng(0)
    n = 4000
    x, heard = rng.normal(size=n), rng.normal(size=n)
    y = (rng.uniform(size=n) < 1 / (1 + np.exp(1.5 - x - 1.5 * heard))).astype(int)
    chance = np.clip(1 / (1 + np.exp(2 * heard)), 0.05, 0.95)
    seen = rng.uniform(size=n) < chance
    table = pl.DataFrame({"x": x, "z": rng.normal(size=n), "chance": chance, "bad": y, "day":
                          np.arange(n) // 40})  # fmt: skip
    made = tmp_path_factory.mktemp("loans")
    table.with_columns(bad=pl.when(pl.Series(seen)).then("bad")).write_parquet(made / "l.parquet")
    table.write_parquet(made / "all.parquet")
    return made, table.filter(pl.Series(seen)), table


def train(run, folder, *more):
    ran = run("train", folder / "l.parquet", *START, "-o", folder / "m.cb", "--force", "--json",
              *more)  # fmt: skip
    assert ran.code == 0, ran.err
    return json.loads(ran.out)


def test_the_bill_is_weighted_by_hand(run, loans):
    folder, seen, _ = loans
    found = train(run, folder, "--propensity", "chance", "--time", "day")
    assert found["left_out"]["chance"] == "the chance of a label"
    cut = int(found["rows"]["how"].rpartition(" ")[2])
    held = seen.filter(pl.col("day") >= cut)
    weight = 1 / held["chance"].to_numpy()
    bill = {line["policy"]: line for line in found["bill"]}
    bad = held["bad"].to_numpy() == 1
    assert bill["do nothing"]["cost"] == pytest.approx(10 * weight[bad].sum())
    assert bill["do everything"]["cost"] == pytest.approx(2 * weight[~bad].sum())
    p = load(folder / "m.cb").predict_proba(held.select("x", "z"))[:, 1]
    acted = 10 * p > 2 * (1 - p)
    paid = 2 * (acted & ~bad) + 10 * (~acted & bad)
    assert bill["the model"]["cost"] == pytest.approx((weight * paid).sum())
    assert found["positives"]["expected"] == pytest.approx((weight * p).sum())
    assert found["positives"]["happened"] == pytest.approx(weight[bad].sum(), abs=0.1)
    assert found["brier"] == pytest.approx(np.average((p - bad) ** 2, weights=weight))
    assert any(f"stand for {weight.sum():,.0f}" in note for note in found["notes"])


def test_weights_mend_what_accepted_rows_alone_believe(run, loans):
    folder, _, everybody = loans
    risks = []
    for more in ((), ("--propensity", "chance")):
        train(run, folder, *(more or ("--drop", "chance")))
        model = load(folder / "m.cb")
        risks.append(model.predict_proba(everybody.select(model.feature_names_in_.tolist())))
    alone, weighted = (risk[:, 1].mean() for risk in risks)
    truth = everybody["bad"].mean()
    assert abs(weighted - truth) < 0.3 * abs(alone - truth)


def test_other_rows_are_billed_so_too(run, loans):
    folder, _, everybody = loans
    train(run, folder, "--propensity", "chance")
    ran = run("evaluate", folder / "m.cb", folder / "all.parquet", "--propensity", "chance",
              "--json")  # fmt: skip
    found = json.loads(ran.out)
    weight = 1 / everybody["chance"].to_numpy()
    bill = {line["policy"]: line for line in found["bill"]}
    assert bill["do nothing"]["cost"] == pytest.approx(
        10 * weight[everybody["bad"].to_numpy() == 1].sum()
    )


def test_methods_are_compared_so_too(run, loans):
    folder, seen, _ = loans
    ran = run(
        "compare", folder / "l.parquet", *START[:6], "--method", "cgada", "--method", "adamec",
        "--rounds", "3", "--folds", "2", "--skip-unlabelled", "--propensity", "chance", "--swap",
        "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    weight, bad = 1 / seen["chance"].to_numpy(), seen["bad"].to_numpy() == 1
    bill = {line["policy"]: line["cost"] for line in found["bill"]}
    assert bill["do nothing"] == pytest.approx(10 * weight[bad].sum())
    assert found["rows"] == int(weight.sum())
    (other,) = found["against_best"]
    best = found["best"]
    assert found["against_best"][other]["more"] == pytest.approx(bill[other] - bill[best])
    assert found["swap"][-1]["total"] == pytest.approx(bill["cgada"] - bill["adamec"])
    assert any("count as" in note for note in found["notes"])


@pytest.mark.parametrize(
    ("column", "said"),
    [("x", "it must be the chance"), ("bad", "both name the column"), ("p", "'p'")],
)
def test_wrong_columns_say_what_to_do(run, loans, column, said):
    ran = run("train", loans[0] / "l.parquet", *START, "-o", loans[0] / "w.cb", "--propensity",
              column)  # fmt: skip
    assert ran.code in (1, 2)
    assert said in " ".join(ran.err.split())
