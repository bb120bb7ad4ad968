"""Nikolaou et al.: the protocol, the verdicts, and the command on tiny data."""

import numpy as np
import pytest

from costboost import CostBoostClassifier
from costboost.metrics import critical_difference
from drawn import curves, legend_of
from papers import nikolaou
from papers.experiment import Options, read_rows
from papers.nikolaou import (
    CURVES,
    LEARNERS,
    RECIPE,
    SHOWN,
    brier_figure,
    curves_figure,
    distortion_figure,
    ranks_figure,
)


def test_ratios_are_twenty_one_and_prices_at_least_one():
    assert len(nikolaou.RATIOS) == 21
    for ratio in nikolaou.RATIOS:
        costs = nikolaou.prices(ratio)
        assert min(costs.fp, costs.fn) == 1
        assert costs.fn / costs.fp == pytest.approx(ratio)
    assert len(nikolaou.METHODS) == 15
    assert len(nikolaou.SETS) == 18


def test_verdicts_follow_the_costs():
    names = ["adaboost", "adamec", "cgada", "asymada"]
    names += [f"{m}, calibrated" for m in ("adamec", "cgada", "asymada")]
    costs = np.array([[0.4, 0.3, 0.3, 0.3, 0.2, 0.2, 0.35]] * 3)
    lines = nikolaou.verdicts(names, costs, np.full((7, 7), 0.01))
    assert "every other: yes" in lines[0]
    assert "2 of 3, significantly 3 of 3" in lines[1]
    costs[:, 0] = 0.1
    assert "every other: no" in nikolaou.verdicts(names, costs, np.ones((7, 7)))[0]


def test_the_command_leaves_tables_and_pictures(tmp_path, monkeypatch):
    short = ("adaboost", "csb2", "cgada", "asymada", "adamec")
    monkeypatch.setattr(nikolaou, "METHODS", short)
    halves = ("breast_cancer", "breast_cancer_copy")
    real = nikolaou.load_two_classes
    monkeypatch.setattr(
        nikolaou, "load_two_classes", lambda name, folder: real("breast_cancer", folder)
    )
    nikolaou.run(Options(tmp_path), halves, (0.2, 1.0, 5.0), 1, rounds=4)
    rows = read_rows(tmp_path / "ranks-stump.csv")
    assert {row["method"] for row in rows} == {
        "default recipe", *short, *(f"{method}, calibrated" for method in short),
    }  # fmt: skip
    assert len(read_rows(tmp_path / "ranks-logistic.csv")) == len(rows)
    by_method = {row["method"]: row for row in rows}
    assert by_method["adamec"]["Brier, votes"] > 0
    assert by_method["adamec, calibrated"]["Brier, votes"] is None
    assert by_method["adamec"]["rounds"] == 4
    (line,) = [r for r in read_rows(tmp_path / "calibrations-stump.csv") if r["method"] == "adamec"]
    assert line["Brier, cross-entropy"] == pytest.approx(
        by_method["adamec, calibrated"]["Brier score"]
    )
    for name in ("ranks-stump", "ranks-logistic", "curves", "brier", "distortion"):
        assert (tmp_path / f"{name}.png").exists()


# -------------------- one split: its halves, its prices, what each method costs


def test_twins_are_one_model_on_other_learners_than_stumps():
    split = nikolaou.cut("breast_cancer", 0, None)
    for method, twin in nikolaou.TWINS.items():
        for calibrated in (False, True):
            rows = [
                list(nikolaou._method_rows(split, m, calibrated, "logistic", (0.2, 5.0), 5))
                for m in (method, twin)
            ]
            assert rows[0] == rows[1]


def test_splits_are_balanced_halves():
    split = nikolaou.cut("breast_cancer", 0, None)
    assert split.y.mean() == split.y_test.mean() == 0.5
    assert len(split.y) == len(split.y_test) == 212


