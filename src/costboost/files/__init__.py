"""Tables in Parquet files: trained on and predicted for without ever being in memory as a whole."""

try:
    import pyarrow  # noqa: F401
except ImportError as error:
    raise ImportError(
        "Tables in Parquet files need pyarrow: pip install 'costboost[parquet]'."
    ) from error

from costboost.files.table import ParquetTable

__all__ = ["ParquetTable"]
