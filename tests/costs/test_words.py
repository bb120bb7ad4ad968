"""What costs price, in words and as a table."""

import numpy as np
from numpy.testing import assert_array_equal

from costboost import Costs
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
    assert "note: for 1 the right answer is dearer" in Costs(1, 2, tp=5).bind([0, 1]).describe()