def test_bins_count_every_row():
    p = np.array([0.0, 0.05, 0.55, 1.0])
    score, positive, count = np.array(
        nikolaou._bins(np.array([0, 1, 1, 1]), p).split(), dtype=float
    ).reshape(3, 10)
    assert count.tolist() == [2, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert positive.tolist() == [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert score.sum() == pytest.approx(1.6)


def test_splits_hold_no_row_twice_and_differ_by_their_number():
    split = nikolaou.cut("breast_cancer", 0, None)
    rows = {tuple(row) for row in np.vstack([split.X, split.X_test])}
    assert len(rows) == 424
    assert not np.array_equal(nikolaou.cut("breast_cancer", 1, None).X, split.X)
    np.testing.assert_array_equal(nikolaou.cut("breast_cancer", 0, None).X, split.X)


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(nikolaou, "METHODS", ("adaboost", "csada", "adaboostdb", "adamec"))


def test_a_cell_has_every_method_calibrated_and_not_at_every_ratio(few):
    rows = nikolaou.nikolaou_cell("breast_cancer", 0, "stump", (0.5, 1.0), 3, None)
    found = [(row["method"], row["calibrated"], row["ratio"]) for row in rows]
    assert found == [
        (m, c, r)
        for m in nikolaou.METHODS
        for c in ((0, 1, 2) if m == "adamec" else (0, 1))
        for r in (0.5, 1.0)
    ]
    by_key = dict(zip(found, rows, strict=True))
    plain, first, squared = (by_key["adamec", c, 1.0] for c in (0, 1, 2))
    assert first["brier"] != squared["brier"]
    assert plain["brier_votes"] != plain["brier"]
    assert first["brier_votes"] is squared["brier_votes"] is None
    # Scores are counted once, where the poster shows them.
    assert [f for f, row in zip(found, rows, strict=True) if row["bins"]] == [
        ("adamec", 0, 1.0), ("adamec", 1, 1.0),
    ]  # fmt: skip
    (recipe,) = nikolaou.nikolaou_cell("breast_cancer", 0, "auto", (2.0,), 3, None)
    assert (recipe["method"], recipe["calibrated"], recipe["learner"]) == ("auto", 1, "auto")


def test_costs_are_normalised_by_the_dearest_answers():
    split = nikolaou.cut("breast_cancer", 0, None)
    (row,) = nikolaou._method_rows(split, "csb2", False, "stump", (4.0,), 3)
    model = CostBoostClassifier("csb2", 3, max_depth=1, calibration=None, random_state=0)
    model.fit(split.X, split.y, costs={"fp": 1, "fn": 4})
    prices = np.where(split.y_test == 1, 4.0, 1.0)
    wrong = model.predict(split.X_test) != split.y_test
    assert row["q"] == pytest.approx(prices[wrong].sum() / prices.sum())


def test_what_knows_no_costs_is_fitted_once(monkeypatch):
    split = nikolaou.cut("breast_cancer", 0, None)
    fitted = []
    real = nikolaou._fit

    def fit(split, method, *rest):
        fitted.append(method)
        return real(split, method, *rest)

    monkeypatch.setattr(nikolaou, "_fit", fit)
    for method in ("adamec", "csb2"):
        list(nikolaou._method_rows(split, method, True, "stump", (0.2, 1.0, 5.0), 2))
    assert fitted == ["adamec", "csb2", "csb2", "csb2"]


def test_scores_are_shares_of_the_votes():
    class Voted:
        estimator_weights_ = np.array([1.0, 3.0])

        def decision_function(self, X):
            return np.array([-4.0, -2.0, 0.0, 4.0, 4.0 + 1e-9])

    split = nikolaou.Split(None, None, None, np.zeros(5))
    assert nikolaou.vote_shares(Voted(), split).tolist() == [0, 0.25, 0.5, 1, 1]
    Voted.estimator_weights_ = np.array([])
    assert nikolaou.vote_shares(Voted(), split).tolist() == [0.5] * 5


def test_least_squares_are_compared_set_by_set():
    rows = [
        {"dataset": name, "method": "cgada", "calibrated": c, "q": base + more, "brier": base}
        for name, base in (("a", 0.1), ("b", 0.3))
        for c, more in ((1, 0.0), (2, 0.02))
    ]
    (line,) = nikolaou.calibration_rows(rows)
    assert line["cost, cross-entropy"] == pytest.approx(0.2)
    assert line["cost, least squares"] == pytest.approx(0.22)
    assert line["cost, more"] == "+0.0200 [+0.0200, +0.0200]"
    assert line["Brier, more"] == "+0.0000 [+0.0000, +0.0000]"


# -------------------- Curves, ranks and distortions of Nikolaou et al.'s page, as they are drawn.

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
