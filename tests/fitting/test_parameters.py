"""Parameters that all families share: what is refused, by name."""

from types import SimpleNamespace

import numpy as np
import pytest

from costboost import GradientBoostClassifier, GradientBoostRegressor
from costboost.fitting.plan import MOST, check_class_count, check_training, check_unbiased


def params(**changed):
    return SimpleNamespace(**GradientBoostClassifier().get_params(deep=False) | changed)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("on_interrupt", "stop"),
        ("warm_start", "yes"),
        ("ensemble", None),
        ("n_estimators", 0),
        ("n_estimators", 2.5),
        ("subsample", 0.0),
        ("subsample", 1.5),
        ("subsample", np.nan),
        ("min_samples_leaf", 0),
        ("min_samples_leaf", MOST + 1),
        ("min_samples_leaf", "auto"),
        ("max_bins", 1),
        ("max_bins", 256),
        ("tol", -1e-9),
        ("verbose", -1),
        ("verbose", "loud"),
        ("validation_fraction", 0.91),
        ("max_depth", 0),
        ("max_leaf_nodes", 1),
        ("max_leaf_nodes", 65_001),
        ("early_stopping_metric", "auc"),
        ("n_iter_no_change", 0),
    ],
)
def test_values_that_cannot_be_are_refused_by_name(name, value):
    with pytest.raises((ValueError, TypeError), match=rf"{name}.*{value}"):
        check_training(params(**{name: value}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_estimators", np.int64(1)),
        ("subsample", 1.0),
        ("subsample", 1e-300),
        ("min_samples_leaf", MOST),
        ("max_bins", 255),
        ("tol", 0.0),
        ("verbose", "auto"),
        ("verbose", True),
        ("validation_fraction", 0.0),
        ("max_depth", None),
        ("max_leaf_nodes", 65_000),
        ("early_stopping_metric", print),
        ("n_iter_no_change", 1),
    ],
)
def test_the_ends_of_what_is_allowed_are_allowed(name, value):
    check_training(params(**{name: value}))


def test_leaves_are_left_to_the_training_where_it_settles_them():
    check_training(params(min_samples_leaf="auto"), auto_leaf=True)
    with pytest.raises(ValueError, match="min_samples_leaf='least'"):
        check_training(params(min_samples_leaf="least"), auto_leaf=True)
    with pytest.raises(ValueError, match="min_samples_leaf=0"):
        check_training(params(min_samples_leaf=0), auto_leaf=True)


def test_regressors_have_no_folds_to_average():
    check_training(SimpleNamespace(**GradientBoostRegressor().get_params(deep=False)))


def test_a_temperature_does_not_undo_costs():
    with pytest.raises(ValueError, match=r"costs that method='csb2' was trained on.*'sigmoid'"):
        check_unbiased("temperature", "method='csb2'", on_costs=True)
    check_unbiased("temperature", "method='adaboost'", on_costs=False)
    check_unbiased("sigmoid", "method='csb2'", on_costs=True)
    check_unbiased(None, "method='csb2'", on_costs=True)


def test_classes_are_as_many_as_a_byte_can_number():
    check_class_count(256)
    with pytest.raises(ValueError, match=r"257 classes; at most 256 .* Use PNormBoostClassifier"):
        check_class_count(257)
