"""Rows that are explained: which, and that the page says so."""

import re

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from costboost import Costs
from costboost.report.explained import explained_html, pick_rows
from costboost.report.subject import Subject
from costboost.report.words import Words
from report_cases import CASES, text_of, two_class_rows


def test_explained_rows_are_told_of():
    words = " ".join(text_of(CASES["by_row"]()).split())
    assert "This page holds rows of the table : 10 of them" in words
    assert "the explained rows with all their values" in words
    html = CASES["by_row"]().html
    shown = re.findall(r'<details class="row"><summary>Row (\d+): (decided|from)', html)
    explained, swapped = ({i for i, how in shown if how == kind} for kind in ("decided", "from"))
    assert len(explained) == 10
    assert f"10 of them here and {len(swapped - explained)} more among" in words


def test_rows_are_picked_by_regret_then_by_stake_then_by_closeness():
    n = 40
    truth = np.arange(n) % 2
    fn = np.arange(n) + 11.0
    proba = np.where(np.arange(n) < 20, 0.9, 0.001)
    proba[[20, 22, 24]] = [0.0311, 0.0284, 0.5]  # near the thresholds 1 / (1 + fn)
    rows = two_class_rows(proba, truth, Costs(fp=1, fn=fn))
    why = {}
    for i, reason in pick_rows(rows):
        why.setdefault(reason.removeprefix("one of the "), []).append(i)
    # Positives from row 21 on are missed: the last four are the dearest.
    assert why["dearest mistakes"] == [39, 37, 35, 33]
    assert why["dearest right decisions"] == [19, 17, 15]  # negatives have 1 at stake
    expected = np.column_stack([proba * fn, 1 - proba])
    gaps = np.abs(expected[:, 0] - expected[:, 1])
    gaps[[39, 37, 35, 33, 19, 17, 15]] = np.inf
    assert why["closest decisions"] == np.argsort(gaps, kind="stable")[:3].tolist()


def test_a_model_without_mistakes_shows_none_and_few_rows_are_shown_once():
    rows = two_class_rows([0.001, 0.9], [0, 1])
    picked = pick_rows(rows)
    assert sorted(i for i, _ in picked) == [0, 1]
    assert {why for _, why in picked} == {"one of the dearest right decisions"}
    fixed = two_class_rows([0.0] * 9, [0] * 9, decided=np.ones(9, dtype=np.int64))
    reasons = [why for _, why in pick_rows(fixed)]
    assert reasons == ["one of the dearest mistakes"] * 4  # no probabilities, so none is close


def test_rows_of_models_that_explain_nothing_show_their_values():
    X = pd.DataFrame({"size": [1.5, None], "<kind>": ["a&b", "c"], "count": [12345, 2]})
    rows = two_class_rows([0.9, 0.25], [0, 1])
    html = explained_html(
        Subject(LogisticRegression(), X, rows, None), Words("$", ["no", "yes"], ["no", "yes"])
    )
    first, second = html.split("<details")[1:]
    assert "Row 0: decided <b>yes</b>, was <b>no</b> (one of the dearest mistakes)" in first
    assert "no: 10 %, yes: 90 %" in first
    assert "no: $9.00, yes: $0.10" in first
    for name, value in (("size", "1.5"), ("&lt;kind&gt;", "a&amp;b")):
        assert f'<th scope="row">{name}</th><td>{value}</td>' in first
    assert '<th scope="row">size</th><td>missing</td>' in second
    assert "2 of them, with all their values" in html
