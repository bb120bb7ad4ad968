"""What a number costs that is too large or too small: so much per unit above, so much below."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost.inputs.arrays import FloatArray, read_numbers

__all__ = ["price_errors"]


def price_errors(target: FloatArray, answer: FloatArray, over: Any, under: Any) -> FloatArray:
    """Return ``over * max(answer - target, 0) + under * max(target - answer, 0)``, shape (n,).

    `over` and `under` are numbers, or one for each row.
    """
    error = answer - target
    above, beneath = _price(over, "over", len(target)), _price(under, "under", len(target))
    # The price first: that of the other side might overflow, and is not asked for.
    return np.asarray(np.where(error > 0, above, beneath) * np.abs(error))


def _price(given: ArrayLike, name: str, n_rows: int) -> FloatArray:
    price = read_numbers(given, name)
    if price.shape not in ((), (n_rows,)):
        raise ValueError(
            f"{name} has shape {price.shape}; it must be a number, or one for each of {n_rows} "
            "rows."
        )
    return price
