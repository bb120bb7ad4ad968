"""Whatever is wrong with a file, it is one error that names the file."""

import pytest

import costboost as cb
from costboost.persistence import ModelFileError
from zoo import fitted


def whole(tmp_path):
    cb.save(fitted("stumps")[0], tmp_path / "good")
    return (tmp_path / "good").read_bytes()


@pytest.mark.parametrize(
    "change",
    [
        lambda data: b"",
        lambda data: b"a,b\n1,2\n" * 100,
        lambda data: data[:-1],
        lambda data: data + b"0",
        lambda data: data[:200] + b"?" + data[201:],
        lambda data: data[::-1],
    ],
)
def test_a_spoilt_file_is_one_error_with_its_name(change, tmp_path):
    path = tmp_path / "spoilt.costboost"
    path.write_bytes(change(whole(tmp_path)))
    with pytest.raises(ModelFileError, match=r"spoilt\.costboost is no costboost model: "):
        cb.load(path)


def test_whoever_catches_wrong_values_catches_it():
    with pytest.raises(ValueError, match="cannot be saved"):
        cb.save(object(), "nowhere")
