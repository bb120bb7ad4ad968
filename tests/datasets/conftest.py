"""A folder with a set of the catalogue in it."""

import pytest

from costboost.datasets import _loading as _sources
from costboost.datasets._catalog import CATALOG
from costboost.datasets._loading import DIGESTS


@pytest.fixture
def small_folder(tmp_path, monkeypatch):
    """A folder with a set of the catalogue's `haberman`, made up to its class counts."""
    rows = [f"{30 + i % 50},{58 + i % 12},{i % 7},{1 if i < 225 else 2}" for i in range(306)]
    text = "age,operation_year,positive_nodes,target\n" + "\n".join(rows) + "\n"
    (tmp_path / "haberman.csv").write_text(text)
    monkeypatch.delenv("COSTBOOST_DATA", raising=False)
    raw, spec = _sources.read_file("haberman", tmp_path), CATALOG["haberman"]
    columns, labels = _sources.typed_columns(raw, spec), _sources.typed_labels(raw, spec)
    monkeypatch.setitem(DIGESTS, "haberman", _sources.content_digest(columns, labels))
    return tmp_path
