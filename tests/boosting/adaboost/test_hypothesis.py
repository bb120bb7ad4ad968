"""Terms of rows: those of one label are what they are among all rows."""

import numpy as np
import pytest

from costboost.boosting.adaboost.rows import RowTerms
from costboost.boosting.adaboost.rules import RULES, BoundRule, MistakePrices
from rows_of_votes import Rows

COST = np.array([0.3, 0.7, 1.0])


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("name", ["adaboost", "csb2", "adac1", "adac3", "adacost", "asymada"])
def test_terms_of_one_label_are_those_of_all_rows(name, label):
    bound, labels = BoundRule(RULES[name], 10, 2), np.full(3, label)
    at = bound.at(COST, labels)
    found = RowTerms.of_label(label, bound.both_exponents(at), bound.both_factors(at))
    u, f = bound.terms(MistakePrices(COST, np.zeros((3, 2)), constant=False), labels)
    sign = 1.0 if found.signed else np.where(np.arange(2) == label, 1.0, -1.0)
    np.testing.assert_array_equal(found.u * sign, u)
    np.testing.assert_array_equal(np.broadcast_to(found.f, (3, 2)), f)
    assert found.u.flags.c_contiguous  # as kernels want it


def test_without_exponents_there_are_factors_alone():
    right, wrong = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    terms = RowTerms.of_label(1, None, (right, wrong))
    assert terms.u.shape == (0, 2)
    np.testing.assert_array_equal(terms.f, [[3.0, 1.0], [4.0, 2.0]])


def test_margins_by_class_are_spread_over_rows():
    table = np.array([[1.0, -2.0], [-3.0, 4.0]])
    terms = RowTerms(np.zeros((0, 2)), np.ones((3, 2)), table).spread(np.array([1, 0, 1]))
    np.testing.assert_array_equal(terms.u, table[[1, 0, 1]])


def test_terms_of_one_price_keep_one_column():
    assert Rows(0).terms.u.shape == (50, 1)
    assert not any(Rows(0).terms.f.strides)
    assert Rows(0, symmetric=False).terms.u.shape == (50, 2)
    assert Rows(0, factored=True).terms.f.shape == (50, 1)
