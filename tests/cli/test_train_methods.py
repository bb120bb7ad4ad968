"""Methods by name: each an estimator that can decide by new prices, all with the same settings."""

import types

import numpy as np
import pytest

from costboost import CostBoostClassifier, GradientBoostClassifier, PNormBoostClassifier
from costboost.cli import UsageError
from costboost.cli.output import show_rounds
from costboost.cli.train import Maker, method_names

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 2))
Y = (X[:, 0] + RNG.normal(size=200) > 0.5).astype(int)


def test_every_name_is_made_of_its_own_family():
    families = {
        "auto": CostBoostClassifier,
        "csb2": CostBoostClassifier,
        "gradient:log": GradientBoostClassifier,
        "lp-csb": PNormBoostClassifier,
    }
    names = method_names()
    assert len(set(names)) == len(names)
    assert set(families) <= set(names)
    for name in names:
        model = Maker().make(name)
        loss = name.removeprefix("gradient:")
        assert getattr(model, "loss", None) == loss or model.method == name
        assert type(model) is families.get(name, type(model))


@pytest.mark.parametrize("name", method_names())
def test_every_method_decides_by_prices_that_it_has_not_seen(name):
    model = Maker(rounds=2, jobs=1).make(name)
    model.fit(X, Y, costs={"fp": 1, "fn": 3})
    dear = model.predict(X, costs={"fp": 1e-6, "fn": 1e6})
    cheap = model.predict(X, costs={"fp": 1e6, "fn": 1e-6})
    assert dear.mean() > 0.9
    assert cheap.mean() < 0.1


def test_settings_arrive_and_rounds_are_left_alone_unless_given():
    for name in ("auto", "gradient:log", "lp-csb"):
        made = Maker(rounds=7, seed=5, jobs=2).make(name)
        assert (made.n_estimators, made.random_state, made.n_jobs) == (7, 5, 2)
        assert Maker().make(name).n_estimators == type(made)().n_estimators


@pytest.mark.parametrize(
    ("name", "calibration"),
    [
        ("auto", "auto"),
        ("adamec", "auto"),
        ("cgada", "auto"),
        ("asymada", "auto"),
        ("adaboost", "sigmoid"),
        ("csb2", "sigmoid"),
        ("lp-csb", "sigmoid"),
        ("gradient:log", None),  # its probabilities hold no prices
        ("gradient:exponential", None),
        ("gradient:cost-exponential", "sigmoid"),
        ("gradient:expected-cost", "sigmoid"),
    ],
)
def test_methods_are_calibrated_where_new_prices_need_it(name, calibration):
    assert Maker().make(name).calibration == calibration
    assert Maker(calibration="none").make(name).calibration is None
    assert Maker(calibration="isotonic").make(name).calibration == "isotonic"


@pytest.mark.parametrize(
    ("settings", "name", "says"),
    [
        ({}, "gradient:", "there are auto, auto-1, adaboost"),
        ({}, "Auto", "--method 'Auto' is not known"),
        ({"jobs": 0}, "auto", "--jobs 0"),
        ({"calibration": "None"}, "auto", "auto, none, sigmoid"),
        ({"calibration": ""}, "auto", "auto, none, sigmoid"),
    ],
)
def test_what_is_not_known_is_named_with_what_is(settings, name, says):
    with pytest.raises(UsageError, match=says):
        Maker(**settings).make(name)


class Listening:
    """A model with callbacks, as scikit-learn has them from 1.9 on."""

    def __init__(self):
        self.callbacks = ()

    def set_callbacks(self, *callbacks):
        self.callbacks = callbacks


def test_rounds_are_told_and_nothing_else():
    model, heard = Listening(), []
    with show_rounds(model, lambda done=1, of=None: heard.append((done, of))):
        (teller,) = model.callbacks
        teller.setup(model, types.SimpleNamespace(max_subtasks=3))
        for task in ("fit", "round", "round", "fold"):
            context = types.SimpleNamespace(task_name=task)
            teller.on_fit_task_begin(model, context)
            assert teller.on_fit_task_end(model, context) is False  # True would stop the fit
        teller.teardown(model, None)
    assert heard == [(0, 3), (1, None), (1, None)]
    assert model.callbacks == ()


def fail(given):
    raise ZeroDivisionError if given else AssertionError


def test_nobody_is_told_any_more_after_a_fit_that_failed():
    model = Listening()
    with pytest.raises(ZeroDivisionError), show_rounds(model, print):
        fail(model.callbacks)
    assert model.callbacks == ()
    with show_rounds(object(), print):  # an older scikit-learn
        pass
