"""The AdaBoost family through its public face, against plain re-runs of the same votes.

A fitted `CostBoostClassifier` tells alpha, error, Z and cost of every round. Its votes are read off
`staged_decision_function`, and `naive.rules` runs the algorithm again with those votes: the numbers
must be the same to 1e-9, whatever the costs, weights, shards, trees or learners.
"""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from costboost import Costs
from costboost.boosting.adaboost import rules
from naive import rules as naive
from votes_again import (
    SAME,
    assert_same,
    costs_of,
    cut_into,
    fitted,
    margins_of,
    problem,
    replayed,
    votes_of,
)

METHODS = naive.METHODS


@pytest.fixture(params=[1, 3], ids=["1-shard", "3-shards"])
def n_shards(request, monkeypatch):
    """Cut every table into so many shards, however small."""
    cut_into(request.param, monkeypatch)
    return request.param


# ---------------------------------------------------------------- every method, built-in trees


@pytest.mark.parametrize("depth", [1, 3])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("method", METHODS)
def test_fit_tells_what_a_plain_run_of_its_votes_tells(method, kind, weighted, depth, n_shards):
    for seed in (0, 1):
        X, y = problem(seed)
        # Stumps and AdaC step forward at moderate costs only.
        fp, fn = costs_of(kind, len(y), seed, high=1.3 if method.startswith("adac") else 3.0)
        s = np.random.default_rng(seed).uniform(0.2, 3, len(y)) if weighted else None
        model = fitted(method, X, y, Costs(fp=fp, fn=fn), s, max_depth=depth)
        assert_same(model, replayed(model, X, y, fp, fn, s), X)


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("method", METHODS)
def test_shards_change_no_bit(method, kind, monkeypatch):
    X, y = problem(3)
    fp, fn = costs_of(kind, len(y), high=1.3)
    s = np.random.default_rng(3).uniform(0.2, 3, len(y))
    models = []
    for number in (1, 2, 5):
        cut_into(number, monkeypatch)
        models.append(fitted(method, X, y, Costs(fp=fp, fn=fn), s, max_depth=2))
    for other in models[1:]:
        for name in ("estimator_weights_", "estimator_errors_", "normalizers_", "train_cost_"):
            assert_array_equal(getattr(other, name), getattr(models[0], name))
        assert_array_equal(other.decision_function(X), models[0].decision_function(X))


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("method", METHODS)
def test_searched_alphas_and_a_learning_rate(method, kind, n_shards):
    X, y = problem(4)
    fp, fn = costs_of(kind, len(y), high=1.3)
    s = np.random.default_rng(4).uniform(0.2, 3, len(y))
    for options in ({"alpha": "search"}, {"learning_rate": 0.3}):
        model = fitted(method, X, y, Costs(fp=fp, fn=fn), s, max_depth=2, **options)
        assert_same(model, replayed(model, X, y, fp, fn, s), X)


@pytest.mark.parametrize("method", METHODS)
def test_free_mistakes(method, n_shards):
    """A cost of 0 for one class, and for a third of the rows."""
    X, y = problem(5)
    free = np.where(np.random.default_rng(5).uniform(size=len(y)) < 0.3, 0.0, 1.0)
    for fp, fn in ((free, 1.2 * free), (1.0, free)):
        with np.errstate(invalid="ignore"):  # the twin's 0/0 for a row that costs nothing
            model = fitted(method, X, y, Costs(fp=fp, fn=fn), max_depth=2)
            assert_same(model, replayed(model, X, y, fp, fn), X)


BY_COST = ["cgada", "adacost", "csb0", "csb1", "csb2", "gradient-csb"]  # first weights


