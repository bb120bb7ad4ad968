"""Links: a row does not depend on others, and far margins are sure."""

import numpy as np

from costboost.boosting import formulas


def test_a_row_does_not_depend_on_the_rows_around_it():
    logits = np.random.default_rng(1).normal(size=(301, 5))
    alone = np.vstack([formulas.softmax(row[None]) for row in logits])
    assert alone.tobytes() == formulas.softmax(logits).tobytes()
    turned = formulas.softmax(np.asfortranarray(logits)[::-1])[::-1]
    assert np.ascontiguousarray(turned).tobytes() == alone.tobytes()


def test_far_margins_are_sure_and_not_nan():
    assert formulas.softmax([[1e300, -1e300, 0.0]]).tolist() == [[1.0, 0.0, 0.0]]
    assert formulas.logistic(np.array([1e300, -1e300])).tolist() == [[0.0, 1.0], [1.0, 0.0]]
