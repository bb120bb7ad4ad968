"""Critical-difference diagrams: ranks, groups and names where they belong."""

import numpy as np
import pandas as pd
import pytest

from costboost import metrics
from costboost.plots import CriticalDifferenceDisplay
from pictures import overlaps


@pytest.mark.parametrize("test", ["wilcoxon-holm", "nemenyi"])
def test_critical_difference_draws_ranks_and_groups(test):
    rng = np.random.default_rng(1)
    table = rng.normal(loc=[0, 0, 2, 4, 4], size=(30, 5))
    frame = pd.DataFrame(table, columns=list("abcde"))
    display = CriticalDifferenceDisplay.from_scores(frame, test=test)
    result = metrics.critical_difference(table, test=test)
    ranks = result.average_ranks[list(result.order)]
    np.testing.assert_array_equal(display.marks_.get_xdata(), ranks)
    assert [text.get_text().split()[0] for text in display.texts_] == [
        "abcde"[i] for i in result.order
    ]
    assert len(display.bars_) == len(result.groups) > 0
    for bar, group in zip(display.bars_, result.groups, strict=True):
        low, high = bar.get_xdata()
        covered = {i for i in range(5) if low <= result.average_ranks[i] <= high}
        assert covered == set(group)
    if test == "nemenyi":
        np.testing.assert_allclose(np.ptp(display.difference_.get_xdata()), result.difference)
    else:
        assert display.difference_ is None
    again = CriticalDifferenceDisplay.from_result(result, names=list("abcde"))
    np.testing.assert_array_equal(again.marks_.get_xdata(), ranks)


def test_critical_difference_names():
    scores = np.arange(12.0).reshape(6, 2)
    display = CriticalDifferenceDisplay.from_scores(scores, test="nemenyi", alpha=0.01)
    assert display.texts_[0].get_text().startswith("method 1")
    with pytest.raises(ValueError, match="3 names for 2 methods"):
        CriticalDifferenceDisplay.from_scores(scores, names=list("abc"))


def test_a_critical_difference_beyond_the_scale_is_said_not_drawn():
    display = CriticalDifferenceDisplay.from_scores([[1, 2], [2, 1]], test="nemenyi")
    assert display.difference_ is None
    assert any("more than the scale" in text.get_text() for text in display.ax_.texts)


@pytest.mark.parametrize("k", [2, 3, 9])
def test_names_in_critical_difference_neither_overlap_nor_leave_the_figure(k):
    rng = np.random.default_rng(0)
    names = [f"method {i} " + "with a long description " * (i % 3) for i in range(k)]
    display = CriticalDifferenceDisplay.from_scores(rng.random((8, k)), names=names)
    display.figure_.canvas.draw()
    boxes = [text.get_window_extent() for text in display.texts_]
    for i, box in enumerate(boxes):
        assert not any(overlaps(box, other) for other in boxes[:i])
        assert box.x0 >= 0
        assert box.x1 <= display.figure_.bbox.width
