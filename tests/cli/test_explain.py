"""`costboost explain`: one row, named, with the numbers of the model."""

import json

import polars as pl
import pytest

from costboost import load


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
