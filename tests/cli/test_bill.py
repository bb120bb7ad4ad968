"""The bill: intervals cover what they should, alike for rows, groups and parts."""

import numpy as np
import polars as pl
import pytest

from costboost.cli import bill as bills
from costboost.cli.recipe import TableRows
from costboost.costs import Costs


def make_rows(n, seed=0, groups=None):
    rng = np.random.default_rng(seed)
    amount = rng.lognormal(3, 1, n)
    y = (rng.uniform(size=n) < 0.2).astype(int)
    frame = pl.DataFrame({"amount": amount})
    costs = Costs(fp=8, tp=8, fn=amount).bind([0, 1])
    today = (rng.uniform(size=n) < 0.5).astype(int)
    return TableRows(
        frame=frame, X=frame, costs=costs, positive=1, y=y, current=today, groups=groups
    )


def test_lines_are_sums_and_intervals_have_the_right_width():
    rows = make_rows(2000)
    made = bills.make_bill(rows, {"the model": rows.truth})
    paid = np.where(rows.truth == 1, rows.frame["amount"].to_numpy(), 0)
    line = made["do nothing"]
    assert line.cost == pytest.approx(paid.sum())
    error = np.sqrt(2000) * paid.std()
    assert line.high - line.low == pytest.approx(2 * 1.96 * error, rel=0.15)
    best = min(("do nothing", "do everything"), key=lambda p: made[p].cost)
    assert made.against == best
    for each in made.lines:
        assert each.saved == pytest.approx(made[best].cost - each.cost)
        assert each.saved_today == pytest.approx(made["today's decisions"].cost - each.cost)


def test_savings_are_paired():
    """Two policies that differ in few rows: the interval of the saving is that of those rows."""
    rows = make_rows(2000)
    nearly = rows.truth * 0
    nearly[np.flatnonzero(rows.truth)[:5]] = 1
    made = bills.make_bill(rows, {"the model": nearly})
    line = made["the model"]
    assert made.against == "do nothing"
    assert line.saved_high - line.saved_low < 0.2 * (line.high - line.low)


def test_groups_are_independent_not_their_rows():
    alone = bills.make_bill(make_rows(1000), {})["do nothing"]
    rows = make_rows(1000, groups=np.arange(1000) // 100)
    together = bills.make_bill(rows, {})["do nothing"]
    assert together.cost == pytest.approx(alone.cost)
    assert together.low != alone.low


@pytest.mark.parametrize("n", [20, 200])
@pytest.mark.parametrize(
    "size", [2.0**-900, 2.0**-20, 1.0, 2.0**30, 2.0**900]
)  # nothing is rounded
def test_few_rows_and_any_unit_of_money(n, size):
    rows = make_rows(n)
    plain = bills.make_bill(rows, {"the model": rows.truth})
    scaled = TableRows(**{**vars(rows), "costs": rows.costs * size})
    for one, other in zip(
        plain.lines,
        bills.make_bill(scaled, {"the model": rows.truth}).lines,
        strict=True,
    ):
        for name in ("cost", "low", "high", "saved_low"):
            assert getattr(other, name) == pytest.approx(size * getattr(one, name), rel=1e-9)
