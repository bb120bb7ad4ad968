"""Decisions made jointly, as users read them."""

import pickle

import numpy as np

from costboost.decisions import allocate


def test_result_reads_like_a_sentence():
    result = allocate([[9, 1], [7, 2], [3, 0]], {"review": 1}, actions=np.array(["pass", "review"]))
    assert repr(result) == (
        "Allocation of 3 rows: 2 pass, 1 review\n"
        "  expected cost 11.00, 8.00 more than without limits\n"
        "  review: 1 of 1; one more would save 5.00"
    )
    assert np.asarray(result).tolist() == ["review", "pass", "pass"]
    assert np.array_equal(pickle.loads(pickle.dumps(result)).decisions, result.decisions)
