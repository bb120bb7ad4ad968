"""The compiled loops of the trees, and the same loops interpreted, against their naive twins."""

from __future__ import annotations

import itertools
import pickle
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from costboost.shards import layout as layout_module
from costboost.shards.grid import grid_scale
from costboost.shards.layout import plan_layout, sensible_shards
from costboost.shards.modes import PackedPairs
from costboost.shards.rows import Shard
from costboost.trees.splits import CRITERIA, SplitFinder
from interpreted import installed_tree_kernels, tree_kernels, use_tree_kernels
from naive import trees as naive

CLASS_CRITERIA = ("gini", "entropy", "error")
few = settings(max_examples=30, deadline=None)


@pytest.fixture(scope="module", params=["installed", "interpreted", "without-cython"])
def kernels(request):
    if request.param == "installed":
        return installed_tree_kernels()
    if request.param == "interpreted":
        pytest.importorskip("cython")
    return tree_kernels(hide_cython=request.param == "without-cython")


@contextmanager
def using(kernels):
    """Let the modules around the kernels use these."""
    with pytest.MonkeyPatch.context() as patch:
        use_tree_kernels(patch, kernels)
        yield


def test_interpreted_kernels_are_not_compiled():
    from costboost.runtime import interpreted as _interpreted

    without = tree_kernels(hide_cython=True)
    assert not without.tree.is_compiled()
    assert all(module.cython is _interpreted for module in vars(without).values())
    assert without.grow.search_node is without.split.search_node
    assert without.split.search_pairs is without.pair.search_pairs
    assert without.pair.Search is without.score.Search is without.search.Search


# --- rows ----------------------------------------------------------------------------------------


def random_codes(rng, n, d):
    codes = rng.integers(0, 5, size=(n, d)).astype(np.uint8)
    # The ends of the range, where bytes wrap.
    return np.where(rng.random((n, d)) < 0.3, rng.choice([254, 255]), codes).astype(np.uint8)


