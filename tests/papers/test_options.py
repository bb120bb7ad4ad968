"""What every command of the papers can be asked."""

from pathlib import Path

import numpy as np
import pytest

from costboost.papers.options import Options, load_set, load_two_classes, read_options


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
