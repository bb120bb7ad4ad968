"""Whatever happens while a file is written, the old one stays until the new one is whole."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import costboost as cb
from costboost.persistence import writing

WRITE = """
import os, resource, signal, sys
from pathlib import Path
from costboost.persistence.writing import write_atomically
how, path = sys.argv[1:]
def parts():
    yield b"x" * 100_000
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    yield b"x" * 100_000
if how == "full":  # the system refuses the second part, as a full disk does
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
try:
    write_atomically(Path(path), parts())
except OSError as error:
    sys.exit(error.errno)
"""


def write(how, path):
    run = [sys.executable, "-c", WRITE, how, str(path)]
    return subprocess.run(run, check=False, capture_output=True).returncode


@pytest.mark.skipif(sys.platform == "win32", reason="limits and signals are those of POSIX")
@pytest.mark.parametrize(("how", "code"), [("full", errno.EFBIG), ("kill", -signal.SIGKILL)])
def test_a_refused_write_or_a_kill_leaves_the_old_file(how, code, tmp_path):
    path = tmp_path / "model"
    model = cb.CostBoostClassifier("csb2", 9)
    cb.save(model, path)
    before = path.read_bytes()
    assert write(how, path) == code
    assert path.read_bytes() == before
    assert cb.load(path).get_params() == model.get_params()
    if how == "full":
        assert [part.name for part in tmp_path.iterdir()] == ["model"]


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_an_error_at_the_last_moment_leaves_the_old_file(call, tmp_path, monkeypatch):
    path = tmp_path / "model"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    if call == "fsync":
        monkeypatch.setattr(writing.os, "fsync", fail)
    else:
        monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        cb.save(cb.CostBoostClassifier(), path)
    assert path.read_bytes() == b"old"
    assert [part.name for part in tmp_path.iterdir()] == ["model"]


def test_a_model_that_cannot_be_kept_leaves_the_old_file(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    with pytest.raises(cb.persistence.ModelFileError):
        cb.save(cb.CostBoostClassifier(beta=print), path)
    assert path.read_bytes() == b"old"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and links are those of POSIX")
def test_the_new_file_has_the_permissions_of_the_old_and_links_stay(tmp_path):
    path, link = tmp_path / "model", tmp_path / "current"
    cb.save(cb.CostBoostClassifier(), path)
    path.chmod(0o640)
    link.symlink_to(path)
    cb.save(cb.CostBoostClassifier("csb1"), link)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert cb.load(path).method == "csb1"


def test_a_folder_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        cb.save(cb.CostBoostClassifier(), tmp_path / "nowhere" / "model")
    assert os.listdir(tmp_path) == []
