"""What is known of a rule's terms, put together over shards."""

import numpy as np

from costboost.boosting.adaboost.updates import RowFacts, evaluate_terms, price_range

NAN = np.nan


def facts(margins, *, farthest=1.0, factor=1.0, factored=False, by_class=True):
    return RowFacts(farthest, factor, factored, np.array(margins), by_class)


def test_facts_of_two_shards_are_those_of_all_rows():
    one = facts([[1.0, -1.0], [NAN, NAN]], farthest=1.0, factor=3.0)
    other = facts([[NAN, NAN], [-2.0, 2.0]], farthest=2.0, factor=1.0, factored=True)
    both = one.and_(other)
    assert (both.farthest, both.largest_factor, both.has_factors) == (2.0, 3.0, True)
    np.testing.assert_array_equal(both.margins, [[1.0, -1.0], [-2.0, 2.0]])
    assert both.margins_by_class


def test_shards_that_disagree_about_a_class_have_no_margins_by_class():
    one, other = facts([[1.0, -1.0], [NAN, NAN]]), facts([[1.0, -0.5], [NAN, NAN]])
    assert not one.and_(other).margins_by_class
    assert not one.and_(facts([[1.0, -1.0], [NAN, NAN]], by_class=False)).margins_by_class


def test_facts_are_put_together_in_any_order():
    parts = [facts([[1.0, -1.0], [NAN, NAN]]), facts(np.full((2, 2), NAN), farthest=5.0)]
    for some in (parts, parts[::-1]):
        both = evaluate_terms().reduce(some)
        assert both.farthest == 5.0
        np.testing.assert_array_equal(both.margins, parts[0].margins)


def test_ranges_are_reduced_to_the_largest_and_the_smallest():
    assert price_range().reduce([(3.0, 2.0), (0.0, np.inf), (7.0, 4.0)]) == (7.0, 2.0)
