"""`costboost explain`: one row, named, with the numbers of the model."""

import io
import json

import numpy as np
import polars as pl
import pytest

from costboost import load
from payments import TRAIN


def test_a_row_is_explained_by_its_own_price(run, folder):
    ran = run("explain", folder / "model.cb", folder / "new.parquet", "--row", "17", "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    new = pl.read_parquet(folder / "new.parquet")
    model = load(folder / "model.cb")
    X = new.select(list(model.feature_names_in_))[17]
    why = model.explain(X, costs={"fp": 8, "tp": 8, "fn": new["amount"][17], "positive": "yes"})
    assert found["row"] == 17
    assert found["identity"]["transaction_id"] == "tx000017"
    assert found["decision"] == why.decision
    assert found["probabilities"] == pytest.approx(why.probabilities)
    assert found["expected_cost"] == pytest.approx(why.expected_cost)
    assert [part["column"] for part in found["parts"]] == [part.column for part in why.parts]


def test_in_words_and_at_other_prices(run, folder):
    ran = run("explain", folder / "model.cb", folder / "new.parquet", "--row", "0")
    assert "Row 0, transaction_id tx000000" in ran.out
    assert "expected cost" in ran.out
    assert "log odds" in ran.out
    start = ("explain", folder / "model.cb", folder / "new.parquet", "--row", "0", "--json")
    dear = json.loads(run(*start, "--fn", "1e6").out)
    assert dear["decision"] == "yes"


def changed_rows(change, row):
    """Return a row with what a change names: its limit, and what the text says."""
    words = change["to"].split()
    if change["limit"] is None:
        return [row.with_columns(pl.lit(change["to"]).alias(change["column"]))]
    values = [change["limit"], float(words[-1])]
    values = [np.nextafter(v, np.inf) if words[0] == "above" else v for v in values]
    return [row.with_columns(pl.lit(v).alias(change["column"])) for v in values]


@pytest.mark.parametrize(
    "prices",
    [
        ("--fn", "amount"),
        ("--fn", "2 * amount + 5", "--fp", "3"),
        ("--fn", "if(channel == 'online', 3, 1) * amount + customer_id / 100"),
        ("--fn", "amount * hour", "--fp", "if(currency == 'EUR', 20, 30) + amount / 10"),
    ],
)
@pytest.mark.parametrize("number", [3, 17, 40])
def test_a_change_that_is_told_turns_the_decision_of_the_changed_file(
    run, folder, tmp_path, prices, number
):
    start = (folder / "model.cb", folder / "new.parquet", *prices)
    why = json.loads(run("explain", *start, "--row", number, "--json").out)
    assert not why["prices_stay"]
    row = pl.read_parquet(folder / "new.parquet")[number]
    whole = [name for name, dtype in row.schema.items() if dtype.is_integer()]
    told = [
        (c, new) for c in why["changes"] for new in changed_rows(c, row) if c["column"] not in whole
    ]
    assert told
    pl.concat(
        [new.cast({"amount": float}) for _, new in told], how="vertical_relaxed"
    ).write_parquet(tmp_path / "changed.parquet")
    ran = run("decide", folder / "model.cb", tmp_path / "changed.parquet", *prices)
    made = pl.read_csv(io.StringIO(ran.out))["decision"].to_list()
    assert made == [change["decision"] for change, _ in told]
    assert why["decision"] not in made


def test_a_category_of_numbers_is_a_number_to_its_price(run, folder, table, tmp_path):
    table.write_parquet(tmp_path / "t.parquet")
    given = (*TRAIN, "--as-category", "hour", "--fn", "hour * 20", "-o", tmp_path / "m.cb")
    assert run("train", tmp_path / "t.parquet", *given).code == 0
    ran = run("explain", tmp_path / "m.cb", tmp_path / "t.parquet", "--row", "5", "--json")
    assert ran.code == 0, ran.err
    (change,) = [c for c in json.loads(ran.out)["changes"] if c["column"] == "hour"]
    moved = table[5].with_columns(hour=pl.lit(float(change["to"])))
    moved.write_parquet(tmp_path / "new.parquet")
    ran = run("decide", tmp_path / "m.cb", tmp_path / "new.parquet")
    assert pl.read_csv(io.StringIO(ran.out))["decision"][0] == change["decision"]


def test_a_row_is_named_as_its_file_writes_it(run, table, tmp_path):
    numbered = table.drop("transaction_id").with_columns(
        account_id=pl.Series([f"{i:06d}" for i in range(table.height)])
    )
    numbered.write_csv(tmp_path / "t.csv")
    assert run("train", tmp_path / "t.csv", *TRAIN, "-o", tmp_path / "m.cb").code == 0
    ran = run("explain", tmp_path / "m.cb", tmp_path / "t.csv", "--row", "42")
    assert "account_id 000042" in ran.out


def test_a_row_is_found_by_its_identifier(run, folder):
    start = ("explain", folder / "model.cb", folder / "new.parquet", "--json")
    by_number = run(*start, "--row", "17")
    for name in ("tx000017", "transaction_id=tx000017"):
        ran = run(*start, "--id", name)
        assert ran.code == 0, ran.err
        assert json.loads(ran.out) == json.loads(by_number.out)


@pytest.mark.parametrize(
    ("named", "code", "message"),
    [
        (("--id", "tx999999"), 1, "tx999999"),
        (("--id", "nowhere=1"), 1, "nowhere"),
        (("--id", "tx000017", "--row", "17"), 2, "--id"),
        ((), 2, "--row"),
    ],
)
def test_a_row_that_is_not_named_or_twice_is_refused(run, folder, named, code, message):
    ran = run("explain", folder / "model.cb", folder / "new.parquet", *named)
    assert ran.code == code
    assert message in ran.err
    assert "Traceback" not in ran.err


def test_an_identifier_of_several_rows_is_refused(run, folder, tmp_path):
    new = pl.read_parquet(folder / "new.parquet")
    pl.concat([new, new[17:18]]).write_parquet(tmp_path / "twice.parquet")
    ran = run("explain", folder / "model.cb", tmp_path / "twice.parquet", "--id", "tx000017")
    assert ran.code == 1
    assert "tx000017" in ran.err


def test_a_row_is_found_by_a_number_as_its_file_writes_it(run, table, tmp_path):
    amounts = table["amount"].round(2).to_list()
    amounts[42] = 4711.25
    table.with_columns(amount=pl.Series(amounts)).write_csv(
        tmp_path / "t.csv", separator=";", decimal_comma=True
    )
    assert run("train", tmp_path / "t.csv", *TRAIN, "-o", tmp_path / "m.cb").code == 0
    for written in ("4711,25", "4711.25"):
        ran = run("explain", tmp_path / "m.cb", tmp_path / "t.csv", "--id", f"amount={written}")
        assert ran.code == 0, ran.err
        assert "Row 42" in ran.out
