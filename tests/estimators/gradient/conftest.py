"""Rows that the tests of gradient boosting share."""

from __future__ import annotations

import pytest
from sklearn.datasets import load_breast_cancer


@pytest.fixture(scope="module")
def cancer():
    return load_breast_cancer(return_X_y=True)
