"""Rules after RIPPER: what is grown, what is pruned, what they answer."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from papers import ripper
from papers.ripper import Condition, RuleClassifier, covered


def worth(condition, X, aim, w):
    """Return FOIL's gain of one condition, from its definition."""
    inside = condition.covers(X)
    p, n = w[inside & aim].sum(), w[inside & ~aim].sum()
    before = w[aim].sum() / w.sum()
    return p * (np.log2(p / (p + n)) - np.log2(before)) if p > 0 else -np.inf


@pytest.mark.parametrize("seed", range(8))
def test_no_condition_gains_more_than_the_one_that_is_taken(seed):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(6, size=(40, 2)), rng.integers(3, size=40)]).astype(float)
    X[rng.uniform(size=X.shape) < 0.1] = np.nan
    aim, w = rng.uniform(size=40) < 0.4, rng.uniform(0.2, 3, 40)
    kinds = np.array([False, False, True])
    first = ripper.grow(X, aim, w, kinds)[0]
    every = [
        Condition(j, sign, v)
        for j in range(3)
        for v in np.unique(X[:, j][~np.isnan(X[:, j])])
        for sign in (("==",) if kinds[j] else ("<=", ">="))
    ]
    assert first in every
    assert worth(first, X, aim, w) == pytest.approx(max(worth(c, X, aim, w) for c in every))


def test_a_grown_rule_covers_no_row_of_the_other_class_where_columns_tell():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(300, 3))
    aim = (X[:, 0] > 0.6) & (X[:, 2] < 0.5)
    rule = ripper.grow(X, aim, np.ones(300), np.zeros(3, dtype=bool))
    assert not (covered(rule, X) & ~aim).any()


def test_pruning_keeps_the_first_conditions_of_most_worth():
    X = np.array([[1.0, 1], [1, 0], [1, 1], [0, 1], [1, 0]])
    aim = np.array([True, True, False, False, True])
    first, second = Condition(0, ">=", 1.0), Condition(1, ">=", 1.0)
    w = np.ones(5)
    assert ripper.prune((first, second), X, aim, w) == (first,)  # 2/4 against 0/2
    w[2] = 0.0
    assert ripper.prune((first,), X, aim, w) == (first,)
    w = np.array([9.0, 1, 0, 0, 0])
    assert ripper.prune((second, first), X, aim, w) == (second,)  # of equals the shorter


def test_dear_rows_make_more_of_their_answers():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(600, 2))
    y = (rng.uniform(size=600) < 1 / (1 + np.exp(-2 * X[:, 0]))).astype(int)
    answers = [
        RuleClassifier(random_state=0).fit(X, y, np.where(y == 1, price, 1.0)).predict(X).mean()
        for price in (0.2, 1.0, 5.0)
    ]
    assert answers[0] < answers[1] < answers[2]


def test_confidences_are_laplace_s_of_the_rows_first_covered():
    rng = np.random.default_rng(2)
    X = rng.integers(4, size=(400, 2)).astype(float)
    y = ((X[:, 0] == 3) | (X[:, 1] == 0)).astype(int) ^ (rng.uniform(size=400) < 0.1)
    w = rng.uniform(0.5, 2, 400)
    model = RuleClassifier(random_state=0).fit(X, y, w)
    assert len(model.rules_) >= 2
    w, left = w / w.mean(), np.ones(400, dtype=bool)
    aim = y == model._aim
    for rule, confidence in zip(model.rules_, model.confidences_, strict=False):
        mine = covered(rule, X) & left
        assert confidence == pytest.approx((w[mine & aim].sum() + 1) / (w[mine].sum() + 2))
        assert model.predict_proba(X[mine])[:, model._aim] == pytest.approx(confidence)
        left &= ~mine
    expected = (w[left & aim].sum() + 1) / (w[left].sum() + 2)
    assert model.confidences_[-1] == pytest.approx(expected)


@parametrize_with_checks(
    [RuleClassifier()],
    expected_failed_checks=lambda _: {
        "check_sample_weight_equivalence_on_dense_data": "rows, whatever they weigh, are divided "
        "into those that grow and those that prune"
    },
)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)
