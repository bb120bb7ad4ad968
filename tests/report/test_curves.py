"""Curves of probabilities: those of the metrics, thinned to what a screen can show."""

import numpy as np
import pytest

from costboost.metrics import brier_curve, brier_score, cost_curve, curve_area
from costboost.report.subject import class_curves
from report_cases import many, two_class_rows


def honest(n=500, seed=0):
    rng = np.random.RandomState(seed)
    p = np.round(rng.beta(1, 3, n), 2)
    return p, rng.random_sample(n) < p


def test_curves_are_those_of_the_metrics():
    p, truth = honest()
    weight = np.random.RandomState(1).choice([0.0, 0.5, 2.0], len(p))
    (found,) = class_curves(two_class_rows(p, truth, weight=weight))
    assert found["class"] == 1
    assert found["brier"] == brier_score(truth, p, sample_weight=weight)
    np.testing.assert_allclose(
        np.transpose(found["cost_curve"]), cost_curve(truth, p, sample_weight=weight), rtol=1e-5
    )
    np.testing.assert_allclose(
        np.transpose(found["brier_curve"]), brier_curve(truth, p, sample_weight=weight), rtol=1e-5
    )
    assert found["cost_area"] == curve_area(*cost_curve(truth, p, sample_weight=weight))


def test_bins_of_the_reliability_diagram_add_up_to_all_rows():
    p, truth = honest(2000)
    (found,) = class_curves(two_class_rows(p, truth))
    assert not found["reliability"]["log"]
    said, were, low, high, weight = np.transpose(found["reliability"]["bins"])
    assert weight.sum() == 2000
    assert weight @ said == pytest.approx(p.sum())
    assert weight @ were == pytest.approx(truth.sum())
    assert ((low <= were) & (were <= high)).all()
    (rare,) = class_curves(two_class_rows(p / 20, truth))
    assert rare["reliability"]["log"]


def test_long_curves_are_thinned_to_points_that_are_exact():
    rng = np.random.RandomState(0)
    p = rng.random_sample(6000)
    truth = rng.random_sample(6000) < p
    (found,) = class_curves(two_class_rows(p, truth))
    c, loss = (np.array([float(f"{v:.6g}") for v in a]) for a in brier_curve(truth, p))
    exact = set(zip(c.tolist(), loss.tolist(), strict=True))
    points = found["brier_curve"]
    assert 100 < len(points) <= 243
    assert {tuple(point) for point in points} <= exact
    at = [x for x, _ in points]
    assert at == sorted(at)
    assert (at[0], at[-1]) == (0, 1)
    assert max(y for _, y in points) == loss.max()
    assert np.diff(at).max() < 0.02  # spread over the whole axis


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_class_without_rows_that_count_has_no_curves_but_a_score(label, weighted):
    p, truth = honest(50)
    weight = (truth == label).astype(float) if weighted else None
    kept = np.ones(50, dtype=bool) if weighted else truth == label
    (found,) = class_curves(two_class_rows(p[kept], truth[kept], weight=weight))
    assert set(found) == {"class", "reliability", "brier"}
    assert found["brier"] == pytest.approx(np.mean((p[truth == label] - label) ** 2))


def test_every_class_against_the_others_and_no_more_than_twelve():
    rows = many(300, 4)
    found = class_curves(rows)
    assert [curves["class"] for curves in found] == [0, 1, 2, 3]
    for k, curves in enumerate(found):
        assert curves["brier"] == pytest.approx(
            np.mean((rows.proba[:, k] - (rows.truth == k)) ** 2)
        )
    assert len(class_curves(many(100, 14))) == 12
