"""scikit-learn's callbacks hear of rounds, where it has them."""

import pytest

from costboost.estimators.base import CallbackSupportMixin, RoundCallbacks, with_callbacks


class Context:
    """What scikit-learn gives an estimator: a task, and tasks below it."""

    def __init__(self, told, name, stops=False):
        self.told, self.name, self.stops = told, name, stops

    def subcontext(self, task_name):
        return Context(self.told, task_name, self.stops)

    def call_on_fit_task_begin(self, **data):
        self.told.append((f"{self.name} begins", data))

    def call_on_fit_task_end(self, **data):
        self.told.append((f"{self.name} ends", data))
        return self.stops


class Estimator:
    def __init__(self, heard=True, stops=False):
        self.told, self.stops = [], stops
        if heard:
            self._skl_callbacks = ["somebody"]

    def _init_callback_context(self, max_subtasks):
        self.n_rounds = max_subtasks
        return Context(self.told, "fit", self.stops)


def heard(model):
    return [what for what, _ in model.told]


def test_every_round_and_the_fit_are_told_with_their_rows():
    model = Estimator()
    tell = RoundCallbacks(model, 7, "X", "y")
    assert model.n_rounds == 7

    def fitted():
        return {"n_iter_": 1}

    assert tell("round 1", fitted) is False
    tell.close()
    assert heard(model) == ["fit begins", "round begins", "round ends", "fit ends"]
    rows = {"estimator": model, "X": "X", "y": "y"}
    assert model.told[1][1] == model.told[3][1] == rows
    assert model.told[2][1] == {**rows, "reconstruction_attributes": fitted}


@pytest.mark.parametrize("stops", [False, True])
def test_a_callback_may_stop_the_rounds(stops):
    assert RoundCallbacks(Estimator(stops=stops), None, None, None)(None) is stops


def test_rounds_that_nobody_hears_of_make_no_task():
    model = Estimator(heard=False, stops=True)
    tell = RoundCallbacks(model, 3, None, None)
    assert tell("round 1") is False
    tell.close()
    assert heard(model) == ["fit begins", "fit ends"]


def test_without_callbacks_nothing_happens():
    tell = RoundCallbacks(object(), 3, None, None)
    assert tell("round 1") is False
    tell.close()


@pytest.mark.parametrize("fails", [False, True])
def test_callbacks_are_torn_down_however_fit_ends(fails):
    if not hasattr(CallbackSupportMixin, "set_callbacks"):
        pytest.skip("sklearn.callback came with scikit-learn 1.9")
    told = []

    class Listener:
        def setup(self, *args, **kwargs):
            told.append("setup")

        def teardown(self, *args, **kwargs):
            told.append("teardown")

        def on_fit_task_begin(self, *args, **kwargs):
            told.append("begin")

        def on_fit_task_end(self, *args, **kwargs):
            told.append("end")

    class Model(CallbackSupportMixin):
        @with_callbacks
        def fit(self, X):
            tell = RoundCallbacks(self, 1, X, None)
            if fails:
                raise ValueError("no fit")
            tell(None)
            tell.close()
            return self

    model = Model().set_callbacks(Listener())
    if fails:
        with pytest.raises(ValueError, match="no fit"):
            model.fit([[0]])
        assert told == ["setup", "begin", "teardown"]
    else:
        model.fit([[0]])
        assert told == ["setup", "begin", "begin", "end", "end", "teardown"]
