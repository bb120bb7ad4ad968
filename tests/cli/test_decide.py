"""`costboost decide`: the decisions are the cheapest, the file is whole, limits hold."""

import io
import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from costboost import CostBoostClassifier, Costs, load, save
from payments import payments


def decided(run, folder, path, *more, output, table="new.parquet"):
    ran = run("decide", folder / "model.cb", folder / table, *more, "-o", output / path)
    assert ran.code == 0, ran.err
    return ran


def test_decisions_are_the_cheapest_at_each_rows_own_price(run, folder, tmp_path):
    decided(run, folder, "d.parquet", output=tmp_path)
    made, new = pl.read_parquet(tmp_path / "d.parquet"), pl.read_parquet(folder / "new.parquet")
    assert made.columns[: new.width] == new.columns
    assert made.select(new.columns).equals(new)
    p, amount = made["probability_yes"].to_numpy(), new["amount"].to_numpy()
    model = load(folder / "model.cb")
    np.testing.assert_array_equal(p, model.predict_proba(new.select(model.feature_names_in_))[:, 1])
    np.testing.assert_allclose(made["probability_no"], 1 - p)
    np.testing.assert_allclose(made["expected_cost_no"], p * amount)
    np.testing.assert_allclose(made["expected_cost_yes"], 8.0)
    assert (made["decision"] == "yes").to_list() == (p * amount > 8).tolist()
    np.testing.assert_allclose(made["expected_cost"], np.minimum(p * amount, 8))


@pytest.mark.parametrize(
    ("name", "read"),
    [
        ("d.csv", pl.read_csv),
        ("d.csv.gz", pl.read_csv),
        ("d.tsv", lambda path: pl.read_csv(path, separator="\t")),
        ("d.parquet", pl.read_parquet),
        ("d.arrow", pl.read_ipc),
        ("d.feather", pl.read_ipc),
        ("d.jsonl", pl.read_ndjson),
    ],
)
def test_every_format_holds_the_same(run, name, read, folder, tmp_path):
    decided(run, folder, name, "--only-decisions", output=tmp_path)
    made = read(tmp_path / name)
    decided(run, folder, "again.parquet", "--only-decisions", output=tmp_path)
    again = pl.read_parquet(tmp_path / "again.parquet")
    assert made.columns == again.columns
    assert made["decision"].to_list() == again["decision"].to_list()
    np.testing.assert_allclose(made["expected_cost"], again["expected_cost"], rtol=1e-12)
    assert made["row"].to_list() == list(range(300))


def test_without_a_file_the_table_goes_to_standard_output(run, folder):
    ran = run("decide", folder / "model.cb", folder / "new.parquet")
    assert ran.code == 0
    made = pl.read_csv(io.StringIO(ran.out))
    assert made.height == 300
    assert "decisions" in ran.err
    assert "expected cost" in ran.err


def test_standard_input(run, folder, monkeypatch, tmp_path):
    data = pl.read_parquet(folder / "new.parquet").write_csv().encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    ran = run("decide", folder / "model.cb", "-", "--only-decisions")
    assert ran.code == 0
    decided(run, folder, "d.csv", "--only-decisions", output=tmp_path)
    one, other = pl.read_csv(io.StringIO(ran.out)), pl.read_csv(tmp_path / "d.csv")
    assert one["decision"].to_list() == other["decision"].to_list()


def test_new_prices_need_no_new_model(run, folder, tmp_path):
    decided(run, folder, "d.parquet", "--fn", "2 * amount + 5", "--fp", "3", output=tmp_path)
    made = pl.read_parquet(tmp_path / "d.parquet")
    p, amount = made["probability_yes"].to_numpy(), made["amount"].to_numpy()
    np.testing.assert_allclose(made["expected_cost_no"], p * (2 * amount + 5))
    np.testing.assert_allclose(made["expected_cost_yes"], 3 * (1 - p) + 8 * p)  # tp stays 8


def test_limits_are_kept_and_priced(run, folder, tmp_path):
    ran = decided(run, folder, "d.parquet", "--capacity", "yes=5", output=tmp_path)
    made = pl.read_parquet(tmp_path / "d.parquet")
    assert (made["decision"] == "yes").sum() == 5
    gain = made["expected_cost_no"] - made["expected_cost_yes"]
    chosen = set(np.flatnonzero((made["decision"] == "yes").to_numpy()))
    assert chosen == set(np.argsort(-gain.to_numpy())[:5])
    assert "one more would save" in ran.out
    assert "without limits" in ran.out


def test_limits_by_day_and_as_a_share(run, folder, tmp_path):
    decided(run, folder, "d.parquet", "--capacity", "yes=1", "--per", "day", output=tmp_path)
    made = pl.read_parquet(tmp_path / "d.parquet")
    per_day = made.filter(pl.col("decision") == "yes").group_by("day").len()
    assert per_day["len"].max() == 1
    decided(run, folder, "e.parquet", "--capacity", "yes=0.02", output=tmp_path)
    assert (pl.read_parquet(tmp_path / "e.parquet")["decision"] == "yes").sum() == 6


