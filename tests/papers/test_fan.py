"""Fan et al.: the tables' rows, and the command on tiny data."""

import pytest

from costboost.papers import fan, fan_work
from costboost.papers.cells import read_rows
from costboost.papers.options import Options


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
