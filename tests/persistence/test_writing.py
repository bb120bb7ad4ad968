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
    write_atomically(Path(path), parts(), overwrite=True)
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
        cb.save(cb.CostBoostClassifier(), path, overwrite=True)
    assert path.read_bytes() == b"old"
    assert [part.name for part in tmp_path.iterdir()] == ["model"]


def test_a_model_that_cannot_be_kept_leaves_the_old_file(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    with pytest.raises(cb.persistence.ModelFileError):
        cb.save(cb.CostBoostClassifier(beta=print), path, overwrite=True)
    assert path.read_bytes() == b"old"


@pytest.mark.skipif(sys.platform == "win32", reason="permissions and links are those of POSIX")
def test_the_new_file_has_the_permissions_of_the_old_and_links_stay(tmp_path):
    path, link = tmp_path / "model", tmp_path / "current"
    cb.save(cb.CostBoostClassifier(), path)
    path.chmod(0o640)
    link.symlink_to(path)
    cb.save(cb.CostBoostClassifier("csb1"), link, overwrite=True)
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert cb.load(path).method == "csb1"


def test_only_a_regular_file_is_replaced_and_only_when_asked(tmp_path):
    path = tmp_path / "model"
    path.write_bytes(b"old")
    with pytest.raises(FileExistsError, match="say overwrite=True to replace it"):
        cb.save(cb.CostBoostClassifier(), path)
    assert path.read_bytes() == b"old"
    with pytest.raises(FileExistsError, match="is a folder"):
        cb.save(cb.CostBoostClassifier(), tmp_path, overwrite=True)


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices are those of POSIX")
@pytest.mark.parametrize("overwrite", [False, True])
def test_pipes_and_devices_stay_what_they_are(overwrite, tmp_path):
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path, kind in ((pipe, "a pipe"), (link, "a pipe"), (Path(os.devnull), "a device")):
        with pytest.raises(FileExistsError, match=f"is {kind}, and only regular files"):
            cb.save(cb.CostBoostClassifier(), path, overwrite=overwrite)
    assert pipe.is_fifo()
    assert Path(os.devnull).is_char_device()
    assert sorted(part.name for part in tmp_path.iterdir()) == ["link", "pipe"]


def test_a_link_to_nothing_gets_its_file(tmp_path):
    link = tmp_path / "current"
    link.symlink_to(tmp_path / "model")
    cb.save(cb.CostBoostClassifier(), link)
    assert link.is_symlink()
    assert (tmp_path / "model").is_file()


RACE = """
import sys
from pathlib import Path
from costboost.persistence.writing import write_atomically
def parts():
    yield b"x"
    print("open", flush=True)
    sys.stdin.readline()  # until all of them have begun
    yield sys.argv[2].encode()
write_atomically(Path(sys.argv[1]), parts(), overwrite=False)
"""


def writers(path, n):
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    made = [
        subprocess.Popen([sys.executable, "-c", RACE, str(path), str(k)], text=True, **pipes)
        for k in range(n)
    ]
    for process in made:
        assert process.stdout.readline() == "open\n"
    return made


def test_of_writers_at_the_same_time_exactly_one_succeeds(tmp_path):
    path = tmp_path / "model"
    processes = writers(path, 4)
    errors = [process.communicate("go\n")[1] for process in processes]
    codes = [process.returncode for process in processes]
    winner = codes.index(0)
    assert sorted(codes) == [0, 1, 1, 1]
    assert path.read_text() == f"x{winner}"
    assert all("another program" in e for k, e in enumerate(errors) if k != winner)
    assert os.listdir(tmp_path) == ["model"]


@pytest.mark.skipif(sys.platform == "win32", reason="locks are those of POSIX")
def test_what_killed_writers_left_is_removed_and_nothing_else(tmp_path):
    path = tmp_path / "model"
    for _ in range(3):
        assert write("kill", path) == -signal.SIGKILL
    left = os.listdir(tmp_path)
    assert len(left) == 1  # each removed that of the one before
    strange = [".model.part", ".model.0123456789abcdeg.part", ".other.0123456789abcdef.part"]
    for name in strange:
        (tmp_path / name).write_bytes(b"not ours")
    (living,) = writers(path, 1)
    (held,) = set(os.listdir(tmp_path)) - set(strange) - set(left)
    cb.save(cb.CostBoostClassifier(), tmp_path / "model")
    assert set(os.listdir(tmp_path)) == {"model", held, *strange}
    assert "another program" in living.communicate("go\n")[1]
    assert set(os.listdir(tmp_path)) == {"model", *strange}


def test_without_hard_links_a_name_is_still_given_once(tmp_path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(writing.os, "link", refuse)
    cb.save(cb.CostBoostClassifier(), tmp_path / "model")
    assert os.listdir(tmp_path) == ["model"]
    with pytest.raises(FileExistsError, match="overwrite=True"):
        cb.save(cb.CostBoostClassifier(), tmp_path / "model")
    assert cb.load(tmp_path / "model").get_params() == cb.CostBoostClassifier().get_params()


def test_a_folder_that_is_not_there_is_said_so(tmp_path):
    with pytest.raises(FileNotFoundError):
        cb.save(cb.CostBoostClassifier(), tmp_path / "nowhere" / "model")
    assert os.listdir(tmp_path) == []
