"""Rows that are explained: which, and that the page says so."""

from report_cases import CASES, text_of


def test_explained_rows_are_told_of():
    words = " ".join(text_of(CASES["by_row"]()).split())
    assert "This page holds rows of the table : 10 of them" in words
    assert "the explained rows with all their values" in words
    assert CASES["by_row"]().html.count('<details class="row">') == 10
