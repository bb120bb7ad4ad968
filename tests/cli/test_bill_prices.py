"""Bills with uncertain prices: two intervals, kept apart, and the sentence that compares them."""

import dataclasses
import json

import numpy as np
import polars as pl
import pytest

from costboost import Costs
from costboost.cli.bill import MODEL, larger_interval, make_bill, show_bill
from costboost.cli.output import Screen
from costboost.cli.recipe import TableRows
from costboost.costs import uncertain


def rows_of(fn, n=200):
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.3).astype(int)
    frame = pl.DataFrame({"x": rng.random(n)})
    costs = Costs(fp=3, fn=fn).bind([0, 1])
    decided = np.where(rng.random(n) < 0.8, y, 1 - y)
    return TableRows(frame=frame, X=frame, costs=costs, positive=1, y=y), decided


def test_both_intervals_are_printed(capsys):
    rows, decided = rows_of(uncertain(10, low=0.5, high=1.5))
    bill = make_bill(rows, {MODEL: decided})
    show_bill(Screen(False), bill, "EUR")
    out = capsys.readouterr().out
    assert "from rows, 95 %" in out
    assert "from prices, 95 %" in out
    assert "certain" in out  # acting on everything pays no missed positive
    assert "From uncertain prices alone" in " ".join(out.split())
    line = bill[MODEL]
    missed = int(((rows.truth == 1) & (decided == 0)).sum())
    wrong = 3 * int(((rows.truth == 0) & (decided == 1)).sum())
    # The factor is uniform from 0.5 to 1.5.
    assert line.price_low == pytest.approx(wrong + 10 * missed * 0.525, rel=1e-3)
    assert line.price_high == pytest.approx(wrong + 10 * missed * 1.475, rel=1e-3)
    json.dumps(bill.to_list())


def test_certain_prices_print_what_they_did(capsys):
    rows, decided = rows_of(10)
    bill = make_bill(rows, {MODEL: decided})
    show_bill(Screen(False), bill, "EUR")
    assert "from prices" not in capsys.readouterr().out
    assert not any("price" in name for name in bill.to_list()[0])
    assert bill[MODEL].price_low is None


def test_the_sentence_says_which_is_larger():
    rows, decided = rows_of(uncertain(10, low=0.5, high=1.5))
    line = make_bill(rows, {MODEL: decided})[MODEL]
    narrow = dataclasses.replace(line, saved_price_low=0.0, saved_price_high=1.0, saved_low=0.0,
                                 saved_high=2.0)  # fmt: skip
    assert "more rows would help more" in larger_interval(narrow)
    wide = dataclasses.replace(narrow, saved_price_high=3.0)
    assert "knowing the prices better would help more" in larger_interval(wide)
