"""One decision explained: the numbers are right, the words are there, HTML is escaped."""

import numpy as np
import pytest

from costboost import Costs
from explained_decisions import fitted


def test_an_explanation_says_what_the_model_does():
    model, X, _ = fitted()
    for i in range(0, 300, 50):
        row = X.iloc[[i]]
        for costs in (
            None,
            Costs(fp=1, fn=3, positive="fraud"),
            {"fp": 50, "fn": 3, "positive": "fraud"},
        ):
            if isinstance(costs, dict):
                costs = Costs(**costs)
            seen = model.explain(row, costs=costs)
            assert seen.decision == model.predict(row, costs=costs)[0]
            np.testing.assert_allclose(
                list(seen.probabilities.values()), model.predict_proba(row)[0], rtol=1e-12
            )
            np.testing.assert_allclose(
                list(seen.expected_cost.values()),
                np.asarray(model.expected_cost(row, costs))[0],
                rtol=1e-12,
            )
            assert seen.total == pytest.approx(model.decision_function(row)[0], abs=1e-9)
            assert seen.base + sum(p.added for p in seen.parts) == pytest.approx(seen.total)
            sizes = [abs(part.added) for part in seen.parts]
            assert sizes == sorted(sizes, reverse=True)


def test_text_fits_a_terminal_and_html_is_escaped():
    model, X, _ = fitted()
    at = int(np.flatnonzero(X["<b>shop</b>"] == "<script>")[0])
    seen = model.explain(X.iloc[[at]])
    text, html = str(seen), seen._repr_html_()
    assert text == repr(seen)
    assert max(map(len, text.splitlines())) <= 100
    for word in ("decides", "probability", "expected cost", "would turn", "log odds", "one change"):
        assert word in text
    assert "<script>" not in html
    assert "<b>shop" not in html
    assert "&lt;script&gt;" in html
    assert html.count("<svg") == 1
    assert text.isascii()
    numbers = seen.to_dict()
    assert numbers["parts"][0]["added"] == seen.parts[0].added
