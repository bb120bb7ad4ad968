"""Costing and MetaCost around any classifier."""

import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost.estimators.wrappers import CostingClassifier, MetaCostClassifier

# Rows are drawn at random, so weights count in expectation only: whether one fit agrees with
# another is chance, and may differ from machine to machine.
DRAWN = {
    "check_sample_weight_equivalence_on_dense_data",
    "check_sample_weight_equivalence_on_sparse_data",
}


@parametrize_with_checks(
    [
        CostingClassifier(LogisticRegression(), 4, random_state=0),
        CostingClassifier(KNeighborsClassifier(3), 4, random_state=0),
        MetaCostClassifier(LogisticRegression(), 4, random_state=0),
        MetaCostClassifier(LinearSVC(random_state=0), 4, out_of_bag=True, random_state=0),
        MetaCostClassifier(KNeighborsClassifier(3), 4, votes=True, random_state=0),
    ]
)
@pytest.mark.filterwarnings("ignore")  # the checks' own tiny tables
def test_scikit_learn_checks(estimator, check):
    if check.func.__name__ in DRAWN:
        pytest.skip("rows are drawn at random, so weights count in expectation only")
    check(estimator)
