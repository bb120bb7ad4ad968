"""An estimator in few words: computed word by word in NumPy, they give its answers."""

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.exceptions import NotFittedError

import costboost as cb
from costboost.deploy.exported import export
from costboost.model import Logistic, Normalise, Second, VoteShares
from deploy_cases import NAMES
from zoo import fitted

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


def normalised(values):
    total = values.sum(axis=1, keepdims=True)
    return np.where(total > 0, values / np.where(total > 0, total, 1), 1 / values.shape[1])


def mapped(step, values):
    """Return what a map makes of values, (n, J), by the words of its docstring."""
    alone = values.shape[1] == 1
    if isinstance(step, Second):
        return values[:, 1:]
    if isinstance(step, Normalise) or (isinstance(step, VoteShares) and not alone):
        return normalised(values)
    if isinstance(step, VoteShares):
        share = np.clip((1 + values / step.total) / 2, 0, 1)
        return np.hstack([1 - share, share])
    if isinstance(step, Logistic):
        scaled = step.scale * values
        return np.hstack([expit(-scaled), expit(scaled)]) if alone else softmax(scaled, axis=1)
    return step.calibration.predict(values[:, 0] if alone else values)


def after(steps, margins):
    for step in steps:
        margins = mapped(step, margins)
    return margins


@pytest.mark.parametrize("name", NAMES)
def test_words_give_the_answers_of_the_model(name):
    model, X = fitted(name)
    words = export(model)
    margins, fitted_model = [forest.margins(X) for forest in words.forests], words.model
    if words.classes is None:
        np.testing.assert_array_equal(margins[0][:, 0], model.predict(X))
        assert (words.n_classes, fitted_model.decision, len(margins)) == (1, None, 1)
        return
    assert words.n_classes == len(model.classes_)
    found = [after(part.maps, m) for part, m in zip(fitted_model.members, margins, strict=True)]
    np.testing.assert_allclose(np.mean(found, axis=0), model.predict_proba(X), atol=1e-12)
    if fitted_model.decision == "largest":
        many = margins[0].shape[1] > 1
        codes = margins[0].argmax(axis=1) if many else (margins[0][:, 0] > 0).astype(int)
        np.testing.assert_array_equal(words.classes[codes], model.predict(X))
        return
    p = (
        np.mean(found, axis=0)
        if fitted_model.priced is None
        else after(fitted_model.priced, margins[0])
    )
    expected = p @ np.asarray(words.costs)[0]
    best, decided = expected.min(axis=1), words.costs.actions.tolist()
    chosen = [decided.index(answer) for answer in model.predict(X).tolist()]
    np.testing.assert_allclose(expected[np.arange(len(p)), chosen], best, atol=1e-9)


def test_columns_are_used_if_any_tree_asks_for_them():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    model = cb.CostBoostClassifier("adamec", 5, max_depth=1, cv=2, random_state=0)
    words = export(model.fit(X, (X[:, 3] > 0).astype(int)))
    assert len(words.forests) == 2
    asked = {j for forest in words.forests for t in range(len(forest))
             for j in forest.tree(t).feature.tolist() if j >= 0}  # fmt: skip
    assert words.used_features == sorted(asked)
    assert 3 in asked


def test_what_is_not_fitted_is_told_so():
    with pytest.raises(NotFittedError):
        export(cb.GradientBoostClassifier())
