"""Explanations as text."""

import numpy as np

from explained_decisions import fitted


def test_missing_values_are_called_missing():
    model, X, _ = fitted()
    at = int(np.flatnonzero(X["<b>shop</b>"].isna())[0])
    assert "<b>shop</b> = missing" in str(model.explain(X.iloc[[at]]))
