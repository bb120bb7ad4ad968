"""Matrices and tables of prices that the tests of costs share."""

import numpy as np
import pandas as pd

SQUARE = [[0.0, 1.0, 2.0], [4.0, 0.0, 3.0], [9.0, 5.0, 0.0]]
LOAN = [[0.0, 1.0, 6.0], [30.0, 2.0, 0.0]]
FRAUD = pd.DataFrame({"amount": [0.71, 1797.0, 12.5]}, index=[4, 8, 2])
AMOUNT = np.array([10.0, 45.5, 0.25])
FRAME = pd.DataFrame({"amount": AMOUNT, "fee": [1.0, 2.0, 3.0], "city": ["a", "b", "c"]})
NAMED = FRAME.set_axis(["r7", "r3", "r5"])
