"""Amounts, counts and shares as people read them."""

import pytest

from costboost.cli.money import Money, count, share

BARE = Money("").bare


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("decade", [*range(-300, 301, 20), *range(-4, 17)])
def test_amounts_of_every_size_are_near_what_is_written(sign, decade):
    for digits in (1, 1.2345, 9.9951):
        amount = sign * digits * 10.0**decade
        written = BARE(amount)
        assert float(written.replace(",", "")) == pytest.approx(amount, rel=0.05)
        assert len(written) <= 20


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        (0, "0.00"),
        (0.1, "0.10"),
        (0.0999, "0.0999"),
        (99.99, "99.99"),
        (100, "100"),
        (-1234567.5, "-1,234,568"),
        (999_999_999_999_999, "999,999,999,999,999"),
        (1e15, "1e+15"),
        (-2.34567e300, "-2.346e+300"),
    ],
)
def test_cents_are_written_where_they_can_be_seen(amount, written):
    assert BARE(amount) == written


def test_the_currency_stands_once_and_leaves_no_blank_behind():
    assert Money("CHF")(-1500) == "CHF -1,500"
    assert Money("")(3) == "3.00"
    assert Money("CHF").span(-0.5, 2e16) == "-0.50 to 2e+16"


@pytest.mark.parametrize(
    ("n", "words", "written"),
    [
        (0, ("row",), "0 rows"),
        (1, ("category", "categories"), "1 category"),
        (1_000, ("category", "categories"), "1,000 categories"),
    ],
)
def test_counts(n, words, written):
    assert count(n, *words) == written


@pytest.mark.parametrize(
    ("part", "written"),
    [
        (0, "0 %"),
        (1e-9, "1e-07 %"),
        (0.0994, "9.9 %"),
        (0.1, "10 %"),
        (0.98, "98 %"),
        (0.9899999, "99 %"),
        (0.99, "99.0 %"),
        (0.99999999, "99.9 %"),
        (1, "100 %"),
        (-3.5, "-350 %"),
    ],
)
def test_nearly_all_is_not_all_and_little_is_not_nothing(part, written):
    assert share(part) == written
