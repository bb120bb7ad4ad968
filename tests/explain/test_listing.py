"""Trees as tables, as text and as shap's dictionaries."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from costboost import CostBoostClassifier, GradientBoostClassifier, GradientBoostRegressor


def table(n=200):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, size=n).astype(float),
            "region": pd.Categorical(rng.choice(["n", "s", "w"], n)),
        }
    )
    X.loc[X.index % 9 == 0, "age"] = np.nan
    y = ((X["age"].fillna(60) > 50) ^ X["region"].eq("s")).astype(int).to_numpy()
    return X, y


def walk(nodes, row):
    """Send a row down one tree of the table of nodes; return the leaf."""
    node = nodes.loc[0]
    while not pd.isna(node["column"]):
        value = row[node["column"]]
        if pd.isna(value):
            left = node["missing"] == "left"
        elif isinstance(node["categories"], list):
            left = value in node["categories"]
        else:
            left = value <= node["threshold"]
        node = nodes.loc[int(node["left"] if left else node["right"])]
    return node


def test_the_table_of_nodes_predicts():
    X, y = table()
    model = GradientBoostClassifier(n_estimators=4, min_samples_leaf=5).fit(X, y)
    frame = model.to_frame()
    margins = model.decision_function(X)
    for i in range(0, 200, 17):
        leaves = [walk(tree.set_index("node"), X.iloc[i]) for _, tree in frame.groupby("tree")]
        assert sum(leaf["value"] for leaf in leaves) + model.start_[0] == pytest.approx(margins[i])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("subsample", [1.0, 0.5])
def test_covers_count_the_training_rows(weighted, subsample):
    X, y = table()
    w = np.random.default_rng(1).integers(1, 5, size=200).astype(float) if weighted else None
    for model in (
        CostBoostClassifier("adaboost", 3, max_depth=3, subsample=subsample, random_state=0),
        GradientBoostClassifier(n_estimators=3, subsample=subsample, min_samples_leaf=5),
    ):
        frame = model.fit(X, y, sample_weight=w).to_frame()
        units = np.ones(200) if w is None else w
        for _, tree in frame.groupby("tree"):
            nodes = tree.set_index("node")
            reached = [walk(nodes, X.iloc[i]).name for i in range(200)]
            counted = pd.Series(units).groupby(reached).sum()
            leaves = nodes[nodes["column"].isna()]
            np.testing.assert_allclose(leaves["cover"], counted.reindex(leaves.index))
            inner = nodes.dropna(subset=["column"])
            for side in (inner,):
                both = nodes["cover"].loc[side["left"]].to_numpy()
                both = both + nodes["cover"].loc[side["right"]].to_numpy()
                np.testing.assert_allclose(side["cover"], both)


def test_weights_are_copies_in_covers():
    X, y = table()
    w = np.random.default_rng(2).integers(1, 4, size=200)
    options = {"n_estimators": 3, "max_depth": 2, "calibration": None}
    weighed = CostBoostClassifier("adaboost", **options).fit(X, y, sample_weight=w)
    at = np.repeat(np.arange(200), w)
    copied = CostBoostClassifier("adaboost", **options).fit(X.iloc[at], y[at])
    pd.testing.assert_frame_equal(weighed.to_frame(), copied.to_frame())


def test_gains_are_the_criterion_s():
    """One stump on two columns by hand: gini's gain as a share of the weight."""
    X, y = np.array([[0.0], [0.0], [1.0], [1.0]]), np.array([0, 0, 1, 0])
    model = CostBoostClassifier("adaboost", 1, max_depth=1).fit(X, y)
    # (sum of squares / weight): 1/2 + (1/16 + 1/16) / (1/2) - (9/16 + 1/16) = 1/8
    assert model.to_frame()["gain"][0] == pytest.approx(0.125)


