"""`load`: a name of the catalogue, from a folder or from OpenML, to a `Dataset`."""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.datasets._bunch import Dataset, make_dataset
from costboost.datasets._catalog import CATALOG
from costboost.datasets._digests import DIGESTS
from costboost.datasets._openml import fetch
from costboost.datasets._prices import Priced
from costboost.datasets._sources import (
    RawTable,
    content_digest,
    read_file,
    typed_columns,
    typed_labels,
)
from costboost.datasets._spec import Spec
from costboost.datasets._tables import FrameKind, check_kind

FOLDER = "COSTBOOST_DATA"


def names() -> tuple[str, ...]:
    """Return the names that `load` knows, sorted.

    Examples
    --------
    >>> from costboost.datasets import names
    >>> len(names()), names()[:3]
    (57, ('ann_thyroid', 'anneal', 'bank_marketing'))
    """
    return tuple(sorted(CATALOG))


def load(
    name: str,
    *,
    folder: str | os.PathLike[str] | None = None,
    cost_model: str | None = None,
    as_frame: FrameKind = "auto",
    verify: bool = True,
) -> Dataset:
    """Load one of the papers' sets by name.

    Parameters
    ----------
    name : str
        One of `names`. Names that start with ``nik_`` are the files that Nikolaou et al. (2016)
        published: label 1 is their positive class and every other label is 0.
    folder : path, default=None
        A folder that holds ``<name>.csv`` or ``<name>.csv.gz``: a header, the column `target`
        last, missing cells empty. None is the folder named by the environment variable
        ``COSTBOOST_DATA``; where that is not set either, the set is fetched from OpenML (through
        scikit-learn, which keeps a copy), if it is known there.
    cost_model : str, default=None
        Which prices to take, where the papers know several: for "german_credit" "matrix" (a bad
        customer accepted costs 5, a good one refused 1: the default) or "amount" (per row). "none"
        is allowed everywhere. None is the first of the set's own.
    as_frame : {"auto", "pandas", "polars", "numpy"}, default="auto"
        What `X` is. "auto" is the first of pandas and polars that is installed, else numpy. Only a
        data frame can say which columns are categories, and neither library is needed to run
        costboost, so none is demanded here: files are read by Python itself, and as an array
        categories stay strings, in an array of objects, which our estimators read as categories
        too. `Dataset.to_numpy` gives numbers alone.
    verify : bool, default=True
        Refuse a file whose values are not those of the papers' set, by a digest of names, values
        and labels: neither the way it is written nor its compression counts. False takes it all
        the same, if the numbers of rows and columns are right. OpenML's copies have no digest.

    Returns
    -------
    Dataset

    Notes
    -----
    Whatever is read is checked against the documented number of rows of each class, and a file
    against the digest of its content. Columns that
    are outcomes rather than features are dropped. Prices per row: "bank_marketing",
    "credit_default_taiwan", "creditcard_fraud_sample", "south_german_credit", and
    "german_credit" by amount; a constant matrix: "german_credit", "german_credit_numeric" and
    "heart_statlog". For the others `costs` is None.

    Examples
    --------
    >>> from costboost.datasets import load
    >>> data = load("bank_marketing")  # doctest: +SKIP
    >>> data.costs  # doctest: +SKIP
    Costs(fp=1, fn=<37931 values from 1 to 628.932>, tp=1, positive='yes')
    """
    spec = _find(name)
    check_kind(as_frame)
    pricing = _find_pricing(name, spec, cost_model)
    where = folder if folder is not None else os.environ.get(FOLDER) or None
    raw = read_file(name, Path(where)) if where is not None else fetch(name, spec, FOLDER)
    columns, y = _prepare(name, spec, raw, verify and where is not None)
    priced: Priced = pricing(columns, y, spec.positive)
    return make_dataset(
        name,
        {k: c for k, c in columns.items() if k not in spec.not_features},
        y,
        as_frame,
        positive=spec.positive,
        costs=priced.costs,
        amount=priced.amount,
        n_train=spec.n_train if where is not None else None,  # OpenML may order rows otherwise
        description=spec.description,
        source=raw.source or spec.source,
    )


def _find(name: str) -> Spec:
    if name in CATALOG:
        return CATALOG[name]
    near = difflib.get_close_matches(str(name), CATALOG, n=3) or names()
    raise ValueError(f"There is no data set {name!r}; did you mean {', '.join(near)}?")


def _find_pricing(name: str, spec: Spec, cost_model: str | None) -> Any:
    known = {**spec.pricing, "none": lambda *_: Priced(None)}
    wanted = next(iter(spec.pricing)) if cost_model is None else cost_model
    if wanted not in known:
        listed = ", ".join(repr(model) for model in known)
        raise ValueError(f"cost_model={cost_model!r} is not known for {name!r}; allowed: {listed}.")
    return known[wanted]


def _prepare(
    name: str, spec: Spec, raw: RawTable, verify: bool
) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
    """Return typed columns and labels of the rows that belong to the set, checked."""
    columns, y = typed_columns(raw, spec), typed_labels(raw, spec)
    digest = content_digest(columns, y) if verify else DIGESTS[name]
    if spec.above is not None:
        column, floor = spec.above
        kept = columns[column] > floor
        columns, y = {k: c[kept] for k, c in columns.items()}, y[kept]
    found = dict(zip(*[a.tolist() for a in np.unique(y, return_counts=True)], strict=True))
    if len(columns) != spec.n_features or found != dict(spec.classes):
        raise ValueError(
            f"What was read as {name!r} ({raw.where}) is not the papers' set: {len(columns)} "
            f"columns and classes {_text(found)}, instead of {spec.n_features} columns and "
            f"classes {_text(spec.classes)}. The copy is damaged, or another version."
        )
    if digest != DIGESTS[name]:
        raise ValueError(
            f"{raw.where} has the shape of {name!r}, but its names or values are not those of the "
            f"papers' set (SHA-256 {digest[:16]}..., not {DIGESTS[name][:16]}...). The copy is "
            "damaged, or another version: verify=False takes it all the same."
        )
    return columns, y


def _text(counts: Mapping[Any, int]) -> str:
    shown = [f"{label!r}: {count}" for label, count in counts.items()]
    return "{" + ", ".join(shown[:8]) + (", ..." if len(shown) > 8 else "") + "}"
