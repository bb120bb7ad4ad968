"""`costboost compare`: the same folds for all, billed as by hand."""

import json

import polars as pl
import pytest
from sklearn.model_selection import StratifiedKFold

from costboost import CostBoostClassifier
from payments import PRICES, TRAIN

METHODS = ("--method", "adamec", "--method", "adaboost", "--rounds", "5")
START = ("--target", "fraud", *PRICES)


def test_methods_are_billed_on_the_rows_that_their_folds_left_out(run, folder, tmp_path):
    more = ("--folds", "3", "--drop", "blocked", "--json")
    ran = run("compare", folder / "later.csv", *START, *METHODS, *more)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    table = pl.read_csv(folder / "later.csv")
    # Of 400 rows, 100 customers are few enough to be a number like any other.
    X = table.drop("transaction_id", "day", "currency", "blocked", "fraud")
    y, amount = table["fraud"].to_numpy(), table["amount"].to_numpy()
    total = 0.0
    for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(y, y):
        model = CostBoostClassifier("adamec", 5, random_state=0).fit(X[train], y[train])
        acted = model.predict_proba(X[test])[:, 1] * amount[test] > 8
        total += 8 * acted.sum() + amount[test][(y[test] == "yes") & ~acted].sum()
    bill = {line["policy"]: line for line in found["bill"]}
    assert bill["adamec"]["cost"] == pytest.approx(total)
    assert found["best"] in ("adamec", "adaboost")
    other = next(name for name in ("adamec", "adaboost") if name != found["best"])
    pair = found["against_best"][other]
    assert pair["more"] == pytest.approx(bill[other]["cost"] - bill[found["best"]]["cost"])
    assert pair["low"] <= pair["more"] <= pair["high"]
    assert sum(found["average_ranks"].values()) == pytest.approx(3)


def test_models_and_a_picture(run, folder, tmp_path):
    picture = tmp_path / "cd.png"
    ran = run(
        "compare", folder / "later.csv", *START, "--method", "adaboost", "--rounds", "3",
        "--model", folder / "model.cb", "--folds", "6", "--picture", picture,
    )  # fmt: skip
    assert ran.code == 0, ran.err
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert "model.cb" in ran.out
    assert "ranks of" not in ran.out


def test_few_folds_say_that_ranks_tell_nothing(run, folder):
    ran = run("compare", folder / "later.csv", *START, *METHODS, "--folds", "2")
    assert "give --folds 10" in " ".join(ran.out.split())


def test_folds_by_time_judge_later_rows_only(run, folder):
    more = ("--folds", "3", "--time", "day", "--json")
    ran = run("compare", folder / "payments.csv", *START, *METHODS, *more)
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    assert found["folds"] == 3
    assert found["rows"] == pytest.approx(0.75 * 1500, rel=0.1)


def test_a_model_that_knows_these_rows_is_told(run, folder):
    ran = run(
        "compare", folder / "payments.csv", *START, "--method", "adaboost", "--rounds", "2",
        "--folds", "2", "--model", folder / "model.cb",
    )  # fmt: skip
    assert "trained on rows of this very file" in " ".join(ran.out.split())


def test_more_folds_than_rows_of_a_class(run, tmp_path, table):
    few = pl.concat([table.filter(fraud="no")[:100], table.filter(fraud="yes")[:3]])
    few.write_csv(tmp_path / "t.csv")
    ran = run("compare", tmp_path / "t.csv", *START, *METHODS)
    assert ran.code == 1
    assert "--folds 3" in ran.err


def test_a_model_of_categories_reads_their_zeros(run, table, tmp_path):
    """Codes that are digits throughout in this table are text to the model all the same."""
    shops = ["007", "7", "A1"] * 500
    table.with_columns(shop=pl.Series(shops)).write_csv(tmp_path / "t.csv")
    model = (*TRAIN, "-o", tmp_path / "m.cb")
    assert run("train", tmp_path / "t.csv", *model).code == 0
    digits = table.with_columns(shop=pl.Series(shops), fraud=pl.col("fraud").cast(pl.String))
    digits = digits.filter(pl.col("shop") != "A1").with_columns(
        fraud=pl.when(pl.int_range(pl.len()) % 9 == 0).then(None).otherwise(pl.col("fraud"))
    )
    digits.write_csv(tmp_path / "d.csv")
    ran = run(
        "compare", tmp_path / "d.csv", *START, "--skip-unlabelled", "--json", "--folds", "2",
        "--method", "adaboost", "--rounds", "2", "--model", tmp_path / "m.cb",
    )  # fmt: skip
    assert ran.code == 0, ran.err
    bill = {line["policy"]: line for line in json.loads(ran.out)["bill"]}
    kept = digits.filter(pl.col("fraud").is_not_null())
    kept.write_csv(tmp_path / "kept.csv")
    ran = run("evaluate", tmp_path / "m.cb", tmp_path / "kept.csv", "--json")
    alone = {line["policy"]: line for line in json.loads(ran.out)["bill"]}["the model"]
    assert bill[str(tmp_path / "m.cb")]["cost"] == pytest.approx(alone["cost"])
    assert bill[str(tmp_path / "m.cb")]["acted"] == alone["acted"]


def test_what_is_exchanged_between_two(run, folder):
    ran = run("compare", folder / "later.csv", *START, *METHODS, "--swap", "--folds", "3", "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    bill = {line["policy"]: line["cost"] for line in found["bill"]}
    *lines, total = found["swap"]
    assert total["total"] == pytest.approx(bill["adamec"] - bill["adaboost"])
    assert total["rows"] == sum(line["rows"] for line in lines)
    assert sum(line["total"] for line in lines) == pytest.approx(total["total"])
    assert {(line["old"], line["new"]) for line in lines} <= {("yes", "no"), ("no", "yes")}
    shown = run("compare", folder / "later.csv", *START, *METHODS, "--swap", "--folds", "3")
    assert "Decided differently by adaboost than by adamec" in shown.out
    alone = run("compare", folder / "later.csv", *START, *METHODS, "--method", "auto", "--swap")
    assert alone.code == 2
    assert "exactly two" in " ".join(alone.err.split())
