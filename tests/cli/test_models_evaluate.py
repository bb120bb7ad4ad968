"""`costboost evaluate`: the bill on other rows, against sums by hand."""

import json

import numpy as np
import polars as pl
import pytest

from costboost import load


def test_the_bill_is_what_the_rows_cost(run, folder):
    ran = run("evaluate", folder / "model.cb", folder / "later.csv", "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    later = pl.read_csv(folder / "later.csv")
    model = load(folder / "model.cb")
    amount, fraud = later["amount"].to_numpy(), (later["fraud"] == "yes").to_numpy()
    p = model.predict_proba(later.select(list(model.feature_names_in_)))[:, 1]
    acted = p * amount > 8
    bill = {line["policy"]: line for line in found["bill"]}
    assert bill["do nothing"]["cost"] == pytest.approx(amount[fraud].sum())
    assert bill["the model"]["cost"] == pytest.approx(
        8 * acted.sum() + amount[fraud & ~acted].sum()
    )
    assert "today's decisions" in bill  # the model remembers the column
    assert found["positives"]["happened"] == fraud.sum()
    assert found["positives"]["expected"] == pytest.approx(p.sum())
    assert found["brier"] == pytest.approx(np.mean((p - fraud) ** 2))
    expected = np.where(acted, 8, p * amount)
    assert found["cost"]["expected"] == pytest.approx(expected.sum())
    variance = np.where(acted, 0, p * (1 - p) * amount**2)
    assert found["cost"]["deviation"] == pytest.approx(np.sqrt(variance.sum()))
    cells = {(c["truth"], c["decision"]): c for c in found["cells"]}
    assert cells["yes", "no"]["rows"] == (fraud & ~acted).sum()
    assert cells["yes", "no"]["cost"] == pytest.approx(amount[fraud & ~acted].sum())
    assert sum(c["rows"] for c in found["cells"]) == 400


def test_new_prices(run, folder):
    ran = run("evaluate", folder / "model.cb", folder / "later.csv", "--fn", "2 * amount", "--json")
    plain = json.loads(run("evaluate", folder / "model.cb", folder / "later.csv", "--json").out)
    dear = json.loads(ran.out)
    assert dear["bill"][0]["cost"] == pytest.approx(2 * plain["bill"][0]["cost"])


def test_rows_that_were_trained_on_are_told(run, folder):
    ran = run("evaluate", folder / "model.cb", folder / "payments.csv")
    assert ran.code == 0
    assert "was trained on rows of this very file" in " ".join(ran.out.split())
    assert "trained on" not in run("evaluate", folder / "model.cb", folder / "later.csv").out


def test_other_rows_than_those_of_training_are_told(run, folder, tmp_path):
    """Frauds twenty times as frequent: the probabilities cannot fit them."""
    later = pl.read_csv(folder / "later.csv")
    frauds = later.filter(pl.col("fraud") == "yes")
    pl.concat([later, *[frauds] * 20]).write_csv(tmp_path / "t.csv")
    ran = run("evaluate", folder / "model.cb", tmp_path / "t.csv")
    assert "more rows are positive than the probabilities say" in " ".join(ran.out.split())
    assert "expected and paid cost differ by more than chance" in " ".join(ran.out.split())


def test_classes_that_the_model_does_not_know(run, folder, tmp_path):
    odd = pl.read_csv(folder / "later.csv").with_columns(
        fraud=pl.when(pl.int_range(400) == 7).then(pl.lit("who knows")).otherwise("fraud")
    )
    odd.write_csv(tmp_path / "t.csv")
    ran = run("evaluate", folder / "model.cb", tmp_path / "t.csv")
    assert ran.code == 1
    assert "'who knows' (1 row: 7), which the model does not know" in ran.err


def test_groups_widen_the_interval(run, folder, tmp_path):
    """The same rows ten times over, as one group each: no more is known than from one of each."""
    later = pl.read_csv(folder / "later.csv")
    pl.concat([later] * 10).write_csv(tmp_path / "t.csv")

    def width(*more):
        ran = run("evaluate", folder / "model.cb", tmp_path / "t.csv", *more, "--json")
        line = json.loads(ran.out)["bill"][0]
        return line["high"] - line["low"]

    assert width("--groups", "transaction_id") > 2 * width()


def test_a_promise_about_new_rows(run, folder):
    asked = ("evaluate", folder / "model.cb", folder / "later.csv", "--promise", "0.9")
    ran = run(*asked, "--cap", "5000", "--json")
    assert ran.code == 0, ran.err
    found = json.loads(ran.out)
    bound, bill = found["promise"], {line["policy"]: line for line in found["bill"]}
    assert bound["mean"] == pytest.approx(bill["the model"]["cost"] / 400)
    assert bound["mean"] < bound["upper"] <= bound["high"] == 5000
    said = run(*asked, "--cap", "5000")
    assert "With 90 % confidence the average bill" in " ".join(said.out.split())
    for more, message in (
        ((), "Name the most that a row can cost, --cap"),
        (("--cap", "0.01"), "above --cap 0.01"),
        (("--groups", "customer"), "know nothing of each other"),
    ):
        ran = run(*asked, *more)
        assert ran.code == 2
        assert message in " ".join(ran.err.split())
    ran = run("evaluate", folder / "model.cb", folder / "payments.csv", "--promise", "0.9")
    assert "nothing can be promised" in " ".join(ran.err.split())
    ran = run("evaluate", folder / "model.cb", folder / "later.csv", "--cap", "5")
    assert ran.code == 2