@st.composite
def segments(draw):
    """Rows of a node as the kernels see them: codes, order, whole, begins, ends."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    sizes = draw(st.lists(st.integers(0, 40), min_size=1, max_size=4))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    n, whole = int(starts[-1]), draw(st.booleans())
    codes = random_codes(rng, n, draw(st.integers(1, 4)))
    order = np.full(n, 2**31, dtype=np.uint32)
    begins, ends = starts[:-1].copy(), starts[1:].copy()
    if not whole:
        for s, size in enumerate(sizes):
            begins[s] += rng.integers(0, size + 1)
            ends[s] = rng.integers(begins[s], starts[s + 1] + 1)
            members = rng.permutation(np.arange(starts[s], starts[s + 1]))
            order[starts[s] : starts[s + 1]] = members
    codes.setflags(write=False)
    return rng, codes, (order, whole, begins, ends)


def rows_of(where):
    """The rows of each segment."""
    order, whole, begins, ends = where
    spans = [range(b, e) for b, e in zip(begins, ends, strict=True)]
    return [list(span) if whole else [int(order[i]) for i in span] for span in spans]


def all_rows(where):
    return list(itertools.chain(*rows_of(where)))


@given(segments())
@few
def test_class_histogram(kernels, case):
    rng, codes, where = case
    n_classes = len(where[2])
    weights = rng.choice([0.0, 0.1, 1.0, 3.0, 1e-3], size=len(codes))
    own = rng.choice([0.5, 1.0, 4.0], size=len(codes))
    scales = 2.0**40 * rng.choice([0.25, 1.0, 2.0], size=n_classes)
    for factors in (np.zeros(0), own):
        hist = np.zeros((n_classes, codes.shape[1], 256), dtype=np.int64)
        kernels.tree.class_histogram(codes, *where, weights, factors, scales, hist.reshape(-1))
        handed = weights * factors if len(factors) else weights
        for k, rows in enumerate(rows_of(where)):
            channel = naive.class_channels([0] * len(weights), handed, scales[k], 1)
            np.testing.assert_array_equal(hist[k], naive.histogram(codes, rows, channel)[:, :, 0])


@given(segments())
@few
def test_pair_histogram(kernels, case):
    rng, codes, where = case
    pairs = rng.integers(-(2**50), 2**50, size=(len(codes), 2))
    hist = np.zeros((codes.shape[1], 256, 2), dtype=np.int64)
    kernels.tree.pair_histogram(codes, *where, pairs, hist.reshape(-1))
    np.testing.assert_array_equal(hist, naive.histogram(codes, all_rows(where), pairs))


@given(segments(), st.sampled_from([1, 3, 8191]))
@few
def test_packed_histogram(kernels, case, block):
    rng, codes, where = case
    gradients = rng.integers(-(2**21), 2**21 + 1, size=len(codes))
    hessians = rng.integers(0, 2**16 + 1, size=len(codes))
    hist = np.zeros((codes.shape[1], 256, 2), dtype=np.int64)
    part = np.zeros(codes.shape[1] * 256, dtype=np.int64)
    packed = gradients * 2**PackedPairs.SHIFT + hessians
    shift = PackedPairs.SHIFT
    kernels.tree.packed_histogram(codes, *where, packed, shift, block, part, hist.reshape(-1))
    pairs = np.stack([gradients, hessians], axis=1)
    np.testing.assert_array_equal(hist, naive.histogram(codes, all_rows(where), pairs))
    assert not part.any()


@pytest.mark.parametrize("sign", [-1, 1])
def test_full_blocks_of_packed_pairs_do_not_carry(sign):
    # The largest pairs there are, all in one cell, over more than two blocks.
    n = 2 * PackedPairs.BLOCK + 5
    gradient, hessian = sign * 2**PackedPairs.GRADIENT_BITS, 2**PackedPairs.HESSIAN_BITS
    shard = Shard(np.full((n, 1), 7, dtype=np.uint8), np.arange(n), np.array([0, n]))
    packed = np.full(n, gradient * 2**PackedPairs.SHIFT + hessian)
    shard.state = SimpleNamespace(packed=packed, part=None)
    shard.begin(None)
    hist = PackedPairs().histogram(shard, 0)
    assert hist[0, 7].tolist() == [n * gradient, n * hessian]
    assert np.count_nonzero(hist) == 2


@given(segments(), st.integers(1, 5))
@few
def test_vector_histogram(kernels, case, n_classes):
    rng, codes, where = case
    vectors = rng.integers(-(2**31), 2**31, size=(len(codes), n_classes)).astype(np.int32)
    hist = np.zeros((codes.shape[1], 256, n_classes), dtype=np.int64)
    kernels.tree.vector_histogram(codes, *where, vectors, hist.reshape(-1))
    np.testing.assert_array_equal(hist, naive.histogram(codes, all_rows(where), vectors))


@given(segments())
@few
def test_count_histogram(kernels, case):
    _, codes, where = case
    counts = np.zeros((codes.shape[1], 256), dtype=np.int64)
    kernels.tree.count_histogram(codes, *where, counts)
    np.testing.assert_array_equal(counts, naive.count_histogram(codes, all_rows(where)))


def test_histograms_add_to_what_is_there(kernels):
    codes = np.array([[7]], dtype=np.uint8)
    where = (np.zeros(1, dtype=np.uint32), True, np.array([0]), np.array([1]))
    hist = np.full(256, 5, dtype=np.int64)
    kernels.tree.class_histogram(codes, *where, np.array([3.0]), np.zeros(0), np.array([2.0]), hist)
    assert hist[7] == 11
    assert hist.sum() == 5 * 256 + 6


@given(segments())
@few
def test_partition_is_stable_and_stays_in_its_segment(kernels, case):
    rng, codes, (order, whole, begins, ends) = case
    feature = int(rng.integers(codes.shape[1]))
    goes_left = rng.integers(0, 2, size=256).astype(np.uint8)
    before, outside = rows_of((order, whole, begins, ends)), order.copy()
    scratch, middles = np.empty_like(order), np.empty_like(begins)
    kernels.tree.partition(codes, feature, goes_left, order, scratch, whole, begins, ends, middles)
    for rows, begin, middle, end in zip(before, begins, middles, ends, strict=True):
        left = [row for row in rows if goes_left[codes[row, feature]]]
        right = [row for row in rows if not goes_left[codes[row, feature]]]
        assert order[begin:middle].tolist() == left
        assert order[middle:end].tolist() == right
        outside[begin:end] = order[begin:end]
    np.testing.assert_array_equal(order, outside)


@given(segments())
@few
def test_assign_leaf_and_assign_split(kernels, case):
    rng, codes, where = case
    feature, last = int(rng.integers(codes.shape[1])), 2**16 - 1
    goes_left = rng.integers(0, 2, size=256).astype(np.uint8)
    leaves = np.full(len(codes), 9, dtype=np.uint16)
    expected = leaves.copy()
    rows = all_rows(where)
    kernels.tree.assign_leaf(*where, last, leaves)
    expected[rows] = last
    np.testing.assert_array_equal(leaves, expected)
    for left, right in ((3, last), (last, 0)):
        kernels.tree.assign_split(codes, feature, goes_left, *where, left, right, leaves)
        for row in rows:
            expected[row] = left if goes_left[codes[row, feature]] else right
        np.testing.assert_array_equal(leaves, expected)


# --- scores --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("criterion", "sums", "expected"),
    [
        ("gini", [3, 1], 2.5),
        ("gini", [0, 0], 0.0),
        ("entropy", [4, 4], -8 * np.log(2)),
        ("entropy", [5, 0], 0.0),
        ("error", [3, 7, 2], 7.0),
        ("newton", [-6, 3], 9.0),  # with l2 = 1: 36 / 4
        ("newton", [6, -1], 0.0),
        ("vector", [-5, 2, 4], 6.0),
        ("one-hot", [-5, -2, -4], -2.0),
        ("squares", [-5, 2, 3, 1], 19.0),  # 38 / 2
        ("squares", [-5, 2, -1], 0.0),
    ],
)
def test_scores_by_hand(kernels, criterion, sums, expected):
    got = kernels.score.score(np.array(sums), CRITERIA[criterion], 1.0)
    assert got == pytest.approx(expected, rel=1e-15)


def test_weights_by_hand(kernels):
    for criterion, sums, expected in [
        ("gini", [3, 1], 4.0),
        ("newton", [-6, 3], 3.0),
        ("vector", [-5, 2], 7.0),
        ("one-hot", [-5, 2, -1], 8.0),
        ("squares", [-5, 2, 3], 3.0),
    ]:
        assert kernels.score.weight(np.array(sums), CRITERIA[criterion]) == expected


sizes_of_sums = st.integers(0, 2**59)


@given(st.lists(sizes_of_sums, min_size=2, max_size=5), st.data())
@few
def test_scores_equal_their_twins(kernels, sums, data):
    for criterion in naive.CRITERIA:
        signed = sums
        if criterion in ("vector", "one-hot"):
            # Sums of int32 weights.
            signed = [s % 2**40 * data.draw(st.sampled_from([-1, 1])) for s in sums]
        elif criterion == "newton":
            signed = [sums[0] * data.draw(st.sampled_from([-1, 1])), sums[1]]
        got = kernels.score.score(np.array(signed), CRITERIA[criterion], 0.5)
        assert got == naive.score(signed, criterion, 0.5)
        if criterion != "entropy":
            exact = naive.exact_score(signed, criterion, naive.Fraction(1, 2))
            assert got == pytest.approx(float(exact), rel=1e-14)


def test_entropy_is_exact_in_nearly_pure_nodes(kernels):
    # One part in 2**50: log(1 - 2**-50) must not be rounding. By the series -x - x^2/2.
    sums = np.array([2**60 - 2**10, 2**10])
    x = 2.0**-50
    expected = (2**60 - 2**10) * (-x - x * x / 2) + 2**10 * np.log(x)
    got = kernels.score.score(sums, CRITERIA["entropy"], 0.0)
    assert got == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize("criterion", naive.CRITERIA)
@pytest.mark.parametrize("mixture", [(1, 3), (3**30, 3**5), (7**15, 11**12)])
def test_splits_that_change_nothing_gain_nothing(kernels, criterion, mixture):
    # Every bin holds the same mixture: what is left is rounding.
    hist = np.zeros((1, 256, 2), dtype=np.int64)
    hist[0, :30] = np.arange(1, 31)[:, None] * mixture
    finder = SplitFinder(np.array([30]), np.array([False]), 2, criterion=criterion)
    counts = np.empty((0, 256), dtype=np.int64)
    with using(kernels):
        assert finder.find(hist, counts, hist[0].sum(axis=0), 30, np.arange(1)) is None


# --- splits --------------------------------------------------------------------------------------


def make_channels(rng, n, criterion, n_channels):
    """Small integers of the kind that the criterion takes."""
    if criterion in CLASS_CRITERIA:
        labels = rng.integers(0, n_channels, size=n)
        return naive.class_channels(
            labels, rng.choice([0.0, 1.0, 2.0, 5.0], size=n), 1.0, n_channels
        )
    if criterion == "newton":
        return np.stack([rng.integers(-9, 10, size=n), rng.integers(1, 6, size=n)], axis=1)
    channels = rng.integers(-6, 7, size=(n, n_channels))
    if criterion == "squares":
        channels[:, -1] = rng.integers(1, 6, size=n)  # a weight
    return channels


@st.composite
def node_tables(draw, *, criteria=naive.CRITERIA, categorical=None, channels=(2, 3, 5)):
    """A small table, the rules of the search, and the rows of a node."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    criterion = draw(st.sampled_from(criteria))
    n, d = draw(st.integers(1, 14)), draw(st.integers(1, 3))
    n_channels = 2 if criterion == "newton" else draw(st.sampled_from(channels))
    n_bins = rng.integers(1, 6, size=d)
    codes = (rng.random((n, d)) * n_bins).astype(np.uint8)
    if draw(st.booleans()):
        codes[rng.random((n, d)) < 0.3] = naive.MISSING
    is_categorical = rng.random(d) < 0.4 if categorical is None else np.full(d, categorical)
    table = naive.Table(codes, make_channels(rng, n, criterion, n_channels), n_bins, is_categorical)
    rules = naive.Rules(
        criterion,
        l2=draw(st.sampled_from([0.0, 0.5, 3.0])) if criterion in ("newton", "squares") else 0.0,
        min_weight=draw(st.sampled_from([0.0, 0.0, 2.0, 4.5])),
        min_samples_leaf=draw(st.sampled_from([1, 1, 2, 4])),
    )
    return table, rules


