"""What is expected to be paid, as a table like the one that it is about."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from costboost import Costs, MinimumCostClassifier

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(40, 2)), columns=["a", "b"], index=np.arange(40) * 3)
X["amount"] = rng.uniform(1, 9, size=40)
Y = np.where(X["a"] > 0, "default", "paid")
LOANS = Costs.of_actions(
    {"approve": {"default": "amount", "paid": 0}, "decline": {"default": 0, "paid": 2}}
)
NAMES = ["approve", "decline"]


@pytest.fixture
def model():
    return MinimumCostClassifier(LogisticRegression(), costs=LOANS, random_state=0).fit(X, Y)


def test_frames_get_frames_with_the_names_of_the_actions(model):
    numbers = LOANS.bind_table(X).expected(model.predict_proba(X))
    found = model.expected_cost(X)
    assert isinstance(found, pd.DataFrame)
    assert found.columns.tolist() == NAMES
    assert found.index.equals(X.index)
    assert_array_equal(found, numbers)
    for table in (pl.from_pandas(X), pa.Table.from_pandas(X, preserve_index=False)):
        found = model.expected_cost(table)
        assert type(found) is type(table)
        named = found.columns if isinstance(found, pl.DataFrame) else found.column_names
        assert named == NAMES
        numbers = LOANS.bind_table(table).expected(model.predict_proba(table))
        assert_array_equal(np.column_stack([np.asarray(found[name]) for name in NAMES]), numbers)


def test_arrays_get_arrays():
    numbers = X.to_numpy()
    model = MinimumCostClassifier(LogisticRegression(), random_state=0).fit(numbers, Y)
    assert isinstance(model.expected_cost(numbers), np.ndarray)
    own = model.expected_cost(numbers, costs=Costs(fp=1, fn=lambda X: X[:, 2], positive="default"))
    assert own.shape == (40, 2)


def test_labels_of_classes_name_columns_too(model):
    found = model.expected_cost(X, costs=Costs(fp=1, fn="amount", positive="default"))
    assert found.columns.tolist() == ["default", "paid"]


def test_set_output_is_respected(model):
    assert isinstance(model.set_output(transform="polars").expected_cost(X), pl.DataFrame)
    assert isinstance(clone(model).fit(X, Y).expected_cost(X), pl.DataFrame)
    assert isinstance(model.set_output(transform="pandas").expected_cost(X), pd.DataFrame)
    assert isinstance(model.set_output().expected_cost(pl.from_pandas(X)), pd.DataFrame)
    assert isinstance(model.set_output(transform="default").expected_cost(X), pd.DataFrame)
    with sklearn.config_context(transform_output="polars"):
        assert isinstance(model.expected_cost(X), pd.DataFrame)  # its own choice prevails
        fresh = MinimumCostClassifier(LogisticRegression(), costs=LOANS, random_state=0).fit(X, Y)
        assert isinstance(fresh.expected_cost(X), pl.DataFrame)
    with pytest.raises(ValueError, match="transform='arrow' is not known"):
        model.set_output(transform="arrow")
