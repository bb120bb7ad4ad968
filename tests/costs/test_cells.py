"""One price: a number, one per row, a column or a function."""

import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal

from costboost import Costs
from costs_cases import AMOUNT, FRAME


def test_any_cell_of_a_matrix_may_be_a_column():
    costs = Costs.from_matrix([[0, "fee"], ["amount", lambda X: X["fee"] / 2]], classes=["a", "b"])
    bound = np.asarray(costs.bind_table(FRAME))
    assert_array_equal(bound[:, 0, 1], FRAME["fee"])
    assert_array_equal(bound[:, 1, 0], AMOUNT)
    assert_array_equal(bound[:, 1, 1], FRAME["fee"] / 2)
    frame = pd.DataFrame({"a": [0, "amount"], "b": [1, 0]}, index=["a", "b"])
    assert Costs.from_matrix(frame).column_names == ["amount"]
    mixed = Costs.from_matrix([[0, 1], [FRAME["amount"], 0]], classes=["a", "b"])
    assert_array_equal(np.asarray(mixed)[:, 1, 0], AMOUNT)