@pytest.mark.filterwarnings("ignore:.*could not take a single step")  # "1" is right at these prices
@pytest.mark.parametrize("by_row", [False, True], ids=["by class", "by row"])
@pytest.mark.parametrize("method", BY_COST)
def test_first_weights_do_not_depend_on_which_rows_are_seen_together(method, by_row, monkeypatch):
    """Many a block, and a shard, has rows that all cost nothing."""
    X, y = problem(6)
    price = np.where(np.arange(len(y)) < 120, 0.0, 1.0)  # a block of either class
    fp, fn = (price, 1.2 * price) if by_row else (0.0, 1.2)
    options = {"objective": "adacost"} if method == "gradient-csb" else {}
    monkeypatch.setattr("costboost.shards.layout._BLOCK", 16)
    models = []
    for number in (1, 2, 7):
        cut_into(number, monkeypatch)
        model = fitted(method, X, y, Costs(fp=fp, fn=fn), max_depth=2, **options)
        if by_row:
            with np.errstate(invalid="ignore"):
                assert_same(model, replayed(model, X, y, fp, fn, **options), X)
        models.append(model)
    monkeypatch.undo()
    models.append(fitted(method, X, y, Costs(fp=fp, fn=fn), max_depth=2, **options))
    for other in models[1:]:
        assert_array_equal(other.estimator_errors_, models[0].estimator_errors_)
        assert_array_equal(other.decision_function(X), models[0].decision_function(X))


@pytest.mark.parametrize("method", BY_COST)
def test_first_weights_are_the_users_where_nothing_costs_anything(method, n_shards):
    X, y = problem(8)
    s = np.random.default_rng(8).uniform(0.2, 3, len(y))
    options = {"objective": "adacost"} if method == "gradient-csb" else {}
    costs = Costs(fp=0.0, fn=np.where(y == 1, 0.0, 5.0))  # of negatives nobody asks
    model = fitted(method, X, y, costs, s, **options)
    error = np.average(votes_of(model, X)[0] != np.where(y == 1, 1, -1), weights=s)
    assert_allclose(model.estimator_errors_[0], error, **SAME)


@pytest.mark.parametrize("method", ["cgada", "adacost", "csb2"])
def test_first_weights_of_three_classes_are_those_of_all_rows(method, monkeypatch):
    X, y = problem(7)
    y = y + (X[:, 0] > 0.5)
    prices = np.random.default_rng(7).uniform(1.0, 3.0, (len(y), 3))
    prices[np.arange(len(y)), y] = 0.0
    prices[:120] = 0.0
    whole = fitted(method, X, y, Costs.of_rows(prices), max_depth=2)
    monkeypatch.setattr("costboost.shards.layout._BLOCK", 16)
    for number in (1, 2, 7):
        cut_into(number, monkeypatch)
        model = fitted(method, X, y, Costs.of_rows(prices), max_depth=2)
        assert_array_equal(model.estimator_errors_, whole.estimator_errors_)
        assert_array_equal(model.decision_function(X), whole.decision_function(X))


