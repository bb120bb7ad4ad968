"""The sets that OpenML keeps in the papers' form, fetched by scikit-learn."""

from __future__ import annotations

from typing import Any

from sklearn.datasets import fetch_openml

from costboost.datasets._sources import Cells, RawTable
from costboost.datasets._spec import OpenML, Spec
from costboost.runtime.extras import need


def fetch(name: str, spec: Spec, variable: str) -> RawTable:
    """Fetch a set; errors say what to do instead."""
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


def from_frame(name: str, at: OpenML, X: Any, y: Any) -> RawTable:
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
    return RawTable(columns, labels, where, f"{where}, through scikit-learn")


def _cells(column: Any) -> Cells:
    missing = column.isna().tolist()
    values = column.tolist()
    return [None if gone else _text(value) for value, gone in zip(values, missing, strict=True)]


def _text(value: Any) -> str:
    """Write a value as files do: OpenML's codes and labels may be the floats 1.0, 2.0, ..."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