def find_split(table, rules, features=None):
    """Call the library's search on the table's own histogram."""
    d, rows = table.codes.shape[1], range(len(table.codes))
    counts = np.empty((0, 256), dtype=np.int64)
    if rules.min_samples_leaf > 1:
        counts = naive.count_histogram(table.codes, rows)
    finder = SplitFinder(
        np.asarray(table.n_bins),
        np.asarray(table.is_categorical),
        table.channels.shape[1],
        criterion=rules.criterion,
        l2=rules.l2,
        min_weight=rules.min_weight,
        min_count=rules.min_samples_leaf,
    )
    hist = naive.histogram(table.codes, rows, table.channels)
    sums = np.array(table.sums(rows))
    features = np.arange(d) if features is None else np.asarray(features)
    return finder.find(hist, counts, sums, len(table.codes), features)


def assert_same_split(found, expected):
    assert (found is None) == (expected is None)
    if expected is None:
        return
    assert (found.feature, found.threshold) == (expected.feature, expected.threshold)
    assert found.gain == expected.gain
    assert found.left_sums.tolist() == expected.left_sums
    assert found.goes_left.tolist() == [int(left) for left in expected.goes_left]
    assert found.missing_left == expected.goes_left[naive.MISSING]


@given(node_tables())
@settings(max_examples=120, deadline=None)
def test_best_split_equals_the_exhaustive_search(kernels, case):
    table, rules = case
    with using(kernels):
        found = find_split(table, rules)
    assert_same_split(found, naive.best_split(table, range(len(table.codes)), rules))