@pytest.mark.parametrize("scale", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("method", ["adacost", "adac1", "adac3", "csada", "gradient-csb"])
def test_cost_scale_is_the_largest_cost(method, scale):
    X, y = problem(6)
    options = {"max_depth": 8, "cost_scale": scale}
    model = fitted(method, X, y, Costs(fp=20, fn=30), **options)
    assert_same(model, replayed(model, X, y, 20, 30), X)


@pytest.mark.parametrize("kind", ["constant", "rows"])
def test_adacost_with_a_beta_of_ones_own(kind, n_shards):
    def beta(sign, c):
        return np.where(sign > 0, 0.4 - 0.1 * c, 0.4 + 0.3 * c)

    X, y = problem(7)
    fp, fn = costs_of(kind, len(y))
    model = fitted("adacost", X, y, Costs(fp=fp, fn=fn), beta=beta, max_depth=2)
    assert_same(model, replayed(model, X, y, fp, fn, beta=beta), X)
    assert np.all(model.train_cost_ <= model.cost_bound_)


@pytest.mark.parametrize(
    ("beta", "message"),
    [
        (lambda sign, c: 0.5 + sign * c / 2, "beta"),
        (lambda sign, c: 0.2 - sign * c / 2, ">= 0"),
        (lambda sign, c: np.where(sign > 0, 0.2, 1 - 0.5 * c), "must not fall"),
        (lambda sign, c: 0.5, "one value for each"),
    ],
)
def test_a_beta_against_the_theorem_is_refused(beta, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        fitted("adacost", X, y, None, beta=beta)


# ---------------------------------------------------------------- Gradient-CSB's objectives


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("objective", ["adaboost", "adacost", "adac1", "asymboost"])
def test_objectives_by_name(objective, kind, n_shards):
    X, y = problem(8)
    fp, fn = costs_of(kind, len(y))
    s = np.random.default_rng(8).uniform(0.2, 3, len(y))
    model = fitted("gradient-csb", X, y, Costs(fp=fp, fn=fn), s, objective=objective, max_depth=2)
    run = replayed(model, X, y, fp, fn, s, objective=objective)
    assert_same(model, run, X)


def test_an_objective_of_ones_own(n_shards):
    X, y = problem(9)
    rng = np.random.default_rng(9)
    signs = np.where(y == 1, 1.0, -1.0)
    a, b = signs * rng.uniform(0.2, 2, len(y)), rng.uniform(-0.2, 0.1, len(y))
    w0 = rng.uniform(0.1, 1, len(y))
    a[rng.uniform(size=len(y)) < 0.1] *= -1  # some rows aim at the other label
    model = fitted("gradient-csb", X, y, Costs(fp=1, fn=2), objective=(a, b, w0), max_depth=2)
    votes = votes_of(model, X)
    # Errors are those of the pseudo-labels sign(a).
    run = naive.boost(
        "gradient-csb", np.sign(a), np.ones(len(y)), votes, n_rounds=6, objective=(a, b, w0)
    )
    assert_allclose(model.estimator_weights_, run.alphas, **SAME)
    assert_allclose(model.estimator_errors_, run.errors, **SAME)
    assert_allclose(model.normalizers_, run.normalizers, **SAME)
    decided = margins_of(model, X) > 0
    paid = np.where(y == 1, 2.0, 1.0) * (decided != (y == 1))
    assert_allclose(model.train_cost_, paid.sum(axis=1), **SAME)


def test_an_objective_as_a_function_is_the_same_as_its_name():
    X, y = problem(9)
    costs = Costs(fp=1, fn=3)

    def adacost(at):
        return at.sign / 2, -at.cost / 2, at.cost

    named = fitted("gradient-csb", X, y, costs, objective="adacost")
    own = fitted("gradient-csb", X, y, costs, objective=adacost)
    assert_array_equal(named.decision_function(X), own.decision_function(X))


@pytest.mark.parametrize(
    ("objective", "message"),
    [
        ("logit", "objective='logit' is not known"),
        ((1.0, 2.0), "a name, a function"),
        ((np.ones(3), 0.0, 1.0), "160 rows"),
        ((1.0, 0.0, 0.0), "not all zero"),
        ((np.nan, 0.0, 1.0), "finite"),
    ],
)
def test_a_wrong_objective_is_refused(objective, message):
    X, y = problem()
    with pytest.raises(ValueError, match=message):
        fitted("gradient-csb", X, y, None, objective=objective)


# ---------------------------------------------------------------- confidence, real, gentle votes

RATED = [m for m in METHODS if m not in ("rareboost", "gradient-csb")]


@pytest.mark.parametrize("laplace", [False, True], ids=["", "laplace"])
@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("method", RATED)
def test_confidence_rated_votes(method, kind, laplace, n_shards):
    X, y = problem(10)
    fp, fn = costs_of(kind, len(y), high=1.3)
    s = np.random.default_rng(10).uniform(0.2, 3, len(y))
    options = {"votes": "confidence", "laplace": laplace, "max_depth": 2}
    model = fitted(method, X, y, Costs(fp=fp, fn=fn), s, **options)
    votes = votes_of(model, X)
    assert np.max(np.abs(votes)) <= 1 + 1e-12
    assert len(np.unique(np.round(np.abs(votes), 9))) > 3
    assert_same(model, replayed(model, X, y, fp, fn, s), X)


def leaf_run(method, kind, y, leaves, cost, sample_weight, n_rounds, learning_rate):
    """Real or Gentle AdaBoost on given leaves, from the first weights of `method`, by loops.

    Returns (values, errors, normalizers, coarseness): (T, n), (T,), (T,), (T, n). The last is what
    weights on a grid may change a value by: half a unit of 2**-54 (62 bits less those of n) of the
    largest weight for every row, of a class that may weigh as little as 2**-52 of its leaf.
    """
    w = sample_weight * (cost if method == "cgada" else 1.0)
    values, errors, normalizers, coarseness = [], [], [], []
    for leaf in leaves:
        w = w * (cost ** (1 / n_rounds) if method == "asymada" else 1.0)
        D, f, coarse = w / w.sum(), np.zeros(len(y)), np.zeros(len(y))
        unit = 2.0 ** (int(np.ceil(np.log2(len(y)))) - 62) * 2 * D.max()
        for number in np.unique(leaf):
            inside = leaf == number
            plus, minus = D[inside & (y > 0)].sum(), D[inside & (y < 0)].sum()
            p, q = plus / (plus + minus), minus / (plus + minus)
            if kind == "real":
                p, q = np.clip([p, q], 2.0**-52, 1 - 2.0**-52)
                f[inside] = 0.5 * np.log(p / q)
            else:
                f[inside] = p - q
            if plus * minus > 0:  # a pure leaf is pure on the grid too
                coarse[inside] = inside.sum() * unit / min(plus, minus)
        coarseness.append(learning_rate * coarse)
        values.append(learning_rate * f)
        errors.append(D[y * f < 0].sum())
        normalizers.append(np.sum(D * np.exp(-y * values[-1])))
        w = D * np.exp(-y * values[-1])
    return np.array(values), np.array(errors), np.array(normalizers), np.array(coarseness)


@pytest.mark.parametrize("rate", [1.0, 0.4])
@pytest.mark.parametrize("costs", ["constant", "rows"])
@pytest.mark.parametrize("votes", ["real", "gentle"])
@pytest.mark.parametrize("method", ["adaboost", "adamec", "cgada", "asymada"])
def test_real_and_gentle_adaboost(method, votes, costs, rate, n_shards):
    X, y = problem(11)
    fp, fn = costs_of(costs, len(y))
    s = np.random.default_rng(11).uniform(0.2, 3, len(y))
    signs, cost = np.where(y == 1, 1.0, -1.0), np.where(y == 1, fn, fp) * np.ones(len(y))
    options = {"votes": votes, "max_depth": 2, "learning_rate": rate}
    model = fitted(method, X, y, Costs(fp=fp, fn=fn), s, **options)
    added = np.diff(margins_of(model, X), axis=0, prepend=np.zeros((1, len(y))))
    leaves = np.round(added, 10)  # leaves of one value are as good as one leaf
    values, errors, Z, coarse = leaf_run(method, votes, signs, leaves, cost, s, 6, rate)
    assert_allclose(model.estimator_weights_, rate)
    assert np.all(np.abs(added - values) <= 1e-10 + 1e-8 * np.abs(values) + coarse)
    assert np.mean(coarse < 1e-8) > 0.9
    assert_allclose(model.estimator_errors_, errors, **SAME)
    assert_allclose(model.normalizers_, Z, **SAME)
    if method == "adaboost" and rate == 1.0:
        twin = getattr(naive, f"{votes}_adaboost")(signs, leaves, s)
        assert_allclose(model.normalizers_, twin.normalizers, **SAME)
        assert_allclose(margins_of(model, X), twin.margins, rtol=1e-8, atol=1e-9)
    if method == "cgada":
        loss = np.sum(s * cost * np.exp(-signs * margins_of(model, X)), axis=1)
        assert_allclose(model.cost_bound_, loss, **SAME)
    if method in ("adaboost", "cgada"):
        paid = s * cost * ((margins_of(model, X) > 0) != (y == 1))
        assert_allclose(model.train_cost_, paid.sum(axis=1), **SAME)


@pytest.mark.parametrize("votes", ["real", "gentle"])
@pytest.mark.parametrize(
    "method", [m for m in METHODS if m not in ("adaboost", "adamec", "cgada", "asymada")]
)
def test_real_and_gentle_votes_need_the_plain_loss(method, votes):
    X, y = problem()
    with pytest.raises(ValueError, match="plain exponential loss"):
        fitted(method, X, y, None, votes=votes)


@pytest.mark.parametrize("method", ["rareboost", "gradient-csb"])
def test_methods_of_discrete_votes_say_so(method):
    X, y = problem()
    with pytest.raises(ValueError, match="discrete votes only"):
        fitted(method, X, y, None, votes="confidence")


# ---------------------------------------------------------------- outside learners

OUTSIDE = {
    "stump": DecisionTreeClassifier(max_depth=1),
    "tree": DecisionTreeClassifier(max_depth=3),
    "logistic": LogisticRegression(),
    "bayes": GaussianNB(),
}


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("learner", OUTSIDE)
@pytest.mark.parametrize("method", METHODS)
def test_outside_learners(method, learner, kind, monkeypatch):
    cut_into(3, monkeypatch)
    X, y = problem(12)
    fp, fn = costs_of(kind, len(y), high=1.1)
    s = np.random.default_rng(12).uniform(0.2, 3, len(y))
    options = {"estimator": OUTSIDE[learner], "n_estimators": 4}
    model = fitted(method, X, y, Costs(fp=fp, fn=fn), s, **options)
    assert len(model.estimators_) == model.n_iter_
    votes = np.array([np.where(e.predict(X) == 1, 1.0, -1.0) for e in model.estimators_])
    assert_array_equal(votes, votes_of(model, X))
    assert_same(model, replayed(model, X, y, fp, fn, s), X)


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("learner", ["tree", "logistic", "bayes"])
@pytest.mark.parametrize("method", RATED)
def test_outside_learners_with_confidence(method, learner, kind, monkeypatch):
    cut_into(3, monkeypatch)
    X, y = problem(13)
    fp, fn = costs_of(kind, len(y), high=1.1)
    options = {"estimator": OUTSIDE[learner], "n_estimators": 4, "votes": "confidence"}
    model = fitted(method, X, y, Costs(fp=fp, fn=fn), **options)
    p = np.array([e.predict_proba(X)[:, 1] for e in model.estimators_])
    assert_allclose(votes_of(model, X), 2 * p - 1, **SAME)
    assert_same(model, replayed(model, X, y, fp, fn), X)


@pytest.mark.parametrize("kind", ["constant", "rows"])
@pytest.mark.parametrize("learner", ["tree", "logistic", "bayes"])
@pytest.mark.parametrize("votes", ["real", "gentle"])
def test_outside_learners_with_real_votes(votes, learner, kind, monkeypatch):
    """Two clouds far apart and wrong labels: learners are sure, and exponents of 7 occur."""
    cut_into(3, monkeypatch)
    rng = np.random.default_rng(0)
    true = rng.integers(0, 2, 160)
    X = np.column_stack([10 * true + rng.normal(size=160), rng.normal(size=160)])
    y = np.where(rng.uniform(size=160) < 0.1, 1 - true, true)
    fp, fn = costs_of(kind, len(y))
    signs, cost = np.where(y == 1, 1.0, -1.0), np.where(y == 1, fn, fp) * np.ones(len(y))
    options = {"estimator": OUTSIDE[learner], "n_estimators": 4, "votes": votes}
    model = fitted("cgada", X, y, Costs(fp=fp, fn=fn), **options)
    D = cost / cost.sum()
    for t, learner_t in enumerate(model.estimators_):
        p = np.clip(learner_t.predict_proba(X)[:, 1], 2.0**-52, 1 - 2.0**-52)
        q = np.clip(learner_t.predict_proba(X)[:, 0], 2.0**-52, 1 - 2.0**-52)
        f = 0.5 * np.log(p / q) if votes == "real" else p - q
        w = D * np.exp(-signs * f)
        assert_allclose(model.normalizers_[t], w.sum(), **SAME)
        wrong = (f > 0) != (y == 1)  # a tie is a negative vote
        assert_allclose(model.estimator_errors_[t], D[wrong].sum(), **SAME)
        D = w / w.sum()


def test_outside_learners_get_weights_of_sum_one():
    class Spy(DecisionTreeClassifier):
        seen: list[np.ndarray] = []  # noqa: RUF012

        def fit(self, X, y, sample_weight=None):
            Spy.seen.append(sample_weight.copy())
            return super().fit(X, y, sample_weight=sample_weight)

    X, y = problem(15)
    c = np.where(y == 1, 1.0, 0.4)
    model = fitted("csada", X, y, Costs(fp=2, fn=5), estimator=Spy(max_depth=2), n_estimators=3)
    run = replayed(model, X, y, 2, 5)
    for weights, D in zip(Spy.seen, run.weights, strict=False):
        assert_allclose(weights, c * D / np.sum(c * D), **SAME)


# ---------------------------------------------------------------- K classes


def problem_k(seed=0, n=240, n_classes=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    scores = X @ rng.normal(size=(4, n_classes)) + rng.normal(size=(n, n_classes))
    y = scores.argmax(axis=1)
    y[:n_classes] = np.arange(n_classes)
    C = rng.uniform(0.6, 1.4, (n_classes, n_classes))
    np.fill_diagonal(C, 0)
    return X, y, C


def votes_k(model, X):
    """The class that each round voted for, (T, n)."""
    margins = np.array(list(model.staged_decision_function(X)))
    return np.diff(margins, axis=0, prepend=np.zeros((1, *margins.shape[1:]))).argmax(axis=2)


@pytest.mark.parametrize("options", [{}, {"alpha": "search"}, {"learning_rate": 0.5}], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("kind", ["constant", "rows", "stump", "outside"])
@pytest.mark.parametrize("method", naive.METHODS_K)
def test_many_classes(method, kind, weighted, options, monkeypatch):
    cut_into(3 if weighted else 1, monkeypatch)
    X, y, C = problem_k(0, n_classes=4 if weighted else 3)
    K = len(C)
    s = np.random.default_rng(1).uniform(0.2, 3, len(y)) if weighted else None
    fit_costs, prices = C, C
    if kind == "rows":
        rows = C[None] * np.random.default_rng(2).uniform(0.5, 1.5, (len(y), 1, 1))
        fit_costs, prices = Costs.from_matrix(rows), rows[np.arange(len(y)), y]
    scale = 0.2 if method == "adacost" else "auto"
    learner = {"max_depth": 1} if kind == "stump" else {"max_depth": 3}
    if kind == "outside":
        learner = {"estimator": DecisionTreeClassifier(max_depth=3)}
    model = fitted(method, X, y, fit_costs, s, cost_scale=scale, **learner, **options)
    votes = votes_k(model, X)
    twin_costs = C if method == "adamec" else prices  # AdaMEC trains without costs
    run = naive.boost_k(
        method, y, twin_costs, votes, n_rounds=6, sample_weight=s, cost_scale=scale, **options
    )
    assert model.n_iter_ == run.n_rounds >= 1
    assert_allclose(model.estimator_weights_, run.alphas, **SAME)
    assert_allclose(model.estimator_errors_, run.errors, **SAME)
    assert_allclose(model.normalizers_, run.normalizers, **SAME)
    margins = np.array(list(model.staged_decision_function(X)))
    assert_allclose(margins, run.margins, **SAME)
    train_cost = run.train_cost
    if method == "adamec" and kind == "rows":  # the twin decides by one matrix only
        weights = np.ones(len(y)) if s is None else s
        answers = np.einsum("tnk,nka->tna", margins, rows).argmin(axis=2)
        train_cost = np.sum(weights * rows[np.arange(len(y)), y, answers], axis=1)
    assert_allclose(model.train_cost_, train_cost, **SAME)
    assert not hasattr(model, "cost_bound_")  # the theorems are about two classes
    assert model.decision_function(X).shape == (len(y), K)


# ---------------------------------------------------------------- a rule of one's own


def test_a_new_rule_in_ten_lines():
    """LexiBoost-like: costs enter the exponent of mistakes only, AdaBoost's alpha."""
    rule = rules.register(
        rules.Rule(
            "root-cost",
            "an example",
            first=rules.cost,
            wrong=lambda at: np.sqrt(at.cost),
            scale="largest",
        )
    )
    try:
        X, y = problem(1)
        model = fitted("root-cost", X, y, Costs(fp=1, fn=4), max_depth=2)
        signs, votes = np.where(y == 1, 1.0, -1.0), votes_of(model, X)
        c = np.where(y == 1, 1.0, 0.25)
        D = c / c.sum()
        for h, alpha, Z in zip(votes, model.estimator_weights_, model.normalizers_, strict=True):
            m = signs * h
            assert_allclose(alpha, naive.half_log(D, m), **SAME)
            w = D * np.exp(-alpha * m * np.where(m < 0, np.sqrt(c), 1.0))
            assert_allclose(Z, w.sum(), **SAME)
            D = w / w.sum()
        assert model.n_iter_ == 6
        assert np.isfinite(model.predict_proba(X)).all()
        calibrated = fitted("root-cost", X, y, Costs(fp=1, fn=4), calibration="sigmoid", cv=2)
        assert set(calibrated.predict(X, costs=Costs(fp=1, fn=9))) <= {0, 1}
        assert replace(rule, name="other").first is rules.cost
    finally:
        del rules.RULES["root-cost"]
    with pytest.raises(ValueError, match="method='root-cost' is not known"):
        fitted("root-cost", X, y, None)


# ---------------------------------------------------------------- what users hand in


def test_a_users_beta_is_coded_for_many_classes():
    """The documented default, given explicitly, is the default: at K = 4 too."""
    X, _ = problem(2)
    y = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.7, 0.0, 0.7])
    given = fitted("adacost", X, y, None, max_depth=3, beta=lambda sign, c: 0.5 - 0.5 * sign * c)
    plain = fitted("adacost", X, y, None, max_depth=3)
    assert plain.n_iter_ >= 1
    assert_array_equal(given.estimator_weights_, plain.estimator_weights_)
    assert_array_equal(given.decision_function(X), plain.decision_function(X))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kind", ["constant", "rows"])
def test_a_callable_objective_aims_at_the_signs_of_a(kind, weighted):
    """a = -y: the same arrays as a tuple, and a falling objective."""
    X, y = problem(3)
    fp, fn = costs_of(kind, len(y), 3)
    s = np.random.default_rng(3).uniform(0.5, 2, len(y)) if weighted else None
    signs = np.where(y == 1, 1.0, -1.0)
    cost = np.where(y == 1, fn, fp) * np.ones(len(y))
    cost = cost / cost.max()
    models = [
        fitted("gradient-csb", X, y, Costs(fp=fp, fn=fn), s, objective=objective, max_depth=2)
        for objective in (
            lambda at: (-at.sign * at.cost, 0 * at.cost, np.ones_like(at.cost)),
            (-signs * cost, 0.0, 1.0),
        )
    ]
    for name in ("estimator_weights_", "normalizers_"):
        assert_allclose(getattr(models[0], name), getattr(models[1], name), rtol=1e-9)
    assert_allclose(margins_of(models[0], X), margins_of(models[1], X), rtol=1e-9)
    assert np.prod(models[0].normalizers_) < 0.9
    # With the signs of y a function is what its name is.
    named, own = (
        fitted("gradient-csb", X, y, Costs(fp=fp, fn=fn), s, objective=objective, max_depth=2)
        for objective in (
            "asymboost",
            lambda at: (at.sign * at.cost, 0 * at.cost, np.ones_like(at.cost)),
        )
    )
    assert_array_equal(named.decision_function(X), own.decision_function(X))


@pytest.mark.parametrize(
    "options",
    [
        {"votes": "discrete"},
        {"votes": "confidence", "estimator": DecisionTreeClassifier(max_depth=1)},
    ],
)
def test_laplace_is_refused_where_nothing_uses_it(options):
    X, y = problem(0)
    with pytest.raises(ValueError, match="laplace=True"):
        fitted("adaboost", X, y, None, laplace=True, **options)


# ---------------------------------------------------------------- ends that come early


def test_a_method_that_ends_in_the_first_tenth_of_its_rounds_says_so():
    X, y = problem(0)
    hard = {"max_depth": 1, "cost_scale": 0.6}
    for n_rounds in (20, 100):
        with pytest.warns(UserWarning, match=r"'adacost' ended after \d of \d+ rounds.*cost_scale"):
            fitted("adacost", X, y, Costs(fp=1, fn=5), n_estimators=n_rounds, **hard)
    with pytest.warns(UserWarning, match="ended after") as caught:  # one for all folds
        fitted(
            "adacost",
            X,
            y,
            Costs(fp=1, fn=5),
            n_estimators=50,
            calibration="sigmoid",
            cv=3,
            **hard,
        )
    assert len(caught) == 1
    model = fitted("adacost", X, y, Costs(fp=1, fn=5), n_estimators=10, **hard)
    assert model.n_iter_ < 10  # few were asked for: no reason to complain
    model = fitted("adaboost", y[:, None].astype(float), y, None, n_estimators=100)
    assert model.n_iter_ == 1  # a perfect learner: nothing is left to learn


@pytest.mark.parametrize("ratio", [2, 5, 9])
@pytest.mark.parametrize("depth", [1, 3])
def test_adacost_keeps_boosting_by_default(ratio, depth):
    X, y = load_breast_cancer(return_X_y=True)
    model = fitted("adacost", X, y, Costs(fp=ratio, fn=1), n_estimators=100, max_depth=depth)
    assert model.n_iter_ > 10
    assert np.all(model.train_cost_ <= model.cost_bound_)


# ---------------------------------------------------------------- what others ask of a rule


@pytest.mark.parametrize(
    ("question", "able"),
    [
        ("plain_rounds", {"adaboost", "adamec", "cgada", "asymada", "rareboost"}),
        ("plain_loss", {"adaboost", "adamec", "cgada", "asymada"}),
        ("fixed_z", {"csb0", "csb1"}),
        ("discrete_only", {"gradient-csb", "rareboost"}),
        ("takes_beta", {"adacost"}),
        ("takes_objective", {"gradient-csb"}),
        ("estimates_step", {"adacost"}),
        ("calibrated", {"adamec", "cgada", "asymada"}),
    ],
)
def test_which_methods_are_able(question, able):
    assert {name for name in METHODS if getattr(rules.RULES[name], question)} == able


def test_what_a_rule_can_do_follows_from_its_terms():
    plain = rules.ADABOOST
    assert not replace(plain, learner_factor=rules.cost).plain_loss
    assert not replace(plain, update="one").plain_loss
    assert not replace(plain, wrong=rules.zero).fixed_z  # alpha still moves the rows voted right
    assert replace(plain, right=rules.zero, wrong=rules.zero).fixed_z


def test_remedies_are_the_methods_own():
    others = {name: rules.RULES[name].remedy for name in METHODS}
    assert "cost_scale" in others.pop("adacost")
    for name in ("adac1", "adac2", "adac3"):
        assert others.pop(name) == 'method="cgada", or deeper trees'
    assert set(others.values()) == {"deeper trees"}
