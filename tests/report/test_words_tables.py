"""Figures as words and tables: each number in its place, texts escaped."""

import re

import numpy as np
import pytest

from costboost import Costs
from costboost.metrics.policies import SumInterval
from costboost.report.rows import Figures, Policy, compute_figures
from costboost.report.words import (
    Words,
    bill_words,
    confusion_html,
    headline,
    policies_html,
    price_words,
    rows_html,
    whole_weights,
)
from report_cases import many, two_class_rows

WORDS = Words("EUR", ["honest", "<fraud>"], ["pay", "stop"])


def cells(html):
    """The texts of a table, row by row."""
    return [
        [re.sub(r"<[^>]+>", " ", cell).split() for cell in re.findall(r"<t[dh].*?</t[dh]>", row)]
        for row in re.findall(r"<tr.*?</tr>", html)
    ]


def figures(bill, *policies, counts=((3, 1), (0, 2)), money=((0, 8), (0, 16))):
    return Figures(bill, policies, np.array(counts, dtype=float), np.array(money, dtype=float))


def test_the_bill_of_a_row_is_by_weight_and_its_number_of_rows_is_not():
    rows = two_class_rows([0.5] * 4, [0, 1, 0, 1], weight=np.array([1.0, 2.0, 3.0, 4.0]))
    said = bill_words(figures(SumInterval(100, 80, 1200.5)), rows, WORDS)
    assert said == "95 % interval EUR 80.00 to EUR 1,200.50, on 4 rows: EUR 10.00 a row"
    plain = two_class_rows([0.5] * 4, [0, 1, 0, 1])
    assert bill_words(figures(SumInterval(100, 80, 120)), plain, WORDS).endswith("EUR 25.00 a row")


@pytest.mark.parametrize("positive", [0, 1])
def test_the_headline_is_against_the_cheapest_answer_gains_and_losses_apart(positive):
    rows = two_class_rows([0.5], [1], Costs(fp=1, fn=10, positive=positive))
    nothing = Policy("nothing", SumInterval(9, 8, 10), SumInterval(4, 2, 7), 0.4)
    everything = Policy("everything", SumInterval(1, 0, 2), SumInterval(-3, -6, -1), -0.3)
    dear = everything._replace(bill=SumInterval(10, 9, 11))
    for two in ([nothing, dear], [dear, nothing]):
        assert headline(figures(SumInterval(5, 4, 6), *two), rows, WORDS) == (
            "The model saves EUR 4.00 (40 %) against \u201cnothing\u201d; 95 % interval EUR 2.00 "
            "to EUR 7.00."
        )
    for two in ([nothing, everything], [everything, nothing]):
        assert headline(figures(SumInterval(5, 4, 6), *two), rows, WORDS) == (
            "The model costs EUR 3.00 (30 %) more than \u201ceverything\u201d; 95 % interval EUR "
            "1.00 to EUR 6.00."
        )


def test_of_several_actions_the_cheapest_is_the_one_to_beat():
    rows = many(5, 3)
    three = [
        Policy(str(k), SumInterval(t, t, t), SumInterval(k, k, k), 0.1)
        for k, t in enumerate((7, 2, 5))
    ]
    today = Policy("today", SumInterval(0, 0, 0), SumInterval(9, 9, 9), 0.9)
    assert "\u201c1\u201d" in headline(figures(SumInterval(1, 1, 1), *three, today), rows, WORDS)


def test_policies_stand_below_the_model_with_what_it_saves():
    worse = Policy("always <1>", SumInterval(9, 8, 10), SumInterval(4, 2, 7), 0.445)
    better = Policy("today", SumInterval(1, 0, 2), SumInterval(-4, -6, -1), -np.inf)
    html = policies_html(figures(SumInterval(5, 4, 6), worse, better), WORDS)
    own, first, second = cells(html)
    assert own[:2] == [["This", "model"], ["EUR", "5.00"]]
    assert first[0] == ["always", "&lt;1&gt;"]
    assert first[3:] == [["EUR", "4.00"], ["45", "%"]]  # halves go up
    assert second[3:] == [["-EUR", "4.00"], ["-"]]
    assert re.findall('class="(gain|loss)"', html) == ["gain", "gain", "loss", "loss"]


def test_the_confusion_matrix_has_sums_and_marks_right_answers():
    rows = two_class_rows([0.5], [1])
    html = confusion_html(figures(SumInterval(24, 0, 0)), rows, WORDS, 0)
    head, honest, fraud, total = cells(html)
    assert head == [["Truth"], ["decided", "pay"], ["decided", "stop"], ["All"]]
    assert honest == [["honest"], ["3", "EUR", "0.00"], ["1", "EUR", "8.00"], ["4", "EUR", "8.00"]]
    assert fraud[0] == ["&lt;fraud&gt;"]
    assert total[1:] == [["3", "EUR", "0.00"], ["3", "EUR", "24.00"], ["6", "EUR", "24.00"]]
    assert html.count('class="right"') == 2
    actions = Costs.from_matrix([[0, 1], [2, 0]], classes=[0, 1], actions=["pay", "stop"])
    priced = two_class_rows([0.5], [1], actions)
    assert 'class="right"' not in confusion_html(figures(SumInterval(24, 0, 0)), priced, WORDS, 0)


def test_figures_of_real_rows_fit_the_tables():
    rows = two_class_rows([0.01, 0.9, 0.02, 0.4], [0, 1, 1, 0], weight=np.full(4, 0.5))
    made = compute_figures(rows)
    html = confusion_html(made, rows, Words("", ["0", "1"], ["0", "1"]), 1)
    assert cells(html)[-1][-1] == ["2.0", f"{made.bill.total:.2f}"]
    assert f"<td>{made.bill.total:.2f}" in policies_html(made, Words("", [], [])).replace(
        ' data-label="Bill"', ""
    )


def test_prices_are_told_one_by_one_and_zeros_together():
    amount = np.array([5.0, 1234.5])
    costs = Costs(fp=8, tp=-2.5, fn=amount, tn=0, benefits=True)
    rows = two_class_rows([0.5, 0.5], [0, 1], costs)
    assert price_words(rows, WORDS).splitlines() == [
        "honest, decided stop: EUR 8.00",
        "<fraud>, decided pay: a price of its own, EUR 5.00 to EUR 1,234.50",
        "<fraud>, decided stop: -EUR 2.50",
        "everything else: nothing",
    ]


def test_plain_tables_are_escaped():
    html = rows_html(["a<b"], [["<i>"], ["&"]])
    assert cells(html) == [[["a&lt;b"]], [["&lt;i&gt;"]], [["&amp;"]]]


def test_counts_are_whole_where_weights_are():
    assert whole_weights(None)
    assert whole_weights([1.0, 3.0, 0.0])
    assert not whole_weights([1.0, 0.5])