def test_rows_may_be_left_to_others(run, folder, tmp_path):
    decided(run, folder, "d.parquet", "--defer", "amount / 100", output=tmp_path)
    made = pl.read_parquet(tmp_path / "d.parquet")
    costs = made.select("expected_cost_no", "expected_cost_yes", "expected_cost_defer").to_numpy()
    np.testing.assert_allclose(costs[:, 2], made["amount"] / 100)
    names = np.array(["no", "yes", "defer"])
    assert made["decision"].to_list() == names[costs.argmin(axis=1)].tolist()


def test_json_counts_what_was_decided(run, folder, tmp_path):
    ran = decided(run, folder, "d.csv", "--json", output=tmp_path)
    found = json.loads(ran.out)
    made = pl.read_csv(tmp_path / "d.csv")
    assert found["decisions"]["yes"] == (made["decision"] == "yes").sum()
    assert found["expected_cost"] == pytest.approx(made["expected_cost"].sum())
    assert found["expected_cost_if_always"]["yes"] == pytest.approx(8 * 300)


def test_categories_that_training_did_not_know(run, folder, tmp_path):
    new = pl.read_parquet(folder / "new.parquet").with_columns(
        merchant=pl.when(pl.int_range(300) < 3)
        .then(pl.lit("casino"))
        .otherwise(pl.col("merchant").cast(pl.String))
    )
    new.write_parquet(tmp_path / "odd.parquet")
    ran = run("decide", folder / "model.cb", tmp_path / "odd.parquet", "-o", tmp_path / "d.csv")
    assert ran.code == 0
    assert "3 rows have a merchant that the model has not learnt ('casino')" in ran.out


def test_categories_keep_their_zeros(run, table, tmp_path):
    """A column of codes that are all digits in the new file is text all the same."""
    shops = np.where(np.arange(1500) % 3 == 0, "007", np.where(np.arange(1500) % 3 == 1, "7", "A1"))
    odd = table.with_columns(shop=pl.Series(shops))
    odd.write_csv(tmp_path / "t.csv")
    given = ("--target", "fraud", "--positive", "yes", "--fp", "8", "--fn", "amount")
    run("train", tmp_path / "t.csv", *given, "--rounds", "3", "-o", tmp_path / "m.cb")
    odd.filter(pl.col("shop") == "007").drop("fraud").write_csv(tmp_path / "new.csv")
    ran = run("decide", tmp_path / "m.cb", tmp_path / "new.csv", "-o", tmp_path / "d.csv")
    assert ran.code == 0, ran.err
    assert "has not learnt" not in ran.out


def test_one_row_and_columns_in_another_order(run, folder, tmp_path):
    new = pl.read_parquet(folder / "new.parquet")
    new.select(new.columns[::-1])[:1].write_csv(tmp_path / "one.csv")
    ran = run("decide", folder / "model.cb", tmp_path / "one.csv", "-o", tmp_path / "d.csv")
    assert ran.code == 0, ran.err
    decided(run, folder, "all.csv", output=tmp_path)
    one, every = pl.read_csv(tmp_path / "d.csv"), pl.read_csv(tmp_path / "all.csv")
    assert one["expected_cost"][0] == every["expected_cost"][0]


def test_a_model_that_python_saved(run, tmp_path):
    table = payments(600, 1)
    names = ["amount", "hour", "merchant"]
    costs = Costs(fp=8, fn="amount", positive="yes")
    model = CostBoostClassifier("adamec", 5, costs=costs)
    model.fit(table.select(names), table["fraud"].to_numpy())
    save(model, tmp_path / "m.cb")
    table.write_csv(tmp_path / "t.csv")
    ran = run("decide", tmp_path / "m.cb", tmp_path / "t.csv", "-o", tmp_path / "d.csv")
    assert ran.code == 0, ran.err
    made = pl.read_csv(tmp_path / "d.csv")["decision"].to_list()
    assert made == model.predict(table.select(names)).tolist()
    assert run("evaluate", tmp_path / "m.cb", tmp_path / "t.csv").code == 2
    ran = run("evaluate", tmp_path / "m.cb", tmp_path / "t.csv", "--target", "fraud")
    assert ran.code == 0, ran.err
    assert "do nothing" in ran.out
    assert run("inspect", tmp_path / "m.cb").code == 0


def test_readers_that_leave_early_are_no_error(folder):
    command = [
        sys.executable,
        "-m",
        "costboost",
        "decide",
        folder / "model.cb",
        folder / "new.parquet",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        try:
            assert process.wait(timeout=60) == 141
        finally:
            process.kill()
        assert b"Traceback" not in process.stderr.read()