@given(node_tables(), st.data())
@few
def test_search_is_confined_to_the_columns_given(kernels, case, data):
    table, rules = case
    columns = range(table.codes.shape[1])
    features = data.draw(st.lists(st.sampled_from(columns), unique=True, max_size=3).map(sorted))
    with using(kernels):
        found = find_split(table, rules, np.array(features, dtype=np.int64))
    expected = naive.best_split(table, range(len(table.codes)), rules, features)
    assert_same_split(found, expected)


@given(st.integers(0, 2**32), st.sampled_from([1.0, 4.0, 12.0]), st.booleans())
@few
def test_two_classes_are_searched_as_three_of_which_one_is_empty(kernels, seed, spread, missing):
    """Three classes are searched cut by cut; of two, cuts are dismissed before they are scored."""
    rng = np.random.default_rng(seed)
    weights = np.exp(spread * rng.standard_normal((60, 2)))
    cells = (weights / weights.sum() * 2.0**61).astype(np.int64)
    codes = [*range(59), naive.MISSING if missing else 59]
    hist, found = np.zeros((4, 256, 3), dtype=np.int64), []
    for j in range(4):  # every column holds all rows
        hist[j, codes, :2] = rng.permutation(cells)
    for channels in (2, 3):
        own = np.ascontiguousarray(hist[..., :channels])
        kinds, counts = np.zeros(4, dtype=bool), np.empty((0, 256), dtype=np.int64)
        finder = SplitFinder(np.full(4, 60), kinds, channels, criterion="gini")
        with using(kernels):
            split = finder.find(own, counts, own[0].sum(axis=0), 100, np.arange(4))
        assert split is not None
        found.append((split.gain, split.feature, split.threshold, split.goes_left.tolist()))
    assert found[0] == found[1]


def exact_gain(table, rules, left_sums):
    """The gain of a split, in fractions."""
    everything = table.sums(range(len(table.codes)))
    right = [a - b for a, b in zip(everything, left_sums, strict=True)]
    l2 = naive.Fraction(rules.l2)
    parts = [naive.exact_score(s, rules.criterion, l2) for s in (left_sums, right, everything)]
    return parts[0] + parts[1] - parts[2]


