"""What users register is known by its name, and takes the place of nothing that is built in."""

import numpy as np
import pytest

from costboost import CostBoostClassifier, GradientBoostClassifier, GradientBoostRegressor
from costboost.extend import (
    CLASSIFICATION_LOSSES,
    REGRESSION_LOSSES,
    RULES,
    BuiltIn,
    LogLoss,
    Rule,
    SquaredLoss,
    register_loss,
    register_rule,
)

X = np.arange(60.0)[:, None]
Y = (np.arange(60) % 3 == 0).astype(int)
KNOWN = (RULES, CLASSIFICATION_LOSSES, REGRESSION_LOSSES)


@pytest.fixture(autouse=True)
def _nothing_stays():
    before = [dict(known) for known in KNOWN]
    yield
    for known, names in zip(KNOWN, before, strict=True):
        known.clear()
        known.update(names)


def test_a_rule_is_a_method_and_may_be_replaced_by_its_next_version():
    for source in ("a draft", "the second draft"):
        rule = register_rule(Rule("mine", source))
        assert RULES["mine"] is rule
    assert CostBoostClassifier("mine", 2, calibration=None).fit(X, Y)._rule_name == "mine"


@pytest.mark.parametrize("name", RULES)
def test_no_rule_takes_the_name_of_a_built_in_one(name):
    before = RULES[name]
    with pytest.raises(ValueError, match=f"'{name}' is a built-in method"):
        register_rule(Rule(name, "elsewhere"))
    assert RULES[name] is before


def test_only_rules_are_registered_as_rules():
    with pytest.raises(TypeError, match="takes a Rule, but 'adac2' was given"):
        register_rule("adac2")


@pytest.mark.parametrize(
    ("base", "task", "estimator", "other"),
    [
        (LogLoss, "classification", GradientBoostClassifier, GradientBoostRegressor),
        (SquaredLoss, "regression", GradientBoostRegressor, GradientBoostClassifier),
    ],
)
def test_a_loss_is_known_to_the_estimators_of_its_task(base, task, estimator, other):
    class Mine(base):
        kind = "mine"

    assert register_loss(Mine, task) is Mine
    same = estimator(base.kind, 3).fit(X, Y).predict(X)
    np.testing.assert_array_equal(estimator("mine", 3).fit(X, Y).predict(X), same)
    with pytest.raises(ValueError, match="loss='mine' is not known"):
        other("mine", 3).fit(X, Y)


@pytest.mark.parametrize(
    ("task", "known"),
    [("classification", CLASSIFICATION_LOSSES), ("regression", REGRESSION_LOSSES)],
)
def test_no_loss_takes_the_name_of_a_built_in_one(task, known):
    for name, before in dict(known).items():
        loss = type("Mine", (BuiltIn,), {"kind": name})
        with pytest.raises(ValueError, match=f"'{name}' is a built-in {task} loss"):
            register_loss(loss, task)
        assert known[name] is before


def test_what_is_no_loss_is_refused():
    with pytest.raises(TypeError, match="give it as loss="):
        register_loss(LogLoss(), "classification")
    with pytest.raises(TypeError, match="Bare needs a kind"):
        register_loss(type("Bare", (BuiltIn,), {}), "classification")
    with pytest.raises(ValueError, match="task='numbers' is not known; allowed: 'classification'"):
        register_loss(SquaredLoss, "numbers")
