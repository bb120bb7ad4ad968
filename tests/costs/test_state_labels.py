"""Labels that come with prices: read by name, and refused where they contradict or are missing."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from costboost import CostBoostClassifier, Costs
from costboost.costs import as_costs

# Missing a fraud costs 10, a false alarm 1; written with the classes in this order.
LEGIT_FIRST = pd.DataFrame([[0, 1], [10, 0]], index=["legit", "fraud"], columns=["legit", "fraud"])


@pytest.mark.parametrize("read", [Costs.from_matrix, as_costs])
def test_a_labelled_frame_is_read_by_label_not_by_place(read):
    costs = read(LEGIT_FIRST).bind(["fraud", "legit"])
    assert_array_equal(costs.of_decisions(["fraud", "legit"], ["legit", "fraud"]), [10, 1])
    swapped = read(LEGIT_FIRST.loc[["fraud", "legit"], ["legit", "fraud"]]).bind(["fraud", "legit"])
    assert swapped == costs


@given(st.permutations(list("abc")), st.permutations(list("abc")), st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_labels_in_any_order_give_the_same_decisions(rows, columns, seed):
    rng = np.random.default_rng(seed)
    prices = rng.integers(1, 9, (3, 3)) * (1 - np.eye(3))
    C = pd.DataFrame(prices, index=list("abc"), columns=list("abc"))
    proba = rng.dirichlet(np.ones(3), size=20)
    plain = Costs.from_matrix(C).bind(list("abc"))
    mixed = Costs.from_matrix(C.loc[rows, columns]).bind(list("abc"))
    assert mixed == plain
    assert_array_equal(mixed.decide(proba), plain.decide(proba))


@pytest.mark.parametrize("make", [pl.DataFrame, pa.table], ids=["polars", "pyarrow"])
def test_tables_without_an_index_hold_the_classes_in_a_first_column_of_strings(make):
    table = make({"true": ["legit", "fraud"], "legit": [0.0, 10.0], "fraud": [1.0, 0.0]})
    assert Costs.from_matrix(table) == Costs.from_matrix(LEGIT_FIRST)
    assert as_costs(table) == Costs.from_matrix(LEGIT_FIRST)


def test_actions_come_from_the_columns():
    C = pd.DataFrame(
        [[0, 2, 6], [30, 2, 0]], index=["good", "bad"], columns=["approve", "review", "decline"]
    )
    costs = as_costs(C)
    assert costs.classes.tolist() == ["good", "bad"]
    assert costs.actions.tolist() == ["approve", "review", "decline"]
    wide = Costs.from_matrix(C.set_axis(["good", "bad", "ask"], axis=1))
    assert wide.actions.tolist() == ["good", "bad", "ask"]


def test_numbered_frames_have_no_labels():
    C = [[0.0, 1.0], [10.0, 0.0]]
    assert Costs.from_matrix(pd.DataFrame(C)).classes is None
    assert Costs.from_matrix(pl.DataFrame(np.array(C))).classes is None
    named = Costs.from_matrix(pd.DataFrame(C), classes=["x", "y"])
    assert named == Costs.from_matrix(C, classes=["x", "y"])


def test_numbers_in_another_order_are_labels():
    C = pd.DataFrame([[0, 1], [10, 0]])
    turned = Costs.from_matrix(C.loc[[1, 0]])
    assert turned.bind([0, 1]) == Costs(fp=1, fn=10).bind([0, 1])
    assert Costs.from_matrix(C[[1, 0]]).bind([0, 1]) == turned.bind([0, 1])


def test_columns_of_prices_of_answers_are_classes():
    prices = pd.DataFrame({"b": [1.0, 2.0], "a": [0.0, 5.0]}, index=[7, 9])
    costs = Costs.of_rows(prices)
    assert costs.classes.tolist() == ["b", "a"]
    assert costs.index.tolist() == [7, 9]
    assert_array_equal(np.asarray(costs.bind(["a", "b"])), [[0, 1], [5, 2]])
    assert Costs.of_rows(pl.from_pandas(prices)) == costs


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: Costs.from_matrix(pd.DataFrame(LEGIT_FIRST.to_numpy(), index=["a", "b"])),
            "rows of C are labelled.*columns are not.*actions=",
        ),
        (
            lambda: Costs.from_matrix(pd.DataFrame(LEGIT_FIRST.to_numpy(), columns=["a", "b"])),
            "columns of C are labelled.*rows are not.*classes=",
        ),
        (
            lambda: Costs.from_matrix(pl.DataFrame({"a": [0, 1], "b": [1, 0]})),
            "columns of C are labelled.*rows are not",
        ),
        (
            lambda: Costs.from_matrix(LEGIT_FIRST, classes=["fraud", "legit"]),
            r"classes=\['fraud', 'legit'\] contradicts the labels of the rows",
        ),
        (
            lambda: Costs.from_matrix(LEGIT_FIRST, actions=["fraud", "legit"]),
            "contradicts the labels of the columns",
        ),
        (
            lambda: Costs.from_matrix(LEGIT_FIRST.set_axis(["legit", "fruad"], axis=1)),
            "'fraud' is no column",
        ),
        (
            lambda: Costs.from_matrix(LEGIT_FIRST.set_axis(["legit", "legit"], axis=0)),
            "is no column|twice",
        ),
        (lambda: Costs.from_matrix(LEGIT_FIRST).bind(["fraud", "ok"]), "the class 'ok'.*no costs"),
        (
            lambda: Costs.of_rows(pd.DataFrame({"a": [1.0], "b": [2.0]}), classes=["b", "a"]),
            "contradicts the labels of the columns",
        ),
        (
            lambda: Costs.of_rows(pd.DataFrame({"a": [1.0], "b": [2.0]})).bind(["a", "c"]),
            "the class 'c'.*under the labels that y has",
        ),
    ],
)
def test_contradictions_and_gaps_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()


def test_a_missed_fraud_is_priced_at_ten_in_a_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = np.where(X[:, 0] + rng.normal(size=80) > 1, "fraud", "legit")
    model = CostBoostClassifier("adamec", n_estimators=3, random_state=0)
    read = model.fit(X, y, costs=LEGIT_FIRST).predict(X)
    said = model.fit(X, y, costs=Costs(fp=1, fn=10, positive="fraud")).predict(X)
    assert_array_equal(read, said)


def test_labels_of_rows_do_not_name_columns_of_another_number():
    table = pd.DataFrame([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], index=[1, 0])
    costs = Costs.from_matrix(table)
    assert costs.classes.tolist() == [1, 0]
    assert costs.actions.tolist() == [0, 1, 2]
    assert_array_equal(costs.bind([0, 1]).of_decisions([0, 1], [2, 2]), [6.0, 3.0])