@given(node_tables(criteria=("gini", "error", "newton", "vector", "one-hot"), categorical=False))
@settings(max_examples=80, deadline=None)
def test_no_threshold_gains_more_in_exact_arithmetic(kernels, case):
    table, rules = case
    with using(kernels):
        found = find_split(table, rules)
    best = 0.0 if found is None else float(exact_gain(table, rules, found.left_sums.tolist()))
    if found is not None:
        assert best == pytest.approx(found.gain, rel=1e-9)
    rows = range(len(table.codes))
    for j in range(table.codes.shape[1]):
        for t, goes_left in naive.thresholds(range(int(table.n_bins[j]))):
            other = naive.try_split(table, rows, rules, j, t, goes_left)
            if other is not None:
                assert float(exact_gain(table, rules, other.left_sums)) <= best * (1 + 1e-9)


def unlimited(rules):
    """Limits on children make the best subset another problem: lift them."""
    return naive.Rules(rules.criterion, l2=rules.l2)


def every_subset(table, rows, j, rules):
    return naive.all_subsets(naive.present_codes(table, rows, j, rules))


@given(node_tables(criteria=(*CLASS_CRITERIA, "newton"), categorical=True, channels=(2,)))
@settings(max_examples=100, deadline=None)
def test_ordering_finds_the_best_of_all_subsets(kernels, case):
    """Two classes, or gradients: Fisher 1958; Breiman et al. 1984, section 9.4."""
    table, rules = case
    rules = unlimited(rules)
    with using(kernels):
        found = find_split(table, rules)
    best = naive.best_split(table, range(len(table.codes)), rules, subsets=every_subset)
    assert (found is None) == (best is None)
    if best is not None:
        assert found.gain == pytest.approx(best.gain, rel=1e-9)


@given(
    node_tables(criteria=(*CLASS_CRITERIA, "vector", "one-hot"), categorical=True, channels=(3, 5))
)
@few
def test_with_many_classes_no_order_by_one_class_is_better(kernels, case):
    table, rules = case
    rules, rows = unlimited(rules), range(len(table.codes))
    with using(kernels):
        found = find_split(table, rules)
    for channel in range(table.channels.shape[1]):

        def by_channel(table, rows, j, rules, channel=channel):
            return naive.ordered_subsets(table, rows, j, rules, [channel])

        other = naive.best_split(table, rows, rules, subsets=by_channel)
        # By more than rounding, that is: of equal gains the first wins.
        assert other is None or (found is not None and found.gain + found.rounding >= other.gain)
    best = naive.best_split(table, rows, rules, subsets=every_subset)
    assert found is None or found.gain <= best.gain * (1 + 1e-9)


def test_gradients_without_curvature_are_ordered_too(kernels):
    # Codes 0 and 2 pull up, 1 down, none with a hessian: 1 | 0, 2 is the best cut.
    table = naive.Table(
        np.array([[0], [1], [2]], dtype=np.uint8), np.array([[8, 0], [-8, 0], [8, 0]]), [3], [True]
    )
    with using(kernels):
        found = find_split(table, naive.Rules("newton", l2=1.0))
    assert found.goes_left[:3].tolist() == [0, 1, 0]
    assert found.gain == 64.0 + 256.0 - 64.0


@pytest.mark.parametrize("categorical", [False, True])
def test_rows_that_weigh_nothing_count_for_min_samples_leaf(kernels, categorical):
    # 3 | 3 is allowed only if the missing rows, which weigh nothing, stay away from the heavier
    # child.
    codes = np.array([[0], [0], [0], [1], [255], [255]], dtype=np.uint8)
    channels = np.array([[2, 0], [2, 0], [2, 0], [0, 1], [0, 0], [0, 0]])
    table = naive.Table(codes, channels, [2], [categorical])
    with using(kernels):
        found = find_split(table, naive.Rules("gini", min_samples_leaf=3))
        assert find_split(table, naive.Rules("gini", min_samples_leaf=4)) is None
    assert found.goes_left[codes[:, 0]].sum() == 3


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize(("weights", "follows"), [((1, 2), 1), ((2, 1), 0), ((2, 2), None)])
def test_unseen_values_follow_the_heavier_child(kernels, categorical, weights, follows):
    codes = np.array([[0], [1]], dtype=np.uint8)
    channels = np.diag(weights)
    with using(kernels):
        found = find_split(naive.Table(codes, channels, [9], [categorical]), naive.Rules("gini"))
    # Equal: left. A subset is ordered by the share of class 0, so code 1 goes left in it.
    expected = True if follows is None else found.goes_left[follows]
    assert found.missing_left == expected
    if categorical:
        assert (found.goes_left[2:] == expected).all()


