"""Whether a value is what an annotation says."""

from typing import Any, Literal, Optional

import numpy as np
import pytest
from numpy.typing import NDArray

from costboost.persistence.kinds import fits


class Number(float):
    """A float that is more than one."""


class OwnArray(np.ndarray):
    """A kind of array that no model of ours holds."""


OWN = np.zeros(1).view(OwnArray)


@pytest.mark.parametrize(
    ("hint", "good", "bad"),
    [
        (int, [0, -(10**40)], [True, 1.0, np.int64(1), "1", None]),
        (float, [1.5, float("nan")], [1, np.float64(1), Number(1), "1"]),
        (bool, [True], [1, np.bool_(True)]),
        (None, [None], [0, False, ""]),
        (Any, [None, object(), {}], []),
        (int | None, [3, None], [3.0, True]),
        (Optional[str], ["", None], [b"", 0]),  # noqa: UP045
        (Literal["a", 1], ["a", 1], ["b", True, 1.0]),
        (list[int], [[], [1, 2]], [(1,), [1, 2.0], [True]]),
        (tuple[int, ...], [(), (1, 2)], [[1], (1, "a")]),
        (tuple[int, str], [(1, "a")], [(1,), (1, "a", "b"), ("a", 1)]),
        (dict[str, float], [{}, {"a": 1.0}], [{"a": 1}, {1: 1.0}, [("a", 1.0)]]),
        (dict[str, list[int | None]], [{"a": [1, None]}], [{"a": [1, "b"]}, {"a": (1,)}]),
        (NDArray[np.float64], [np.zeros(2)], [[0.0], np.zeros(2, np.float32), np.zeros(2, int)]),
        (NDArray[Any], [np.zeros(2), np.array(["a"])], [[1], np.float64(1), OWN]),
        (NDArray[np.float64] | list[float], [np.zeros(1), [1.0]], [[1], np.array(["a"])]),
    ],
)  # fmt: skip
@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_types_are_taken_at_their_word(hint, good, bad):
    assert [value for value in good if not fits(value, hint)] == []
    assert [value for value in bad if fits(value, hint)] == []


def test_bytes_in_another_order_are_another_type():
    assert fits(np.zeros(2, dtype="<f8"), NDArray[np.float64])
    assert not fits(np.zeros(2, dtype=">f8"), NDArray[np.float64])
