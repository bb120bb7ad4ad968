"""Calls on disk: a new driver goes on from them, and from nothing that was not whole."""

import numpy as np
import pytest

from costboost.clusters import protocol
from costboost.clusters.driver import Driver
from costboost.clusters.journal import Checkpoint
from costboost.clusters.protocol import CheckpointError, SourceChangedError
from toy_parts import (
    CALLS,
    Numbers,
    Threads,
    add,
    fetch_rows,
    naive,
    plain,
    run,
    sources,
    sum_numbers,
)

ABOUT = {"method": "adamec", "parts": "2"}


def write(path, n_calls=3):
    """Keep some calls; return how long the file was before each of them, and at the end."""
    lengths = []
    kept = Checkpoint(path, ABOUT)
    for number in range(n_calls):
        lengths.append(path.stat().st_size)
        kept.keep([sum_numbers(), add(number=number)], [number, None], {number: f"digest {number}"})
    kept.close()
    return [*lengths, path.stat().st_size]


def count(path):
    """Return how many calls come back, each as it was kept."""
    found, number = Checkpoint(path, ABOUT), 0
    while (kept := found.recall([sum_numbers(), add(number=number)])) is not None:
        assert kept.answers == (number, None)
        assert kept.digests == {number: f"digest {number}"}
        number += 1
    assert not found.recalling
    found.close()
    return number


@pytest.mark.parametrize("lost_at", range(1, 7))
def test_a_new_driver_goes_on_from_the_checkpoint(tmp_path, lost_at):
    path = tmp_path / "fit.checkpoint"
    heard = run(calls=CALLS[:lost_at], checkpoint=path)
    transport = Threads("ab", "again")
    with Driver(transport, sources(), fit="again", checkpoint=path) as driver:
        again = [plain(driver.send(orders)) for orders in CALLS]
    assert heard == naive()[:lost_at]
    assert again == naive()
    live = {request.number for _, request in transport.requests}
    assert len(live) == 1 + len(CALLS) - lost_at  # sources are read again, and what was not kept


def test_a_checkpoint_that_was_cut_off_goes_on_before_the_cut(tmp_path):
    path = tmp_path / "fit.checkpoint"
    run(calls=CALLS[:4], checkpoint=path)
    path.write_bytes(path.read_bytes()[:-7])
    assert run(checkpoint=path) == naive()
    assert run(checkpoint=path) == naive()


def test_a_checkpoint_of_another_fit_is_refused(tmp_path):
    path = tmp_path / "fit.checkpoint"
    run(calls=CALLS[:4], checkpoint=path, about={"method": "adamec"})
    with pytest.raises(CheckpointError, match="method adamec"):
        run(checkpoint=path, about={"method": "csada"})
    with pytest.raises(CheckpointError, match="asked something else"):
        run(
            checkpoint=path,
            about={"method": "adamec"},
            calls=[[sum_numbers()], [add(number=4), sum_numbers(), fetch_rows()]],
        )
    with pytest.raises(SourceChangedError):
        run(
            checkpoint=path,
            about={"method": "adamec"},
            sources=[*sources()[:6], Numbers((1, 2))],
        )
    (tmp_path / "other").write_text("hello")
    with pytest.raises(CheckpointError, match="not a checkpoint"):
        run(checkpoint=tmp_path / "other")


def test_calls_come_back_as_they_were_kept_and_more_may_follow(tmp_path):
    path = tmp_path / "fit"
    orders, answers = (
        [fetch_rows(), [add(number=1), add(number=2)]],
        [np.array([0.1, np.nan]), None],
    )
    first = Checkpoint(path, ABOUT)
    assert first.recall(orders) is None  # there is nothing yet
    first.keep(orders, answers, {1: "read"})
    first.close()
    second = Checkpoint(path, ABOUT)
    kept = second.recall(orders)
    assert kept.answers[0].tobytes() == answers[0].tobytes()
    assert (kept.answers[1:], kept.digests) == ((None,), {1: "read"})
    assert second.recall([sum_numbers()]) is None
    second.keep([sum_numbers()], [7], {})
    second.close()
    third = Checkpoint(path, ABOUT)
    third.recall(orders)
    assert third.recall([sum_numbers()]).answers == (7,)
    third.close()


def test_a_file_goes_on_from_the_last_call_that_is_whole(tmp_path):
    path = tmp_path / "fit"
    lengths = write(path)
    content = path.read_bytes()
    cuts = {*lengths, *(length - 1 for length in lengths), *range(0, lengths[-1], 11)}
    for end in cuts:  # within the first 21 bytes, which say what the file is, too
        path.write_bytes(content[:end])
        assert count(path) == sum(end >= length for length in lengths[1:])
        assert path.stat().st_size == max(
            [length for length in lengths if length <= end], default=lengths[0]
        )


@pytest.mark.parametrize("bit", [1, 128])
def test_no_call_that_was_damaged_is_believed(tmp_path, bit):
    path = tmp_path / "fit"
    lengths = write(path)
    content = path.read_bytes()
    heads = [place for length in lengths[:-1] for place in range(length, length + 24)]
    for place in (*heads, *range(lengths[0], lengths[-1], 11)):
        damaged = bytearray(content)
        damaged[place] ^= bit
        path.write_bytes(damaged)
        assert count(path) == sum(place >= length for length in lengths[1:])


def test_other_questions_are_refused_with_the_file_named(tmp_path):
    path = tmp_path / "fit"
    write(path)
    found = Checkpoint(path, ABOUT)
    with pytest.raises(CheckpointError, match=r"fit was written by a fit that asked something"):
        found.recall([sum_numbers(), add(number=1)])
    found.close()


def test_a_file_of_other_versions_or_of_another_fit_is_refused_and_stays(tmp_path, monkeypatch):
    path = tmp_path / "fit"
    write(path)
    content = path.read_bytes()
    with pytest.raises(CheckpointError, match=r"by another fit: parts 2 \(here 3\)"):
        Checkpoint(path, {**ABOUT, "parts": "3"})
    monkeypatch.setattr(protocol, "__version__", "0.0.0")
    with pytest.raises(
        CheckpointError, match=r"by other versions: costboost .* \(here 0\.0\.0\)\."
    ):
        Checkpoint(path, ABOUT)
    monkeypatch.undo()
    assert path.read_bytes() == content
    assert count(path) == 3


def test_files_of_others_are_not_written_over(tmp_path):
    path = tmp_path / "notes.txt"
    for text in ("costboost checkpoints are explained here", "costboost is", "\n"):
        path.write_text(text)
        with pytest.raises(CheckpointError, match=r"notes\.txt is not a checkpoint"):
            Checkpoint(path, ABOUT)
        assert path.read_text() == text
