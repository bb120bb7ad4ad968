"""`load`: a name of the catalogue, from a folder or from OpenML, to a `Dataset`."""

from __future__ import annotations

import csv
import difflib
import gzip
import hashlib
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import fetch_openml

from costboost.datasets._catalog import CATALOG
from costboost.datasets._dataset import Dataset, FrameKind, check_kind, make_dataset
from costboost.datasets._spec import OpenML, Priced, Spec
from costboost.runtime.machine import need
from costboost.typing import Floats

# From files to typed columns. A `CellTable` holds strings by column, None where a cell was empty. A
# column is numeric if all of its cells are numbers, unless the catalogue says that its digits are
# codes.

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
    return [
        None if gone else _cell_text(value) for value, gone in zip(values, missing, strict=True)
    ]


def _cell_text(value: Any) -> str:
    """Write a value as files do: OpenML's codes and labels may be the floats 1.0, 2.0, ..."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


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
    name: str, spec: Spec, raw: CellTable, verify: bool
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


# Digests of the sets' names, values and labels, whatever file they are in.
DIGESTS: Mapping[str, str] = {
    "ann_thyroid": "ebadf48d17cf60d7c07816f321d1585ee853f095d241b303bb47781ebfabca74",
    "anneal": "6f49c86c4fa6a240a3ead0eb1d46725e585135613344d09b625550a2064bd03f",
    "bank_marketing": "1a913dd9050d6e4d2221d1e8ce1241d3d15090a1eb870001d47177e5dddf0686",
    "boolean_standin": "746f2996e0c902a62726b70b644a98183faeb590fc0641d688efa8e19192cd5d",
    "breast_cancer_ljubljana": "fac0ad470cdba45f715b4fb57013e27c7e1e9822b6bcc4751f839d37a71a19b0",
    "breast_cancer_wisconsin": "00c71f51f1aff0ff30407a00905361e47c6ce72b903c89cf1c75d27c390a87d4",
    "credit_default_taiwan": "e6e5f1fc6174f125bc440b55836684e6a238c851909f1452c8ef9464905dfa89",
    "creditcard_fraud_sample": "2efb65d8f99938be2fd9e72c73c06da6713d35c8a17c62e11b50461b2145bf1d",
    "crx": "c3a78f436c15728da3009716e423deb20f4e58e898541422d21688a74925a1e9",
    "dis": "ab0421fe5ed6be7e315574b09f6a1661f8d86b55db648bb0b81a7d4aee01928b",
    "german_credit": "c6ad81c1c39945de3875f50ee0672985f0411eb51b09c4d3f7d0e1824d35b4d0",
    "german_credit_numeric": "672e41d3499528cac6eafc2c873d58643638e2e55b8f48fcb833216ff5f37112",
    "haberman": "2ccb6c53580b10d7e848ea6487ebb8de814f2e423fb2b6a2050129515baaa5cd",
    "heart_statlog": "25a38bf9dbd8cc4067874cfcb87d0f63ef80ee10917ad64080db71165fd02224",
    "hepatitis": "c9cf0f91cde6bdaa1489f82244ecd8168a949aeb6da17c0efee4c2e8a4c2ec3c",
    "house_votes84": "86bbfb31629cf436f60eed39de7095be1f55bd258e6cbe42a8335029c3b9668a",
    "hypothyroid": "4abd424e93e80ed6b573d3c711710cc1b8c9bf4bfae69d685e8f362b0f9cf5c2",
    "ionosphere": "640d17de086e08e7ab9d216fb8f905ee93ea86e7616d9f75f6c6789b50867554",
    "kr_vs_kp": "558bdd1cf4c4f318cde908e68874db549f8ad60857db38927cf920ac737b6b1d",
    "letter": "6b436c1ca25c63619cd9838928b4195ffd5d39e11e91524186a74a17147cb3c4",
    "liver_bupa": "076b5f7209b746913cca05b4c038db8f8c4618be0f96dea6d83459cb84a02484",
    "mushroom": "6799e5320704c23804b045f1ac96959f6dbd33a32b64d3c26095651e1a56bf6e",
    "nik_congress": "9fcf7ffb6cfad70c19265cbf7f803abfff8201f1dc59f21a2b2dc5d8939f461b",
    "nik_german_credit": "d2e18cf9ad40ee517db5ba6eecab7130b6ac8399bac3764d46d7cee0d645fda4",
    "nik_heart": "fe1514a9431356578bcc357e7131b7ab6bec92513bca4f740790af24bd3f7820",
    "nik_ionosphere": "35b5ec43a02aa2706744c2a6cfcfad4ace228e87eb73b98442f7c575039f3f9f",
    "nik_krvskp": "bc2abfbeb8ee62a0f1a6bfe54692548ec3e5684de71a3c36c80b6b018af1d67e",
    "nik_landsatm": "2436bb64ee68a700029a7dfd2ad303dfb3c71f8e1094ce572171fb70956bfc9a",
    "nik_liver": "5c3c11cd3263b6d91b2f299df9107528ef8abb32521f6fb4cac286b77a57fe2a",
    "nik_mushroom": "b19c3add2249ac55285efd975d89b1007e5cb2b98ea0291325c2315b4d0698a6",
    "nik_musk2": "9eff43b9342bd1c5f6462199678c7bbee4ae6c9f0776164ee26aceded4e5c640",
    "nik_parkinsons": "6877631ec1f00ec1999da5e77ba29b5156a95eee5eae2690e09156bc961a400e",
    "nik_pima": "32cee85db2962ce0db2f6dc482697779ed8fd37a78427356949b4b6f1f4b45fe",
    "nik_semeion": "0937d18c06b7ba8c42dcb43c1e780603177e29891f892ff862313d06000e152d",
    "nik_sonar": "7c605996f67a34438bf8108b85efa13baebc8097749e1b6be112afb9dacf227f",
    "nik_spambase": "ff9a215f10bc40e4129e9536b14172d85355f7859f7dfb520544185fb43ac1ea",
    "nik_splicem": "6748af275da91b187cbfc79ef50833d6f7bd9356e2c3db29b0a63d6d712fb383",
    "nik_survival": "d6c327f9257f34025486a9863e6afe7ff2e54d0b085aa572a064b8add22b53b7",
    "nik_waveformm": "1fe32dbe004b717e340e34cb3d65d7f28ad1f53b05a7e41d34dde103b8c158d7",
    "nik_wdbc": "31e72355292b76662dcdb05422efeae78a9de5757361e62382c61b63fef7dfa3",
    "parkinsons": "e7ddabec8f31b65d9d0cb3b1e00452ab068c2e24d58644d6ac42f5e0e76b43ba",
    "pendigits": "c3b83120afa5952258b6704ae4ff07eba235e01eba647b7406b8eaf4322072d5",
    "pima": "f86c0cd1db45293dc97256a42f1e2bd09511ff833dd2640db6486d859ad5f1c1",
    "satimage": "35fa17cab5ba8b7f40492167073ba515d0d1a31c55db9d3d9eaa74ff0a5d3330",
    "segment": "ffe2ca645e676e7aa3fa7148587ba3d9c06ab08ee926d150f017acc00068647f",
    "semeion": "39831beef7c011d884ff13d2b6d10409ea4512f0d04d3e23695d3cdd6d429279",
    "sick": "5f2336835b2efe99e2e85ea6efe58d76aad6973061fb68876ecd3a78eb190455",
    "sick_euthyroid": "89d013937c7e212e1c63f71f532713c54ca523639d22f0e5eb55c484978d6d07",
    "solar_flare_c": "8022453d39f41819f07a8e1b1be10e77ec50f8b49660d54e33dd00428637e572",
    "solar_flare_zurich": "f087a6610215c16e992f74010a06585658bb3d0cebc4281382a8e87c157670d6",
    "sonar": "8273a2776edf088d43b1a1275b34c04caecdf5ef3f1c02f7b8cf8b56d561b1ef",
    "south_german_credit": "d0a9e36dadbe1f6af4ab5baffd14df2ec33271391a08022b5bbefd80c03998aa",
    "spambase": "ba6ed3b20a367aff4b3231a86e8c89b319ed12441caf5dfab2d85a87e4ea5526",
    "splice": "255405cb5629736fc6c72c05d44d17b0626de8a7ce672108815e0880d806ed55",
    "waveform_noise": "ef72d1beff47c5befcb22b9cb2534123c7374b28a03298f6828717b829dcfda4",
    "wdbc": "6250a718ef30dadf4f71994a29c4403f283b751eec957bb3d05d59870d196328",
    "wpbc": "b6013462cedd40374b95f4c708bd82095f3731372ca02673eefbc9f1f4c44303",
}