def test_newton_gains_are_in_units_of_the_loss():
    """Squared error: twice what a full step of both leaves takes off the loss."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 1))
    y = 100.0 * (X[:, 0] > 0) + rng.normal(size=100)
    model = GradientBoostRegressor(n_estimators=1, max_depth=1, min_samples_leaf=5).fit(X, y)
    left = X[:, 0] <= model.to_frame()["threshold"][0]
    parts = sum(len(part) * (part.mean() - y.mean()) ** 2 for part in (y[left], y[~left]))
    assert model.to_frame()["gain"][0] == pytest.approx(parts, rel=1e-5)


def test_many_classes_have_a_value_each():
    X, y = table()
    labels = np.where(X["age"].fillna(0) > 60, "c", np.array(["a", "b"])[y])
    frame = GradientBoostClassifier(n_estimators=2).fit(X, labels).to_frame()
    assert [name for name in frame if name.startswith("value")] == ["value a", "value b", "value c"]


def test_trees_print(capsys):
    X, y = table()
    model = GradientBoostClassifier(n_estimators=2, max_leaf_nodes=3).fit(X, y)
    model.print_tree(1)
    text = capsys.readouterr().out
    assert text.count("adds") == 3
    assert "region in {s}" in text or "region in {n, w}" in text
    with pytest.raises(ValueError, match="tree=2: there are 2"):
        model.print_tree(2)
    with pytest.raises(ValueError, match="model=1: there are 1"):
        model.print_tree(0, model=1)


def test_missing_values_that_are_parted_from_all_others_say_so(capsys):
    X = np.array([[1.0], [2.0], [np.nan], [np.nan]] * 5)
    CostBoostClassifier("adaboost", 1, max_depth=1).fit(X, [0, 0, 1, 1] * 5).print_tree()
    text = capsys.readouterr().out
    assert "x0 is known" in text
    assert "x0 is missing" in text


def test_what_shap_cannot_express_is_refused():
    X, y = table()
    with pytest.raises(ValueError, match="sets of categories"):
        GradientBoostClassifier(n_estimators=2).fit(X, y).to_shap()
    numbers = X[["age"]].to_numpy()
    averaged = CostBoostClassifier("adamec", 3, cv=3).fit(numbers, y)
    with pytest.raises(ValueError, match="no sum of trees"):
        averaged.to_shap()
    assert len(averaged.to_shap(model=2)["trees"]) == len(averaged._model.members[2])
    with pytest.raises(ValueError, match="model=3: there are 3"):
        averaged.to_shap(model=3)
    full = np.nan_to_num(numbers)
    started = GradientBoostRegressor(n_estimators=2, init=LinearRegression()).fit(full, y)
    with pytest.raises(ValueError, match="init="):
        started.to_shap()


def test_the_offset_of_shap_s_trees_is_a_number_or_one_for_each_class():
    X, y = table()
    numbers = X[["age"]].to_numpy()
    one = GradientBoostClassifier(n_estimators=2).fit(numbers, y)
    offset = one.to_shap()["base_offset"]
    assert isinstance(offset, float)
    assert offset == one.start_[0]
    labels = np.where(np.nan_to_num(numbers[:, 0]) > 60, "c", np.array(["a", "b"])[y])
    many = GradientBoostClassifier(n_estimators=2).fit(numbers, labels)
    offsets = many.to_shap()["base_offset"]
    np.testing.assert_array_equal(offsets, many.start_)
    before = many.decision_function(numbers)
    offsets += 1.0  # the model's own stay
    np.testing.assert_array_equal(many.decision_function(numbers), before)


def test_leaves_of_shap_s_trees_hold_what_scikit_learn_s_do():
    X, y = table()
    model = GradientBoostClassifier(n_estimators=2).fit(X[["age"]].to_numpy(), y)
    for tree in model.to_shap()["trees"]:
        leaves = tree["children_left"] < 0
        assert set(tree["thresholds"][leaves]) == set(tree["features"][leaves] - 1.0) == {-2.0}
        assert set(tree["children_right"][leaves]) == {-1}
