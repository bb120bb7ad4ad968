"""Tables in Parquet files: trained on and predicted for without ever being in memory as a whole."""

from costboost.files.table import ParquetTable

__all__ = ["ParquetTable"]
