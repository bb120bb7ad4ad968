"""The parts of a page and the data of its script: complete, and in step with each other."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

import costboost.report.page
from costboost.report.page import Contents, template_parts
from costboost.report.rows import compute_figures
from costboost.report.subject import Subject
from costboost.report.words import Words
from report_cases import two_class_rows, unpack


def contents(rows, X=None, **given):
    words = Words("EUR", ["no", "</script>"], ["no", "</script>"])
    X = np.zeros((len(rows), 1)) if X is None else X
    parts = {
        "subject": Subject(object(), X, rows, None),
        "rows": rows,
        "words": words,
        "figures": compute_figures(rows, names=dict(enumerate(words.actions))),
        "warnings": [],
        "matters": None,
        "card": {"Facts": {"a": "<b>"}},
        "explained": "",
        "title": "A <title>",
    }
    return Contents(**{**parts, **given})


@pytest.fixture
def rows():
    amount = np.array([10.0, 20.0, 40.0, 90.0])
    costs = costboost.Costs(fp=3, tp=3, fn=amount)
    return two_class_rows([0.9, 0.2, 0.6, 0.02], [1, 0, 1, 0], costs)


def test_every_place_of_the_template_is_filled_and_none_besides(rows):
    template = (Path(costboost.report.page.__file__).with_name("assets") / "page.html").read_text()
    places = set(re.findall(r"\{\{ *(\w+) *\}\}", template))
    parts = template_parts(contents(rows))
    # What the files of the page itself fill.
    assert places == {*parts, "script", "script_digest", "style", "version"}


def test_the_data_of_the_script_unpack_to_the_rows(rows):
    parts = template_parts(contents(rows))
    data = json.loads(parts["page"])
    arrays = unpack(parts["rows"], data["arrays"], data["n"])
    np.testing.assert_array_equal(arrays["c0"], rows.prices.columns[0])
    np.testing.assert_array_equal(arrays["p1"], rows.proba[:, 1])
    assert np.reshape(data["values"], (2, 2)).tolist() == rows.prices.values.tolist()
    assert np.reshape(data["columnOf"], (2, 2)).tolist() == [[-1, -1], [0, -1]]
    assert data["columns"] == [{"name": "", "low": 10, "high": 90, "mean": 40}]
    assert (data["positive"], data["limited"], data["square"]) == (1, 1, True)
    assert (data["weight"], data["digits"], data["periods"]) == (4, 0, 1)
    assert len(data["policies"]) == 2


def test_nothing_that_users_name_ends_the_script_or_becomes_a_tag(rows):
    parts = template_parts(contents(rows, warnings=["a <b>"]))
    assert "</script>" not in "".join(parts.values())
    assert parts["title"] == "A &lt;title&gt;"
    assert "<li>a &lt;b&gt;</li>" in parts["warnings"]
    assert json.loads(parts["page"])["classes"] == ["no", "</script>"]


def test_rows_are_linked_to_only_where_some_are_explained(rows):
    assert template_parts(contents(rows))["rows_link"] == ""
    shown = template_parts(contents(rows, explained="<section>rows</section>"))
    assert "#rows-section" in shown["rows_link"]
    assert shown["explained"] == "<section>rows</section>"


def test_decisions_that_prices_do_not_move_have_no_curves(rows):
    assert json.loads(template_parts(contents(rows))["page"])["curves"]
    fixed = two_class_rows([0.0] * 4, [1, 0, 1, 0], decided=np.array([1, 1, 0, 0]))
    parts = template_parts(contents(fixed))
    assert json.loads(parts["page"])["curves"] == []
    assert parts["no_curves"] == " hidden"
    assert parts["reliability"] == parts["brier_words"] == ""


def test_weights_that_are_no_counts_are_shown_with_a_decimal():
    rows = two_class_rows([0.9, 0.2], [1, 0], weight=np.array([0.5, 2.0]))
    parts = template_parts(contents(rows))
    data = json.loads(parts["page"])
    assert (data["digits"], data["weight"]) == (1, 2.5)
    assert "<b>0.5</b>" in parts["confusion"]


def test_columns_asked_for_come_first_and_are_not_counted_twice():
    X = np.array([["a", "u"], ["b", "v"]] * 20, dtype=object)
    groups = {"column 1": (["only"], np.zeros(40, dtype=np.int64))}
    rows = two_class_rows([0.9, 0.001] * 20, [1, 0] * 20, groups=groups)
    data = json.loads(template_parts(contents(rows, X))["page"])
    assert [who["name"] for who in data["who"]] == ["column 1", "column 0"]
    assert data["groups"] == ["column 1"]
    assert data["who"][0]["labels"] == ["only"]
    one, other = data["who"][1]["opening"]
    assert (one["label"], one["rows"], one["hit"]) == ("a", 20, 20)
    assert (other["label"], other["rows"], other["hit"]) == ("b", 20, 0)
