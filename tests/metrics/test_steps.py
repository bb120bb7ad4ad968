"""Sums above and below every threshold, and areas."""

import pytest

from costboost.metrics import curve_area


def test_curve_area_refuses_what_is_no_curve():
    with pytest.raises(ValueError, match="ascending"):
        curve_area([1, 0], [0, 0])
    with pytest.raises(ValueError, match="equal lengths"):
        curve_area([0, 1], [0])
