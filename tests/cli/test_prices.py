"""Prices as texts: options, files, changes of some of them."""

import numpy as np
import polars as pl
import pytest

from costboost.cli import InputError, UsageError
from costboost.cli.prices import Prices, read_prices, read_toml
from costboost.costs import Costs

FRAME = pl.DataFrame({"amount": [10.0, 20.0], "net margin": [1.0, 2.0]})


def test_numbers_columns_and_expressions():
    made = Prices(fp="8", fn="amount", tp="2 * `net margin`", positive="yes")
    assert made.columns() == ["amount", "net margin"]
    costs = made.costs(["no", "yes"])
    assert costs.fp == 8.0
    assert costs.fn == "amount"
    bound = costs.bind_table(FRAME)
    assert np.asarray(bound.tp).tolist() == [2.0, 4.0]
    assert costs.bind(["no", "yes"]).positive == "yes"


def test_some_prices_anew_keep_the_others():
    old = Prices(fp="8", fn="amount", tp="8", positive="yes", currency="EUR")
    new = old.changed(Prices(fn="2 * amount"))
    assert (new.fp, new.fn, new.tp, new.positive, new.currency) == (
        "8", "2 * amount", "8", "yes", "EUR",
    )  # fmt: skip
    assert old.changed(Prices()) == old
    actions = Prices(actions={"a": "1", "b": {"x": "2", "y": "0"}})
    assert old.changed(actions).actions == actions.actions
    assert old.changed(actions).fp is None
    assert actions.changed(Prices(fp="1", fn="2")).actions is None


def test_actions_that_are_the_classes_are_square():
    made = Prices(actions={"0": {"0": "0", "1": "amount"}, "1": {"0": "3", "1": "0"}})
    costs = made.costs([0, 1]).bind_table(FRAME)
    assert costs == Costs(fp=3, fn=[10.0, 20.0]).bind([0, 1])


def test_files_say_the_same_as_options(tmp_path):
    path = tmp_path / "costs.toml"
    path.write_text(
        'fp = 8\nfn = "0.5 * amount"\npositive = true\nbenefits = true\ncurrency = "EUR"'
    )
    found = read_toml(path)
    assert found == Prices(
        fp="8", fn="0.5 * amount", positive="true", benefits=True, currency="EUR"
    )
    asked = {"costs": str(path), "currency": "CHF", "positive": None, "benefits": False}
    assert read_prices(**asked, fp=None, fn=None, tp=None, tn=None).currency == "CHF"
    with pytest.raises(UsageError, match="not by both"):
        read_prices(**asked, fp="1", fn=None, tp=None, tn=None)


def test_benefits_allow_what_is_refused_otherwise():
    with pytest.raises(InputError, match="row 0"):
        Prices(fp="5 - amount", fn="1").check(FRAME, None)
    made = Prices(fp="5 - amount", fn="1", benefits=True)
    made.check(FRAME, None)
    assert made.costs([0, 1]).bind_table(FRAME).fp.tolist() == [-5.0, -15.0]


@pytest.mark.parametrize("size", [1e-6, 1e-2, 1.0, 1e4, 1e9])
def test_decades_of_prices(size):
    costs = Prices(fp=str(size), fn=f"{size} * amount").costs([0, 1]).bind_table(FRAME)
    assert costs.fp == size
    assert costs.fn.tolist() == [size * 10.0, size * 20.0]
