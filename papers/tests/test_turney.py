"""Turney's setting: prices as they were published, LightGBM's paths, one small run."""

import numpy as np
import pytest

from costboost import FeatureCosts
from papers import turney
from papers.experiment import Options

# What the first test of each kind costs, by column, as the files say that Turney gave to UCI.
FULL = {
    "BUPA": [7.27, 7.27, 7.27, 7.27, 9.86, 1],
    "Heart": [1, 1, 1, 1, 7.27, 5.20, 15.5, 102.9, 87.3, 87.3, 87.3, 100.9, 102.9],
    "Hepatitis": [1] * 13 + [7.27, 7.27, 7.27, 7.27, 8.30, 1],
    "Pima": [1, 17.61, 1, 1, 22.78, 1, 1, 1],
    "Thyroid": [1] * 16 + [22.78, 11.41, 14.51, 11.41],
}


@pytest.mark.parametrize("name", turney.SETS)
def test_the_first_test_of_a_group_has_its_full_price(name, data_folder):
    drawn = turney.draw(name, 0, str(data_folder))
    tests, nothing = drawn.tests, np.zeros(len(drawn.tests), dtype=bool)
    by_column = [tests.price_of(tests.test_of[j], nothing) for j in range(drawn.X.shape[1])]
    assert by_column == pytest.approx(FULL[name])
    everything = np.ones(len(tests), dtype=bool)
    shared = sum(FULL[name]) - float(tests.cost(everything))
    assert shared == pytest.approx({"BUPA": 8.4, "Heart": 276.6, "Pima": 2.1}.get(name, shared))
    assert drawn.standard(100.0) - drawn.standard(0.0) == pytest.approx(
        100 * (1 - drawn.shares.max())
    )


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_of_lightgbm_pay_for_their_paths(n_classes):
    lightgbm = pytest.importorskip("lightgbm")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    y = (X[:, 0] > 0).astype(int) + (n_classes > 2) * (X[:, 1] > 0)
    tests = FeatureCosts({0: 1.0, "g": {"columns": {1: 2.0, 2: 4.0}, "cost": 8.0}}).bind(range(4))
    params = {"objective": "multiclass", "num_class": 3} if n_classes > 2 else {}
    params |= {"verbose": -1, "num_leaves": 4, "objective": params.get("objective", "binary")}
    model = lightgbm.train(params, lightgbm.Dataset(X, y), num_boost_round=2)
    decided, spent = turney.answers(model, X[:40], tests)
    assert decided.shape == (40,)
    for i in range(40):
        asked = set()
        for tree in model.dump_model()["tree_info"]:
            node = tree["tree_structure"]
            while "split_feature" in node:
                asked |= {int(tests.test_of[node["split_feature"]])}
                left = X[i, node["split_feature"]] <= node["threshold"]
                node = node["left_child" if left else "right_child"]
        assert spent[i] == pytest.approx(tests.cost([t in asked for t in range(3)]))


def test_a_small_run_writes_its_tables(data_folder, tmp_path, monkeypatch, capsys):
    pytest.importorskip("lightgbm")
    monkeypatch.setattr(turney, "QUICK", (1000,))
    monkeypatch.setattr(turney, "COPIES", 2)
    monkeypatch.setattr(turney, "TRADEOFFS", (1.0,))
    monkeypatch.setattr(turney, "SIZES", turney.SIZES[:1])
    monkeypatch.setattr(turney, "MOST", {"train": 100, "test": 20})
    options = Options(tmp_path, quick=True, data=str(data_folder), sets=("Hepatitis",))
    turney.run(options, 1)
    assert (tmp_path / "costs.png").exists()
    told = capsys.readouterr().out
    assert turney.LIGHTGBM in told
    assert "of 1 sets" in told
    (row,) = turney.cost_rows(
        [{"set": "a", "price": 1, "split": s, "method": "m", "cost": 2.0 * s} for s in (1, 2)]
    )
    assert row == {"set": "a", "price": 1, "m": 3.0}
