"""What every command of the papers can be asked."""

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from papers import experiment
from papers.experiment import Options, load_set, load_two_classes, read_options


def test_options_are_read(tmp_path, capsys):
    found = read_options("cai", "", ["--quick", "--out", str(tmp_path), "--jobs", "3"])
    assert found == Options(tmp_path, quick=True, jobs=3)
    with pytest.raises(SystemExit):
        read_options("cai", "", ["--jobs", "0"])
    assert "give 1 or more" in capsys.readouterr().err


def test_a_set_that_needs_no_folder():
    data = load_set("breast_cancer")
    assert isinstance(data.X, np.ndarray)
    assert data.positive in data.y
    X, positive = load_two_classes("breast_cancer", None)
    np.testing.assert_array_equal(X, data.X)
    np.testing.assert_array_equal(positive == 1, data.y == data.positive)


def test_sets_are_chosen_by_name(tmp_path):
    known = {"pima": 1, "sick": 2}
    assert Options(tmp_path).choose(known) == ("pima", "sick")
    assert read_options("cai", "", ["--sets", "sick"]).choose(known) == ("sick",)
    with pytest.raises(ValueError, match="--sets iris: allowed are pima, sick"):
        read_options("cai", "", ["--sets", "iris"]).choose(known)


def test_what_is_not_asked_for_is_the_whole_experiment_in_a_folder_of_its_own():
    found = read_options("cai", "", [])
    assert found.jobs >= 1
    assert found == Options(Path("reproduced/cai"), jobs=found.jobs)
    assert read_options("cai", "", ["--quick"]).out == Path("reproduced/cai-quick")


def test_sets_keep_the_order_that_they_were_given_in():
    found = read_options("cai", "", ["--sets", "sick,,pima,", "--repeats", "7", "--data", "d"])
    assert (found.sets, found.repeats, found.data) == (("sick", "pima"), 7, "d")
    assert found.choose(["pima", "iris", "sick"]) == ("sick", "pima")


@pytest.mark.parametrize("text", ["-1", "1.5", "", "two"])
def test_counts_are_whole_and_positive(text, capsys):
    with pytest.raises(SystemExit):
        read_options("cai", "", [f"--repeats={text}"])
    assert f"{text!r} is too few: give 1 or more" in capsys.readouterr().err


# -------------------- Cells of work: the same on any number of processes, kept, and never mixed up.

CELLS = {f"cell-{i}": (i,) for i in range(5)}
PROTOCOL = {"rounds": 3}


def draw(i):
    rng = np.random.default_rng(experiment.seed_of("draw", i))
    return [
        {"i": i, "word": "a, b", "value": float(value), "none": None} for value in rng.random(2)
    ]


def test_cells_are_the_same_on_one_process_and_on_two(tmp_path):
    one = experiment.compute(draw, CELLS, Options(tmp_path / "1"), PROTOCOL)
    two = experiment.compute(draw, CELLS, Options(tmp_path / "2", jobs=2), PROTOCOL)
    assert one == two == [row for i in range(5) for row in draw(i)]


def test_finished_cells_are_not_computed_again(tmp_path):
    def failing(i):
        if i == 3:
            raise RuntimeError("stopped")
        return draw(i)

    with pytest.raises(RuntimeError, match="stopped"):
        experiment.compute(failing, CELLS, Options(tmp_path), PROTOCOL)
    seen = []

    def watched(i):
        seen.append(i)
        return draw(i)

    rows = experiment.compute(watched, CELLS, Options(tmp_path), PROTOCOL)
    assert seen == [3, 4]
    assert rows == [row for i in range(5) for row in draw(i)]
    assert not list((tmp_path / "cells").glob("*.part"))


def test_another_experiment_is_refused_in_the_same_folder(tmp_path):
    experiment.compute(draw, CELLS, Options(tmp_path), PROTOCOL)
    with pytest.raises(ValueError, match=r"another experiment \(rounds differ\).*--out"):
        experiment.compute(draw, CELLS, Options(tmp_path), {"rounds": 4})


def test_the_bar_tells_how_far_and_is_silent_without_a_terminal(tmp_path, monkeypatch):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    shown, silent = Terminal(), io.StringIO()
    for stream in (shown, silent):
        monkeypatch.setattr(sys, "stderr", stream)
        experiment.compute(draw, CELLS, Options(tmp_path / str(id(stream))), PROTOCOL)
    assert "5/5" in shown.getvalue()
    assert silent.getvalue() == ""


def test_rows_come_back_as_they_were(tmp_path):
    rows = [
        {"a": 1, "b": 0.1 + 0.2, "c": "two, words", "d": None},
        {"a": -3, "b": 1e-300, "c": 'a "quote"', "e": "later"},
        {"a": 0, "b": float("inf"), "c": "line\nbreak"},
    ]
    experiment.write_rows(tmp_path / "rows.csv", rows)
    names = ("a", "b", "c", "d", "e")
    expected = [{name: row.get(name) for name in names} for row in rows]
    assert experiment.read_rows(tmp_path / "rows.csv") == expected
    experiment.write_rows(tmp_path / "none.csv", [])
    assert experiment.read_rows(tmp_path / "none.csv") == []
    assert len(list(tmp_path.iterdir())) == 2


def test_seeds_depend_on_all_words_and_on_their_order():
    found = [experiment.seed_of(*words) for words in (("a", 1), ("a", "1"), (1, "a"), ("a1",), ())]
    assert len(set(found)) == 5
    assert all(0 <= seed < 2**32 for seed in found)
    assert experiment.seed_of("pima", 3) == 4211480166  # on every machine


def test_the_bar_counts_what_was_done_before(monkeypatch):
    clock = iter([0.0, 120.0])
    monkeypatch.setattr(experiment.time, "monotonic", lambda: next(clock))
    bar = experiment.Bar(10, done=4)
    bar.advance()
    bar.advance()
    # Two cells took two minutes; four are left.
    assert bar.line("pima-3") == "[" + "#" * 18 + "." * 12 + "] 6/10  4.0 min left  pima-3"
