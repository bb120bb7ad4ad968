"""`costboost challenge`: what it learns and judges, what it says and writes, what it refuses."""

import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import costboost
from costboost.cli import monitor
from costboost.metrics.policies import SumInterval
from costboost.monitoring import challenge
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


def test_a_new_map_is_fitted_alone(run, folder, recent, tmp_path):
    new, before = tmp_path / "new.cb", (folder / "model.cb").read_bytes()
    given = ("challenge", folder / "model.cb", recent / "turned.parquet", "--recalibrate")
    ran = run(*given, "-o", new, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert found["change"] == "recalibrated"
    bill = {line["policy"]: line["cost"] for line in found["bill"]}
    saved = bill["old model"] - bill["recalibrated one"]
    assert found["saved"]["total"] == pytest.approx(saved)
    table = pl.read_parquet(recent / "turned.parquet")
    names = costboost.load(new).feature_names_in_.tolist()
    old, made = (costboost.load(path) for path in (folder / "model.cb", new))
    margins = [model._margins(table[names]) for model in (old, made)]
    assert np.array_equal(*margins)  # the trees are the old ones
    cut = table["day"].sort()[len(table) - round(0.25 * len(table))]
    later = table.filter(pl.col("day") >= cut)
    y, amount = later["fraud"].to_numpy(), later["amount"].to_numpy()
    paid = np.where(made.predict(later[names]) == "yes", 8, amount * (y == "yes")).sum()
    assert paid == pytest.approx(bill["recalibrated one"])
    assert (folder / "model.cb").read_bytes() == before
    shown = run("inspect", new)
    assert f"recalibrated on {found['rows']['train']} rows of" in " ".join(shown.out.split())
    assert run("decide", new, folder / "new.parquet", "-o", tmp_path / "d.csv").code == 0
    again = run(*given, "-o", new)  # never over another file
    assert again.code == 1
    assert "--force" in again.err


def test_other_prices_are_billed_on_all_rows(run, folder, recent, tmp_path):
    new = tmp_path / "new.cb"
    given = ("challenge", folder / "model.cb", recent / "same.csv", "--reprice")
    ran = run(*given, "--fp", "2 * amount", "--tp", "30", "-o", new, "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    table = pl.read_csv(recent / "same.csv", try_parse_dates=True)
    assert found["rows"] == {"train": 0, "judged": len(table)}
    model = costboost.load(folder / "model.cb")
    p = model.predict_proba(table[model.feature_names_in_.tolist()])[:, 1]
    y, amount = table["fraud"].to_numpy() == "yes", table["amount"].to_numpy()
    acted = [p * amount > 8, p * amount > (1 - p) * 2 * amount + p * 30]
    paid = [np.where(a, np.where(y, 30, 2 * amount), amount * y).sum() for a in acted]
    bill = {line["policy"]: line["cost"] for line in found["bill"]}
    assert [bill["old prices"], bill["new prices"]] == pytest.approx(paid)
    assert found["decided_differently"] == np.count_nonzero(acted[0] != acted[1])
    ran = run("evaluate", new, recent / "same.csv", "--json")  # decides and bills by them
    bill = {line["policy"]: line["cost"] for line in json.loads(ran.out)["bill"]}
    assert bill["the model"] == pytest.approx(paid[1])
    ran = run(*given, "--fp", "8", "--label-delay", "7d")
    assert "known label yet" in ran.out
    assert "only 0 rows would be decided differently" in " ".join(ran.out.split())


def test_a_model_of_python_is_repriced_without_a_time(run, recent, tmp_path):
    table = pl.read_csv(recent / "same.csv").select("amount", "hour")
    y = pl.read_csv(recent / "same.csv")["fraud"].to_numpy()
    model = costboost.GradientBoostClassifier(n_estimators=5)
    more = ("--target", "fraud", "--positive", "yes", "--fp", "8", "--fn", "amount", "--reprice")
    costs = costboost.Costs(fp=1, fn=2, positive="yes")
    costboost.save(model.fit(table, y, costs=costs), tmp_path / "m.cb")
    new = tmp_path / "n.cb"
    ran = run("challenge", tmp_path / "m.cb", recent / "same.csv", *more, "-o", new)
    assert ran.code == 0, ran.err
    assert run("evaluate", new, recent / "same.csv", "--target", "fraud").code == 0
    by_row = costboost.Costs(fp=1, fn=np.arange(1.0, len(y) + 1), positive="yes")
    costboost.save(model.fit(table, y, costs=by_row), tmp_path / "r.cb")
    ran = run("challenge", tmp_path / "r.cb", recent / "same.csv", *more)
    assert ran.code == 1
    assert "was fitted with prices of other rows" in " ".join(ran.err.split())


def test_intervals_allow_for_groups(run, folder, recent, tmp_path):
    table = pl.read_csv(recent / "same.csv").with_columns(
        who=pl.Series(np.arange(900) // 30).cast(pl.String)
    )
    table.write_csv(tmp_path / "who.csv")
    widths = []
    for more in ((), ("--groups", "who")):
        ran = run(
            "challenge", folder / "model.cb", tmp_path / "who.csv", "--reprice", "--fn",
            "9 * amount", "--json", *more,
        )  # fmt: skip
        assert ran.code == 0, ran.err
        widths.append(json.loads(ran.out)["saved"])
    assert widths[0]["total"] == pytest.approx(widths[1]["total"])
    assert widths[0]["low"] != widths[1]["low"]


def test_it_says_whether_more_rows_pay_or_newer_ones(run, folder, recent, monkeypatch):
    table = pl.read_parquet(recent / "turned.parquet")
    model = costboost.load(folder / "model.cb")
    X, y = table[model.feature_names_in_.tolist()], table["fraud"].to_numpy()
    costs = costboost.Costs(fp=8, tp=8, fn="amount", positive="yes")
    found = challenge(model, X, y, time=table["day"], costs=costs, holdout=0.5)
    found = replace(found, saved=SumInterval(50.0, 40.0, 60.0))
    monkeypatch.setattr("costboost.monitoring.challenging.FEW_CHANGES", 1)
    texts, asked = [], []
    for as_many in (SumInterval(1.0, -2.0, 3.0), SumInterval(45.0, 30.0, 60.0), None):

        def judged(*given, n_old, as_many=as_many, **how):
            asked.append(n_old)
            return replace(found, saved_by_as_many=as_many)

        monkeypatch.setattr(monitor, "run_challenge", judged)
        ran = run("challenge", folder / "model.cb", recent / "turned.parquet")
        texts.append(" ".join(ran.out.split()))
    assert "So it is more rows that pay; that the rows have changed is not shown." in texts[0]
    assert "newer rows pay, not only more of them." in texts[1]
    assert texts[2].endswith("it pays.")
    rows = json.loads(run("inspect", folder / "model.cb", "--json").out)["rows"]
    assert asked == [rows["train"]] * 3


@pytest.mark.parametrize(
    ("rows", "more", "code", "message"),
    [
        ("same.csv", ("--reprice",), 2, "--reprice needs the new prices"),
        ("same.csv", ("--reprice", "--recalibrate"), 2, "ask one at a time"),
        ("same.csv", ("--recalibrate", "--method", "auto"), 2, "leave out --method"),
        ("same.csv", ("--recalibrate", "--rounds", "3"), 2, "leave out --rounds"),
        ("same.csv", ("--reprice", "--fp", "1", "--holdout", "0.5"), 2, "leave out --holdout"),
        ("same.csv", ("--reprice", "--fp", "1", "--gap", "1d"), 2, "leave out --gap"),
        ("same.csv", ("--reprice", "--fp", "nobody"), 1, "nobody"),
        ("same.csv", ("--groups", "nobody"), 1, "nobody"),
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
