"""Functions of columns that take and return Arrow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["arrow_function"]


def arrow_function(answer: Callable[..., Any], kind: str) -> Any:
    """Return a function of columns; `kind` is the type of its answers, in Spark's words."""
    import pyarrow as pa
    from pyspark.sql.functions import arrow_udf  # type: ignore[attr-defined]

    def answered(*arrays: Any) -> Any:
        return answer(*arrays)

    # From these Spark learns that arrays of Arrow are wanted.
    answered.__annotations__ = {"arrays": pa.Array, "return": pa.Array}
    return arrow_udf(answered, kind)
