"""Fits whose rows are on other machines: what Dask and Spark share.

A table is cut into *parts*: some of its rows, read by a *source*. A worker holds parts and answers
messages about them (`worker`); the driver numbers what it says, puts answers together and builds
lost parts again (`driver`). Between them is a transport, a small class for every engine.
"""
