"""Params of stages: those of the local estimator, under their names and with their defaults."""

import inspect

import numpy as np
import pytest

pytest.importorskip("pyspark")

from costboost import CostBoostClassifier, Costs
from costboost.costs import as_costs
from costboost.spark import SparkCostBoostClassifier, SparkCostBoostModel
from costboost.spark.parameters import REFUSED, TRAINING

DEFAULT_TOL = CostBoostClassifier().tol


@pytest.mark.parametrize(
    ("name", "value"),
    [("estimator", object()), ("beta", len), ("warm_start", True), ("n_jobs", 2)],
)
def test_what_needs_all_rows_is_refused_by_name(name, value):
    with pytest.raises(ValueError, match=f"{name}= is not offered on Spark: "):
        SparkCostBoostClassifier(**{name: value})


def test_unknown_parameters_are_refused_with_those_there_are():
    with pytest.raises(TypeError, match=r"depth= is not known: there are .*max_depth"):
        SparkCostBoostClassifier(depth=3)


def test_every_parameter_of_the_local_estimator_is_offered_or_refused_with_a_reason():
    signature = inspect.signature(CostBoostClassifier.__init__).parameters
    local = {name: parameter.default for name, parameter in signature.items() if name != "self"}
    assert {*TRAINING, *REFUSED, "costs"} == set(local)
    classifier = SparkCostBoostClassifier()
    assert {name: classifier.getOrDefault(name) for name in TRAINING} == {
        name: local[name] for name in TRAINING
    }


def test_the_local_estimator_gets_what_was_given():
    classifier = SparkCostBoostClassifier(
        method="csb2", n_estimators=np.int64(7), max_depth=3, costs={"fp": 1, "fn": 4}, port=99
    )
    expected = CostBoostClassifier("csb2", n_estimators=7, max_depth=3, costs={"fp": 1, "fn": 4})
    assert repr(classifier.local_estimator().get_params()) == repr(expected.get_params())
    assert classifier.given_costs() == Costs(fp=1, fn=4)
    assert SparkCostBoostClassifier().given_costs() == as_costs(None)


def test_what_json_cannot_hold_becomes_plain():
    classifier = SparkCostBoostClassifier(
        feature_cols=("a", "b"), monotonic_cst=np.array([0, 1]), learning_rate=np.float64(0.5)
    )
    given = {param.name: value for param, value in classifier._paramMap.items()}
    assert given == {"feature_cols": ["a", "b"], "monotonic_cst": [0, 1], "learning_rate": 0.5}
    assert type(given["learning_rate"]) is float


def test_only_what_differs_from_the_defaults_is_set():
    classifier = SparkCostBoostClassifier(tol=DEFAULT_TOL, label_col="label")
    assert classifier._paramMap == {}
    classifier = SparkCostBoostClassifier(port=False, verbose="auto")
    assert [param.name for param in classifier._paramMap] == ["port"]  # False is not 0
    classifier.setParams(tol=DEFAULT_TOL, label_col="fraud")
    assert classifier.isSet("tol")
    assert classifier.getLabelCol() == "fraud"


def test_costs_that_are_none_are_refused_when_they_are_set():
    with pytest.raises(ValueError, match="fn"):
        SparkCostBoostClassifier(costs={"fp": 1, "fn": -np.inf})


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("cv", [([0], [1])], "a number of folds or a share of rows"),
        ("random_state", np.random.RandomState(0), "a whole number or None"),
        ("objective", len, "built-in objectives"),
        ("early_stopping_metric", len, "built-in metrics"),
    ],
)
def test_objects_are_refused_when_the_fit_begins(name, value, allowed):
    classifier = SparkCostBoostClassifier(**{name: value})
    with pytest.raises(ValueError, match=f"{name}=.* cannot be used on Spark: give .*{allowed}"):
        classifier.local_estimator()


def test_features_are_vectors_or_scalars_and_not_both():
    assert SparkCostBoostClassifier().feature_keywords() == {
        "features_col": "features",
        "feature_cols": None,
    }
    several = SparkCostBoostClassifier(feature_cols=["a", "b"])
    assert several.feature_keywords()["feature_cols"] == ["a", "b"]
    with pytest.raises(ValueError, match=r"features_col='x' and feature_cols=\['a', 'b'\] were"):
        several.setParams(features_col="x").feature_keywords()


def test_a_model_knows_its_columns_and_nothing_of_training():
    model = SparkCostBoostModel().setParams(prediction_col="decision", expected_cost_col="cost")
    assert model.getPredictionCol() == "decision"
    with pytest.raises(TypeError, match=r"n_estimators= is not known: there are .*prediction_col"):
        model.setParams(n_estimators=3)
