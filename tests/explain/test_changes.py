"""The nearest changes that turn a decision, by making them."""

import numpy as np

from costboost import (
    Costs,
)
from explained_decisions import fitted


def test_the_nearest_change_turns_the_decision():
    model, X, _ = fitted()
    costs = Costs(fp=20, fn=30, positive="fraud")
    tried = 0
    for i in range(0, 300, 6):
        row = X.iloc[[i]]
        seen = model.explain(row, costs=costs)
        assert list(seen.changes) == sorted(seen.changes, key=lambda c: c.distance)
        for change in seen.changes:
            if change.column.startswith("<b>"):
                continue
            # Up to a limit, or just above it; on its other side nothing has turned yet.
            above, up = np.nextafter(change.limit, np.inf), change.to.startswith("above")
            moved = row.astype({change.column: float})
            moved[change.column] = above if up else change.limit
            assert model.predict(moved, costs=costs)[0] == change.decision != seen.decision
            moved[change.column] = change.limit if up else above
            assert model.predict(moved, costs=costs)[0] == seen.decision
            tried += 1
    assert tried > 10
