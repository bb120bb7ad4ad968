"""What the page says in words is so."""

import re

import numpy as np
from sklearn.naive_bayes import GaussianNB

from costboost import Costs, make_report
from costboost.report import words as say
from costboost.report.rounding import rounded
from costboost.report.subject import Subject
from costboost.report.words import Words
from report_cases import FRAUD, data_of, fraud_model, fraud_rows, text_of, two_class_rows, unpack


def test_only_scores_truths_and_prices_leave_the_table():
    X, y = fraud_rows(600)
    report = make_report(fraud_model(), X, y, costs=FRAUD)
    heads = [head["name"] for head in data_of(report)["arrays"]]
    assert heads == ["p1", "truth", "c0"]
    packed = re.search(r'id="rows">(.*?)</script>', report.html)[1]
    arrays = unpack(packed, data_of(report)["arrays"], 600)
    assert set(arrays) == {"p1", "truth", "c0"}
    words = " ".join(text_of(report).split())
    assert "its probabilities, its true class, its prices (amount); as exact" in words
    assert "No other value of any row is in it." in words
    assert "Rows explained" not in words


def subject_of(rows):
    return Subject(GaussianNB(), None, rows, None)


def test_the_subtitle_says_how_many_rows_and_whether_they_were_drawn():
    rows = two_class_rows([0.5] * 1200, [0, 1] * 600)
    assert say.subtitle(subject_of(rows), rows).startswith("GaussianNB, judged on 1,200 rows. ")
    drawn = say.subtitle(subject_of(rows), rows.take(np.arange(7)))
    assert "judged on 7 rows, drawn at random from 1,200. " in drawn
    assert re.search(r"\. \d{1,2} [A-Z][a-z]+ \d{4}\.$", drawn)


def test_what_is_kept_of_every_row_is_listed_and_nothing_else():
    words = Words("", ["0", "1"], ["0", "1"])
    plain = two_class_rows([0.5, 0.2], [0, 1])
    facts = say.held(subject_of(plain), plain, False, words)
    assert facts["Of every row"].startswith("its probabilities, its true class; as exact as")
    assert set(facts) == {"Of every row", "Besides", "Figures"}
    codes = np.array([0, 1])
    full = two_class_rows(
        [0.5, 0.2], [0, 1], Costs(fp=1, fn=[2, 3]), weight=np.ones(2), current=codes, period=codes,
        decided=codes, groups={"city": (["u", "v"], codes), "age": (["w"], codes * 0)},
    )  # fmt: skip
    facts = say.held(subject_of(full), full, True, words)
    assert facts["Of every row"].startswith(
        "its decision, its true class, its prices (a price of its own), its weight, today's "
        "decision, the number of its period, its category of city, age; "
    )
    assert facts["Besides"].endswith("the explained rows with all their values.")


def test_a_rounded_page_counts_the_decisions_that_rounding_changed():
    near = 1 / 11  # the threshold of these prices, between two multiples of 2**-24
    proba = np.array([near - 1e-9, near + 1e-9, near + 2e-8, 0.5])
    rows = two_class_rows(proba, [0, 0, 0, 1])
    kept = rounded(rows, 2)
    changed = int(np.sum(kept.decide_codes() != rows.decide_codes()))
    assert changed > 0
    said = say.held(subject_of(rows), kept, False, Words("", [], []))["Of every row"]
    assert f"changes {changed} of 4 decisions" in said
    assert "probabilities to multiples of 2**-24" in said


def test_all_rows_are_billed_where_a_part_was_drawn():
    rows = two_class_rows([0.001] * 5, [1, 1, 1, 0, 0])
    facts = say.held(subject_of(rows), rows.take([4]), False, Words("$", [], []))
    assert facts["Of all rows"].endswith("At the opening prices all 5 together cost $30.00.")


def test_tables_and_places_say_why_they_are_empty():
    assert say.warnings_html([]) == say.reliability_html([]) == say.brier_words([]) == ""
    assert "Name columns with groups=" in say.who_html([])
    assert "too many columns" in say.matters_html(None)
    options = say.who_html([{"name": "<city>"}, {"name": "age"}])
    assert '<option value="0">&lt;city&gt;</option><option value="1">age</option>' in options


def test_words_follow_the_kind_of_model_and_of_prices():
    plain = two_class_rows([0.5], [1])
    fixed = two_class_rows([0.5], [1], decided=np.array([1]))
    by_row = two_class_rows([0.5] * 2, [1, 0], Costs(fp=1, fn=[2, 3]))
    assert "the model decides again" in say.prices_words(plain)
    assert "the same decisions" in say.prices_words(fixed)
    assert "its decisions stay" in " ".join(say.share_words(fixed).split())
    assert "no curves" in say.curves_words(fixed)
    assert "thresholds of their own" in say.cost_words(by_row)
    assert "thresholds of their own" not in say.cost_words(plain)
    shuffled = {"how": "shuffled", "unit": "", "rows": 1500, "bars": [], "hidden": 0}
    assert "(1,500 of them, one shuffle each)." in say.matters_html(shuffled)
    opened = {"how": "contributions", "unit": "log odds", "rows": 9, "bars": [], "hidden": 3}
    assert "3 columns that matter less are not shown." in say.matters_html(opened)
    assert "moves the log odds of a row" in say.matters_html(opened)
