"""How a set is described: which digits are codes, and which prices are the default."""

import dataclasses

import pytest

from costboost.datasets._spec import OpenML, Spec, five_to_one, unpriced

PLAIN = Spec(classes={0: 1, 1: 2}, n_features=2, description="", source="")


@pytest.mark.parametrize(
    ("coded", "codes"),
    [
        ((), ""),
        (("a",), "a"),
        (("a", "c"), "ac"),
        (("*",), "abc"),
        (("*", "-b"), "ac"),
        (("*", "-a", "-b", "-c"), ""),
        (("-b",), ""),  # an exception from nothing
    ],
)
def test_a_star_is_all_and_a_minus_excepts_one(coded, codes):
    spec = dataclasses.replace(PLAIN, coded=coded)
    assert [column for column in "abc" if spec.is_coded(column)] == list(codes)


def test_a_set_has_no_prices_unless_it_says_so():
    assert list(PLAIN.pricing.values()) == [unpriced]
    assert PLAIN.pricing["none"]({}, None, None) == (None, None)
    priced = dataclasses.replace(PLAIN, pricing={"matrix": five_to_one, "none": unpriced})
    assert next(iter(priced.pricing)) == "matrix"


def test_entries_do_not_share_what_can_be_changed():
    other = Spec(classes={0: 1}, n_features=1, description="", source="")
    assert other.pricing is not PLAIN.pricing
    with pytest.raises(dataclasses.FrozenInstanceError):
        other.positive = 1
    assert OpenML(7).labels == {}
