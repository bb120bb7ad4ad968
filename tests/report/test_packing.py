"""Packing keeps every bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from costboost.report.rounding import _pack, pack_rows
from report_cases import CASES, restore, unpack

floats = st.floats(allow_nan=False, allow_infinity=False, width=64)


cents = st.integers(-(10**9), 10**12).map(lambda n: n / 100)


def bits(values):
    return np.asarray(values, dtype=np.float64).view(np.uint64).tolist()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(floats, cents), min_size=1, max_size=30), st.booleans())
def test_any_numbers_come_back(numbers, is_sorted):
    values = np.array(sorted(numbers) if is_sorted else numbers)
    values = values + 0.0  # -0.0 becomes 0.0: no price and no probability is one
    head, body = _pack("x", values)
    table = np.zeros((len(values), 8), dtype=np.uint8)
    table[:, : head["planes"]] = np.frombuffer(body, np.uint8).reshape(-1, len(values)).T
    assert bits(restore(head, table.view("<u8")[:, 0])) == bits(values)


def test_amounts_in_cents_are_kept_as_such():
    values = np.array([0.1, 1234.56, 19.99, 0.07])
    head, body = _pack("x", values)
    assert (head["kind"], head["divisor"], head["planes"]) == ("whole", 100.0, 3)
    assert len(body) == 12


@pytest.mark.parametrize("name", CASES)
def test_rows_come_back(name):
    rows = CASES[name]().page_rows
    text, heads = pack_rows(rows)
    arrays = unpack(text, heads, len(rows))
    np.testing.assert_array_equal(arrays["truth"], rows.truth)
    for j, column in enumerate(rows.prices.columns):
        np.testing.assert_array_equal(arrays[f"c{j}"], column)
    for k in range(len(rows.classes)):
        if f"p{k}" in arrays:
            np.testing.assert_array_equal(arrays[f"p{k}"], rows.proba[:, k])
    for j, (labels, codes) in enumerate(rows.groups.values()):
        np.testing.assert_array_equal(arrays[f"g{j}"], codes)
        assert codes.max() < len(labels)
