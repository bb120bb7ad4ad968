"""The container, byte by byte: what a file holds, and what no file can make a reader do."""

import hashlib
import json
import struct
import tracemalloc

import numpy as np
import pytest

import costboost as cb
from costboost.persistence import ModelFileError, container
from costboost.persistence.packing import Packer, unpack
from model_files import opened, whole
from zoo import fitted

ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.array(7),
    np.zeros((0, 4), dtype=np.uint64),
    np.array([True, False]),
    np.array(["ab", "c\N{SNOWMAN}"]),
    np.array([b"ab", b"c"]),
    np.array(["2026-01-01"], dtype="datetime64[D]"),
    np.array([1, 2], dtype=">i4"),
]


def test_files_can_be_read_by_the_documentation_alone():
    """What docs/persistence.md says, in twelve lines that use nothing of the library."""
    model, _ = fitted("auto of a frame")
    packer = Packer()
    packer.pack(model, "model")
    data = whole({"objects": packer.objects}, packer.arrays)
    magic, version, header_size, size = struct.unpack_from("<8sIIQ", data)
    assert (magic, version, size) == (b"\x89CBOOST\n", 1, len(data))
    assert data[24:48].rstrip(b"\0").decode() == cb.__version__
    rest = data[:48] + bytes(32) + data[80:]
    assert data[48:80] == hashlib.blake2b(rest, digest_size=32).digest()
    header, at, arrays = json.loads(data[80 : 80 + header_size]), 80 + header_size, []
    for dtype, shape in header["arrays"]:
        at += -at % 16
        arrays.append(np.frombuffer(data, dtype, int(np.prod(shape)), at).reshape(shape))
        at += arrays[-1].nbytes
    assert at == len(data)
    kind, fields = next(entry for entry in header["objects"] if entry[0] == "Forest")
    words = arrays[fields["words"]["array"]]
    assert (kind, words.tobytes()) == ("Forest", model._model.members[0].forest.words.tobytes())


def test_arrays_of_every_dtype_come_back_aligned_and_frozen():
    packer = Packer()
    node = packer.pack(ARRAYS, "arrays")
    contents = opened(whole({"objects": node}, packer.arrays))
    for given, found in zip(ARRAYS, contents.arrays, strict=True):
        assert found.dtype == given.dtype.newbyteorder("=")
        assert found.shape == given.shape
        assert np.array_equal(found, given)
        assert found.flags.aligned
        assert not found.flags.writeable


def test_a_file_from_the_future_names_both_versions(tmp_path):
    cb.save(cb.CostBoostClassifier(), tmp_path / "model")
    data = bytearray((tmp_path / "model").read_bytes())
    data[8:12] = struct.pack("<I", 2)
    data[24:48] = b"7.1.0".ljust(24, b"\0")
    (tmp_path / "model").write_bytes(data)
    with pytest.raises(ModelFileError) as caught:
        cb.load(tmp_path / "model")
    for words in (
        "costboost 7.1.0",
        "format 2",
        f"costboost {cb.__version__}",
        "up to 1",
        "upgrade",
    ):
        assert words in str(caught.value)


def test_a_part_that_only_a_later_version_knows_names_both_versions(tmp_path, monkeypatch):
    monkeypatch.setattr(container, "__version__", "0.9.0")
    packer = Packer()
    packer.pack(cb.CostBoostClassifier(), "model")
    packer.objects[0][1]["news"] = 1
    (tmp_path / "model").write_bytes(whole({"objects": packer.objects}, packer.arrays))
    with pytest.raises(ModelFileError, match="'news' of a CostBoostClassifier") as caught:
        cb.load(tmp_path / "model")
    assert "costboost 0.9.0" in str(caught.value)
    assert f"costboost {cb.__version__}" in str(caught.value)


BOMBS = {
    "depth": b"[" * 5_000_000,
    "values": b'{"arrays":[' + b"[]," * 4_000_000 + b"0]}",
    "digits": b'{"arrays":[],"objects":' + b"9" * 5_000_000 + b"}",
    "shape": b'{"arrays":[["<f8",[281474976710655,281474976710655]]],"objects":[]}',
    "empty": b'{"arrays":[' + b",".join([b'["<f8",[0]]'] * 100_000) + b'],"objects":[]}',
}


@pytest.mark.parametrize("name", BOMBS)
def test_no_header_makes_more_of_itself_than_it_may(name):
    text = BOMBS[name]
    size = container.PRELUDE.size + len(text)
    start = container.PRELUDE.pack(container.MAGIC, 1, len(text), size, b"1", bytes(32))
    digest = container._digest([start, text])
    data = np.frombuffer(start[:-32] + digest + text, dtype=np.uint8)
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError):
            unpack(container.open_contents(data))
        assert tracemalloc.get_traced_memory()[1] < 3 * len(text) + (1 << 26)
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    "shape", [[0, 2**47, 2**47], [2**39, 0, 2**39], [2**40, 0], [0, 2**20, 2**20]]
)
@pytest.mark.parametrize("dtype", ["<f8", "|b1", "<U3", "<U1048576"])
def test_sizes_beside_a_zero_are_bounded_as_well(shape, dtype):
    data = whole({"objects": []}, [])
    header = json.dumps({"objects": [], "arrays": [[dtype, shape]]}).encode()
    start = container.PRELUDE.unpack(data[: container.PRELUDE.size])
    parts = (*start[:2], len(header), container.PRELUDE.size + len(header), start[4])
    empty = container.PRELUDE.pack(*parts, bytes(32))
    digest = container._digest([empty, header])
    with pytest.raises(ModelFileError, match="no array can have"):
        opened(container.PRELUDE.pack(*parts, digest) + header)
