"""The additive model: its columns, the forest that says the same, and what it minimises."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit

from costboost.binning.binner import fit_binner
from costboost.boosting.additive import DEGREE, STEPS, fit_coefficients, make_basis


def table(n=400, seed=0, *, gaps=True):
    """Many numbers, few numbers, numbers with gaps, categories (with gaps), and a constant."""
    rng = np.random.default_rng(seed)
    some = rng.normal(size=n)
    kinds = rng.choice(["ash", "elm", "oak", "yew"], n).astype(object)
    if gaps:
        some[rng.random(n) < 0.2] = np.nan
        kinds[rng.random(n) < 0.2] = None
    return pd.DataFrame(
        {
            "many": rng.lognormal(size=n),
            "few": rng.integers(0, 3, n).astype(float),
            "some": some,
            "kind": pd.Categorical(kinds),
            "one": np.ones(n),
        }
    )


def basis_of(X, weights=None):
    binner = fit_binner(X)
    codes = binner.encode(X)
    return make_basis(binner, codes, weights), codes


def test_columns_are_centred_polynomials_of_ranks_and_categories():
    X = table()
    basis, codes = basis_of(X)
    # A cubic of many numbers, a parabola of three, a cubic and a gap, four kinds and a gap.
    assert [part.values.shape[1] for part in basis.parts] == [DEGREE, 2, DEGREE + 1, 5]
    columns = basis.columns(codes)
    assert columns.shape == (400, basis.width)
    assert_allclose(columns.mean(axis=0), 0, atol=1e-12)
    assert_allclose(columns[:, :3].std(axis=0), [1, 1 / 2, 1 / 3])
    order = np.argsort(X["many"].to_numpy())
    first = columns[order, 0]
    assert np.all(np.diff(first) >= 0)
    assert len(np.unique(first)) == STEPS


def test_a_monotone_change_of_a_column_changes_nothing():
    X = table(gaps=False)
    one, codes = basis_of(X)
    bent = X.assign(many=np.log(X["many"]), few=X["few"] ** 3)
    other, same = basis_of(bent)
    assert_array_equal(one.columns(codes), other.columns(same))


def test_a_weight_is_so_many_copies():
    X, rng = table(60), np.random.default_rng(1)
    weights = rng.integers(0, 3, 60).astype(float)
    copies = X.iloc[np.repeat(np.arange(60), weights.astype(int))]
    binner = fit_binner(X)
    weighted = make_basis(binner, binner.encode(X), weights)
    copied = make_basis(binner, binner.encode(copies), None)
    assert_allclose(weighted.columns(binner.encode(X)), copied.columns(binner.encode(X)))
    y = rng.integers(0, 2, 60)
    of_weights = fit_coefficients(weighted.columns(binner.encode(X)), y, weights, 1, 0.1)
    of_copies = fit_coefficients(
        copied.columns(binner.encode(copies)), np.repeat(y, weights.astype(int)), None, 1, 0.1
    )
    assert_allclose(of_weights, of_copies, atol=1e-3)


@pytest.mark.parametrize("heaviest", [3, 5, 6, 7])
def test_steps_end_where_those_of_copies_end(heaviest):
    """Some end exactly where a value does: there, an ulp moves the value into the next step."""
    for seed in range(40):
        rng = np.random.default_rng(seed)
        weights = rng.integers(1, heaviest + 1, 60)
        weights[0] = heaviest
        X = pd.DataFrame({"x": rng.permutation(60).astype(float)})
        binner = fit_binner(X)
        copies = X.iloc[np.repeat(np.arange(60), weights)]
        of_weights = make_basis(binner, binner.encode(X), weights.astype(float))
        of_copies = make_basis(binner, binner.encode(copies), None)
        columns = [basis.columns(binner.encode(X)) for basis in (of_weights, of_copies)]
        assert_allclose(*columns, atol=1e-12)


@pytest.mark.parametrize("n_outputs", [1, 3])
@pytest.mark.parametrize("gaps", [False, True])
def test_the_forest_says_what_the_columns_say(n_outputs, gaps):
    X = table(gaps=gaps)
    basis, codes = basis_of(X)
    coefficients = np.random.default_rng(2).normal(size=(1 + basis.width, n_outputs))
    forest = basis.forest(coefficients)
    expected = basis.columns(codes) @ coefficients[1:] + coefficients[0]
    assert_allclose(forest.margins(X), expected, rtol=1e-12, atol=1e-12)
    assert len(forest) == len(basis.parts) == 4
    for t in range(4):
        tree = forest.tree(t)
        inner = tree.left >= 0
        assert_allclose(tree.cover[inner], (tree.cover[tree.left] + tree.cover[tree.right])[inner])
        assert tree.cover.min() > 0
        assert np.all(tree.gain[inner] >= 0)
        # All that a column explains, over all its splits.
        effect = forest.first(t + 1).margins(X) - forest.first(t).margins(X)
        assert_allclose(tree.gain.sum(), 400 * effect.var(axis=0).sum())


def test_what_was_never_missing_goes_with_most_of_the_rows():
    X = table(gaps=False)
    basis, _ = basis_of(X)
    forest = basis.forest(np.random.default_rng(3).normal(size=(1 + basis.width, 1)))
    unknown = X.head(1).assign(few=np.nan, kind=pd.Categorical(["palm"]))
    said = forest.first(4).margins(unknown) - forest.first(1).margins(unknown)
    assert np.isfinite(said).all()
    known = forest.margins(X)
    assert known.min() - 9 < forest.margins(unknown)[0, 0] < known.max() + 9


def test_coefficients_have_the_least_penalised_loss():
    rng = np.random.default_rng(4)
    columns, w = rng.normal(size=(80, 3)), rng.uniform(0.5, 2, 80)
    y = (rng.random(80) < expit(columns @ [1, -2, 0])).astype(int)

    def loss(at):
        f = at[0] + columns @ at[1:]
        return w @ (np.logaddexp(0, f) - y * f) / w.sum() + 0.05 * at[1:] @ at[1:]

    found = fit_coefficients(columns, y, 7 * w, 1, 0.1)[:, 0]
    assert_allclose(found, minimize(loss, np.zeros(4), tol=1e-12).x, atol=2e-3)
    # Two classes by softmax are the same model, each class with half of the log odds.
    both = fit_coefficients(columns, y, w, 2, 0.2)
    assert_allclose(both[:, 1] - both[:, 0], found, atol=5e-3)


def test_a_table_of_constants_has_no_columns():
    basis, codes = basis_of(pd.DataFrame({"a": np.ones(9), "b": np.ones(9)}))
    assert basis.width == 0
    assert basis.columns(codes).shape == (9, 0)


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize(
    ("counts", "home"), [((10, 3, 4), 0), ((7, 3, 4), 0), ((5, 3, 4), 2), ((5, 4, 4), 1)]
)
def test_the_never_missing_follow_the_fuller_halves(counts, home, categorical):
    """Three values halve into one and two: the missing go with most rows, with ties to the left."""
    values = np.repeat([0.0, 1.0, 2.0], counts)
    if categorical:
        column = pd.Categorical.from_codes(values.astype(int), ["a", "b", "c"])
        asked = pd.Categorical([None, "a", "b", "c"], ["a", "b", "c"])
    else:
        column, asked = values, np.array([np.nan, 0.0, 1.0, 2.0])
    basis, _ = basis_of(pd.DataFrame({"x": column}))
    forest = basis.forest(np.random.default_rng(5).normal(size=(1 + basis.width, 1)))
    missing, *known = forest.margins(pd.DataFrame({"x": asked}))[:, 0]
    assert len(set(known)) == 3
    assert missing == known[home]


@pytest.mark.parametrize("start", [None, 0.3])
def test_coefficients_of_three_classes_have_the_least_penalised_loss(start):
    rng = np.random.default_rng(6)
    columns, w = rng.normal(size=(90, 2)), rng.uniform(0.5, 2, 90)
    y = rng.integers(0, 3, 90)
    y[columns[:, 0] > 0.5] = 2

    def loss(flat):
        at = flat.reshape(3, 3)
        f = at[0] + columns @ at[1:]
        logs = np.logaddexp.reduce(f, axis=1) - f[np.arange(90), y]
        return w @ logs / w.sum() + 0.05 * np.sum(at[1:] ** 2)

    first = None if start is None else np.full((3, 3), start)
    found = fit_coefficients(columns, y, w, 3, 0.1, first)
    assert found.shape == (3, 3)
    best = minimize(loss, np.zeros(9), tol=1e-12).x.reshape(3, 3)
    assert_allclose(found[1:], best[1:], atol=5e-3)
    assert_allclose(found[0] - found[0, 0], best[0] - best[0, 0], atol=5e-3)  # up to a constant
    if start is not None:  # where it begins is where the constants, which cost nothing, stay
        assert found[0].sum() == pytest.approx(3 * start, abs=1e-6)


def test_steps_are_about_as_full_and_keep_their_order():
    """Each step holds the ranks of one part of equal width, counted in rows' weights."""
    rng = np.random.default_rng(7)
    X = pd.DataFrame({"x": rng.permutation(np.arange(200.0))})
    basis, codes = basis_of(X)
    sizes = np.unique(basis.columns(codes)[:, 0], return_counts=True)[1]
    assert len(sizes) == STEPS
    assert sizes.max() - sizes.min() <= 2


