"""Curves, ranks and distortions of Nikolaou et al.'s page, as they are drawn."""

import numpy as np
import pytest

from costboost.metrics import critical_difference
from costboost.papers.nikolaou_pictures import (
    CURVES,
    SHOWN,
    brier_figure,
    curves_figure,
    distortion_figure,
    ranks_figure,
)
from costboost.papers.nikolaou_work import LEARNERS, RECIPE
from drawn import curves, legend_of

METHODS = [*((learner, m) for learner in LEARNERS for m in SHOWN), (RECIPE, RECIPE)]


def q_of(learner, method, calibrated, ratio):
    """Return a cost that tells where it belongs."""
    place = METHODS.index((learner, method))
    return 0.01 * place + (0.005 if calibrated else 0.0) + ratio / 100


def row_of(dataset, learner, method, calibrated, ratio, q):
    facts = {"dataset": dataset, "learner": learner, "method": method, "calibrated": calibrated}
    return {**facts, "ratio": ratio, "q": q, "bins": None}


ROWS = [
    row_of(
        dataset, learner, method, calibrated, ratio, q_of(learner, method, calibrated, ratio) + e
    )
    for dataset, e in (("nik_a", -0.001), ("nik_b", 0.001))
    for learner, method in METHODS
    for calibrated in ((1,) if method == RECIPE else (0, 1))
    for ratio in (5.0, 0.2)
]


def test_curves_are_means_over_sets_of_each_learner():
    figure = curves_figure(ROWS)
    assert [ax.get_title() for ax in figure.axes] == [
        "stumps, as published", "stumps, calibrated", "logistic regressions, as published",
        "logistic regressions, calibrated",
    ]  # fmt: skip
    for k, ax in enumerate(figure.axes):
        learner, calibrated = LEARNERS[k // 2], k % 2
        found = curves(ax)
        assert list(found) == [*SHOWN, *([RECIPE] if calibrated else [])]
        for method, (ratios, means) in found.items():
            assert ratios == [0.2, 5.0]
            own = RECIPE if method == RECIPE else learner
            assert means == pytest.approx([q_of(own, method, calibrated, r) for r in ratios])


def test_brier_curves_are_drawn_by_the_share_of_a_false_alarm():
    figure = brier_figure(ROWS, ["nik_b"], "logistic")
    (ax,) = figure.axes
    assert ax.get_title() == "b"
    found = curves(ax)
    assert legend_of(figure) == list(found) == [label for label, _, _ in CURVES]
    shares, losses = found["AdaMEC, calibrated"]
    assert shares == pytest.approx([1 / 6, 1 / 1.2])  # ratios 5 and 0.2
    expected = [q_of("logistic", "adamec", 1, ratio) + 0.001 for ratio in (5.0, 0.2)]
    assert losses == pytest.approx(expected)


def test_distortion_pools_rows_and_leaves_out_bins_that_hold_few():
    def bins(*parts):
        score, positive, count = np.zeros((3, 10))
        for k, s, p, n in parts:
            score[k], positive[k], count[k] = s, p, n
        return " ".join(map(str, np.concatenate([score, positive, count])))

    rows = [
        {"learner": learner, "calibrated": calibrated, "bins": text}
        for learner in LEARNERS
        for calibrated in (0, 1)
        for text in (
            bins((2, 1.5, 1, 6), (7, 4.5, 5, 6)), bins((2, 2.5, 5, 10), (7, 2.1, 3, 3)), None,
        )
    ]  # fmt: skip
    for ax in distortion_figure(rows).axes:
        for learner in ("stumps", "logistic regressions"):
            assert curves(ax)[learner] == ([4.0 / 16], [6 / 16])  # the other bin holds nine rows


def test_ranks_are_drawn_with_their_names():
    costs = np.random.default_rng(0).uniform(size=(12, 3)) + np.arange(3)
    figure = ranks_figure(critical_difference(costs), ["first", "second", "third"])
    words = " ".join(text.get_text() for text in figure.axes[0].texts)
    assert all(name in words for name in ("first", "second", "third"))
