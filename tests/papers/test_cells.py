"""Cells of work: the same on any number of processes, kept, and never mixed up."""

import io
import sys

import numpy as np
import pytest

from costboost.papers import cells
from costboost.papers.options import Options

CELLS = {f"cell-{i}": (i,) for i in range(5)}
PROTOCOL = {"rounds": 3}


def draw(i):
    rng = np.random.default_rng(cells.seed_of("draw", i))
    return [
        {"i": i, "word": "a, b", "value": float(value), "none": None} for value in rng.random(2)
    ]


def test_cells_are_the_same_on_one_process_and_on_two(tmp_path):
    one = cells.compute(draw, CELLS, Options(tmp_path / "1"), PROTOCOL)
    two = cells.compute(draw, CELLS, Options(tmp_path / "2", jobs=2), PROTOCOL)
    assert one == two == [row for i in range(5) for row in draw(i)]


def test_finished_cells_are_not_computed_again(tmp_path):
    def failing(i):
        if i == 3:
            raise RuntimeError("stopped")
        return draw(i)

    with pytest.raises(RuntimeError, match="stopped"):
        cells.compute(failing, CELLS, Options(tmp_path), PROTOCOL)
    seen = []

    def watched(i):
        seen.append(i)
        return draw(i)

    rows = cells.compute(watched, CELLS, Options(tmp_path), PROTOCOL)
    assert seen == [3, 4]
    assert rows == [row for i in range(5) for row in draw(i)]
    assert not list((tmp_path / "cells").glob("*.part"))


def test_another_experiment_is_refused_in_the_same_folder(tmp_path):
    cells.compute(draw, CELLS, Options(tmp_path), PROTOCOL)
    with pytest.raises(ValueError, match=r"another experiment \(rounds differ\).*--out"):
        cells.compute(draw, CELLS, Options(tmp_path), {"rounds": 4})


def test_the_bar_tells_how_far_and_is_silent_without_a_terminal(tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    shown, silent = Terminal(), io.StringIO()
    for stream in (shown, silent):
        monkeypatch.setattr(sys, "stderr", stream)
        cells.compute(draw, CELLS, Options(tmp_path / str(id(stream))), PROTOCOL)
    assert "5/5" in shown.getvalue()
    assert silent.getvalue() == ""


def test_rows_come_back_as_they_were(tmp_path):
    rows = [
        {"a": 1, "b": 0.1 + 0.2, "c": "two, words", "d": None},
        {"a": -3, "b": 1e-300, "c": 'a "quote"', "e": "later"},
        {"a": 0, "b": float("inf"), "c": "line\nbreak"},
    ]
    cells.write_rows(tmp_path / "rows.csv", rows)
    names = ("a", "b", "c", "d", "e")
    expected = [{name: row.get(name) for name in names} for row in rows]
    assert cells.read_rows(tmp_path / "rows.csv") == expected
    cells.write_rows(tmp_path / "none.csv", [])
    assert cells.read_rows(tmp_path / "none.csv") == []
    assert len(list(tmp_path.iterdir())) == 2


def test_seeds_depend_on_all_words_and_on_their_order():
    found = [cells.seed_of(*words) for words in (("a", 1), ("a", "1"), (1, "a"), ("a1",), ())]
    assert len(set(found)) == 5
    assert all(0 <= seed < 2**32 for seed in found)
    assert cells.seed_of("pima", 3) == 4211480166  # on every machine


def test_the_bar_counts_what_was_done_before(monkeypatch):
    clock = iter([0.0, 120.0])
    monkeypatch.setattr(cells.time, "monotonic", lambda: next(clock))
    bar = cells.Bar(10, done=4)
    bar.advance()
    bar.advance()
    # Two cells took two minutes; four are left.
    assert bar.line("pima-3") == "[" + "#" * 18 + "." * 12 + "] 6/10  4.0 min left  pima-3"
