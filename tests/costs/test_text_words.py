"""What costs price, in words and as a table."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from costboost import Costs
from costboost.costs import as_costs
from costboost.costs.reading import read_binary
from costboost.costs.text import price
from costs_cases import FRAUD

PLAIN = {"fp": 8, "tp": 8, "positive": "fraud"}


def test_frames_read_back_as_the_same_costs():
    loan = Costs.from_matrix(
        [[0, 1, 6], [30, 2, 0]], classes=["good", "bad"], actions=["yes", "ask", "no"]
    )
    assert Costs.from_matrix(loan.to_frame()) == loan
    answers = Costs.of_rows([[0, 1], [5, 0]], classes=["a", "b"])
    assert Costs.of_rows(answers.to_frame()) == answers
    costs = Costs(fn=FRAUD["amount"], **PLAIN).bind(["fraud", "legit"])
    frame = costs.to_frame()
    assert frame.index.tolist() == [4, 8, 2]
    assert Costs(**frame, positive="fraud").bind(["fraud", "legit"]) == costs
    rows = Costs.of_rows(FRAUD["amount"])
    assert Costs.of_rows(rows.to_frame()["cost"]) == rows
    many = Costs.from_matrix(np.arange(12.0).reshape(2, 2, 3), classes=["a", "b"])
    assert many.to_frame().columns.names == ["true", "action"]
    assert_array_equal(many.to_frame().to_numpy(), np.arange(12.0).reshape(2, 6))


def test_words():
    costs = Costs(fn=FRAUD["amount"], **PLAIN).bind(["fraud", "legit"])
    said = costs.describe().split("\n")
    assert "calling a fraud legit costs its amount, 0.71 to 1,797 (mean 603)" in said
    assert "calling a legit fraud costs 8" in said
    assert "recognising a fraud costs 8" in said
    assert said[-1] == "everything else is free"
    by_column = Costs(fn="amount", **PLAIN)
    assert "a false negative costs its amount" in by_column.describe().split("\n")
    assert "a false negative costs its amount, 0.71 to 1,797 (mean 603)" in by_column.describe(
        FRAUD
    )
    assert "answering 0 where 1 is true costs 10" in Costs(1, 10).bind([0, 1]).describe()
    assert (
        "getting a row wrong costs a price of its own, 1 to 9" in Costs.of_rows([1, 9]).describe()
    )
    assert "its amount times 0.75 plus 2" in (by_column * 0.75 + 2).describe()
    loans = Costs.of_actions({"approve": {"bad": "amount", "good": 0}, "decline": 5})
    assert "'approve' where 'bad' is true costs its amount" in loans.describe()
    assert "note: for 1 the right answer costs more" in Costs(1, 2, tp=5).bind([0, 1]).describe()


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (1797, "1,797"),
        (1797.4, "1,797"),
        (131, "131"),
        (99.5, "99.50"),
        (0.71, "0.71"),
        (0.05, "0.05"),
        (0.0123, "0.0123"),
        (1e-300, "1e-300"),
        (1e300, "1e+300"),
        (999_999_999, "999,999,999"),
        (1e9, "1,000,000,000"),
    ],
)
def test_money_is_written_as_on_a_bill(number, written):
    assert price(read_binary(number, 1).cells[1]) == written


def test_prices_that_are_read_or_gone_have_words_too():
    def fee(X):
        return X["fee"]

    said = Costs(fp=fee, fn=1).describe()
    assert "a false positive costs what the function fee says of its row" in said
    assert "costs its amount (no rows)" in Costs(8, FRAUD["amount"])[:0].describe()
    assert as_costs(None).describe() == "getting a row wrong costs 1\nright answers are free"
    answers = Costs.of_rows([[0, 5], [7, 0]], classes=["a", "b"]).describe()
    assert answers.split("\n") == [
        "answering a costs a price of its own, 0 to 7 (mean 3.50)",
        "answering b costs a price of its own, 0 to 5 (mean 2.50)",
    ]


def test_a_frame_of_a_matrix_by_row_names_truth_and_action():
    C = np.arange(1.0, 9.0).reshape(2, 2, 2)
    frame = Costs.from_matrix(C, classes=["a", "b"]).to_frame()
    assert frame.columns.tolist() == [("a", "a"), ("a", "b"), ("b", "a"), ("b", "b")]
    assert frame[("b", "a")].tolist() == [3, 7]
    signed = Costs.from_matrix(C, classes=["a", "b"], positive="a").to_frame()
    assert signed.loc[0].to_dict() == {"fp": 3, "fn": 2, "tp": 1, "tn": 4}
    unnamed = Costs.from_matrix(C).to_frame()
    assert unnamed.columns.tolist() == [(0, 0), (0, 1), (1, 0), (1, 1)]


@pytest.mark.parametrize(
    ("label", "said"),
    [("excellent", "an excellent"), ("ok", "an ok"), ("honest", "an honest"), ("user", "a user"),
     ("house", "a house"), ("one-off", "a one-off"), ("unpaid", "an unpaid"), ("fraud", "a fraud")],
)  # fmt: skip
def test_labels_have_the_article_that_they_are_said_with(label, said):
    costs = Costs.from_matrix([[0, 1], [1, 0]], classes=[label, "zebra"])
    assert costs.describe().splitlines()[0] == f"calling {said} zebra costs 1"
