"""Which of two labels is the positive one: known for 0/1, -1/+1 and booleans, else asked for.

The alphabet knows nothing of money: of "fraud" and "legit" it would take the latter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["USUAL", "usual_positive"]

USUAL = "0/1, -1/+1 and booleans"


def usual_positive(labels: ArrayLike) -> Any:
    """Return the positive of two labels that are 0/1, -1/+1 or booleans; None for any others.

    Examples
    --------
    >>> usual_positive([0, 1]), usual_positive([1, -1]), usual_positive([False, True])
    (1, 1, True)
    >>> usual_positive(["fraud", "legit"]) is None
    True
    """
    listed = np.asarray(labels).tolist()
    numbers = all(isinstance(label, bool | int | float) for label in listed)
    if numbers and set(listed) in ({0, 1}, {-1, 1}):  # False == 0 and 1.0 == 1
        return max(listed)
    return None
