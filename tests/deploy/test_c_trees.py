"""Trees in C: rows become the codes of the binner, and codes the margins of the forest."""

import ctypes

import numpy as np
import pandas as pd
import pytest

import costboost as cb
from compiled_c import COMPILER, DOUBLES, Compiled, compiled
from costboost.binning.binner import fit_binner
from costboost.deploy.c_trees import columns_of_text, n_codes, write_encoding, write_forest
from costboost.deploy.exported import export
from deploy_cases import odd_rows
from zoo import fitted, frame, quiet_fit, table

pytestmark = [
    pytest.mark.skipif(COMPILER is None, reason="there is no C compiler"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
]
HEAD = "#include <math.h>\n#include <stdint.h>\n#include <string.h>\n"
BYTES = ctypes.POINTER(ctypes.c_ubyte)
ADD = """
void m_add(double *v, const double *more, int n)
{
    int k;
    for (k = 0; k < n; k++) {
        v[k] += more[k];
    }
}
"""


def outside(text):
    """Return functions so that they can be called from outside."""
    return text.replace("static void", "void")


def encoder(binner, used, size, folder):
    source = folder / "encode.c"
    source.write_text(HEAD + outside(write_encoding("m", binner, used, size)) + "\n")
    library = compiled(source)

    def encode(row):
        codes = np.full(size, 77, dtype=np.uint8)
        row = np.ascontiguousarray(row, dtype=np.float64)
        library.m_encode(row.ctypes.data_as(DOUBLES), codes.ctypes.data_as(BYTES))
        return codes

    return encode


def test_rows_have_the_codes_of_the_binner_and_those_codes_one_higher(tmp_path):
    X, _ = table()
    rng = np.random.default_rng(0)
    X = np.column_stack([X, rng.integers(0, 9, len(X)) * 2.5 - 3, np.zeros(len(X))])
    binner = fit_binner(X, categorical_features=[4])
    used = [0, 2, 4, 5]
    encode = encoder(binner, used, 12, tmp_path)
    rows = odd_rows(np.tile(X, (5, 1)), rng)
    for j in (0, 2):
        rows[: len(binner.edges[j]), j] = binner.edges[j]
    expected = binner.encode(rows)
    for row, codes in zip(rows, expected, strict=True):
        found = encode(row)
        assert found[:4].tolist() == codes[used].tolist()
        assert found[4:8].tolist() == ((codes[used].astype(int) + 1) % 256).tolist()
        assert found[8:].tolist() == [0] * 4


def test_a_model_that_asks_for_nothing_reads_nothing(tmp_path):
    binner = fit_binner(np.zeros((3, 2)))
    assert encoder(binner, [], 3, tmp_path)([np.nan, 1.0]).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "name", ["adaboost", "stumps", "gradient log of 3", "auto of a frame", "nothing learnt"]
)
def test_margins_are_those_of_the_forest(name, tmp_path):
    model, X = fitted(name)
    words = export(model)
    forest, used = words.forests[0], words.used_features
    size = n_codes([forest], used)
    source = tmp_path / "forest.c"
    source.write_text(HEAD + ADD + outside(write_forest("m", 0, forest, used)) + "\n")
    library = compiled(source)
    expected = forest.margins(X)
    codes = forest.binner.encode(X)
    for row, margins in zip(codes, expected, strict=True):
        given = np.zeros(size, dtype=np.uint8)
        given[: len(used)] = row[used]
        given[len(used) : 2 * len(used)] = row[used] + np.uint8(1)
        found = np.full(forest.n_outputs, np.nan)
        library.m_forest_0(given.ctypes.data_as(BYTES), found.ctypes.data_as(DOUBLES))
        assert found.tobytes() == margins.tobytes()


def test_leaves_have_codes_to_ask_for_too():
    model, _ = fitted("adaboost")
    forest = model._model.members[0].forest
    leaves = max(int(np.sum(forest.tree(t).left < 0)) for t in range(len(forest)))
    assert n_codes([forest], []) == leaves
    assert n_codes([forest], list(range(50))) == 100


def test_columns_of_text_are_found_and_mixtures_refused():
    X, _ = frame()
    binner = fit_binner(X, categorical_features="from_dtype")
    assert columns_of_text(binner, [0, 1, 2, 3]) == [1]
    assert columns_of_text(binner, [0, 2]) == []
    mixed = fit_binner(
        pd.DataFrame({"a": pd.Series([1, "b", 2, "c"] * 9, dtype=object)}), categorical_features=[0]
    )
    with pytest.raises(ValueError, match="Column 0 has both numbers and text"):
        columns_of_text(mixed, [0])


WORDS = ["PREFIX", "PREFIX_code(", "CASES", "static const char", "STEPS", "x_sum(", "NODES"]


def test_categories_and_labels_may_be_words_of_the_templates(tmp_path):
    rng = np.random.default_rng(0)
    town = np.array(WORDS)[np.arange(210) % 7]
    X = pd.DataFrame({"PREFIX": town, "static const char": rng.normal(size=210)})
    y = np.where(np.isin(town, WORDS[::2]), "PREFIX", "SOURCE")
    model = quiet_fit(cb.GradientBoostClassifier(n_estimators=3), X.astype({"PREFIX": object}), y)
    scorer = Compiled(model, tmp_path)
    assert [scorer("code", 0, word.encode()) for word in sorted(WORDS)] == list(range(7))
    assert scorer.probabilities(scorer.rows(X)).tobytes() == model.predict_proba(X).tobytes()
    labels = (ctypes.c_char_p * 2).in_dll(scorer.library, "model_classes")
    assert list(labels) == [b"PREFIX", b"SOURCE"]
    columns = (ctypes.c_char_p * 2).in_dll(scorer.library, "model_columns")
    assert list(columns) == [b"PREFIX", b"static const char"]


@pytest.mark.parametrize(
    "name", ["SETS", "KIND", "MY_ROOTS", "PREFIX", "STEPS", "VALUES_2", "prefix"]
)
@pytest.mark.parametrize("kind", ["gradient log of 3", "auto of a frame"])
def test_a_file_may_be_named_by_words_of_the_templates(name, kind, tmp_path):
    model, X = fitted(kind)
    scorer = Compiled(model, tmp_path, name)
    assert f"#define {name.upper()}_COLUMNS 4\n" in (tmp_path / f"{name}.c").read_text()
    assert scorer.probabilities(scorer.rows(X)).tobytes() == model.predict_proba(X).tobytes()