def test_ties_go_to_the_first(kernels):
    # The same column three times, cut between codes 1 and 3 (2 is empty): column 0, code 1.
    codes = np.repeat(np.array([[1], [1], [3], [3]], dtype=np.uint8), 3, axis=1)
    channels = np.array([[1, 0], [1, 0], [0, 1], [0, 1]])
    for categorical, feature in (([False] * 3, 0), ([True, False, False], 1), ([True] * 3, 0)):
        with using(kernels):
            found = find_split(
                naive.Table(codes, channels, [4] * 3, categorical), naive.Rules("gini")
            )
        assert found.feature == feature
        assert found.threshold == (-1 if categorical[feature] else 1)


@pytest.mark.parametrize("criterion", naive.CRITERIA)
@pytest.mark.parametrize(("extra", "feature"), [(2**10, 0), (2**35, 1)])
def test_gains_that_differ_by_rounding_are_ties(kernels, criterion, extra, feature):
    # Two columns part the node alike, the second a little better: by 2**-50 or by 2**-25 of it.
    pairs, signed = [[-2, 2], [2, 2]], [[2, -2], [-2, 2]]
    sums = {"newton": pairs, "vector": signed, "one-hot": signed}.get(criterion, [[2, 1], [1, 2]])
    hist = np.zeros((2, 256, 2), dtype=np.int64)
    hist[:, :2] = np.array(sums) * 2**57
    hist[1, :2, 0] += np.array([1, -1]) * extra * np.sign(hist[1, 0, 0])
    finder = SplitFinder(np.array([2, 2]), np.zeros(2, dtype=bool), 2, criterion=criterion)
    counts = np.empty((0, 256), dtype=np.int64)
    with using(kernels):
        found = finder.find(hist, counts, hist[0].sum(axis=0), 4, np.arange(2))
    assert found.feature == feature


def test_a_finder_that_has_searched_may_be_sent_elsewhere():
    hist, counts = np.zeros((1, 256, 2), dtype=np.int64), np.empty((0, 256), dtype=np.int64)
    hist[0, :2] = [[3, 1], [1, 5]]
    finder = SplitFinder(np.array([2]), np.array([False]), 2, criterion="gini")
    for searching in (finder, pickle.loads(pickle.dumps(finder))):
        found = searching.find(hist, counts, hist[0].sum(axis=0), 10, np.arange(1))
        assert (found.feature, found.threshold, found.left_sums.tolist()) == (0, 0, [3, 1])
        pickle.dumps(searching)


# --- forests -------------------------------------------------------------------------------------


def pack(limit, *, shift=0, subset=0, feature=0, left=0):
    return limit | shift << 8 | subset << 9 | feature << 16 | left << 40


LEAF = 255


def toy_forest():
    """Tree 0: column 1 at 3, missing left, then categories {0, 70, 255} of column 0 on its left.

    Tree 1: a leaf. Tree 2: column 2 at 254, so that only missing values go right.
    """
    words = [
        pack(3 + 1, shift=1, feature=1, left=1),
        pack(0, subset=1, feature=0, left=3),
        *(pack(LEAF, left=node) for node in (2, 3, 4)),
        pack(LEAF, left=0),
        pack(254, feature=2, left=1),
        pack(LEAF, left=1),
        pack(LEAF, left=2),
    ]
    subsets = np.zeros((9, 4), dtype=np.uint64)
    subsets[1] = [1, 1 << 6, 0, 1 << 63]
    values = np.arange(18.0).reshape(9, 2) / 7
    arrays = (
        np.array(words, dtype=np.uint64),
        subsets,
        np.array([0, 5, 6]),
        np.array([2, 0, 1]),
        values,
    )
    for array in arrays:
        array.setflags(write=False)
    return arrays


def toy_leaves(row):
    first = 2
    if row[1] <= 3 or row[1] == 255:
        first = 3 if row[0] in (0, 70, 255) else 4
    return [first, 0, 2 if row[2] == 255 else 1]


TOY_CODES = np.array(
    [
        [a, b, c]
        for a in (0, 1, 64, 70, 254, 255)
        for b in (0, 3, 4, 254, 255)
        for c in (0, 254, 255)
    ],
    dtype=np.uint8,
)


