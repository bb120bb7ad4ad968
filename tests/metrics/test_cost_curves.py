"""The cost curve: the lowest of all lines, everywhere."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from costboost.metrics import cost_curve, cost_lines
from costboost.metrics._curves import lower_hull
from metric_rows import QUICK, rows
from naive import metrics as naive


@QUICK
@given(rows(both=True), st.floats(0, 1))
def test_cost_curve_is_the_lowest_line_everywhere(case, pc0):
    y, p, _, w = case
    pc, loss = cost_curve(y, p, sample_weight=w)
    assert pc[0] == 0
    assert pc[-1] == 1
    assert (np.diff(pc) > 0).all()
    for at in [pc0, *pc]:
        value = np.interp(at, pc, loss)
        np.testing.assert_allclose(value, naive.cost_curve_at(y, p, w, at), atol=1e-12)
        assert value <= min(at, 1 - at) + 1e-12
    fpr, fnr, thresholds = cost_lines(y, p, sample_weight=w)
    for one in zip(fpr, fnr, thresholds, strict=True):
        np.testing.assert_allclose(one[:2], naive.error_rates(y, p, w, one[2]), atol=1e-12)


def test_cost_curve_of_perfect_useless_and_reversed_scores():
    assert [a.tolist() for a in cost_curve([0, 1], [0.1, 0.9])] == [[0, 1], [0, 0]]
    trivial = [[0, 0.5, 1], [0, 0.5, 0]]
    assert [a.tolist() for a in cost_curve([0, 1], [0.5, 0.5])] == trivial
    assert [a.tolist() for a in cost_curve([0, 1], [0.9, 0.1])] == trivial
    with pytest.raises(ValueError, match="no positive rows"):
        cost_curve([0, 0], [0.1, 0.2])
    # Only the order of the scores matters.
    assert cost_curve([0, 1, 0], [-5, 3, 7])[1].tolist() == (
        cost_curve([0, 1, 0], [0.1, 0.2, 0.3])[1].tolist()
    )


def test_the_hull_keeps_corners_only():
    x, y = np.array([5, 4, 3, 2, 1, 0.0]), np.array([0, 0, 1, 2, 3, 7.0])
    # Points on a line, (4, 0) to (1, 3), are not corners; the level start and the end are.
    assert lower_hull(x, y)[0] == 5
    assert set(lower_hull(x, y)) == {5, 4, 1, 0}
    assert lower_hull(x[:1], y[:1]) == [0]


@pytest.mark.parametrize("unit", [1e-300, 1e299])
def test_the_curve_does_not_depend_on_the_unit_of_weight(unit):
    rng = np.random.default_rng(0)
    y, p = np.arange(40) % 2, np.round(rng.uniform(size=40), 1)
    weight = rng.choice([1.0, 2.0, 5.0], 40)
    plain, other = (cost_curve(y, p, sample_weight=w) for w in (weight, weight * unit))
    np.testing.assert_allclose(other, plain, atol=1e-12)
