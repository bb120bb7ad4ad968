"""Notes beside a model: they come back as they were, and changed files cannot smuggle others in."""

import json

import numpy as np
import pytest

import costboost as cb
from costboost.persistence import ModelFileError, container, read
from zoo import fitted

NOTES = {
    "target": "fraud",
    "columns": [["amount", "number"], ["merchant \N{SNOWMAN}", "category"]],
    "prices": {"fp": "8", "share": 0.25, "none": None, "yes": True, "many": 2**70},
}


def changed(data, change):
    """Return a file whose header was changed, its lengths and digest put right."""
    old = container.PRELUDE.unpack(data[: container.PRELUDE.size])
    start = container.PRELUDE.size
    header, rest = json.loads(data[start : start + old[2]]), data[start + old[2] :]
    change(header)
    text = json.dumps(header).encode()
    text += b" " * ((old[2] - len(text)) % container.ALIGNMENT)
    size = start + len(text) + len(rest)
    body = [container.PRELUDE.pack(old[0], old[1], len(text), size, old[4], bytes(32)), text, rest]
    sealed = container.PRELUDE.pack(
        old[0], old[1], len(text), size, old[4], container._digest(body)
    )
    return b"".join([sealed, text, rest])


def test_notes_come_back_as_they_were(tmp_path):
    model, X = fitted("adamec")
    cb.save(model, tmp_path / "model", notes=NOTES)
    found = read(tmp_path / "model")
    assert found.notes == NOTES
    assert found.version == cb.__version__
    assert np.array_equal(found.model.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(cb.load(tmp_path / "model").predict(X), model.predict(X))


def test_without_notes_there_are_none(tmp_path):
    model, _ = fitted("adamec")
    cb.save(model, tmp_path / "one")
    cb.save(model, tmp_path / "two", notes={})
    assert read(tmp_path / "one").notes == read(tmp_path / "two").notes == {}
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


@pytest.mark.parametrize(
    "notes",
    [
        {"a": (1, 2)},
        {1: "a"},
        {"a": float("nan")},
        {"a": {"b": object()}},
        {"a": np.arange(3)},
    ],
)
def test_notes_that_json_cannot_hold_are_refused(notes, tmp_path):
    with pytest.raises(ModelFileError, match="JSON"):
        cb.save(fitted("adamec")[0], tmp_path / "model", notes=notes)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("notes", [[], "text", 3, None, True])
def test_notes_without_names_are_refused_when_read(notes, tmp_path):
    cb.save(fitted("adamec")[0], tmp_path / "model", notes=NOTES)
    data = changed((tmp_path / "model").read_bytes(), lambda header: header.update(notes=notes))
    (tmp_path / "model").write_bytes(data)
    with pytest.raises(ModelFileError, match="notes have no names"):
        cb.load(tmp_path / "model")


def test_too_many_notes_are_refused(tmp_path):
    with pytest.raises(ModelFileError, match="header"):
        cb.save(fitted("adamec")[0], tmp_path / "model", notes={"a": [0] * (1 << 19)})
