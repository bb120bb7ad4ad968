"""Costs on their way through scikit-learn: every fold gets the costs of its own rows."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import (
    GridSearchCV,
    StratifiedKFold,
    cross_val_predict,
    cross_validate,
    train_test_split,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import _safe_indexing, resample, shuffle
from sklearn.utils.fixes import parse_version

from costboost.costs import Costs


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what it is given. Column 0 of X is the row's own number, which its costs repeat."""

    __metadata_request__fit = {"costs": True}  # noqa: RUF012
    __metadata_request__score = {"costs": True}  # noqa: RUF012
    log = []  # noqa: RUF012

    def __init__(self, costs=None, other=0):
        self.costs = costs
        self.other = other

    def fit(self, X, y, costs=None):
        self.classes_ = np.unique(y)
        self.log.append(("fit", np.array(X), np.array(y), costs))
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), 0.5)

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y, sample_weight=None, costs=None):  # Pipeline.score needs the former
        self.log.append(("score", np.array(X), np.array(y), costs))
        return 0.0


N = 30
NUMBERS = np.arange(1.0, N + 1)
X = np.column_stack([NUMBERS, np.random.default_rng(0).normal(size=N)])
Y = np.tile([0, 1, 1], N // 3)
PER_ROW = {
    "binary": Costs(fp=5, fn=NUMBERS),
    "rows": Costs.of_rows(NUMBERS),
    "answers": Costs.of_rows(np.column_stack([NUMBERS, NUMBERS])),
    "matrix": Costs.from_matrix(np.tile(NUMBERS[:, None, None], (1, 2, 2))),
}


@pytest.fixture(params=[False, True], ids=["routing off", "routing on"])
def routing(request):
    Recorder.log.clear()
    with sklearn.config_context(enable_metadata_routing=request.param):
        yield request.param


@pytest.fixture(params=PER_ROW)
def per_row(request):
    return PER_ROW[request.param]


def calls(method):
    return [entry[1:] for entry in Recorder.log if entry[0] == method]


def assert_own_rows(records, costs):
    """Each call must have got the costs of exactly its own rows, in their order."""
    assert records
    for seen_X, _, seen in records:
        numbers = np.rint(seen_X[:, 0]).astype(int)
        assert seen == costs[numbers - 1]
        assert len(seen) == len(seen_X)


@pytest.mark.parametrize("stratify", [None, Y])
def test_train_test_split(per_row, stratify):
    parts = train_test_split(X, Y, per_row, random_state=0, stratify=stratify)
    assert_own_rows([(parts[0], None, parts[4]), (parts[1], None, parts[5])], per_row)


def test_resample_and_shuffle(per_row):
    for cut in (resample, shuffle):
        rows, costs = cut(X, per_row, random_state=0)
        assert_own_rows([(rows, None, costs)], per_row)
    assert _safe_indexing(per_row, [1, 2]) == per_row[[1, 2]]
    assert _safe_indexing(per_row, np.arange(N) < 3) == per_row[:3]
    assert _safe_indexing(per_row, slice(0, 3)) == per_row[:3]


def test_constants_are_refused_where_rows_are_meant():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        train_test_split(X, Y, Costs(1, 10))


@pytest.mark.parametrize("cv", [3, StratifiedKFold(3, shuffle=True, random_state=0)])
def test_cross_validate_gives_each_fold_its_rows(routing, per_row, cv):
    cross_validate(Recorder(), X, Y, params={"costs": per_row}, cv=cv)
    assert len(calls("fit")) == 3
    assert_own_rows(calls("fit"), per_row)
    if routing:
        assert_own_rows(calls("score"), per_row)


def test_cross_validate_passes_constants_whole(routing):
    costs = Costs(1, 10)
    cross_validate(Recorder(), X, Y, params={"costs": costs}, cv=3)
    assert all(seen is costs for _, _, seen in calls("fit"))
    assert len(calls("fit")) == 3


def test_cross_val_predict(routing, per_row):
    cross_val_predict(Recorder(), X, Y, params={"costs": per_row}, cv=3)
    assert_own_rows(calls("fit"), per_row)


def test_grid_search(routing, per_row):
    search = GridSearchCV(Recorder(), {"other": [1, 2]}, cv=3)
    search.fit(X, Y, costs=per_row)
    assert len(calls("fit")) == 7
    assert_own_rows(calls("fit"), per_row)
    assert calls("fit")[-1][2] == per_row


def test_grid_search_over_costs_as_a_hyper_parameter(routing):
    grid = [Costs(1, 10), Costs(1, 20), None]
    search = GridSearchCV(Recorder(), {"costs": grid}, cv=2).fit(X, Y)
    assert list(search.cv_results_["param_costs"]) == grid
    assert search.best_params_["costs"] in grid
    assert repr(search.best_estimator_).startswith("Recorder(costs=Costs(fp=1, fn=")
    assert clone(Recorder(costs=grid[0])).costs == grid[0]


def test_pipeline(routing, per_row):
    # A scaler that leaves column 0 alone, so that the rows can be told apart behind it.
    pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), Recorder())
    if routing:
        cross_validate(pipeline, X, Y, params={"costs": per_row}, cv=3)
        # scikit-learn 1.6 does not forward metadata to the score of a pipeline it validates.
        if parse_version(sklearn.__version__) >= parse_version("1.9"):
            assert_own_rows(calls("score"), per_row)
    else:
        cross_validate(pipeline, X, Y, params={"recorder__costs": per_row}, cv=3)
    assert_own_rows(calls("fit"), per_row)


def test_pipeline_score(per_row):
    Recorder.log.clear()
    with sklearn.config_context(enable_metadata_routing=True):
        pipeline = make_pipeline(StandardScaler(with_mean=False, with_std=False), Recorder())
        pipeline.fit(X, Y, costs=per_row).score(X[5:9], Y[5:9], costs=per_row[5:9])
    assert_own_rows(calls("fit") + calls("score"), per_row)


def test_scaled_pipeline_inside_a_grid_search(routing, per_row):
    pipeline = make_pipeline(StandardScaler(), Recorder())
    name = "costs" if routing else "recorder__costs"
    search = GridSearchCV(pipeline, {"recorder__other": [1, 2]}, cv=StratifiedKFold(3))
    search.fit(X, Y, **{name: per_row})
    folds = [train for train, _ in StratifiedKFold(3).split(X, Y)]
    for (seen_X, _, seen), rows in zip(calls("fit"), folds * 2, strict=False):
        assert seen == per_row[rows]
        assert_allclose(seen_X, StandardScaler().fit_transform(X[rows]))


def test_calibrated_classifier(routing, per_row):
    CalibratedClassifierCV(Recorder(), cv=3).fit(X, Y, costs=per_row)
    assert len(calls("fit")) == 3
    assert_own_rows(calls("fit"), per_row)


def test_bagging_with_routing(per_row):
    Recorder.log.clear()
    with sklearn.config_context(enable_metadata_routing=True):
        bag = BaggingClassifier(Recorder(), n_estimators=2, bootstrap=True, random_state=0)
        bag.fit(X, Y, costs=per_row)
    assert_own_rows(calls("fit"), per_row)
