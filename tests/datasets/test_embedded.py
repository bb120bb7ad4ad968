"""scikit-learn's set with prices."""

import numpy as np
import pytest
from sklearn import datasets as sklearn_datasets

from costboost import Costs
from costboost.datasets import load_breast_cancer
from counting_labels import counts


def test_breast_cancer_has_prices():
    data = load_breast_cancer(fn=50)
    assert data.X.shape == (569, 30)
    assert counts(data.y) == {"benign": 357, "malignant": 212}
    costs = data.costs.bind(["benign", "malignant"])
    assert costs.of_labels(["benign", "malignant"]).tolist() == [[0, 1], [50, 0]]


def test_rows_and_labels_are_those_of_scikit_learn():
    theirs = sklearn_datasets.load_breast_cancer()
    ours = load_breast_cancer(as_frame="numpy")
    np.testing.assert_array_equal(ours.X, theirs.data)
    np.testing.assert_array_equal(ours.y == "malignant", theirs.target == 0)
    assert ours.feature_names == tuple(theirs.feature_names)
    assert ours.costs == Costs(fp=1, fn=20, positive="malignant")
    assert ours.positive == "malignant"


def test_prices_that_are_none_are_refused():
    with pytest.raises(ValueError, match="fn"):
        load_breast_cancer(fn=-1)
    with pytest.raises(ValueError, match="as_frame='list'"):
        load_breast_cancer(as_frame="list")
