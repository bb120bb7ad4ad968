"""How much columns matter, against what the nodes say."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost import CostBoostClassifier, GradientBoostClassifier
from costboost.explain.listing import importances
from costboost.model import Member
from explained_tables import SMALL, table
from fitted_parts import only


@given(seed=st.integers(0, 10**6))
@settings(max_examples=10, deadline=None)
def test_importances_are_what_the_nodes_say(seed):
    X, y = table(seed=seed)
    model = CostBoostClassifier("adaboost", max_depth=3, **SMALL).fit(X, y)
    nodes = model.to_frame().dropna(subset=["column"])
    alphas = np.asarray(model.estimator_weights_)
    each = {
        "gain": nodes["gain"] * alphas[nodes["tree"]],
        "cover": nodes["cover"],
        "count": pd.Series(1.0, index=nodes.index),
    }
    for kind, weights in each.items():
        sums = weights.groupby(nodes["column"]).sum().reindex(X.columns, fill_value=0.0)
        np.testing.assert_allclose(model.importances(kind), sums / sums.sum(), rtol=1e-6)
    np.testing.assert_array_equal(model.feature_importances_, model.importances("gain"))


def test_importances_of_folds_are_averaged():
    X, y = table()
    model = CostBoostClassifier("adamec", cv=3, **SMALL).fit(X, y)
    each = []
    for i in range(3):
        alone = CostBoostClassifier("adamec", cv=3, **SMALL).fit(X, y)
        each.append(only(alone, i).importances())
    np.testing.assert_allclose(model.importances(), np.mean(each, axis=0))


def test_a_model_without_splits_has_importances_of_zero():
    X, y = np.ones((20, 3)), np.arange(20) % 2
    with pytest.warns(UserWarning, match="single step|took no step"):
        models = [
            CostBoostClassifier("adaboost", **SMALL).fit(X, y),
            GradientBoostClassifier(**SMALL).fit(X, y),
        ]
    for model in models:
        assert model.feature_importances_.tolist() == [0.0, 0.0, 0.0]
        added = model.contributions(X)
        assert not added.values.any()
        np.testing.assert_allclose(added.total, model.decision_function(X))
    with pytest.raises(ValueError, match="kind='size'"):
        models[0].importances("size")


def test_importances_do_not_depend_on_weights_units():
    """Scaling all sample weights changes no model, and no share."""
    X, y = table()
    w = np.random.default_rng(0).integers(1, 4, size=len(y)).astype(float)
    for kind in ("gain", "cover"):
        one, other = (
            GradientBoostClassifier(**SMALL).fit(X, y, sample_weight=w * scale).importances(kind)
            for scale in (1.0, 1024.0)
        )
        np.testing.assert_allclose(one, other, rtol=1e-6)


class Trees(SimpleNamespace):
    """As much of a forest of two trees as importances read."""

    def __len__(self):
        return 2


def test_importances_of_two_forests_by_hand():
    # Column 0 is split once and column 1 twice; alpha may be negative, its size counts.
    def member(weights, gains):
        words = [1 << 40, 1 << 16 | 3 << 40, *(255 | node << 40 for node in (2, 3, 4))]
        words += [1 << 16 | 1 << 40, *(255 | node << 40 for node in (1, 2))]
        forest = Trees(
            words=np.array(words, dtype=np.uint64),
            roots=np.array([0, 5]),
            gains=np.array([gains[0], gains[1], 0, 0, 0, gains[2], 0, 0], dtype=np.float32),
            covers=np.array([10, 6, 4, 5, 1, 10, 3, 7], dtype=np.float32),
            binner=SimpleNamespace(n_features=3),
        )
        return Member(np.array(weights), forest)

    one, other = member([1.0, -2.0], [3.0, 1.0, 1.0]), member([1.0, 1.0], [0.0, 5.0, 0.0])
    np.testing.assert_allclose(importances((one,)), [3 / 6, 3 / 6, 0])
    np.testing.assert_allclose(importances((one,), "cover"), [10 / 26, 16 / 26, 0])
    np.testing.assert_allclose(importances((one,), "count"), [1 / 3, 2 / 3, 0])
    np.testing.assert_allclose(importances((one, other)), [0.25, 0.75, 0])  # each counts the same


def test_kinds_are_named_when_one_is_unknown():
    with pytest.raises(ValueError, match=r"kind='size'.*gain.*cover.*count"):
        importances((), "size")
