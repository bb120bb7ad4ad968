"""A promise about the mean cost of new rows: kept, or refused in plain words."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import costboost as cb
from costboost import Costs, GuaranteedClassifier
from costboost.datasets import make_card_fraud

PRICES = {"fp": 8, "fn": 40}


@parametrize_with_checks(
    [
        GuaranteedClassifier(LogisticRegression(), 1.0, random_state=0),
        GuaranteedClassifier(
            DecisionTreeClassifier(max_depth=2), 1.0, costs=None, cv=0.4, random_state=0
        ),
    ],
    expected_failed_checks=lambda model: {
        "check_classifiers_train": "predict follows the policy, not the largest probability"
    },
)
@pytest.mark.filterwarnings("ignore")  # the checks' own tiny tables
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def rows():
    return make_classification(6000, weights=[0.9], flip_y=0.05, random_state=0)


def bill(model, X, y):
    """Return the mean cost of the decisions, row by row in plain Python."""
    price = {(0, 1): 8.0, (1, 0): 40.0, (0, 0): 0.0, (1, 1): 0.0}
    decided = model.predict(X).tolist()
    paid = [
        model.defer if d == "defer" else price[t, d]
        for t, d in zip(y.tolist(), decided, strict=True)
    ]
    return sum(paid) / len(paid)


def test_the_promise_and_what_was_measured(rows):
    X, y = rows
    inner = LogisticRegression().fit(X[:2000], y[:2000])
    model = GuaranteedClassifier(
        FrozenEstimator(inner),
        2.5,
        defer=5,
        at_most={"blocked": 0.05},
        costs=PRICES,
        random_state=0,
    ).fit(X[2000:5000], y[2000:5000])
    held, told = X[2000:5000], y[2000:5000]
    assert model.measured_["cost"] == pytest.approx(bill(model, held, told))
    decided = model.predict(held)
    assert model.measured_["blocked"] == pytest.approx(np.mean(decided[told == 0] == 1))
    assert model.measured_["deferred"] == pytest.approx(np.mean(decided == "defer"))
    assert model.n_held_out_ == 3000
    assert model.price_range_ == (0, 40)
    assert bill(model, X[5000:], y[5000:]) < 2.5
    assert -model.score(X[5000:], y[5000:]) == pytest.approx(bill(model, X[5000:], y[5000:]))
    assert model.promise_ == (
        "With 95 % confidence the average bill of such rows is at most 2.50 and at most 5 % of "
        "the negative rows are decided positive."
    )


def test_a_limit_that_cannot_be_broken_costs_nothing(rows):
    """With limits that always hold, every policy passes: the cheapest of all on these rows."""
    X, y = rows
    model = GuaranteedClassifier(LogisticRegression(), 40, costs=PRICES, random_state=0).fit(X, y)
    assert model.n_promising_ == 15
    free = model.measured_["cost"]
    tight = GuaranteedClassifier(LogisticRegression(), 40, costs=PRICES, random_state=0)
    tight.set_params(at_most={"blocked": 0.01}).fit(X, y)
    assert tight.measured_["cost"] >= free
    assert tight.measured_["blocked"] < 0.01
    assert tight.n_promising_ < 15


def test_rows_are_decided_one_by_one(rows):
    X, y = rows
    model = GuaranteedClassifier(LogisticRegression(), 3, defer=5, costs=PRICES, random_state=0)
    model.fit(X, y)
    together = model.predict(X[:40])
    assert [model.predict(X[i : i + 1])[0] for i in range(40)] == together.tolist()
    assert {0, "defer"} <= set(together.tolist())


@pytest.mark.parametrize("names", [("good", "bad"), ("a", "b"), ("b", "a")])
def test_labels_in_any_order(rows, names):
    X, y = rows
    at_most = {"missed": 0.6, "deferred": 0.5}

    def model(y):
        frozen = FrozenEstimator(LogisticRegression().fit(X[:3000], y[:3000]))
        return GuaranteedClassifier(frozen, 3, defer=5, at_most=at_most, random_state=0)

    plain = model(y).fit(X[3000:], y[3000:], costs=PRICES)
    told, costs = np.array(names)[y], Costs(**PRICES, positive=names[1])
    named = model(told).fit(X[3000:], told[3000:], costs=costs)
    again = {names[0]: 0, names[1]: 1, "defer": "defer"}
    assert [again[d] for d in named.predict(X[:500])] == plain.predict(X[:500]).tolist()
    assert named.measured_ == pytest.approx(plain.measured_)


def test_many_classes_and_actions():
    X, y = make_classification(3000, n_classes=3, n_informative=6, random_state=0)
    C = np.array([[0, 1, 6], [4, 0, 2], [9, 9, 0]])
    model = GuaranteedClassifier(LogisticRegression(), 1.9, defer=1.5, costs=C, random_state=0)
    assert set(model.fit(X, y).predict(X)) <= {0, 1, 2, "defer"}
    triage = Costs.from_matrix(C[:, :2], classes=[0, 1, 2], actions=["wait", "see"], benefits=False)
    model = GuaranteedClassifier(GaussianNB(), 6, costs=triage, random_state=0).fit(X, y)
    assert set(model.predict(X)) <= {"wait", "see"}


def test_prices_by_column_and_per_row():
    data = make_card_fraud(4000, fraud_rate=0.03, random_state=0)
    X = data.X.select_dtypes("number").fillna(0)
    X["bill"] = np.minimum(data.amount, 500)
    costs = Costs(fp=8, tp=8, fn="bill")
    model = GuaranteedClassifier(GaussianNB(), 10, defer=6, cap=500, random_state=0)
    model.fit(X, data.y, costs=costs)
    by_row = Costs(fp=8, tp=8, fn=X["bill"])
    again = GuaranteedClassifier(GaussianNB(), 10, defer=6, cap=500, random_state=0)
    again.fit(X, data.y, costs=by_row)
    assert model.policy_ == again.policy_
    np.testing.assert_array_equal(model.predict(X), again.predict(X, costs=by_row))
    with pytest.raises(ValueError, match="cap="):
        GuaranteedClassifier(GaussianNB(), 10, random_state=0).fit(X, data.y, costs=costs)
    with pytest.raises(ValueError, match="above cap=50"):
        model.set_params(cap=50).fit(X, data.y, costs=costs)


def test_prices_that_the_promise_does_not_cover_are_warned_of(rows):
    X, y = rows
    model = GuaranteedClassifier(LogisticRegression(), 3, defer=5, costs=PRICES, random_state=0)
    model.fit(X, y)
    with pytest.warns(UserWarning, match="lies outside of 0 to 40"):
        model.predict(X, costs={"fp": 8, "fn": 41})
    with pytest.warns(UserWarning, match="not those that the promise"):
        model.predict(X, costs={"fp": 9, "fn": 40})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(X, costs=PRICES)


def test_where_nothing_can_be_promised_it_says_what_it_would_take(rows):
    X, y = rows
    frozen = FrozenEstimator(LogisticRegression().fit(X[:2000], y[:2000]))
    model = GuaranteedClassifier(frozen, 1.8, defer=5, costs=PRICES, random_state=0)
    with pytest.raises(
        ValueError, match=r"About [\d,]+ such rows would do.*within reach"
    ) as caught:
        model.fit(X[2000:2300], y[2000:2300])
    limit = float(str(caught.value).split("limit=")[2].split(" ")[0])
    model.set_params(limit=limit + 0.5).fit(X[2000:2300], y[2000:2300])
    with pytest.raises(ValueError, match="More rows alone are unlikely to help"):
        model.set_params(limit=0.01).fit(X[2000:], y[2000:])
    with pytest.raises(ValueError, match="shares of at_most alone cannot be promised"):
        model.set_params(limit=40, at_most={"missed": 1e-6, "blocked": 1e-6}, defer=None).fit(
            X[2000:], y[2000:]
        )


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"limit": -1}, "below 0, the least that a row can cost"),
        ({"limit": None}, "limit=None"),
        ({"confidence": 1}, "confidence=1"),
        ({"at_most": {"wrong": 0.1}}, "blocked, missed or deferred"),
        ({"at_most": {"blocked": 2}}, "a share above 0"),
        ({"at_most": {"deferred": 0.1}}, "give defer="),
        ({"at_most": 0.1}, "give a dict"),
        ({"cv": 5}, "makes 5 pairs"),
        ({"cv": [(range(50), range(40, 60))]}, "10 of fold 0, row 40 first"),
        ({"cv": [(range(50), range(55, 60))], "limit": 9}, "on 4 held-out rows"),
    ],
)
def test_bad_parameters_are_named(rows, changes, message):
    X, y = rows
    model = GuaranteedClassifier(LogisticRegression(), 40, costs=PRICES, random_state=0)
    with pytest.raises(ValueError, match=message):
        model.set_params(**changes).fit(X, y)


def test_joint_decisions_and_labels_without_a_positive_class_are_refused(rows):
    X, y = rows
    model = GuaranteedClassifier(LogisticRegression(), 40, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="one by one"):
        model.decide(X)
    named = Costs.from_matrix([[0, 1], [9, 0]], classes=["a", "b"])
    with pytest.raises(ValueError, match="one of them positive"):
        model.set_params(at_most={"blocked": 0.1}).fit(X, np.array(["a", "b"])[y], costs=named)


def test_a_file_of_it_decides_the_same(rows, tmp_path):
    X, y = rows
    inner = cb.CostBoostClassifier("adamec", 5, random_state=0)
    model = GuaranteedClassifier(inner, 4, defer=5, costs=PRICES, random_state=0).fit(X, y)
    cb.save(model, tmp_path / "model")
    again = cb.load(tmp_path / "model")
    assert again.promise_ == model.promise_
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


@pytest.mark.parametrize("limit", [2.1, 2.6])
def test_the_limit_is_broken_no_more_often_than_promised(limit):
    """Few rows, often refused; where a promise is given, the true mean cost keeps it."""
    X, y = make_classification(60_000, weights=[0.9], flip_y=0.05, random_state=1)
    frozen = FrozenEstimator(LogisticRegression().fit(X[:1000], y[:1000]))
    generator, broken, kept = np.random.default_rng(0), 0, 0
    for seed in range(30):
        drawn = generator.integers(1000, len(y), 600)
        model = GuaranteedClassifier(
            frozen, limit, confidence=0.8, defer=5, costs=PRICES, random_state=seed
        )
        try:
            model.fit(X[drawn], y[drawn])
        except ValueError:
            continue
        true = -model.score(X[1000:], y[1000:])
        broken, kept = broken + (true > limit), kept + (true <= limit)
    assert broken <= 6  # a fifth of all draws
    assert kept > 2
