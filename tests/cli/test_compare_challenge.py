"""`costboost challenge`: what it learns and judges, what it says and writes, what it refuses."""

import json

import numpy as np
import polars as pl
import pytest

import costboost
from payments import payments


@pytest.fixture(scope="module")
def recent(tmp_path_factory):
    """Payments as the model knows them, and some of which two columns are turned around."""
    made = tmp_path_factory.mktemp("challenge")
    rows = payments(900, 6)
    rows.write_csv(made / "same.csv")
    far = pl.Series("distance_km", 1000 - rows["distance_km"].to_numpy())
    rows.with_columns(far, amount_to_usual=-pl.col("amount_to_usual")).write_parquet(
        made / "turned.parquet"
    )
    open_at_the_end = pl.when(pl.col("day") <= pl.col("day").max() - pl.duration(days=7))
    rows.with_columns(fraud=open_at_the_end.then("fraud")).write_parquet(made / "open.parquet")
    first = pl.int_range(len(rows)) < 300
    rows.with_columns(fraud=pl.when(first).then("fraud").otherwise(pl.lit("no"))).write_csv(
        made / "late.csv"
    )
    return made


def test_the_result_is_that_of_the_function(run, folder, recent, tmp_path):
    new = tmp_path / "new.cb"
    ran = run("challenge", folder / "model.cb", recent / "turned.parquet", "-o", new, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    bill = {line["policy"]: line["cost"] for line in found["bill"]}
    saved = found["saved"]
    assert saved["total"] == pytest.approx(bill["old model"] - bill["challenger"])
    assert sum(line["rows"] for line in found["swap"]) == found["decided_differently"]
    assert found["advice"] == (
        "replace" if saved["low"] > 0 else "keep" if saved["high"] < 0 else "wait"
    )
    # The file decides as it was judged.
    table = pl.read_parquet(recent / "turned.parquet")
    cut = table["day"].sort()[len(table) - round(0.25 * len(table))]
    later = table.filter(pl.col("day") >= cut)
    assert found["rows"] == {"train": len(table) - len(later), "judged": len(later)}
    model = costboost.load(new)
    decided = model.predict(later[list(model.feature_names_in_)])
    y, amount = later["fraud"].to_numpy(), later["amount"].to_numpy()
    paid = np.where(decided == "yes", 8, amount * (y == "yes")).sum()
    assert paid == pytest.approx(bill["challenger"])
    assert run("decide", new, folder / "new.parquet", "-o", tmp_path / "d.csv").code == 0
    shown = run("inspect", new)
    assert "turned.parquet" in shown.out
    assert run("challenge", folder / "model.cb", recent / "same.csv", "-o", new).code == 1


def test_it_says_when_to_wait(run, folder, recent):
    ran = run("challenge", folder / "model.cb", recent / "same.csv")
    text = " ".join(ran.out.split())
    assert ran.code == 0, ran.err
    assert "The change would have saved" in text
    assert "wait." in text
    assert "Decided differently by the challenger than by the old model" in text
    assert "Wrote" not in text


def test_open_labels_neither_teach_nor_judge(run, folder, recent):
    ran = run(
        "challenge", folder / "model.cb", recent / "open.parquet", "--label-delay", "7d", "--json"
    )
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    table = pl.read_parquet(recent / "open.parquet").drop_nulls("fraud")
    cut = table["day"].sort()[len(table) - round(0.25 * len(table))]
    learnt = table.filter(pl.col("day") < cut - np.timedelta64(7, "D").item())
    assert found["rows"]["train"] == len(learnt)
    assert found["rows"]["judged"] == table.filter(pl.col("day") >= cut).height


def test_another_method_and_other_prices(run, folder, recent):
    ran = run(
        "challenge", folder / "model.cb", recent / "same.csv", "--method", "adaboost",
        "--rounds", "3", "--fp", "80", "--tp", "80", "--json",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    bill = {line["policy"]: line for line in json.loads(ran.out)["bill"]}
    table = pl.read_csv(recent / "same.csv", try_parse_dates=True)
    cut = table["day"].sort()[len(table) - round(0.25 * len(table))]
    n = table.filter(pl.col("day") >= cut).height
    assert bill["do everything"]["cost"] == pytest.approx(80 * n)


@pytest.mark.parametrize(
    ("rows", "more", "code", "message"),
    [
        ("same.csv", ("--holdout", "0"), 2, "--holdout 0.0 is a share"),
        ("same.csv", ("--holdout", "0.95"), 2, "--holdout 0.95 is a share"),
        ("same.csv", ("--time", "nothing"), 1, "nothing"),
        ("same.csv", ("--target", "nothing"), 1, "nothing"),
        ("same.csv", ("--method", "magic"), 2, "--method 'magic' is not known"),
        ("same.csv", ("--rounds", "3"), 2, "are of a --method"),
        ("same.csv", ("--label-delay", "40x"), 1, "--label-delay"),
        ("same.csv", ("--label-delay", "50d"), 1, "a shorter --gap or --label-delay"),
        (
            "late.csv",
            (),
            1,
            "No row to judge by has the label 'yes'",
        ),
        ("open.parquet", (), 1, "fraud"),
        ("no.csv", (), 1, "no.csv"),
        ("same.csv", ("-o", "nowhere/new.cb"), 1, "does not exist"),
    ],
)
def test_what_is_refused(run, folder, recent, rows, more, code, message):
    ran = run("challenge", folder / "model.cb", recent / rows, *more)
    assert ran.code == code
    assert message in " ".join(ran.err.split())


def test_a_model_without_a_time_needs_one(run, recent, tmp_path):
    table = pl.read_csv(recent / "same.csv").select("amount", "hour")
    y = pl.read_csv(recent / "same.csv")["fraud"].to_numpy()
    model = costboost.GradientBoostClassifier(n_estimators=2).fit(table, y)
    costboost.save(model, tmp_path / "m.cb")
    more = ("--target", "fraud", "--positive", "yes", "--fp", "8", "--fn", "amount")
    ran = run("challenge", tmp_path / "m.cb", recent / "same.csv", *more)
    assert ran.code == 2
    assert "--time" in ran.err
    again = ("--time", "day", "-o", tmp_path / "n.cb")
    ran = run("challenge", tmp_path / "m.cb", recent / "same.csv", *more, *again)
    assert ran.code == 0, ran.err
    assert run("evaluate", tmp_path / "n.cb", recent / "same.csv").code == 0
