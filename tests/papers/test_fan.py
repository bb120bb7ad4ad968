"""Fan et al.: the theory holds round by round, and the command runs on tiny data."""

import matplotlib as mpl
import numpy as np
import pytest

from costboost.papers import fan, fan_bound, fan_work
from costboost.papers.cells import read_rows
from costboost.papers.options import Options

mpl.use("Agg")


@pytest.mark.parametrize(
    "method", ["adaboost", "adacost", "adaboost, estimate", "adacost, estimate"]
)
@pytest.mark.parametrize("ratio", [2.0, 9.0])
def test_lemma_identity_and_bound_hold_in_every_round(method, ratio):
    fold = fan_work.cut("breast_cancer", 0, None)
    rows = fan_bound.bound_path(fold, method, ratio)
    assert len(rows) > 3
    for row in rows:
        assert row["against Lemma 1"] == 0
        assert row["identity"] == pytest.approx(row["bound"], rel=1e-9)
        assert row["cost"] <= row["bound"] * (1 + 1e-12)


def test_the_refined_step_has_the_lower_bound_in_the_first_round():
    fold = fan_work.cut("breast_cancer", 0, None)
    refined, estimate = (
        fan_bound.bound_path(fold, m, 5.0)[0]["bound"] for m in ("adacost", "adacost, estimate")
    )
    assert refined < estimate


def test_losses_are_shares_of_all_prices():
    y, prices = np.array([1, 1, 0, 0]), np.array([4.0, 4.0, 1.0, 1.0])
    assert fan_work.loss(y, y, prices) == 0
    assert fan_work.loss(1 - y, y, prices) == 100
    assert fan_work.loss(np.array([0, 1, 1, 0]), y, prices) == 50


def test_folds_are_apart_and_cover_all_rows():
    folds = [fan_work.cut("breast_cancer", k, None) for k in range(fan_work.FOLDS)]
    assert sum(len(fold.y_test) for fold in folds) == 569
    assert all(len(fold.y) + len(fold.y_test) == 569 for fold in folds)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fan")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fan_work, "N_CARDS", 500)
        patch.setattr(fan_work, "FOLDS", 3)
        patch.setattr(fan, "FOLDS", 3)
        patch.setattr(fan, "SHOWN", 2)
        short = {name: {**given, "n_estimators": 4} for name, given in fan_work.METHODS.items()}
        patch.setattr(fan_work, "METHODS", short)
        fan.run(Options(folder), ("breast_cancer",), (2, 3), 2)
    return folder


def test_the_command_leaves_tables_and_pictures(out):
    rows = read_rows(out / "table2.csv")
    assert [row["ratio"] for row in rows] == [2, 3]
    assert len(read_rows(out / "chase.csv")) == len(fan_work.OVERHEADS)
    for name in ("bound", "improvement", "rounds"):
        assert (out / f"{name}.png").exists()


def test_published_figures_stand_beside_ours_and_wins_are_counted():
    rows = [
        {"dataset": "crx", "fold": k, "ratio": 2, "method": method, "loss": loss + k, "rounds": 1}
        for method, loss in zip(fan_work.METHODS, (14.0, 10.5, 5.4, 1, 1, 1), strict=True)
        for k in (-0.1, 0.1)
    ]
    (row,) = fan.table_rows(rows)
    assert (row["cripper, published"], row["adacost, published"]) == (14.0, 5.4)
    assert {row[f"{m} verdict"] for m in ("tree", "adaboost", "adacost")} == {"within"}
    (mean,) = fan.mean_rows(rows)
    assert mean["verdict"] == "same order"
    assert "1 of 1 cells (published: 1)" in fan.verdicts(rows)[0]
