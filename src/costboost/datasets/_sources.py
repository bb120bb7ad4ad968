"""From files to typed columns.

A `CellTable` holds strings by column, None where a cell was empty. A column is numeric if all of
its cells are numbers, unless the catalogue says that its digits are codes.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

from costboost.datasets._spec import OpenML, Spec
from costboost.runtime.machine import need
from costboost.typing import Floats

Cells = list[str | None]


class CellTable(NamedTuple):
    """Cells by column, labels, where they were read, and the source if the catalogue's is wrong."""

    columns: dict[str, Cells]
    labels: Cells
    where: str
    source: str = ""


def read_file(name: str, folder: Path) -> CellTable:
    """Read ``<folder>/<name>.csv``, gzipped or not."""
    for path in (folder / f"{name}.csv", folder / f"{name}.csv.gz"):
        if path.is_file():
            return _read_csv(path)
    raise FileNotFoundError(
        f"There is neither {name}.csv nor {name}.csv.gz in {folder}: put the file there, or name "
        "another folder by folder= or by the environment variable COSTBOOST_DATA."
    )


def _read_csv(path: Path) -> CellTable:
    opened = gzip.open if path.suffix == ".gz" else open
    try:
        with opened(path, "rt", encoding="utf-8", newline="") as file:
            header, *rows = csv.reader(file)
    except (OSError, EOFError, UnicodeDecodeError, csv.Error, zlib.error) as error:
        raise ValueError(f"{path} cannot be read as a table: {error}.") from error
    except ValueError:  # not even a header
        header, rows = [], []
    if not header or not rows:
        raise ValueError(f"{path} holds no rows: the copy is damaged.")
    if header[-1] != "target":
        raise ValueError(f"The last column of {path} is {header[-1]!r}; it must be 'target'.")
    ragged = next((i for i, row in enumerate(rows, 2) if len(row) != len(header)), None)
    if ragged is not None:
        raise ValueError(
            f"Line {ragged} of {path} has not {len(header)} cells, as its header has: the copy is "
            "damaged."
        )
    *columns, labels = ([cell or None for cell in column] for column in zip(*rows, strict=True))
    return CellTable(dict(zip(header, columns, strict=False)), labels, str(path))


def as_numbers(cells: Cells) -> Floats | None:
    """Return cells as numbers, NaN where empty; None if one of them is no number."""
    try:
        return np.array([np.nan if c is None else float(c) for c in cells], dtype=np.float64)
    except ValueError:
        return None


def _as_categories(cells: Cells, missing: str | None) -> NDArray[Any]:
    column = np.empty(len(cells), dtype=object)
    column[:] = [missing if cell is None else cell for cell in cells]
    return column


def content_digest(columns: Mapping[str, NDArray[Any]], labels: NDArray[Any]) -> str:
    """Return the SHA-256 of a set's names and values, however its file writes them."""
    digest = hashlib.sha256()
    for name, column in {**columns, "target": labels}.items():
        digest.update(f"\x1d{name}\x1e".encode())
        if column.dtype.kind == "f":
            plain = np.where(np.isnan(column), np.nan, column + 0.0)  # one NaN, and one zero
            digest.update(plain.astype("<f8").tobytes())
        else:
            cells = ("\x00" if cell is None else str(cell) for cell in column.tolist())
            digest.update("\x1f".join(cells).encode())
    return digest.hexdigest()


def typed_columns(raw: CellTable, spec: Spec) -> dict[str, NDArray[Any]]:
    """Return each column as float64, or as objects (strings and None) if it holds categories."""
    typed: dict[str, NDArray[Any]] = {}
    for name, cells in raw.columns.items():
        numbers = None if spec.is_coded(name) else as_numbers(cells)
        typed[name] = _as_categories(cells, spec.missing_category) if numbers is None else numbers
    return typed


def typed_labels(raw: CellTable, spec: Spec) -> NDArray[Any]:
    """Return labels as integers where the catalogue's are, else as strings."""
    known = [label for label in raw.labels if label is not None]
    if len(known) < len(raw.labels):
        raise ValueError(f"{raw.where} has rows without a label: the copy is damaged.")
    whole = all(isinstance(label, int) for label in spec.classes)
    if not whole:
        return np.array(known)
    try:
        y = np.array([int(label) for label in known], dtype=np.int64)
    except ValueError as error:
        raise ValueError(f"A label of {raw.where} is no whole number: {error}.") from error
    return (y == 1).astype(np.int64) if spec.one_against_rest else y


# ---- The sets that OpenML keeps in the papers' form, fetched by scikit-learn.


def fetch(name: str, spec: Spec, variable: str) -> CellTable:
    """Fetch a set from OpenML; errors name the remedy."""
    at, remedy = spec.openml, f"set the environment variable {variable} to a folder that holds it"
    if at is None:
        raise ValueError(
            f"{name!r} is not on OpenML in the papers' form: {remedy} as {name}.csv or "
            f"{name}.csv.gz."
        )
    need("pandas", "Fetching from OpenML")
    try:
        bunch = fetch_openml(data_id=at.data_id, as_frame=True, parser="liac-arff")
    except OSError as error:
        raise OSError(
            f"{name!r} could not be fetched from OpenML (set {at.data_id}): {error}. Try again "
            f"when the network is there, or {remedy}."
        ) from error
    return from_frame(name, at, bunch.data, bunch.target)


def from_frame(name: str, at: OpenML, X: Any, y: Any) -> CellTable:
    """Translate OpenML's frame into our cells, names and labels."""
    names = [str(column) for column in X.columns]
    if at.columns:
        if len(names) != len(at.columns):
            raise ValueError(
                f"OpenML's set {at.data_id} has {len(names)} columns, but {name!r} has "
                f"{len(at.columns)}: it is another version."
            )
        names = list(at.columns)
    columns = {n: _cells(X.iloc[:, j]) for j, n in enumerate(names)}
    labels: Cells = [
        None if label is None else str(at.labels.get(label, label)) for label in _cells(y)
    ]
    where = f"OpenML set {at.data_id}"
    return CellTable(columns, labels, where, f"{where}, through scikit-learn")


def _cells(column: Any) -> Cells:
    missing = column.isna().tolist()
    values = column.tolist()
    return [None if gone else _text(value) for value, gone in zip(values, missing, strict=True)]


def _text(value: Any) -> str:
    """Write a value as files do: OpenML's codes and labels may be the floats 1.0, 2.0, ..."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
