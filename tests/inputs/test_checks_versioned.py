"""Estimators carry the version that wrote them, and a newer one is told of."""

import pickle

import pytest
from sklearn.base import BaseEstimator

from costboost import __version__
from costboost.inputs.checks import VersionedState


class Kept(VersionedState, BaseEstimator):
    def __init__(self, number=0):
        self.number = number


class Bare(VersionedState):
    """Without a base that restores it."""


def test_the_version_travels_with_the_state_and_not_with_the_estimator():
    model = Kept(3)
    model.fitted_ = [1]
    state = model.__getstate__()
    assert state["_costboost_version"] == __version__
    assert vars(model) == {"number": 3, "fitted_": [1]}
    again = pickle.loads(pickle.dumps(model))
    assert vars(again) == vars(model)


@pytest.mark.parametrize("kind", [Kept, Bare])
@pytest.mark.parametrize("version", [None, "0.0.0", "0.0.1.dev1", __version__, 7])
def test_older_states_and_those_of_nobody_are_taken_silently(kind, version):
    made = kind()
    state = {"number": 5}
    if version is not None:
        state["_costboost_version"] = version
    given = dict(state)
    made.__setstate__(state)
    assert vars(made) == {"number": 5}
    assert state == given  # what was handed over is left as it was


@pytest.mark.parametrize("kind", [Kept, Bare])
def test_a_newer_state_is_restored_with_a_warning_at_the_users_line(kind):
    made = kind()
    newer = f"1{__version__}"
    said = f"This {kind.__name__} was written by costboost {newer}, and this is costboost"
    with pytest.warns(UserWarning, match=said) as caught:
        made.__setstate__({"number": 5, "_costboost_version": newer})
    assert vars(made) == {"number": 5}
    assert caught[0].filename == __file__


def test_versions_are_compared_as_numbers(monkeypatch):
    monkeypatch.setattr("costboost.inputs.checks.__version__", "9.0.0")
    with pytest.warns(UserWarning, match=r"written by costboost 10\.0\.0"):
        Kept().__setstate__({"_costboost_version": "10.0.0"})
    monkeypatch.setattr("costboost.inputs.checks.__version__", "10.0.0")
    Kept().__setstate__({"_costboost_version": "9.0.0"})
