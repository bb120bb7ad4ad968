"""scikit-learn's set with prices."""

from costboost.datasets import load_breast_cancer
from counting_labels import counts


def test_breast_cancer_has_prices():
    data = load_breast_cancer(fn=50)
    assert data.X.shape == (569, 30)
    assert counts(data.y) == {"benign": 357, "malignant": 212}
    costs = data.costs.bind(["benign", "malignant"])
    assert costs.of_labels(["benign", "malignant"]).tolist() == [[0, 1], [50, 0]]
