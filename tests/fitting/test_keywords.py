"""By which keyword what belongs to rows reaches a model, inside whatever it is."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator
from sklearn.calibration import CalibratedClassifierCV
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost import CostBoostClassifier, Costs
from costboost.fitting.keywords import changes_rows, costs_to_fit, fit_key

BOOST = CostBoostClassifier("adaboost", 2)


class Sampler(BaseEstimator):
    """As imbalanced-learn's samplers look."""

    def fit_resample(self, X, y):
        return X, y


def search(estimator):
    return GridSearchCV(estimator, {})


@pytest.mark.parametrize(
    ("estimator", "name", "expected"),
    [
        (GaussianNB(), "sample_weight", "sample_weight"),
        (KNeighborsClassifier(), "sample_weight", None),
        (GaussianNB(), "costs", None),
        (BOOST, "costs", "costs"),
        (Pipeline([("scale", StandardScaler()), ("last", BOOST)]), "costs", "last__costs"),
        (
            Pipeline([("scale", StandardScaler()), ("last", KNeighborsClassifier())]),
            "sample_weight",
            None,  # the scaler would take it: the model does not
        ),
        (Pipeline([("a", Pipeline([("b", BOOST)]))]), "costs", "a__b__costs"),
        (search(BOOST), "costs", "costs"),
        (search(Pipeline([("m", BOOST)])), "costs", "m__costs"),
        (search(GaussianNB()), "costs", None),
        (CalibratedClassifierCV(BOOST), "costs", "costs"),
    ],
)
def test_keywords_without_routing(estimator, name, expected):
    assert fit_key(estimator, name) == expected


@pytest.mark.parametrize(
    "estimator", [BOOST, search(BOOST), Pipeline([("a", StandardScaler()), ("b", BOOST)])]
)
def test_with_routing_every_way_takes_the_plain_name(estimator):
    with sklearn.config_context(enable_metadata_routing=True):
        assert fit_key(estimator, "costs") == "costs"
        asked = LogisticRegression().set_fit_request(sample_weight=True)
        assert fit_key(make_pipeline(asked), "sample_weight") == "sample_weight"
        refused = LogisticRegression().set_fit_request(sample_weight=False)
        assert fit_key(make_pipeline(refused), "sample_weight") is None


def test_the_keyword_is_the_one_that_fit_takes():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    prices = rng.random(60)
    costs = Costs(fp=1, fn=prices)
    for estimator in (Pipeline([("s", StandardScaler()), ("m", BOOST)]), search(BOOST)):
        key = fit_key(estimator, "costs")
        fitted = estimator.fit(X, y, **{key: costs})
        model = fitted[-1] if isinstance(fitted, Pipeline) else fitted.best_estimator_
        assert float(model.costs_.fn) == pytest.approx(prices.mean())  # what predict decides by


def test_a_sampler_anywhere_on_the_way_changes_the_rows():
    sampling = Pipeline([("draw", Sampler()), ("m", BOOST)])
    for estimator in (sampling, search(sampling), Pipeline([("inner", sampling)])):
        assert changes_rows(estimator)
    for estimator in (BOOST, search(BOOST), make_pipeline(StandardScaler(), BOOST)):
        assert not changes_rows(estimator)


def test_behind_a_sampler_a_column_is_read_by_the_model_itself():
    sampling = Pipeline([("draw", Sampler()), ("m", BOOST)])
    by_name, bound = Costs(fp=1, fn="amount"), Costs(fp=1, fn=np.arange(3.0))
    assert costs_to_fit(BOOST, by_name, bound) is bound
    assert costs_to_fit(sampling, by_name, bound) is by_name
    assert costs_to_fit(sampling, Costs(fp=1, fn=2), bound) is bound
