"""One model of all rows, or one for each fold: which rows they are trained on."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.model_selection import GroupKFold

from costboost import CostBoostClassifier, GradientBoostClassifier, PNormBoostClassifier

RNG = np.random.default_rng(0)
# So few values that any fold has the bins of the whole table.
X = RNG.integers(0, 4, size=(240, 3)).astype(float)
Y = (X[:, 0] + X[:, 1] + RNG.normal(size=240) > 3).astype(int)
MODELS = {
    "adaboost": CostBoostClassifier("adaboost", 5, random_state=0),
    "gradient": GradientBoostClassifier(n_estimators=5, min_samples_leaf=5, random_state=0),
    "pnorm": PNormBoostClassifier(n_estimators=5, random_state=0),
}
each_family = pytest.mark.parametrize("family", MODELS)


def fitted(family, X=X, y=Y, groups=None, **options):
    given = {} if groups is None else {"groups": groups}
    return clone(MODELS[family]).set_params(**options).fit(X, y, **given)


def margins_of(model):
    fitted_model = model._model
    return fitted_model.margins(X, fitted_model.encode(X))


@each_family
def test_without_calibration_there_is_one_model_of_all_rows(family):
    assert len(margins_of(fitted(family, calibration=None))) == 1


@each_family
def test_every_fold_has_the_model_of_its_rows(family):
    splits = [(np.arange(0, 160), np.arange(160, 240)), (np.arange(80, 240), np.arange(80))]
    model = fitted(family, calibration="sigmoid", cv=splits)
    both = margins_of(model)
    assert len(both) == 2
    for margins, (train, _) in zip(both, splits, strict=True):
        (alone,) = margins_of(fitted(family, X[train], Y[train], calibration=None))
        np.testing.assert_allclose(margins, alone, rtol=1e-9, atol=1e-9)


@each_family
def test_without_an_ensemble_the_model_of_all_rows_answers(family):
    model = fitted(family, calibration="sigmoid", cv=3, ensemble=False)
    (margins,) = margins_of(model)
    (alone,) = margins_of(fitted(family, calibration=None))
    assert_array_equal(margins, alone)
    assert np.ptp(model.predict_proba(X)[:, 1]) > 0


@each_family
def test_groups_are_never_cut(family):
    groups = np.arange(240) // 24
    cut = list(GroupKFold(3).split(X, Y, groups))
    asked = fitted(family, calibration="sigmoid", cv=GroupKFold(3), groups=groups)
    given = fitted(family, calibration="sigmoid", cv=cut)
    for one, other in zip(margins_of(asked), margins_of(given), strict=True):
        assert_array_equal(one, other)


def test_groups_must_be_as_many_as_rows():
    with pytest.raises(ValueError, match=r"groups|samples"):
        fitted("adaboost", calibration="sigmoid", groups=np.zeros(7))


@each_family
def test_a_warm_start_continues_the_one_model(family):
    whole = fitted(family, calibration=None, n_estimators=8)
    model = fitted(family, calibration=None, warm_start=True)
    model.set_params(n_estimators=8).fit(X, Y)
    assert_array_equal(margins_of(model)[0], margins_of(whole)[0])
