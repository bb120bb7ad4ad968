"""Decision curves as drawn."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from costboost import Costs
from costboost.metrics import net_benefit
from costboost.plots import NetBenefitDisplay


@pytest.mark.parametrize("standardized", [False, True])
def test_the_curve_treating_all_and_the_mark(scores, standardized):
    y, p = scores[:2]
    display = NetBenefitDisplay.from_predictions(
        y, p, costs={"fp": 1, "fn": 4}, standardized=standardized, name="mine"
    )
    at, benefit = net_benefit(y, p, standardized=standardized)
    np.testing.assert_array_equal(display.line_.get_data(), (at, benefit))
    everybody = net_benefit(y, np.ones(len(y)), standardized=standardized)[1]
    np.testing.assert_allclose(display.all_.get_ydata(), everybody)
    np.testing.assert_allclose(display.mark_.get_data(), ([0.2], [benefit[20]]))
    low, high = display.useful
    better = at[benefit > np.maximum(everybody, 0) + 1e-12]
    assert (low, high) == (better[0], better[-1])
    assert display.ax_.get_ylim()[1] > benefit.max()


def test_a_useless_model_says_so(scores):
    y = scores[0]
    display = NetBenefitDisplay.from_predictions(y, np.full(len(y), np.mean(y)))
    assert display.useful is None
    assert "never better" in display.legend_.get_texts()[0].get_text()


def test_from_an_estimator_with_named_labels():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(200, 2))
    y = np.where(X[:, 0] + generator.normal(size=200) > 1, "ill", "well")
    model = LogisticRegression().fit(X, y)
    display = NetBenefitDisplay.from_estimator(model, X, y, pos_label="ill")
    _, benefit = net_benefit(y, model.predict_proba(X)[:, 0], pos_label="ill")
    np.testing.assert_allclose(display.benefit, benefit)
    costs = Costs(fp=1, fn=3, positive="ill")
    again = NetBenefitDisplay.from_estimator(model, X, y, costs=costs, ax=display.ax_)
    assert again.at == 0.25
    assert display.at is None
