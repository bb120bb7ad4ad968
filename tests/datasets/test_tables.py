"""The kinds of table that columns become."""

import numpy as np
import pytest

from costboost import CostBoostClassifier
from costboost.datasets import load, make_card_fraud


@pytest.mark.parametrize("gone", ["pandas", "polars"])
def test_without_a_frame_library(small_folder, monkeypatch, gone):
    from costboost.datasets import _tables

    monkeypatch.setattr(_tables, "find_spec", lambda kind: None if kind == gone else True)
    with pytest.raises(ImportError, match=f"pip install {gone}"):
        load("haberman", folder=small_folder, as_frame=gone)
    monkeypatch.setattr(_tables, "find_spec", lambda kind: None)
    assert isinstance(load("haberman", folder=small_folder).X, np.ndarray)


def test_all_kinds_of_table_give_the_same_model():
    scores = []
    for kind in ("pandas", "polars", "numpy"):
        data = make_card_fraud(1500, fraud_rate=0.1, as_frame=kind)
        model = CostBoostClassifier("adaboost", 10, random_state=0).fit(data.X, data.y)
        scores.append(model.decision_function(data.X))
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])