@pytest.mark.parametrize("counts", [(5, 1, 9, 2), (1, 1), (3, 3, 1)])
def test_columns_of_numbers_are_legendre_s_polynomials_of_middle_ranks(counts):
    values = np.repeat(np.arange(float(len(counts))), counts)
    basis, codes = basis_of(pd.DataFrame({"x": values}))
    # The rank of a value: the share of rows below, and half of its own, from -1 to 1.
    x = np.array([np.mean(values < v) + np.mean(values == v) / 2 for v in values]) * 2 - 1
    polynomials = np.column_stack([x, (3 * x**2 - 1) / 2, (5 * x**3 - 3 * x) / 2])
    polynomials = polynomials[:, : min(DEGREE, len(counts) - 1)]
    centred = polynomials - polynomials.mean(axis=0)
    expected = centred / centred.std(axis=0) / np.arange(1, centred.shape[1] + 1)
    assert_allclose(basis.columns(codes), expected, atol=1e-9)


def test_two_steps_are_a_column_and_a_single_gap_is_one():
    two = pd.Categorical.from_codes([0, 0, 1], ["a", "b"])
    gap = np.array([1.0, 1.0, np.nan])  # one value, or none
    basis, codes = basis_of(pd.DataFrame({"number": [0.0, 0.0, 1.0], "kind": two, "gap": gap}))
    assert [part.feature for part in basis.parts] == [0, 1, 2]
    columns = basis.columns(codes)
    assert_allclose(columns[0], columns[1])
    for part, at in zip(basis.parts, np.cumsum([0, 1, 2]), strict=True):
        width = part.values.shape[1]
        assert np.linalg.matrix_rank(columns[:, at : at + width]) == 1


def test_categories_without_rows_of_their_own_order_have_a_column_each():
    kinds = pd.Categorical.from_codes(np.arange(60) % 40, [f"k{j:02d}" for j in range(40)])
    basis, codes = basis_of(pd.DataFrame({"kind": kinds}))  # more of them than steps of numbers
    assert len(np.unique(basis.columns(codes), axis=0)) == 40 > STEPS
