"""The demo: its numbers agree with each other and with the table, and its text with its numbers."""

import builtins
import dataclasses
import re

import numpy as np
import pytest
from sklearn.model_selection import train_test_split

from costboost import demo
from costboost.datasets import make_card_fraud
from costboost.metrics import total_cost

ROWS = 6000


@pytest.fixture(scope="module")
def story():
    return demo.tell(ROWS, n_resamples=100)


def test_test_rows_are_half_of_the_table(story):
    data = make_card_fraud(ROWS)
    _, test = train_test_split(np.arange(ROWS), test_size=0.5, stratify=data.y, random_state=0)
    np.testing.assert_array_equal(story.amount, data.amount[test])
    np.testing.assert_array_equal(story.y, data.y[test])
    assert len(story.y) + story.n_train == ROWS


def test_doing_nothing_costs_the_frauds(story):
    nothing = story[demo.NOTHING]
    assert nothing.cost == pytest.approx(story.amount[story.y == 1].sum())
    assert (nothing.investigated, nothing.fees, nothing.saved, nothing.stopped) == (0, 0, 0, 0)


def test_knowing_all_is_the_floor(story):
    perfect = story[demo.PERFECT]
    assert perfect.cost == pytest.approx(np.minimum(story.amount, story.fee)[story.y == 1].sum())
    assert all(outcome.cost >= perfect.cost for outcome in story.outcomes)


def test_every_outcome_adds_up(story):
    assert len({outcome.name for outcome in story.outcomes}) == 7
    costs = {"fp": story.fee, "tp": story.fee, "fn": story.amount}
    at_stake = story.amount[story.y == 1].sum()
    for o in story.outcomes:
        assert o.cost == pytest.approx(total_cost(story.y, o.decisions, costs=costs))
        assert o.cost == pytest.approx(o.fees + o.lost)
        assert o.fees == pytest.approx(story.fee * o.investigated)
        assert o.lost == pytest.approx(at_stake * (1 - o.stopped))
        assert o.saved == pytest.approx(1 - o.cost / at_stake)
        assert o.low <= o.cost <= o.high


def test_comparisons_are_differences_of_costs(story):
    n = len(story.y)
    compared = {
        demo.TUNED: story.versus_tuned,
        demo.PEER: story.versus_peer,
        demo.NAMED: story.versus_named,
    }
    for name, test in compared.items():
        assert n * test.difference == pytest.approx(story[demo.OURS].cost - story[name].cost)


def test_price_per_payment_never_investigates_small_amounts(story):
    """The cheapest decision needs less suspicion the more is at stake, and never chases pennies."""
    for name in (demo.OURS, demo.NAMED, demo.PEER):
        assert (story.amount[story[name].decisions == 1] > story.fee).all()


def test_the_same_story_is_told_again(story):
    again = demo.tell(ROWS, n_resamples=100)
    for first, second in zip(story.outcomes, again.outcomes, strict=True):
        np.testing.assert_array_equal(first.decisions, second.decisions)
        assert (first.low, first.high) == (second.low, second.high)


def test_text_is_aligned_and_plain(story):
    lines = demo.describe(story).splitlines()
    assert all(ord(letter) < 128 and letter.isprintable() for line in lines for letter in line)
    start = next(i for i, line in enumerate(lines) if line.lstrip().startswith("policy"))
    table = lines[start : start + 10]
    assert len({len(line) for line in table}) == 1
    for outcome in story.outcomes:
        (line,) = [line for line in table if outcome.name in line]
        assert f"{outcome.cost:,.0f}" in line


def test_verdicts_say_what_the_interval_allows(story):
    def say(low, difference, high):
        test = story.versus_tuned._replace(low=low, difference=difference, high=high)
        return demo._verdict(story, demo.TUNED, test)

    n = len(story.y)
    assert f"saves EUR {2 * n:,} more" in say(-3, -2, -1)
    assert "not significant" not in say(-3, -2, -1)
    assert f"saves EUR {2 * n:,} less" in say(1, 2, 3)
    assert "not significant" in say(-1, 1, 3)
    assert f"interval {-3 * n:,} to {n:,}" in say(-1, 1, 3)


def run_small(monkeypatch, capsys, *argv):
    given = []

    def small(n_samples, **how):
        given.append(n_samples)
        return demo_tell(n_samples, n_resamples=20, **how)

    demo_tell = demo.tell
    monkeypatch.setattr(demo, "tell", small)
    told = demo.main(["--rows", "3000", *argv])
    assert given == [3000]
    return told, capsys.readouterr().out


def test_main_prints_draws_and_says_what_next(monkeypatch, capsys, tmp_path):
    pytest.importorskip("matplotlib")
    told, printed = run_small(monkeypatch, capsys, "--output", str(tmp_path / "made" / "here"))
    picture = tmp_path / "made" / "here" / "card-fraud.png"
    assert str(picture) in printed
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert printed.index(demo.OURS) < printed.index("Picture:") < printed.index("What to type next")
    assert isinstance(told, demo.Story)
    page = tmp_path / "made" / "here" / "card-fraud-report.html"
    assert printed.rstrip().endswith(f"open {page.resolve().as_uri()} in a browser.")
    assert f"EUR {told[demo.OURS].cost:,.2f}" in page.read_text(encoding="utf-8")


def test_without_matplotlib_the_story_goes_on(monkeypatch, capsys, tmp_path):
    imported = builtins.__import__

    def refuse(name, *rest, **more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return imported(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    _, printed = run_small(monkeypatch, capsys, "--output", str(tmp_path / "none"))
    assert "costboost[plot]" in printed
    assert "What to type next" in printed
    assert [file.name for file in (tmp_path / "none").iterdir()] == ["card-fraud-report.html"]


def test_what_to_type_next_runs():
    code = "\n".join(re.findall(r"^  ((?:from|data|costs|model).*)$", demo.NEXT, flags=re.M))
    assert code.count("\n") >= 5
    names = {}
    exec(code, names)  # as it stands: with few rows the folds decide whether a warning is due
    assert len(names["model"].classes_) == 2


def test_the_picture_shows_every_policy(story, tmp_path):
    pytest.importorskip("matplotlib")
    dear = dataclasses.replace(story, fee=1000.0)
    assert demo.draw(dear, tmp_path / "a.png").stat().st_size > 10_000
