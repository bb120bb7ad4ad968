"""Trainers of classes with prices: the constant that costs least."""

import numpy as np
import pytest

from costboost import CostBoostClassifier, Costs


@pytest.mark.parametrize(
    ("fn", "expected"), [(4, "yes"), (0.25, "no"), (1e300, "yes"), (1e-300, "no")]
)
def test_where_no_step_can_be_taken_the_cheapest_constant_answers(fn, expected):
    # 7 rows of weight 3 against 3 of weight 7, all alike, and some that do not count.
    y = np.array(["no"] * 7 + ["yes"] * 3 + ["no"] * 4)
    weights = np.array([3.0] * 7 + [7.0] * 3 + [0.0] * 4)
    model = CostBoostClassifier("adaboost", 3, calibration=None)
    with pytest.warns(
        UserWarning, match=f"could not take a single step.*answers '{expected}' always"
    ):
        model.fit(
            np.ones((14, 2)), y, costs=Costs(fp=1, fn=fn, positive="yes"), sample_weight=weights
        )
    assert model.predict(np.ones((1, 2))).tolist() == [expected]


def test_with_actions_that_are_no_classes_the_first_of_equal_classes_answers():
    y = np.array(["no"] * 6 + ["yes"] * 6)
    costs = Costs.from_matrix(
        [[0, 5, 1], [9, 0, 1]], classes=["no", "yes"], actions=["no", "yes", "ask"]
    )
    model = CostBoostClassifier("adaboost", 3, calibration=None)
    with pytest.warns(UserWarning, match="The model answers 'no' always"):
        model.fit(np.ones((12, 2)), y, costs=costs)
    assert model.predict_proba(np.ones((1, 2))).argmax() == 0
