"""pyarrow, imported when the first table is made: `costboost.ParquetTable` is a name without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from costboost.runtime.extras import Later

__all__ = ["pa", "pq"]

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa = Later("pyarrow", "ParquetTable")
    pq = Later("pyarrow.parquet", "ParquetTable")
