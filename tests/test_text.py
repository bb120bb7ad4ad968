"""Amounts, counts and shares as people read them."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import costboost
from costboost.text import count, fixed, listed, money, number, percent, span


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("decade", [*range(-300, 301, 20), *range(-4, 17)])
def test_amounts_of_every_size_are_near_what_is_written(sign, decade):
    for digits in (1, 1.2345, 9.9951):
        amount = sign * digits * 10.0**decade
        written = money(amount)
        assert float(written.replace(",", "")) == pytest.approx(amount, rel=0.05)
        assert len(written) <= 20


@pytest.mark.parametrize(
    ("amount", "written"),
    [
        (0, "0"),
        (-0.0, "0"),
        (0.1, "0.10"),
        (0.0999, "0.0999"),
        (8, "8"),
        (7.999, "8"),
        (99.99, "99.99"),
        (100, "100"),
        (-1234567.5, "-1,234,568"),
        (999_999_999_999_999, "999,999,999,999,999"),
        (1e15, "1e+15"),
        (-2.34567e300, "-2.346e+300"),
    ],
)
def test_cents_are_written_where_they_can_be_seen(amount, written):
    assert money(amount) == written


def test_a_currency_stands_before_the_amount():
    assert money(-1500, "CHF") == "-CHF 1,500"
    assert money(12.5, "$") == "$12.50"
    assert money(3, None) == "3"
    assert money(-1234.567, "EUR", cents=True) == "-EUR 1,234.57"
    assert money(5, "\u20ac", cents=True) == "\u20ac5.00"
    assert money(-0.001, "$", cents=True) == "$0.00"
    assert money(-1.5e27, "EUR", cents=True) == "-EUR 1.5e+27"
    assert span(-0.5, 2e16) == "-0.50 to 2e+16"


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


SHARES = {
    0: "0 %",
    1e-9: "0.0000001 %",
    0.0051: "0.51 %",
    0.02: "2 %",
    0.0994: "9.9 %",
    0.0998: "10 %",
    0.1: "10 %",
    0.98: "98 %",
    0.9899999: "99 %",
    0.99: "99 %",
    0.995: "99.5 %",
    0.99999999: "99.9 %",
    1: "100 %",
    -3.5: "-350 %",
    12: "1,200 %",
}


@pytest.mark.parametrize(("part", "written"), SHARES.items())
def test_nearly_all_is_not_all_and_little_is_not_nothing(part, written):
    assert percent(part) == written


def test_shares_of_nothing_are_a_dash():
    assert [percent(x) for x in (np.inf, -np.inf, np.nan)] == ["-", "-", "-"]


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_page_writes_shares_and_amounts_alike():
    rng = np.random.RandomState(0)
    shares = [*SHARES, *rng.random_sample(50).tolist(), *(rng.randn(50) / 30).tolist()]
    script = (Path(costboost.__file__).parent / "report" / "assets" / "charts.js").read_text()
    script = script[: script.index("// --- axes")]
    script += (
        f"\nconsole.log(JSON.stringify({json.dumps(shares)}.map((x) => "
        '[percent(x), money(1e4 * x, "EUR")])))'
    )
    ran = subprocess.run(["node", "-e", script], capture_output=True, text=True, check=True)
    wanted = [[percent(x), money(1e4 * x, "EUR", cents=True)] for x in shares]
    assert json.loads(ran.stdout) == wanted


def test_numbers_with_a_fixed_number_of_decimals():
    assert fixed(1234567.891, 2) == "1,234,567.89"
    assert fixed(-0.004, 2) == "0.00"
    assert fixed(2.5) == "3"
    assert fixed(-1234.5) == "-1,235"
    assert fixed(999999999999999868928.0, 2) == "999,999,999,999,999,868,928.00"
    assert fixed(np.float64(2e300)) == "2e+300"


def test_numbers_with_significant_digits():
    values = (0, -0.0, 0.9996, 1.0, 12.345, 999.9, 1234.5, 1e15, -12.345, 1e-300, np.inf, np.nan)
    assert [number(v, 3) for v in values] == [
        "0", "0", "1", "1", "12.3", "1,000", "1,234", "1e+15", "-12.3", "1e-300", "inf", "nan",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("n", "end"), [(0, ""), (1, "n0"), (3, "n0, n1, n2"), (4, "n0, n1, n2 and 1 other"),
                   (5, "n0, n1, n2 and 2 others")]
)  # fmt: skip
def test_lists_end_where_nobody_reads_on(n, end):
    assert listed([f"n{i}" for i in range(n)], 3) == end
