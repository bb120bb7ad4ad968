"""Functions of columns get arrays of Arrow, batch by batch, and return such."""

import pytest

pytest.importorskip("pyspark")

import pyarrow as pa
import pyarrow.compute as pc

from costboost.spark.parameters import arrow_function


def widths(numbers, words):
    assert isinstance(numbers, pa.Array)
    assert isinstance(words, pa.Array)
    wide = pc.add(pc.cast(numbers, pa.float64()), pc.utf8_length(words))
    return pa.StructArray.from_arrays([wide, words], names=["wide", "word"])


def test_columns_of_any_types_become_one_answer_a_row(spark):
    rows = [(1, "a"), (2, None), (None, "ccc"), (4, "")]
    frame = spark.createDataFrame(rows, "number int, word string").repartition(2)
    answer = arrow_function(widths, "wide double, word string")
    found = frame.select("number", answer("number", "word").alias("answer")).collect()
    told = {row["number"]: tuple(row["answer"]) for row in found}
    assert told == {1: (2.0, "a"), 2: (None, None), None: (None, "ccc"), 4: (4.0, "")}
