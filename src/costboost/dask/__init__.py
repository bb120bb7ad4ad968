"""Fits and predictions on a Dask cluster: the model of the same rows in memory, bit for bit."""