def test_find_leaves_and_add_margins_by_hand(kernels):
    words, subsets, roots, depths, values = toy_forest()
    leaves = np.full((len(TOY_CODES), 3), -1, dtype=np.int64)
    kernels.forest.find_leaves(TOY_CODES, words, subsets, roots, depths, 0, 3, leaves)
    expected = np.array([toy_leaves(row) for row in TOY_CODES.tolist()])
    np.testing.assert_array_equal(leaves, expected)
    margins = np.ones((len(TOY_CODES), 2))
    kernels.forest.add_margins(TOY_CODES, words, subsets, roots, depths, 0, 3, values, margins)
    np.testing.assert_array_equal(
        margins, ((1 + values[expected[:, 0]]) + values[5]) + values[6 + expected[:, 2]]
    )
    some = np.full((len(TOY_CODES), 1), -1, dtype=np.int64)
    kernels.forest.find_leaves(TOY_CODES, words, subsets, roots, depths, 2, 3, some)
    np.testing.assert_array_equal(some[:, 0], expected[:, 2])


@pytest.mark.parametrize("abreast", [1, 2, 3, 16])
def test_walking_down_several_trees_by_hand(kernels, abreast):
    words, subsets, roots, depths, values = toy_forest()
    room, margins = np.full(abreast, 7), np.ones((len(TOY_CODES), 2))
    trees = (TOY_CODES, words, subsets, roots, depths)
    kernels.forest.add_margins_of_few(*trees, 0, 3, room, values, margins)
    expected = np.array([toy_leaves(row) for row in TOY_CODES.tolist()])
    np.testing.assert_array_equal(
        margins, ((1 + values[expected[:, 0]]) + values[5]) + values[6 + expected[:, 2]]
    )
    none, one = np.empty((0, 4), dtype=np.uint64), np.ascontiguousarray(values[:, :1])
    margins = np.zeros((len(TOY_CODES), 1))
    plain = (TOY_CODES, words, none, roots, depths)
    kernels.forest.add_margins_of_few(*plain, 1, 3, room, one, margins)
    np.testing.assert_array_equal(margins, one[5] + one[6 + expected[:, 2]])


@pytest.mark.parametrize("block", [1, 16, 33, 200])
def test_going_by_column_by_hand(kernels, block):
    words, subsets, roots, _, values = toy_forest()
    columns = np.zeros((3, block), dtype=np.uint8)
    answers = np.zeros((2, 5, block), dtype=np.uint8)
    answers[0] = np.arange(5)[:, None]
    expected = np.array([toy_leaves(row) for row in TOY_CODES.tolist()])
    leaves, margins = np.full(expected.shape, -1), np.ones((len(TOY_CODES), 2))
    places = (np.arange(3), np.arange(3), columns, answers)
    trees = (TOY_CODES, words, subsets, roots)
    kernels.forest.find_leaves_by_column(*trees, 0, 3, *places, leaves)
    np.testing.assert_array_equal(leaves, expected)
    kernels.forest.add_margins_by_column(*trees, 0, 3, *places, values, margins)
    np.testing.assert_array_equal(
        margins, ((1 + values[expected[:, 0]]) + values[5]) + values[6 + expected[:, 2]]
    )
    # The last two trees look at one column only.
    places = (np.array([2]), np.array([-1, -1, 0]), columns[:1], answers[:, :3].copy())
    one, margins = np.ascontiguousarray(values[:, :1]), np.zeros((len(TOY_CODES), 1))
    kernels.forest.add_margins_by_column(*trees, 1, 3, *places, one, margins)
    np.testing.assert_array_equal(margins, one[5] + one[6 + expected[:, 2]])


def test_fill_tables(kernels):
    words, subsets, roots, _, values = toy_forest()
    tables, constant = np.ones((1, 256, 2)), np.ones(2)
    stumps = (words, subsets, roots[1:], np.array([0, 1]), values)
    kernels.forest.fill_tables(*stumps, np.array([-1, -1, 0]), tables, constant)
    np.testing.assert_array_equal(constant, 1 + values[5])
    np.testing.assert_array_equal(tables[0, :255], np.tile(1 + values[7], (255, 1)))
    np.testing.assert_array_equal(tables[0, 255], 1 + values[8])


def test_one_output_and_no_subsets(kernels):
    words, _, roots, depths, values = toy_forest()
    none, one = np.empty((0, 4), dtype=np.uint64), np.ascontiguousarray(values[:, :1])
    margins = np.zeros((len(TOY_CODES), 1))
    kernels.forest.add_margins(TOY_CODES, words, none, roots, depths, 1, 3, one, margins)
    last = [6 + toy_leaves(row)[2] for row in TOY_CODES.tolist()]
    np.testing.assert_array_equal(margins, one[5] + one[last])


def test_add_tables(kernels):
    rng = np.random.default_rng(0)
    tables, margins = rng.normal(size=(2, 256, 3)), np.ones((len(TOY_CODES), 3))
    kernels.forest.add_tables(TOY_CODES, np.array([0, 2]), tables, margins)
    expected = (1 + tables[0][TOY_CODES[:, 0]]) + tables[1][TOY_CODES[:, 2]]
    np.testing.assert_array_equal(margins, expected)


