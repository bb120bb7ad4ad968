"""Which columns a fit reads, settled by their names and types before any row is looked at."""

import re
from decimal import Decimal
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("pyspark")

from pyspark.ml.linalg import DenseVector, SparseVector, VectorUDT
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    ByteType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

import costboost
from costboost import Costs
from costboost.costs import expression
from costboost.spark.frame_columns import FrameColumns, price_columns, quoted, read_columns

PRICES = Costs(fp=8, fn="amount")
KINDS = {
    "height": DoubleType(),
    "count": IntegerType(),
    "small": ByteType(),
    "colour": StringType(),
    "paid": BooleanType(),
    "price": DecimalType(9, 2),
    "made": DateType(),
    "tags": ArrayType(StringType()),
    "parts": ArrayType(FloatType()),
    "amount": DoubleType(),
    "label": StringType(),
    "id": LongType(),
}
SCHEMA = StructType([StructField(name, kind) for name, kind in KINDS.items()])


class Frame:
    """A DataFrame of so many rows, of which only the first is ever looked at."""

    def __init__(self, schema=SCHEMA, first=None):
        self.schema, self.columns = schema, schema.names
        self.row, self.asked = first, []

    def select(self, name):
        self.asked.append(name)
        return SimpleNamespace(first=lambda: self.row)


def read(frame=None, costs=PRICES, **given):
    wanted = {"features_col": "features", "feature_cols": ["height"], **given}
    return read_columns(frame or Frame(), costs=costs, **wanted)


def vectors(first=None, **metadata):
    return Frame(StructType([StructField("v", VectorUDT(), True, metadata)]), first)


def test_scalars_that_can_be_trained_on():
    names = ["height", "count", "small", "colour", "paid", "price"]
    found = read(feature_cols=names, label_col="label", weight_col="count", row_id_col="id")
    assert found == FrameColumns(tuple(names), None, "label", "count", ("amount",), "id")
    assert found.feature_names == names
    assert found.all == [*names, "amount", "label", "id"]  # "count" stands once


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"feature_cols": []}, "must be a list of different columns"),
        ({"feature_cols": "height"}, "must be a list of different columns"),
        ({"feature_cols": ["count", "height", "count"]}, "must be a list of different columns"),
        ({"feature_cols": ["depth"]}, "feature_cols names 'depth', which is no column.*'height'"),
        ({"feature_cols": ["made"]}, "'made' of type date: numbers, booleans and strings"),
        ({"feature_cols": ["parts"]}, "'parts' of type array<float>"),
        ({"label_col": "y"}, "label_col names 'y'"),
        ({"weight_col": "w"}, "weight_col names 'w'"),
        ({"row_id_col": "row"}, "row_id_col names 'row'"),
        ({"row_id_col": "label"}, "has type string: rows are put in order by whole numbers"),
        ({"costs": Costs(fp="fee", fn=1)}, "costs names 'fee'"),
        ({"costs": Costs(fp=1, fn=np.ones(9))}, "prices of 9 rows"),
        ({"feature_cols": None, "features_col": "tags"}, "has type array<string>: give a column"),
        ({"feature_cols": None, "features_col": "v"}, "features_col names 'v'"),
    ],
)
def test_what_cannot_be_trained_on_is_refused_by_name(given, message):
    frame = Frame()
    with pytest.raises(ValueError, match=message):
        read(frame, **given)
    assert frame.asked == []


def test_the_width_of_vectors_is_what_is_known_of_them_or_that_of_the_first():
    free = {"costs": Costs(fp=1, fn=1), "feature_cols": None, "features_col": "v"}
    frame = vectors((DenseVector([1, 2, 3]),))
    found = read(frame, **free)
    assert (found.features, found.width, frame.asked) == (("v",), 3, ["`v`"])
    assert found.feature_names == ["v[0]", "v[1]", "v[2]"]
    known = vectors(ml_attr={"num_attrs": 5})
    assert (read(known, **free).width, known.asked) == (5, [])
    assert (read(known, **free, width=2).width, known.asked) == (2, [])


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (vectors(), "The DataFrame has no rows"),
        (vectors((None,)), "features_col='v' is null in the first row"),
        (vectors(ml_attr={"num_attrs": 70_000}), "have 70,000 entries.* at most 65,536"),
    ],
)
def test_vectors_that_cannot_be_trained_on_are_refused(frame, message):
    with pytest.raises(ValueError, match=message):
        read(frame, costs=Costs(fp=1, fn=1), feature_cols=None, features_col="v")


def test_names_are_quoted_dots_and_all():
    assert quoted("a.b") == "`a.b`"
    assert quoted("a`b") == "`a``b`"


def test_which_columns_costs_are_read_from():
    assert price_columns(Costs(fp=1, fn=2)) == ()
    assert price_columns(Costs(fp="fee", fn=expression("0.4 * amount + fee"))) == ("fee", "amount")


def test_functions_do_not_say_what_they_read_and_the_advice_given_instead_works():
    with pytest.raises(ValueError, match="by a function of the table") as caught:
        price_columns(Costs(fp=8, fn=lambda X: X["amount"]))
    advice = re.search(r"Costs\(.*\)", str(caught.value)).group()
    names = {"Costs": Costs, "costboost": costboost}
    assert price_columns(eval(advice, names)) == ("amount",)


def test_columns_are_selected_in_types_that_arrow_has(spark):
    rows = [(SparseVector(3, {1: 2.5}), Decimal("7.5"), "x"), (DenseVector([1, 2, 3]), None, None)]
    kinds = {"a.b": VectorUDT(), "price": DecimalType(9, 2), "s`t": StringType()}
    schema = StructType([StructField(name, kind) for name, kind in kinds.items()])
    frame = spark.createDataFrame(rows, schema)
    columns = FrameColumns(("a.b",), 3, label="s`t", prices=("price",))
    found = columns.select(frame)
    assert [kind for _, kind in found.dtypes] == ["array<double>", "double", "string"]
    assert found.columns == ["a.b", "price", "s`t"]
    assert [tuple(row) for row in found.collect()] == [
        ([0.0, 2.5, 0.0], 7.5, "x"),
        ([1.0, 2.0, 3.0], None, None),
    ]
