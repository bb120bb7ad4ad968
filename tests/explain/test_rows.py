"""One row, in any shape, and its values."""

import pytest

from costboost import (
    GradientBoostClassifier,
)
from explained_decisions import table


def test_one_row_in_any_shape():
    X, y = table()
    numbers = X[["amount", "hour"]].to_numpy()
    model = GradientBoostClassifier(n_estimators=5).fit(numbers, y)
    totals = {
        model.explain(x).total
        for x in (numbers[:1], numbers[0], numbers[0].tolist(), [numbers[0].tolist()])
    }
    assert len(totals) == 1
    framed = GradientBoostClassifier(n_estimators=5).fit(X, y)
    assert framed.explain(X.iloc[4]).total == framed.explain(X.iloc[[4]]).total
    with pytest.raises(ValueError, match="one row, X has 2"):
        framed.explain(X[:2])
