"""Prices of columns on the command line: training, the bill, and what to ask next."""

import json

import numpy as np
import polars as pl
import pytest

import costboost
from costboost.cli import UsageError
from costboost.cli.prices import read_column_costs


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    folder, rng = tmp_path_factory.mktemp("columns"), np.random.default_rng(0)
    ill = (rng.random(260) < 0.5).astype(int)
    columns = {
        "age": 60 + 4 * ill + 9 * rng.normal(size=260),
        "tsh": ill + 0.6 * rng.normal(size=260),
        "t3": ill + 0.6 * rng.normal(size=260),
        "mri": ill + 0.2 * rng.normal(size=260),
        "ill": ill,
    }
    frame = pl.DataFrame(columns)
    frame[:200].write_csv(folder / "train.csv")
    new = frame[200:].drop("ill").with_row_index("row")
    unknown = pl.when(pl.col("row") % 2 == 0).then(None)
    new = new.with_columns(unknown.otherwise(pl.col(name)).alias(name) for name in ("tsh", "t3"))
    new.with_columns(pl.lit(None, pl.Float64).alias("mri")).drop("row").write_csv(
        folder / "new.csv"
    )
    return folder


PRICES = ["--column-cost", "blood=tsh+t3:4", "--column-cost", "mri=9"]


@pytest.fixture
def kept(tables, run):
    """Return what training prints about a model whose columns have prices."""
    return run(
        "train", tables / "train.csv", "--target", "ill", "--fp", "100", "--fn", "100",
        "--method", "adamec", "--rounds", "10", *PRICES,
        "-o", tables / "m.costboost", "--json", "--force",
    ).out  # fmt: skip


def test_prices_are_read(tables, kept):
    model = costboost.load(tables / "m.costboost")
    assert model.feature_costs_.names == ("blood", "mri")
    assert model.feature_costs_.prices.tolist() == [4.0, 9.0]
    costs = json.loads(kept)["column_costs"]
    assert 0 < costs["tests"] <= 40 * 13
    assert costs["with_mistakes"] >= costs["tests"]


def test_what_to_ask_is_written_for_each_row(tables, kept, run):
    out = tables / "asked.csv"
    found = json.loads(
        run(
            "decide",
            tables / "m.costboost",
            tables / "new.csv",
            "--ask",
            "reference",
            "-o",
            out,
            "--json",
            "--force",
        ).out
    )
    got = pl.read_csv(out)
    assert found["decide_now"] + sum(found["ask"].values()) == len(got) == 60
    assert set(got["ask"].drop_nulls()) <= {"blood", "mri"}
    assert found["expected_gain"] == pytest.approx(got["ask_gains"].sum())
    model = costboost.load(tables / "m.costboost")
    one = model.next_test(pl.read_csv(tables / "new.csv", schema_overrides={"mri": pl.Float64})[:1])
    assert got["ask"][0] == one.best
    assert got["expected_cost"][0] == pytest.approx(one.expected_cost)


@pytest.mark.parametrize(
    ("given", "pay", "words"),
    [
        (["mri"], None, "write COLUMN=PRICE"),
        (["mri=dear"], None, "write COLUMN=PRICE"),
        (["=3"], None, "write COLUMN=PRICE"),
        (["blood=:3"], None, "write COLUMN=PRICE"),
        (["mri=3", "mri=4"], None, "twice"),
        (["mri=-3"], None, "prices are at least 0"),
        (["mri=nan"], None, "prices are at least 0"),
        (["mri=3"], "patient", "allowed: 'row'"),
        ([], "row", "give that too"),
    ],
)
def test_what_is_wrong_is_said(given, pay, words):
    with pytest.raises(UsageError, match=words):
        read_column_costs(given, pay)


def test_names_may_hold_equals_signs():
    assert read_column_costs(["a=b=3"], None).prices == {"a=b": 3.0}
    assert read_column_costs([], None) is None


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["--ask", "maybe"], "write --ask reference"),
        (["--column-cost", "mri=3"], "is for --ask"),
        (["--ask", "missing", "--capacity", "1=3"], "leave out --capacity"),
        (["--ask", "missing", "--column-cost", "pulse=3"], "--column-cost names column 'pulse'"),
    ],
)
def test_what_cannot_be_asked_is_said(tables, kept, run, given, words):
    ran = run("decide", tables / "m.costboost", tables / "new.csv", *given)
    assert ran.code != 0
    assert words in ran.err


def test_methods_without_prices_of_columns_say_so(tables, run):
    ran = run(
        "train", tables / "train.csv", "--target", "ill", "--fp", 1, "--fn", 1,
        "--method", "lp-csb", *PRICES,
    )  # fmt: skip
    assert ran.code != 0
    assert "knows no prices of columns" in ran.err