# --- the grid and the layout ---------------------------------------------------------------------

positive = st.floats(min_value=1e-250, max_value=1e250)


@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=50), positive, st.sampled_from([30, 62]))
def test_sums_on_the_grid_do_not_overflow(shares, largest, bits):
    shares[0] = 1.0
    scale = grid_scale(largest, len(shares), bits)
    total = sum(int(share * largest * scale + 0.5) for share in shares)
    assert total < 2**bits
    # Nor is room wasted: n and the largest value are each within a factor of two of theirs.
    assert largest * scale * len(shares) >= 2 ** (bits - 2)


@given(positive, st.integers(1, 2**31))
def test_grid_scale_is_a_power_of_two(largest, n_rows):
    assert np.frexp(grid_scale(largest, n_rows))[0] == 0.5


@given(positive, st.integers(1, 10**9), st.integers(-100, 100))
def test_grid_scale_follows_powers_of_two(largest, n_rows, exponent):
    scaled = grid_scale(largest * 2.0**exponent, n_rows)
    assert scaled * 2.0**exponent == grid_scale(largest, n_rows)


@given(st.integers(1, 1000), st.integers(0, 12))
def test_grid_scale_of_copies(n_rows, exponent):
    # Twice the rows or twice the weights: the same grid.
    assert grid_scale(3.0, n_rows << exponent) == grid_scale(3.0 * 2**exponent, n_rows)


@pytest.mark.parametrize("largest", [1e-300, 1e300, np.finfo(float).max, 5e-324, 1.0])
def test_grid_scale_of_extreme_weights(largest):
    scale = grid_scale(largest, 10**6)
    assert np.isfinite(scale)
    assert scale > 0
    assert largest * scale * 10**6 < 2**62


def test_grid_scale_of_nothing():
    assert grid_scale(0.0, 5) == 1.0


@given(
    st.integers(0, 60),
    st.integers(1, 4),
    st.integers(1, 5),
    st.integers(1, 9),
    st.booleans(),
    st.integers(0, 2**32),
)
def test_plan_layout(n_rows, n_segments, n_shards, deal, labelled, seed):
    labels = np.random.default_rng(seed).integers(0, n_segments, size=n_rows)
    if not labelled:
        labels, n_segments = np.zeros(n_rows, dtype=np.int64), 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout_module, "_DEAL", deal)
        layout = plan_layout(labels if labelled else None, n_rows, n_segments, n_shards)
    assert sorted(layout.rows.tolist()) == list(range(n_rows))
    np.testing.assert_array_equal(layout.rows[layout.positions], np.arange(n_rows))
    assert len(layout.bounds) == len(layout.starts) == n_shards
    assert layout.bounds[0][0] == 0
    assert layout.bounds[-1][1] == n_rows
    stops = [stop for _, stop in layout.bounds]
    assert [start for start, _ in layout.bounds[1:]] == stops[:-1]
    for s, ((start, stop), starts) in enumerate(zip(layout.bounds, layout.starts, strict=True)):
        rows = layout.rows[start:stop]
        assert (rows // deal % n_shards == s).all()
        assert starts[0] == 0
        assert starts[-1] == stop - start
        for k in range(n_segments):
            part = rows[starts[k] : starts[k + 1]]
            assert (labels[part] == k).all()
            assert (np.diff(part) > 0).all()


def test_rows_are_put_and_fetched_in_the_order_of_the_table():
    layout = plan_layout(np.array([1, 0, 1, 0, 0]), 5, 2, 1)
    codes = np.arange(10, dtype=np.uint8).reshape(5, 2)
    cut = layout.cut(codes[layout.rows], lambda rows: SimpleNamespace(weights=None))
    np.testing.assert_array_equal(cut.shards[0].codes[:, 0] // 2, [1, 3, 4, 0, 2])
    cut.put(lambda shard, part: setattr(shard.state, "weights", part), np.arange(5.0))
    np.testing.assert_array_equal(cut.shards[0].state.weights, [1, 3, 4, 0, 2])
    np.testing.assert_array_equal(cut.fetch(lambda shard: shard.state.weights), np.arange(5.0))


@given(st.integers(1, 10**8), st.integers(1, 1000), st.integers(1, 64))
def test_sensible_shards(n_rows, n_features, n_threads):
    n_shards = sensible_shards(n_rows, n_features, n_threads)
    assert 1 <= n_shards <= n_threads
    assume(n_shards > 1)
    assert n_shards <= n_rows // 4096
    assert n_shards <= sensible_shards(2 * n_rows, n_features, n_threads)
