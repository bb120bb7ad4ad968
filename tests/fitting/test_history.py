"""What estimators tell of rounds: one series, or one for each model."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost.fitting.held_out import HISTORY, eval_series, set_history


@pytest.mark.parametrize(
    ("metric", "name"),
    [("cost", "validation_cost_"), ("brier", "validation_loss_"), (len, "validation_loss_")],
)
def test_held_out_rows_are_told_of_by_what_was_measured(metric, name):
    told = eval_series(metric, [{"held": [5.0, 4.0]}])
    assert list(told) == [name]
    assert told[name][0].tolist() == [5.0, 4.0]


def test_several_sets_are_told_of_by_name_and_the_first_alone():
    told = eval_series("cost", [{"first": [5.0], "second": [7.0]}])
    assert told["validation_cost_"][0].tolist() == [5.0]
    assert {name: part.tolist() for name, part in told["eval_results_"][0].items()} == {
        "first": [5.0],
        "second": [7.0],
    }


def test_sets_that_were_never_measured_tell_nothing():
    assert eval_series("cost", [{"held": []}]) == {}


def test_a_single_model_s_series_stands_alone_and_an_old_one_is_forgotten():
    estimator = SimpleNamespace(**dict.fromkeys(HISTORY, "old"), n_iter_=3)
    set_history(estimator, {"train_cost_": [np.array([1.0])]})
    assert {name for name in vars(estimator) if name in HISTORY} == {"train_cost_"}
    assert_array_equal(estimator.train_cost_, [1.0])
    assert estimator.n_iter_ == 3
    set_history(estimator, {"train_cost_": [np.array([1.0]), np.array([2.0, 3.0])]})
    assert [part.tolist() for part in estimator.train_cost_] == [[1.0], [2.0, 3.0]]
