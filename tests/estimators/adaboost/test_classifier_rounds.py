"""`CostBoostClassifier`: early stopping, warm starts, stages, interruption and progress."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from costboost import CostBoostClassifier, Costs
from costboost.boosting.adaboost.rules import RULES
from family import STUMP, has_callbacks, identical, plain, problem
from fitted_parts import calibrations
from naive.rules import METHODS, METHODS_K

# ---------------------------------------------------------------- early stopping


def held_out_costs(model, X, y, costs):
    """The mean cost of the decisions after each round, from the stages."""
    return [np.mean(costs.of_decisions(y, decided)) for decided in model.staged_predict(X)]


@pytest.mark.parametrize("estimator", [None, STUMP], ids=["trees", "outside"])
@pytest.mark.parametrize("method", ["adaboost", "adamec", "cgada", "csb2", "rareboost"])
def test_early_stopping_on_an_eval_set(method, estimator):
    X, y = problem(n=600)
    fp, fn = np.random.default_rng(0).uniform(0.5, 3, (2, 600))
    train, test = np.arange(400), np.arange(400, 600)
    costs = Costs(fp=fp, fn=fn)
    options = {"estimator": estimator, "n_iter_no_change": 4}
    model = plain(method, 60, **options)
    held_out = (X[test], y[test], costs[test])
    model.fit(X[train], y[train], costs=costs[train], eval_set=held_out)
    watched = model.validation_cost_
    assert len(watched) >= model.n_iter_ == np.argmin(watched) + 1
    long = plain(method, len(watched), estimator=estimator)
    long.fit(X[train], y[train], costs=costs[train])
    bound = costs[test].bind([0, 1])
    prices = {"costs": bound} if method == "adamec" else {}
    stages = list(long.staged_predict(X[test], **prices))
    paid = [np.mean(bound.of_decisions(y[test], decided)) for decided in stages]
    # Rounds in which nothing is decided differently do not count.
    waited = [np.any(stages[t] != stages[t - 1]) for t in range(model.n_iter_, len(stages))]
    assert len(watched) == 60 or sum(waited) == 4
    assert len(watched) == 60 or waited[-1]
    assert_allclose(watched, paid)
    assert_array_equal(model.estimator_weights_, long.estimator_weights_[: model.n_iter_])


def test_early_stopping_on_a_share_of_the_rows():
    X, y = problem(n=500, noise=3)
    model = plain("cgada", 200, n_iter_no_change=5, validation_fraction=0.3)
    model.fit(X, y, np.random.default_rng(0).uniform(0.5, 2, 500), costs=Costs(fp=1, fn=3))
    assert model.n_iter_ < 100
    assert model.n_iter_ == np.argmin(model.validation_cost_) + 1
    assert len(list(model.staged_predict(X))) == model.n_iter_
    assert len(model.train_cost_) == len(model.cost_bound_) == model.n_iter_
    patient = plain("cgada", 200, n_iter_no_change=50, validation_fraction=0.3)
    assert patient.fit(X, y, costs=Costs(fp=1, fn=3)).n_iter_ >= 1


def test_an_eval_set_without_patience_only_watches():
    X, y = problem(n=400)
    model = plain("adaboost", 20).fit(X[:300], y[:300], eval_set=(X[300:], y[300:]))
    assert model.n_iter_ == len(model.validation_cost_) == 20
    assert_allclose(model.validation_cost_[-1], np.mean(model.predict(X[300:]) != y[300:]))


def test_tolerance_asks_for_a_real_fall():
    X, y = problem(n=500, noise=2)
    held_out = (X[300:], y[300:])
    lazy = plain("adaboost", 100, n_iter_no_change=5, tol=0.5)
    lazy.fit(X[:300], y[:300], eval_set=held_out)
    eager = plain("adaboost", 100, n_iter_no_change=5)
    eager.fit(X[:300], y[:300], eval_set=held_out)
    assert len(lazy.validation_cost_) <= len(eager.validation_cost_)


def test_a_wrong_eval_set_is_refused():
    X, y = problem()
    with pytest.raises(ValueError, match="got 1 parts"):
        plain("adaboost").fit(X, y, eval_set=(X,))
    costs = Costs(fp=1, fn=np.ones(len(y)))
    with pytest.raises(ValueError, match="need their own"):
        plain("adaboost").fit(X, y, costs=costs, eval_set=(X, y))


def test_early_stopping_in_every_fold_of_a_calibration():
    X, y = problem(n=500, noise=3)
    model = CostBoostClassifier("adamec", 100, cv=2, n_iter_no_change=3, random_state=0).fit(X, y)
    assert len(model.validation_cost_) == 2
    assert model.n_iter_ < 100
    assert np.isfinite(model.predict_proba(X)).all()


# ---------------------------------------------------------------- warm start, stages


CONTINUED = [m for m in METHODS if not RULES[m].needs_n_rounds]


@pytest.mark.parametrize("kind", ["constant", "rows", "outside", "confidence"])
@pytest.mark.parametrize("method", CONTINUED)
def test_warm_start_equals_one_long_fit(method, kind):
    if kind == "confidence" and method in ("rareboost", "gradient-csb"):
        pytest.skip("defined for discrete votes")
    X, y = problem()
    fn = np.random.default_rng(0).uniform(1, 1.4, len(y)) if kind == "rows" else 1.3
    costs = Costs(fp=1, fn=fn)
    options = {"subsample": 0.8, "max_features": 2}
    if kind == "outside":
        options = {"estimator": STUMP}
    if kind == "confidence":
        options = {"votes": "confidence"}
    s = np.random.default_rng(1).uniform(0.5, 2, len(y))
    long = plain(method, 9, **options).fit(X, y, s, costs)
    model = plain(method, 3, warm_start=True, **options).fit(X, y, s, costs)
    for rounds in (4, 9):
        model.set_params(n_estimators=rounds).fit(X, y, s, costs)
    identical(model, long, X)
    if RULES[method].bounded:
        assert_array_equal(model.cost_bound_, long.cost_bound_)


def test_warm_start_of_many_classes():
    X, y = load_iris(return_X_y=True)
    for method in METHODS_K:
        long = plain(method, 6, max_depth=1).fit(X, y)
        model = plain(method, 2, max_depth=1, warm_start=True).fit(X, y)
        identical(model.set_params(n_estimators=6).fit(X, y), long, X)


def test_warm_start_with_random_learners_and_perfect_ones():
    X, y = problem()
    tree = DecisionTreeClassifier(max_depth=2, max_features=1)
    for estimator in (tree, None):
        labels = y if estimator is not None else (X[:, 0] > 0).astype(int)
        long = plain("adaboost", 6, estimator=estimator).fit(X, labels)
        model = plain("adaboost", 2, estimator=estimator, warm_start=True).fit(X, labels)
        identical(model.set_params(n_estimators=6).fit(X, labels), long, X)
        assert (long.n_iter_ == 1) == (estimator is None)


def test_warm_start_takes_no_round_back():
    X, y = problem()
    model = plain("adaboost", 6, warm_start=True).fit(X, y)
    with pytest.raises(ValueError, match=r"n_estimators=4.*6"):
        model.set_params(n_estimators=4).fit(X, y)


@pytest.mark.parametrize("calibration", [None, "sigmoid"])
@pytest.mark.parametrize("method", METHODS)
def test_the_last_stage_is_the_model(method, calibration):
    X, y = problem()
    model = plain(method, 5, calibration=calibration, cv=2).fit(X, y)
    *_, decided = model.staged_predict(X)
    *_, proba = model.staged_predict_proba(X)
    *_, values = model.staged_decision_function(X)
    assert_array_equal(decided, model.predict(X))
    assert_array_equal(proba, model.predict_proba(X))
    assert_array_equal(values, model.decision_function(X))
    assert len(list(model.staged_predict(X))) == model.n_iter_
    if calibration is not None:
        *_, decided = model.staged_predict(X, costs=Costs(fp=1, fn=9))
        assert_array_equal(decided, model.predict(X, costs=Costs(fp=1, fn=9)))


@pytest.mark.parametrize("method", METHODS)
def test_every_stage_is_the_model_of_so_many_rounds(method):
    if RULES[method].needs_n_rounds:
        pytest.skip("the number of rounds is part of the algorithm")
    X, y = problem()
    stages = list(plain(method, 4).fit(X, y).staged_decision_function(X))
    for rounds, stage in enumerate(stages, start=1):
        assert_allclose(plain(method, rounds).fit(X, y).decision_function(X), stage)


# ---------------------------------------------------------------- interruption, progress


class Interrupting(DecisionTreeClassifier):
    """A stump whose fourth fit is interrupted."""

    fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).fits += 1
        if type(self).fits == 4:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight=sample_weight)


def test_an_interrupted_fit_can_keep_its_rounds():
    X, y = problem()
    Interrupting.fits = 0
    model = plain("cgada", 9, estimator=Interrupting(max_depth=1), on_interrupt="keep").fit(X, y)
    assert model.n_iter_ == len(model.estimators_) == len(model.train_cost_) == 3
    short = plain("cgada", 3, estimator=STUMP).fit(X, y)
    assert_array_equal(model.predict_proba(X), short.predict_proba(X))


def test_an_interrupted_fit_raises_by_default_and_without_a_round():
    X, y = problem()
    Interrupting.fits = 0
    with pytest.raises(KeyboardInterrupt):
        plain("cgada", 9, estimator=Interrupting(max_depth=1)).fit(X, y)
    Interrupting.fits = 3  # the very first round
    with pytest.raises(KeyboardInterrupt):
        plain("cgada", 9, estimator=Interrupting(max_depth=1), on_interrupt="keep").fit(X, y)


def test_an_interrupted_calibration_is_usable():
    X, y = problem()
    Interrupting.fits = 0
    model = CostBoostClassifier(
        "adamec", 9, Interrupting(max_depth=1), cv=3, on_interrupt="keep", random_state=0
    ).fit(X, y)
    assert model.n_iter_ == 3  # the models still to come are no longer than the first
    assert np.isfinite(model.predict_proba(X)).all()


def test_verbose_prints_rounds(capsys):
    X, y = problem()
    plain("adaboost", 5, verbose=2).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["2/5", "4/5", "5/5"]
    assert all("cost" in line for line in lines)
    plain("adaboost", 3, verbose=1).fit(X, y, eval_set=(X, y))
    assert "held-out cost" in capsys.readouterr().out
    plain("adaboost", 3).fit(X, y)
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(not has_callbacks(), reason="sklearn.callback came with scikit-learn 1.9")
@pytest.mark.parametrize("calibration", [None, "sigmoid"])
def test_callbacks_are_told_of_every_round(calibration):
    class Counter:
        def __init__(self):
            self.begun, self.ended, self.setups, self.teardowns = 0, 0, 0, 0

        def setup(self, *args, **kwargs):
            self.setups += 1

        def teardown(self, *args, **kwargs):
            self.teardowns += 1

        def on_fit_task_begin(self, *args, **kwargs):
            self.begun += 1

        def on_fit_task_end(self, *args, **kwargs):
            self.ended += 1

    X, y = problem()
    counter = Counter()
    model = plain("adaboost", 4, calibration=calibration, cv=2)
    model.set_callbacks(counter).fit(X, y)
    n_models = 1 if calibration is None else 2
    assert counter.begun == counter.ended == 4 * n_models + 1  # the rounds, and fit itself
    assert counter.setups == counter.teardowns == 1


@pytest.mark.skipif(not has_callbacks(), reason="sklearn.callback came with scikit-learn 1.9")
def test_progress_bars_of_scikit_learn(capsys):
    pytest.importorskip("rich")
    from sklearn.callback import ProgressBar

    X, y = problem()
    model = plain("adaboost", 4).set_callbacks(ProgressBar())
    model.fit(X, y)
    assert model.n_iter_ == 4


@pytest.mark.skipif(has_callbacks(), reason="callbacks are there")
def test_without_callbacks_nothing_is_lost():
    assert not hasattr(CostBoostClassifier(), "set_callbacks")


def test_a_fold_without_rounds_has_stages_beside_the_others():
    X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], 20, axis=0)
    y = (X[:, 0] != X[:, 1]).astype(int)  # no stump is better than chance
    Z = np.random.default_rng(0).normal(size=(80, 2))
    X, y = np.r_[X, Z], np.r_[y, Z[:, 0] > 0]
    halves = np.arange(80), np.arange(80, 160)
    model = CostBoostClassifier(
        "adaboost", 5, max_depth=1, calibration="sigmoid", cv=[halves, halves[::-1]]
    )
    with pytest.warns(UserWarning, match="could not|no better"):
        model.fit(X, y)
    stages = list(model.staged_predict_proba(X))
    assert len(stages) == model.n_iter_ > 0
    assert_array_equal(stages[-1], model.predict_proba(X))


@pytest.mark.skipif(not has_callbacks(), reason="sklearn.callback came with scikit-learn 1.9")
def test_models_that_callbacks_see_keep_constraints():
    slopes = []

    class Watch:
        def setup(self, *args, **kwargs):
            pass

        teardown = on_fit_task_begin = setup

        def on_fit_task_end(self, *args, fitted_estimator):
            if fitted_estimator is not None:
                (map_,) = calibrations(fitted_estimator)
                slopes.append(map_.calibrators[0].A)

    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(120, 2)), rng.integers(0, 2, 120)  # nothing to learn
    model = plain("adamec", 5, calibration="sigmoid", monotonic_cst=[1, 0])
    model.set_callbacks(Watch()).fit(X, y)
    assert max(slopes) <= 0
