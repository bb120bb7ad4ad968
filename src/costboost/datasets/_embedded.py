"""A set that comes with scikit-learn, with prices put on its mistakes."""

from __future__ import annotations

import numpy as np
from sklearn import datasets as sklearn_datasets

from costboost.costs import Costs
from costboost.datasets._bunch import Dataset, make_dataset
from costboost.datasets._tables import FrameKind


def load_breast_cancer(
    *, fp: float = 1.0, fn: float = 20.0, as_frame: FrameKind = "auto"
) -> Dataset:
    """Load scikit-learn's breast cancer set (Wisconsin, diagnosis) with prices.

    Parameters
    ----------
    fp : float, default=1.0
        What a needless second look at a benign tumour costs.
    fn : float, default=20.0
        What a malignant tumour that is sent home costs. Both are illustrations in the unit of one
        second look, not medical advice.
    as_frame : {"auto", "pandas", "polars", "numpy"}, default="auto"
        As for `load`.

    Returns
    -------
    Dataset
        569 rows, 30 numbers; `y` is "benign" or "malignant", and "malignant" is positive.

    Examples
    --------
    >>> from costboost.datasets import load_breast_cancer
    >>> data = load_breast_cancer()
    >>> data
    Dataset('breast_cancer': 569 rows, 30 features (0 categorical), classes benign: 357, \
malignant: 212)
    >>> data.costs
    Costs(fp=1, fn=20, positive='malignant')
    """
    bunch = sklearn_datasets.load_breast_cancer()
    table = np.asarray(bunch.data, dtype=np.float64)
    columns = {str(name): table[:, j].copy() for j, name in enumerate(bunch.feature_names)}
    return make_dataset(
        "breast_cancer",
        columns,
        np.asarray(bunch.target_names)[bunch.target],
        as_frame,
        positive="malignant",
        costs=Costs(fp=fp, fn=fn, positive="malignant"),
        description="Breast cancer, Wisconsin, diagnosis, with a price for each mistake",
        source="scikit-learn (UCI 17, CC BY 4.0); the prices are illustrations",
    )
