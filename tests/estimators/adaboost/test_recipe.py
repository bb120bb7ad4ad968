"""`method="auto"`: folds in step, their looks, and every way to end them."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.datasets import load_breast_cancer, load_iris, make_classification

import costboost
from costboost import CostBoostClassifier, Costs
from costboost.boosting.rounds import EarlyStopping, Printer, consume, take_rounds
from costboost.calibration import BiasCorrected, ClassCalibration
from costboost.estimators.adaboost.choices import NEWEST
from costboost.estimators.adaboost.recipe import Look
from costboost.model import VoteShares
from family import has_callbacks, plain, problem
from fitted_parts import calibrations
from recipe_models import auto

needs_callbacks = pytest.mark.skipif(
    not has_callbacks(), reason="sklearn.callback came with scikit-learn 1.9"
)


def lengths(model):
    return [len(alphas) for alphas in model.estimator_weights_]


def test_the_recipe_is_quiet_and_sensible():
    X, y = load_breast_cancer(return_X_y=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = CostBoostClassifier(random_state=0).fit(X[::2], y[::2], costs=Costs(fp=10, fn=1))
    assert np.mean(model.predict(X[1::2], costs=Costs(fp=1, fn=1)) == y[1::2]) > 0.93


# ---------------------------------------------------------------- looks


@pytest.mark.parametrize(("n_estimators", "looks"), [(30, [10, 20, 30]), (25, [10, 20, 25])])
def test_looks_are_every_ten_rounds_and_at_the_end(n_estimators, looks):
    X, y = problem()
    model = auto(n_estimators).fit(X, y)
    assert_array_equal(model.validation_rounds_, looks)
    assert model.validation_loss_.shape == (len(looks),)
    best = model.validation_rounds_[np.argmin(model.validation_loss_)]
    assert best <= model.n_iter_ in looks
    assert lengths(model) == [model.n_iter_] * 3
    assert [len(costs) for costs in model.train_cost_] == [looks.index(model.n_iter_) + 1] * 3


def test_the_loss_is_that_of_the_rows_left_out():
    X, y = problem()
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    folds = [(np.flatnonzero(np.arange(300) % 3 != k), np.arange(k, 300, 3)) for k in range(3)]
    model = CostBoostClassifier(n_estimators=20, cv=folds, random_state=0).fit(X, y, weights)
    p = np.zeros(len(y))
    for ensemble, calibration, (_, test) in zip(
        model._model.members, calibrations(model), folds, strict=True
    ):
        p[test] = calibration.predict(ensemble.margins(X[test])[:, 0])[
            np.arange(len(test)), y[test]
        ]
    expected = -np.average(np.log(p), weights=weights)
    at = model.validation_rounds_ == model.n_iter_
    assert_allclose(model.validation_loss_[at], expected)


def test_patience_ends_the_race():
    X, y = problem(noise=4.0)
    model = auto(200, n_iter_no_change=20, tol=0.0).fit(X, y)
    last, best = model.validation_rounds_[[-1, np.argmin(model.validation_loss_)]]
    assert last < 200
    assert best <= model.n_iter_ <= last
    assert last - best >= 20
    never = auto(60, n_iter_no_change=None).fit(X, y)
    assert never.validation_rounds_[-1] == 60
    lax = auto(200, n_iter_no_change=20, tol=0.5).fit(X, y)
    assert lax.validation_rounds_[-1] == 30  # no fall after the first look is large enough


def test_a_loss_that_is_gone_ends_the_race():
    X = np.random.default_rng(0).uniform(-1, 1, (3000, 3))
    y = (X[:, 0] > 0).astype(int)
    X += 2.0 * y[:, None]  # every column tells the classes apart
    model = auto(200).fit(X, y)
    gone = NEWEST.solved * np.log(2)
    assert model.validation_loss_[-1] <= gone * 1.01
    assert (model.validation_loss_[:-1] > gone * 0.99).all()
    assert model.validation_rounds_[-1] < 100
    patient = auto(60, n_iter_no_change=None).fit(X, y)
    assert patient.validation_rounds_[-1] == 60


def test_one_model_takes_as_many_rounds_as_the_folds():
    X, y = problem()
    folds = auto(votes="gentle").fit(X, y)
    one = auto(votes="gentle", ensemble=False).fit(X, y)
    assert isinstance(one.estimator_weights_, np.ndarray)
    assert one.n_iter_ == len(one.estimator_weights_) == folds.n_iter_
    assert_array_equal(one.validation_loss_, folds.validation_loss_)
    assert calibrations(one)[0] == calibrations(folds)[0]
    settled = NEWEST.two.choices(*X.shape) | {"n_estimators": one.n_iter_, "n_iter_no_change": None}
    alone = plain("adamec", votes="gentle").set_params(**settled).fit(X, y)
    boosted, whole = alone._model.members[0].forest, one._model.members[0].forest
    assert_array_equal(whole.words[-len(boosted.words) :], boosted.words)


def test_many_classes():
    X, y = load_iris(return_X_y=True)
    model = auto(20).fit(X, y)
    assert np.mean(model.predict(X) == y) > 0.9
    assert len(model.validation_loss_) == len(model.validation_rounds_) <= 2
    # Vector leaves: a tree a round, after one for each column.
    assert [len(e.forest) for e in model._model.members] == [4 + model.n_iter_] * 3
    assert not hasattr(model, "normalizers_")


def many_classes(seed=0, **options):
    return make_classification(
        300, 8, n_informative=5, n_classes=3, flip_y=0.1, random_state=seed, **options
    )


def test_the_loss_of_many_classes_is_that_of_the_rows_left_out():
    X, y = many_classes()
    weights = np.random.default_rng(0).uniform(0.5, 2, len(y))
    folds = [(np.flatnonzero(np.arange(300) % 3 != k), np.arange(k, 300, 3)) for k in range(3)]
    model = CostBoostClassifier(
        calibration="bias-corrected", n_estimators=30, cv=folds, random_state=0
    ).fit(X, y, weights)
    p = np.zeros(len(y))
    for ensemble, fitted, (_, test) in zip(
        model._model.members, calibrations(model), folds, strict=True
    ):
        p[test] = fitted.predict(ensemble.margins(X[test]))[np.arange(len(test)), y[test]]
    at = model.validation_rounds_ == model.n_iter_
    assert_allclose(model.validation_loss_[at], -np.average(np.log(p), weights=weights))


def test_many_classes_are_the_same_with_any_threads_and_keep_their_training_cost():
    X, y = many_classes(weights=[0.6, 0.3])
    costs = Costs.from_matrix([[0, 1, 5], [2, 0, 1], [9, 3, 0]])
    one, two = (auto(20, n_jobs=n).fit(X, y, costs=costs) for n in (1, 2))
    assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    last = np.flatnonzero(one.validation_rounds_ == one.n_iter_)[0]
    assert [len(c) for c in one.train_cost_] == [last + 1] * 3
    for ensemble, fitted, cost in zip(
        one._model.members, calibrations(one), one.train_cost_, strict=True
    ):
        decided = costs.bind([0, 1, 2], len(y)).decide(fitted.predict(ensemble.margins(X)))
        # The rows of two folds of three are trained on: no more can they cost than all.
        assert 0 < cost[last] <= costs.bind([0, 1, 2], len(y)).total(y, decided)


def test_two_classes_are_boosted_by_log_loss_and_by_votes_where_they_are_named():
    X, y = problem()
    model, votes = auto(20).fit(X, y), auto(20, votes="gentle").fit(X, y)
    assert not hasattr(model, "normalizers_")
    assert hasattr(votes, "normalizers_")
    assert {one._model.members[0].n_first for one in (model, votes)} == {X.shape[1]}
    assert calibrations(model)[0].method == "bias-corrected"
    rising = auto(20, monotonic_cst={0: 1}).fit(X, y)
    grid = np.tile(X[:1], (50, 1))
    grid[:, 0] = np.linspace(X[:, 0].min(), X[:, 0].max(), 50)
    assert np.all(np.diff(rising.predict_proba(grid)[:, 1]) >= 0)
    assert rising._model.members[0].n_first == 0


def test_one_model_of_many_classes_takes_as_many_rounds_as_the_folds():
    X, y = many_classes()
    folds, one = auto().fit(X, y), auto(ensemble=False).fit(X, y)
    assert one.n_iter_ == len(one._model.members[0].forest) - X.shape[1] == folds.n_iter_
    assert_array_equal(one.validation_loss_, folds.validation_loss_)
    assert calibrations(one)[0] == calibrations(folds)[0]


def test_votes_of_many_classes_are_samme():
    X, y = many_classes()
    votes = auto(20, votes="discrete").fit(X, y)
    assert isinstance(votes._model.members[0].maps[0], VoteShares)
    assert hasattr(votes, "normalizers_")
    assert not isinstance(auto(20).fit(X, y)._model.members[0].maps[0], VoteShares)


def test_a_table_that_tells_nothing():
    y = np.arange(60) % 2
    model = auto(20).fit(np.ones((60, 2)), y)
    assert_allclose(model.predict_proba(np.ones((3, 2))), 0.5, atol=1e-6)


def test_an_eval_set_is_refused():
    X, y = problem()
    with pytest.raises(ValueError, match="rows that its folds leave out"):
        auto().fit(X, y, eval_set=(X, y))


def test_what_is_told_of_the_last_fit_is_forgotten():
    X, y = problem()
    model = auto(10).fit(X, y)
    model.set_params(method="adacost", calibration=None, n_iter_no_change=5).fit(X, y)
    assert hasattr(model, "cost_bound_")
    assert hasattr(model, "validation_cost_")
    assert not hasattr(model, "validation_loss_")
    model.set_params(method="adaboost", n_iter_no_change=None).fit(X, y)
    assert not hasattr(model, "cost_bound_")
    assert not hasattr(model, "validation_cost_")


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("votes", ["auto", "discrete"])
def test_models_are_explained_kept_and_staged(tmp_path, n_classes, votes):
    X, y = problem() if n_classes == 2 else many_classes()
    model = auto(20, votes=votes).fit(X, y)
    assert_allclose(
        model.contributions(X[:40]).total, model.decision_function(X[:40]), rtol=1e-9, atol=1e-9
    )
    costboost.save(model, tmp_path / "model")
    again = costboost.load(tmp_path / "model")
    assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    stages = list(model.staged_predict_proba(X[:9]))
    assert len(stages) == model.n_iter_
    assert_allclose(stages[-1], model.predict_proba(X[:9]), rtol=1e-12)
    assert model.feature_importances_.shape == (X.shape[1],)


# ---------------------------------------------------------------- progress


def test_verbose_prints_the_looks(capsys):
    X, y = problem()
    model = auto(25, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == ["10/25", "20/25", "25/25"]
    for line, loss in zip(lines, model.validation_loss_, strict=True):
        assert f"out-of-fold log loss {loss:.6g} " in line
        assert line.endswith(" s")
    assert "cost" not in lines[0]
    auto(20, verbose=10, n_iter_no_change=None).fit(X, y, costs=Costs(fp=1, fn=7))
    _, last = capsys.readouterr().out.splitlines()
    said = float(last.split("cost ")[1].split()[0])
    judged = auto(20, n_iter_no_change=None, early_stopping_metric="cost")
    assert_allclose(said, judged.fit(X, y, costs=Costs(fp=1, fn=7)).validation_loss_[-1], rtol=1e-5)
    auto(40, verbose=15).fit(X, y)
    assert [line.split()[1] for line in capsys.readouterr().out.splitlines()] == ["20/40", "40/40"]
    auto(20).fit(X, y)
    assert capsys.readouterr().out == ""


class Stopper:
    """A callback that counts rounds, and asks to stop at the end of one of them."""

    def __init__(self, at=None):
        self.at, self.rounds = at, 0

    def setup(self, *args, **kwargs):
        pass

    def teardown(self, *args, **kwargs):
        pass

    def on_fit_task_begin(self, *args, **kwargs):
        pass

    def on_fit_task_end(self, *args, **kwargs):
        self.rounds += 1
        return self.rounds == self.at


@needs_callbacks
def test_callbacks_are_told_of_every_round_of_every_fold():
    X, y = problem()
    counter = Stopper()
    auto(20).set_callbacks(counter).fit(X, y)
    assert counter.rounds == 3 * 20 + 1  # fit itself is the last


@needs_callbacks
@pytest.mark.parametrize(("at", "n_rounds"), [(1, 1), (2, 1), (20, 7), (36, 12)])
def test_a_callback_ends_all_folds_alike(at, n_rounds):
    """Round t of every fold comes before round t + 1 of any."""
    X, y = problem()
    stopper = Stopper(at)
    model = auto(40).set_callbacks(stopper).fit(X, y)
    assert stopper.rounds == 3 * n_rounds + 1
    assert model.validation_rounds_[-1] == n_rounds
    assert model.n_iter_ <= n_rounds
    assert len(set(lengths(model))) == 1
    short = auto(n_rounds).fit(X, y)
    assert_array_equal(model.predict_proba(X), short.predict_proba(X))


@needs_callbacks
def test_a_callback_ends_the_models_still_to_come():
    X, y = problem()
    model = CostBoostClassifier("adamec", 20, cv=3, random_state=0).set_callbacks(Stopper(4))
    assert lengths(model.fit(X, y)) == [4, 4, 4]
    whole = auto(20, ensemble=False).set_callbacks(Stopper(12)).fit(X, y)
    assert whole.n_iter_ == 4
    assert np.isfinite(whole.predict_proba(X)).all()


# ---------------------------------------------------------------- interruption


@pytest.mark.parametrize(("number", "n_rounds"), [(4, 1), (24, 7), (44, 14)])
def test_an_interrupted_race_of_many_classes_keeps_its_rounds(interrupt, number, n_rounds):
    X, y = many_classes()
    short = auto(n_rounds).fit(X, y)
    interrupt(number)
    model = auto(40, on_interrupt="keep").fit(X, y)
    assert model.validation_rounds_[-1] == n_rounds
    assert_array_equal(model.predict_proba(X), short.predict_proba(X))
    assert_array_equal(np.array(model.train_cost_)[:, -1], np.array(short.train_cost_)[:, -1])


@pytest.mark.parametrize(("number", "n_rounds"), [(4, 1), (5, 1), (24, 7), (31, 10), (44, 14)])
def test_an_interrupted_race_keeps_the_rounds_that_all_folds_have(interrupt, number, n_rounds):
    X, y = problem()
    short = auto(n_rounds).fit(X, y)
    interrupt(number)
    model = auto(40, on_interrupt="keep").fit(X, y)
    assert model.validation_rounds_[-1] == n_rounds
    assert len(set(lengths(model))) == 1
    assert_array_equal(model.predict_proba(X), short.predict_proba(X))


@pytest.mark.parametrize(("number", "keep"), [(1, "keep"), (3, "keep"), (31, "raise")])
def test_an_interrupted_race_raises_by_default_and_before_a_round_of_all(interrupt, number, keep):
    X, y = problem()
    interrupt(number)
    with pytest.raises(KeyboardInterrupt):
        auto(40, on_interrupt=keep).fit(X, y)


# ---------------------------------------------------------------- consume


class Done:
    """A round without a model."""

    def __init__(self, number):
        self.number, self.train_cost = number, float(number)


def dones(first=0, stop=100):
    return map(Done, range(first, stop))


class Plan:
    patience, tolerance, verbose, on_interrupt = 3, 0.0, 0, "keep"


def test_early_stopping_counts_rounds_not_looks():
    costs = iter([5.0, 4.0, 4.5, 4.2, 4.1, 3.0])
    watch = EarlyStopping(lambda done: next(costs), 25, every=10, last=100)
    taken = consume(dones(), [watch]).rounds
    assert len(taken) == 50
    assert watch.looks == [10, 20, 30, 40, 50]
    assert (watch.best, watch.best_rounds) == (4.0, 20)


def test_take_rounds_continues_and_cuts_at_the_best():
    costs = [9.0, 8.0, 7.0, 6.0, 3.0, 2.0, 2.5, 2.5, 2.5]
    previous = list(dones(stop=4))

    def judge(done):
        return costs[done.number]

    taken = take_rounds(dones, Plan(), 100, previous=previous, judge=judge)
    assert [done.number for done in taken.rounds] == [0, 1, 2, 3, 4, 5]
    assert taken.costs == costs
    assert taken.limit is None
    # What was best before stays the best where no later round is better.
    costs[:] = [9.0, 8.0, 7.0, 1.0, 3.0, 2.0, 2.5, 2.5, 2.5]
    taken = take_rounds(dones, Plan(), 100, previous=previous, judge=judge)
    assert [done.number for done in taken.rounds] == [0, 1, 2, 3]
    assert taken.costs == costs[:7]


def test_take_rounds_says_when_the_user_ended_them():
    taken = take_rounds(dones, Plan(), 100, observer=lambda done: done.number == 6)
    assert len(taken.rounds) == taken.limit == 7

    def interrupted(first):
        yield from dones(first, 3)
        raise KeyboardInterrupt

    taken = take_rounds(interrupted, Plan(), 100)
    assert len(taken.rounds) == taken.limit == 3


def test_printers_tell_the_number_and_the_seconds(capsys):
    printer = Printer(7, 3, lambda done: f"cost {done.train_cost}", start=0.0)
    consume(dones(stop=7), [printer])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1:4] for line in lines] == [
        ["3/7", "cost", "2.0"],
        ["6/7", "cost", "5.0"],
        ["7/7", "cost", "6.0"],
    ]
    assert all(line.endswith(" s") for line in lines)


# ---------------------------------------------------------------- rivals and calibration


def look(losses, weights=None, n_rounds=NEWEST.every):
    blank = ClassCalibration("bias-corrected", 2, margins=True)
    return Look(n_rounds, blank, np.asarray(losses, dtype=float), weights)


def test_a_later_look_rivals_the_best_within_half_a_standard_error():
    rng = np.random.default_rng(0)
    best, noise = rng.uniform(0, 1, 400), rng.standard_normal(400)
    noise = (noise - noise.mean()) / noise.std()
    error = 1 / np.sqrt(400)  # of a difference with deviation 1
    assert look(best + noise + 0.99 * NEWEST.doubt * error).rivals(look(best), NEWEST.doubt)
    assert not look(best + noise + 1.01 * NEWEST.doubt * error).rivals(look(best), NEWEST.doubt)
    assert look(best).rivals(look(best), NEWEST.doubt)  # a round that changed nothing
    assert not look(best + 1e-9).rivals(look(best), NEWEST.doubt)  # surely worse, if by little


def test_weights_count_in_looks_as_copies_do_in_the_mean():
    rng = np.random.default_rng(1)
    one, two = rng.uniform(0, 1, (2, 50))
    weights = rng.integers(0, 4, 50).astype(float)
    copies = np.repeat(one, weights.astype(int))
    assert_allclose(look(one, weights).loss, look(copies).loss)
    kept = weights > 0
    more = np.repeat(two, weights.astype(int))
    for shift in np.linspace(-0.1, 0.1, 21):  # so that some rival and some do not
        rivals = look(one, weights).rivals(look(two + shift, weights), NEWEST.doubt)
        assert rivals == look(copies).rivals(look(more + shift), NEWEST.doubt)
        # Rows of no weight say nothing, and the unit of weights below 1 does not matter.
        for unit in (1.0, 1e-9, 1e-3):
            small, some = unit * weights, unit * weights[kept]
            whole = look(one, small).rivals(look(two + shift, small), NEWEST.doubt)
            assert whole == look(one[kept], some).rivals(
                look((two + shift)[kept], some), NEWEST.doubt
            )
            assert unit == 1.0 or whole == look(one, 1e-6 * weights).rivals(
                look(two + shift, 1e-6 * weights), NEWEST.doubt
            )


def test_the_map_is_fitted_to_rows_left_out_and_shared_by_the_models():
    X, y = make_classification(300, 8, weights=[0.8], flip_y=0.1, random_state=0)
    model = CostBoostClassifier(random_state=0).fit(X, y)
    maps = calibrations(model)
    assert len(maps) == 5
    assert all(one is maps[0] for one in maps)
    assert maps[0].method == "bias-corrected"
    assert maps[0].calibrators[0].beta > 0
    assert len({len(alphas) for alphas in model.estimator_weights_}) == 1
    assert model.n_iter_ % NEWEST.every == 0
    many = CostBoostClassifier(random_state=0, n_estimators=20).fit(X, y + (X[:, 0] > 1))
    assert calibrations(many)[0].method == "bias-corrected"
    assert len(calibrations(many)[0].calibrators[0].biases) == 3


@pytest.mark.parametrize("rare", [0.5, 0.05])
def test_bias_correction_is_the_penalised_optimum(rare):
    rng = np.random.default_rng(2)
    s, w = 3 * rng.standard_normal(200), rng.uniform(0.5, 2, 200)
    y = (rng.uniform(0, 1, 200) < expit(0.5 * s + np.log(rare))).astype(int)

    def loss(at):
        f = at[0] * s + at[1]
        return w @ (np.logaddexp(0, f) - y * f) + 2.5 * at[1] ** 2

    ours = BiasCorrected(margins=True).fit(s, y, w)
    naive = minimize(loss, [1.0, 0.0], tol=1e-12).x
    assert_allclose([ours.beta, ours.bias], naive, rtol=1e-4, atol=1e-5)
    assert loss([ours.beta, ours.bias]) <= loss(naive) + 1e-9
    assert_allclose(ours.predict(s), expit(ours.beta * s + ours.bias))


def test_the_bias_grows_with_the_rows_that_ask_for_it():
    s, y = np.tile([-1.0, 1.0], 40), np.r_[np.zeros(60), np.tile([0.0, 1.0], 10)]
    fits = [BiasCorrected(margins=True).fit(np.tile(s, n), np.tile(y, n)) for n in (1, 10, 1000)]
    assert 0 > fits[0].bias > fits[1].bias > fits[2].bias
    assert_allclose(fits[2].predict(s).mean(), y.mean(), atol=1e-3)
    # A weight is so many rows.
    assert_allclose(BiasCorrected(margins=True).fit(s, y, np.full(80, 10.0)).bias, fits[1].bias)


def test_useless_scores_give_the_prior():
    y = np.array([0, 0, 0, 1])
    for s in (np.full(4, 0.3), np.array([3.0, 2.0, 1.0, -5.0])):
        assert_allclose(BiasCorrected(margins=True).fit(s, y).predict([-9.0, 9.0]), 0.25)
    perfect = BiasCorrected(margins=True).fit([-1.0, -0.5, 0.5, 1.0], [0, 0, 1, 1])
    assert np.isfinite(perfect.beta)
    assert perfect.predict([1.0]) > 0.99
    shares = BiasCorrected().fit([0.0, 0.2, 0.8, 1.0], [0, 1, 0, 1]).predict([0.0, 0.5, 1.0])
    assert np.all(np.diff(shares) > 0)
    assert np.all((shares > 0) & (shares < 1))


@pytest.mark.filterwarnings("ignore:.*copies of other rows")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("cv", [5, 0.3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weight_k_is_k_rows_where_no_row_is_counted(seed, cv, n_classes):
    """The number of rounds followed from squared weights: up to .1 in probabilities.

    With more than two classes gradients were rounded after they were weighed, which decided ties.
    """
    seed = seed if n_classes == 2 else [0, 1, 4][seed]  # three that differed
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 4))
    noise = lambda *shape: rng.normal(size=shape)  # noqa: E731
    if n_classes == 2:
        y = (X @ noise(4) + noise(300) > 0.3).astype(int)
    else:
        y = np.argmax(X @ noise(4, n_classes) + noise(300, n_classes), axis=1)
    weights = rng.integers(1, 5, 300)
    options = {"subsample": 1.0, "min_samples_leaf": 1, "cv": cv, "random_state": 0}
    rows = np.repeat(np.arange(300), weights)
    weighed = CostBoostClassifier(**options).fit(X, y, sample_weight=weights)
    repeated = CostBoostClassifier(**options).fit(X[rows], y[rows])
    assert weighed.n_iter_ == repeated.n_iter_
    assert np.max(np.abs(weighed.predict_proba(X) - repeated.predict_proba(X))) < 1e-10
