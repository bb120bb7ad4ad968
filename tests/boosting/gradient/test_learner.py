"""What is fitted to gradients: grids, trees in order, and regressors."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, RidgeCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from costboost import GradientBoostRegressor
from costboost.binning.binner import fit_binner
from costboost.boosting.gradient import learner as module
from costboost.boosting.gradient.learner import (
    GradientRegressor,
    GradientTree,
    check_regressor,
    ordered_values,
    regression_answers,
    regression_target,
)
from costboost.boosting.gradient.losses import LogLoss, SquaredLoss
from costboost.boosting.gradient.rows import LossRows, bind_loss
from costboost.shards.rows import RowSample
from costboost.trees.tree import Limits
from gradient_shards import cut_rows
from odd import OddRegressor

RNG = np.random.default_rng(0)
N = 120
X = RNG.normal(size=(N, 3))
Y = X[:, 0] ** 2 - X[:, 1] + RNG.normal(size=N)
WEIGHTS = RNG.uniform(0.5, 2, N)
BINNER = fit_binner(X)


def bound(rows, loss, start=0.0, n_shards=1):
    """Return shards whose rows have derivatives, and the largest of them."""
    shards = cut_rows(rows, BINNER.encode(X), n_shards)
    shards.call([bind_loss(loss=loss, start=(start,) * rows.n_outputs, moves_by="steps")])
    return shards, loss.measure(shards, 0.0)


def test_a_stump_is_the_best_of_all_thresholds():
    loss, rows = LogLoss(), LossRows((Y > 0.5).astype(np.int64), 1, WEIGHTS)
    shards, largest = bound(rows, loss)
    tree = GradientTree(BINNER, Limits(max_depth=1), heaviest=WEIGHTS.max())
    stump = tree.learn(shards, 0, 0, largest[0], None)
    g, h = (part[:, 0] for part in loss.derivatives(rows, np.zeros((N, 1))))

    def gained(j, cut):
        sides = [X[:, j] <= cut, X[:, j] > cut]
        parts = [g[s].sum() ** 2 / h[s].sum() for s in sides]
        return sum(parts) - g.sum() ** 2 / h.sum()

    best = max((gained(j, cut), j) for j in range(3) for cut in np.sort(X[:, j])[:-1])
    assert stump.feature[0] == best[1]
    assert stump.gain[0] == pytest.approx(best[0], rel=1e-6)  # in units of the loss


def test_gains_do_not_depend_on_the_grid(monkeypatch):
    found = []
    for packed in (1, 10**9):
        monkeypatch.setattr(module, "PACKED_ROWS", packed)
        shards, largest = bound(LossRows(Y), SquaredLoss(), start=float(Y.mean()))
        found.append(
            GradientTree(BINNER, Limits(max_depth=2)).learn(shards, 0, 0, largest[0], None)
        )
    for name in ("feature", "threshold", "left"):
        np.testing.assert_array_equal(*(getattr(model, name) for model in found))
    np.testing.assert_allclose(*(model.gain for model in found), rtol=1e-3)


def test_leaves_need_a_share_of_the_first_rounds_hessian():
    rows = LossRows((Y > 0.5).astype(np.int64))
    fresh = GradientTree(BINNER, Limits())
    shards, largest = bound(rows, LogLoss(), start=30.0)  # nothing is left to learn
    late = fresh.learn(shards, 0, 5, largest[0], None)
    assert len(late.leaves) > 1  # it takes this round for the first
    anchored = GradientTree(BINNER, Limits())
    shards, first = bound(rows, LogLoss())
    anchored.anchor(shards, 0, first[0])
    shards, largest = bound(rows, LogLoss(), start=30.0)
    assert len(anchored.learn(shards, 0, 5, largest[0], None).leaves) == 1


@pytest.mark.parametrize("place", [0, 1])
def test_derivatives_beyond_all_numbers_are_refused(place):
    shards, largest = bound(LossRows((Y > 0.5).astype(np.int64)), LogLoss())
    tops = largest[0].copy()
    tops[place] = np.inf
    with pytest.raises(ValueError, match="use larger units"):
        GradientTree(BINNER, Limits()).learn(shards, 0, 0, tops, None)


def test_a_tree_is_random_only_if_columns_are_drawn():
    assert GradientTree(BINNER, Limits()).deterministic
    assert GradientTree(BINNER, Limits(max_features=3)).deterministic
    assert not GradientTree(BINNER, Limits(max_features=2)).deterministic


def test_rows_find_the_leaves_of_an_earlier_lesson_again():
    shards, largest = bound(LossRows(Y), SquaredLoss())
    learner = GradientTree(BINNER, Limits(max_leaf_nodes=5))
    model = learner.learn(shards, 0, 0, largest[0], RowSample(0.5, 0, 0))
    leaves = shards.fetch(lambda shard: shard.leaves.copy())
    assert len(np.unique(leaves)) == 5
    shards.shards[0].leaves[:] = 0
    learner.recall(shards, model)
    np.testing.assert_array_equal(shards.fetch(lambda shard: shard.leaves), leaves)


# --- order


def tree_of(left, feature, hessians):
    """Return what `ordered_values` reads of a tree."""
    left = np.array(left)
    sums = np.stack([np.zeros(len(left)), np.array(hessians, float)], axis=1)
    return SimpleNamespace(
        left=left, feature=np.array(feature), sums=sums, leaves=np.flatnonzero(left < 0)
    )


STUMP = tree_of([1, -1, -1], [0, -1, -1], [4, 1, 3])


@pytest.mark.parametrize(
    ("way", "values", "expected"),
    [
        (1, [1.0, 2.0], [1.0, 2.0]),  # in order
        (1, [2.0, 1.0], [1.5, 1.5]),
        (-1, [2.0, 1.0], [2.0, 1.0]),
        (-1, [1.0, 2.0], [1.5, 1.5]),
        (0, [2.0, 1.0], [2.0, 1.0]),
    ],
)
def test_leaf_values_in_the_wrong_order_meet_in_the_middle(way, values, expected):
    given = np.array(values)
    found = ordered_values(STUMP, given, np.array([way], dtype=np.int8))
    assert found.tolist() == expected
    assert given.tolist() == values


def test_all_leaves_of_one_side_are_below_those_of_the_other():
    # The root splits column 0, its children column 1, which is free.
    left = [1, 3, 5, -1, -1, -1, -1]
    hessians = [10, 5, 5, 1, 4, 2, 3]
    tree = tree_of(left, [0, 1, 1, -1, -1, -1, -1], hessians)
    values = np.array([3.0, -1.0, 2.0, 0.0])
    found = ordered_values(tree, values, np.array([1, 0], dtype=np.int8))
    means = (3 * 1 - 1 * 4) / 5, (2 * 2 + 0 * 3) / 5
    middle = sum(means) / 2
    assert found.tolist() == pytest.approx([middle, -1.0, 2.0, middle])
    assert found[:2].max() <= found[2:].min()
    empty = tree_of(left, [0, 1, 1, -1, -1, -1, -1], [0] * 7)  # rows without any curvature
    assert np.isfinite(ordered_values(empty, values, np.array([1, 0], dtype=np.int8))).all()


def test_free_trees_keep_their_values():
    values = np.array([2.0, 1.0])
    assert GradientTree(BINNER, Limits()).in_order(STUMP, values) is values
    ordered = GradientTree(BINNER, Limits(), monotone=np.array([1], dtype=np.int8))
    assert ordered.in_order(STUMP, values).tolist() == [1.5, 1.5]


# --- regressors


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("least_squares", [False, True])
def test_regressors_are_fitted_to_steps(weighted, least_squares):
    weights = WEIGHTS if weighted else None
    loss, rows = LogLoss(), LossRows((Y > 0.5).astype(np.int64), 1, weights)
    shards, largest = bound(rows, loss, start=0.4, n_shards=2)
    learner = GradientRegressor(LinearRegression(), X, least_squares, weights)
    model = learner.learn(shards, 0, 0, largest[0], None)
    one = LossRows(rows.y)
    g, h = (part[:, 0] for part in loss.derivatives(one, np.full((N, 1), 0.4)))
    own = np.ones(N) if weights is None else weights
    target, counts = (-g, own) if least_squares else (-g / h, own * h)
    expected = LinearRegression().fit(X, target, counts)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    answers = shards.fetch(lambda shard: shard.state.answers)
    np.testing.assert_array_equal(answers, model.predict(X))
    shards.put(lambda shard, part: setattr(shard.state, "answers", part), np.zeros(N))
    learner.recall(shards, model)
    np.testing.assert_array_equal(shards.fetch(lambda shard: shard.state.answers), answers)


def test_regressors_learn_from_the_rows_of_a_sample():
    shards, largest = bound(LossRows(Y), SquaredLoss())
    sample = RowSample(0.3, seed=2, number=1)
    learner = GradientRegressor(LinearRegression(), X)
    kept = sample.keeps(np.arange(N))
    found = learner.learn(shards, 0, 1, largest[0], sample)
    np.testing.assert_allclose(found.coef_, LinearRegression().fit(X[kept], Y[kept]).coef_)
    none = learner.learn(shards, 0, 1, largest[0], RowSample(0.0, 0, 0))
    np.testing.assert_allclose(none.coef_, LinearRegression().fit(X, Y).coef_)


def test_regressors_are_seeded_by_round_and_output():
    shards, largest = bound(LossRows(Y), SquaredLoss())
    given = DecisionTreeRegressor(max_features=1)
    learner = GradientRegressor(given, X, seed=3)
    seeds = [
        learner.learn(shards, 0, number, largest[0], None).random_state for number in (0, 1, 0)
    ]
    assert seeds[0] == seeds[2] != seeds[1]
    assert given.random_state is None


def test_a_row_without_curvature_has_no_part_in_a_newton_fit():
    g, h, w = np.array([1.0, -2.0, 3.0]), np.array([2.0, 0.0, 1.0]), np.array([0.0, 1.0, 4.0])
    target, weights = regression_target(g, h, None, False)
    assert target.tolist() == [-0.5, 0.0, -3.0]
    assert weights is h
    target, weights = regression_target(g, h, w, True)
    assert target.tolist() == [0.0, 2.0, -0.75]
    assert weights is w
    target, weights = regression_target(g, h, None, True)
    assert (target.tolist(), weights) == ([-1.0, 2.0, -3.0], None)


@pytest.mark.parametrize("change", ["one nan", "one 1e+308", "too short", "words", "nothing"])
def test_odd_answers_of_regressors_are_refused(change):
    model = OddRegressor(change).fit(X, Y)
    with pytest.raises(ValueError, match=r"OddRegressor\.predict"):
        regression_answers(model, X)
    one_column = LinearRegression().fit(X, Y[:, None])
    assert regression_answers(one_column, X).shape == (N,)


def test_regressors_without_weights_are_refused_where_rows_have_some():
    check_regressor(KNeighborsRegressor(), weighted=False)
    check_regressor(RidgeCV(), weighted=True)
    with pytest.raises(ValueError, match=r"KNeighborsRegressor\.fit takes no sample_weight"):
        check_regressor(KNeighborsRegressor(), weighted=True)


@pytest.mark.parametrize("n", [300, 40_000])  # a word for each sum, and both sums in one word
def test_the_unit_of_the_target_changes_nothing(n):
    """Targets of 1e8 or 1e-8 are learned as those of 1: the grid follows the gradients."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 8, size=(n, 2)).astype(float)
    y = X[:, 0] - 3.0 * (X[:, 1] > 4) + 0.1 * rng.normal(size=n)
    options = {"n_estimators": 20, "learning_rate": 0.3, "max_depth": 3}
    fitted = GradientBoostRegressor(**options).fit(X, y).predict(X)
    assert np.var(y - fitted) < 0.05 * np.var(y)
    for unit in (2.0**27, 2.0**-27):
        scaled = GradientBoostRegressor(**options).fit(X, unit * y).predict(X)
        np.testing.assert_allclose(scaled / unit, fitted, rtol=1e-9)


@pytest.mark.parametrize("n", [300, 40_000])
def test_far_targets_do_not_hide_the_others(n):
    """Two that cancel out, in one place, part no rows: the stump is that of all others."""
    X = (np.arange(n) % 8).astype(float)[:, None]
    y = (X[:, 0] > 4.0).astype(float)
    far = np.flatnonzero(X[:, 0] == 3.0)[:2]
    y[far] = 2.0**30, -(2.0**30)
    fitted = GradientBoostRegressor(n_estimators=1, learning_rate=1.0, max_depth=1).fit(X, y)
    # Next to 2**30, a residual of 1 is known to half of 2**-22.
    expected = [0.0] * 5 + [1.0] * 3
    np.testing.assert_allclose(fitted.predict(np.arange(8.0)[:, None]), expected, atol=2.0**-22)
