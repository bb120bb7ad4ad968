"""The three questions, as they are drawn."""

import numpy as np
import pytest

from costboost.papers import questions_pictures as pictures
from costboost.papers.intervals import mean_interval
from costboost.papers.questions_work import (
    AGAIN,
    AT_DECISION,
    FACTORS,
    IN_TRAINING,
    NOISES,
    ONCE,
    RATIO,
    RATIOS,
    STAGES,
)
from drawn import curves

SETS = np.array([-0.1, 0.0, 0.1])
PLACES = {name: i for i, name in enumerate((ONCE, *AGAIN, AT_DECISION, "adaboost"))}


class Means:
    """Costs of three sets that tell of which method, setting and stage they are."""

    def of(self, question, method, setting, stage=STAGES[-1]):
        return 0.3 + PLACES[method] + setting / 100 + 1 / stage + SETS

    def less(self, method, other, ratio):
        return mean_interval(self.of("ratio", method, ratio) - self.of("ratio", other, ratio))


MEANS = Means()


def ticks(ax):
    return [label.get_text() for label in ax.get_xticklabels()]


def test_costs_again_are_drawn_less_costs_once_and_along_the_rounds():
    left, right = pictures.again_figure(MEANS).axes
    assert list(curves(left)) == list(AGAIN)
    for method, (ratios, gaps) in curves(left).items():
        assert ratios == list(RATIOS)
        assert gaps == pytest.approx([PLACES[method]] * len(RATIOS))
    assert list(curves(right)) == [*AGAIN, ONCE]
    stages, path = curves(right)[ONCE]
    assert stages == list(STAGES)
    assert path == pytest.approx([0.3 + RATIO / 100 + 1 / stage for stage in STAGES])
    assert ticks(left) == [str(ratio) for ratio in RATIOS]


def test_wrong_prices_are_drawn_less_right_ones():
    biases, noises = pictures.wrong_figure(MEANS).axes
    assert list(curves(biases)) == list(curves(noises)) == [*IN_TRAINING, AT_DECISION]
    for ax, sizes in ((biases, sorted(round(f, 3) for f in FACTORS)), (noises, NOISES)):
        for x, more in curves(ax).values():
            assert x == list(sizes)
            assert more == pytest.approx([(size - 1) / 100 for size in sizes])
    assert ticks(biases) == ["1/5", "1/2", "1/1.2", "1.2", "2", "5"]


def test_bands_on_a_logarithmic_scale_are_left_out_where_they_reach_zero():
    class Uncertain(Means):
        def of(self, question, method, setting, stage=STAGES[-1]):
            spread = 100 if method == "adacost" else 1
            return 5.0 + spread * SETS

    (ax,) = pictures.ratio_figure(Uncertain()).axes
    assert list(curves(ax)) == [ONCE, *AGAIN, AT_DECISION, "adaboost"]
    empty = [not band.get_paths() for band in ax.collections]
    assert empty == [method == "adacost" for method in curves(ax)]
    assert ax.get_ylim()[0] == 0.1
