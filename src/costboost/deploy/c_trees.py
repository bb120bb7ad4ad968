"""Trees in C: a row -> the margins of one forest.

A node is a threshold, a column and the place of its left child, the right one behind it; a leaf
has no child. Forests of stumps are one table per column, as in Python, so that sums run in the same
order. Columns of categories are looked up once a row, before any tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from costboost.binning.binner import Binner
from costboost.binning.codes import MISSING
from costboost.deploy.c_text import array, number, string
from costboost.trees.forest import Forest

__all__ = [
    "BIN",
    "columns_of_text",
    "write_categories",
    "write_codes",
    "write_forest",
    "write_walk",
]

Floats = NDArray[np.float64]


def columns_of_text(binner: Binner, used: list[int]) -> list[int]:
    """Return the columns whose categories are text; refuse those that mix text and numbers."""
    found = []
    for j in used:
        kinds = {isinstance(key, str) for key in binner.categories[j] or ()}
        if len(kinds) > 1:
            raise ValueError(
                f"Column {j} has both numbers and text as categories, which no column of a row in "
                "another language can hold. Convert it to text before fitting."
            )
        if True in kinds:
            found.append(j)
    return found


def write_categories(prefix: str, binner: Binner, used: list[int]) -> str:
    """Return the function that writes the codes of all columns of categories, if there are any."""
    columns = [j for j in used if binner.is_categorical[j]]
    if not columns:
        return ""
    text = set(columns_of_text(binner, columns))
    parts, calls = [], []
    for j in columns:
        kept: Any = binner.categories[j] or ()
        if j in text or not kept:
            calls.append(f"    codes[{j}] = {prefix}_whole(row[{j}], {len(kept)});")
        else:
            parts.append(array("double", f"{prefix}_categories_{j}", map(number, kept)))
            calls.append(
                f"    codes[{j}] = {prefix}_place(row[{j}], {prefix}_categories_{j}, {len(kept)});"
            )
    helpers = []
    if any("_whole(" in call for call in calls):
        helpers.append(_WHOLE)
    if any("_place(" in call for call in calls):
        helpers.append(_PLACE)
    body = "\n".join(calls)
    look = f"static void PREFIX_look_up(const double *row, unsigned char *codes)\n{{\n{body}\n}}"
    return "\n\n".join([*parts, *helpers, look]).replace("PREFIX", prefix)


_WHOLE = """\
/* A code that PREFIX_code gave, or 255: missing. */
static unsigned char PREFIX_whole(double x, int n)
{
    return x >= 0.0 && x < n && x == (int)x ? (unsigned char)x : 255;
}"""

_PLACE = """\
/* The place of a number among sorted categories, or 255: missing. */
static unsigned char PREFIX_place(double x, const double *kept, int n)
{
    int low = 0, high = n - 1;
    while (low < high) {
        const int middle = (low + high) / 2;
        if (kept[middle] < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return kept[low] == x ? (unsigned char)low : 255;
}"""


def write_codes(prefix: str, binner: Binner, used: list[int]) -> str:
    """Return the public function from a text to what a row holds for it."""
    columns = columns_of_text(binner, used)
    parts = []
    for j in columns:
        kept = [str(key) for key in binner.categories[j] or ()]
        parts.append(array("char *const", f"{prefix}_texts_{j}", map(string, kept)))
    cases = "\n".join(
        f"    case {j}:\n        kept = {prefix}_texts_{j};\n"
        f"        n = {len(binner.categories[j] or ())};\n        break;"
        for j in columns
    )
    return "\n\n".join([*parts, _CODE.replace("CASES", cases)]).replace("PREFIX", prefix)


_CODE = """\
double PREFIX_code(int column, const char *text)
{
    const char *const *kept;
    int low = 0, high, n;
    switch (column) {
CASES
    default:
        return NAN;
    }
    high = n;
    while (low < high) {
        const int middle = (low + high) / 2, order = strcmp(kept[middle], text);
        if (order == 0) {
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NAN;
}"""


def write_walk(prefix: str, *, subsets: bool) -> str:
    """Return the node, and the function that walks from a root to a leaf."""
    walk = _WALK_SUBSETS if subsets else _WALK
    return f"{_NODE}\n\n{walk}".replace("PREFIX", prefix)


_NODE = """\
/* column: its number times 4, plus 1 where missing values go left, plus 2 for a set of categories
   (cut is then the number of the set). next: the left child, the right one behind it; 0: a leaf. */
struct PREFIX_node {
    double cut;
    int column;
    int next;
};"""

_WALK = """\
static int PREFIX_walk(const struct PREFIX_node *nodes, int at, const double *row)
{
    while (nodes[at].next) {
        const struct PREFIX_node *node = nodes + at;
        const double x = row[node->column >> 2];
        const int left = (x <= node->cut) | ((x != x) & (node->column & 1));
        at = node->next + !left;
    }
    return at;
}"""

_WALK_SUBSETS = """\
static int PREFIX_walk(const struct PREFIX_node *nodes, int at, const double *row,
                       const unsigned char *codes, const unsigned char (*sets)[32])
{
    while (nodes[at].next) {
        const struct PREFIX_node *node = nodes + at;
        int left;
        if (node->column & 2) {
            const unsigned char code = codes[node->column >> 2];
            left = sets[(int)node->cut][code >> 3] >> (code & 7) & 1;
        } else {
            const double x = row[node->column >> 2];
            left = (x <= node->cut) | ((x != x) & (node->column & 1));
        }
        at = node->next + !left;
    }
    return at;
}"""


def write_forest(prefix: str, i: int, forest: Forest, *, codes: bool, subsets: bool) -> str:
    """Return the function from a row to the margins of forest i."""
    write = _write_nodes if forest._tables is None else _write_tables
    data, body = write(prefix, i, forest, subsets)
    base = "\n".join(f"    margins[{k}] = {number(b)};" for k, b in enumerate(forest.base + 0.0))
    head = f"static void {prefix}_forest_{i}(const double *row, "
    head += "const unsigned char *codes, double *margins)" if codes else "double *margins)"
    unused = [f"    (void){name};" for name in _unused(body, codes)]
    return "\n\n".join([*data, "\n".join([head, "{", *unused, base, body, "}"])])


def _unused(body: str, codes: bool) -> list[str]:
    return [name for name in ("row", *(["codes"] if codes else [])) if name not in body]


def _write_nodes(prefix: str, i: int, forest: Forest, subsets: bool) -> tuple[list[str], str]:
    nodes, values, sets = _nodes_of(forest)
    if not len(forest):
        return [], ""
    here = f"{prefix}_{{}}_{i}"
    data = [
        array(f"struct {prefix}_node", here.format("nodes"), nodes),
        array("int", here.format("roots"), map(str, forest.roots.tolist())),
    ]
    if values:
        data.append(array("double", here.format("values"), values))
    if subsets:
        data.append(array("unsigned char", here.format("sets"), sets).replace("]", "][32]", 1))
    walk = f"{prefix}_walk({prefix}_nodes_{i}, {prefix}_roots_{i}[t], row"
    walk += f", codes, {prefix}_sets_{i})" if subsets else ")"
    if forest.n_outputs == 1:
        add = [f"        margins[0] += {prefix}_nodes_{i}[{walk}].cut;"]
        lines = ["    int t;", f"    for (t = 0; t < {len(forest)}; t++) {{", *add, "    }"]
        return data, "\n".join(lines)
    lines = [
        "    int t, k;",
        f"    for (t = 0; t < {len(forest)}; t++) {{",
        f"        const int leaf = {prefix}_nodes_{i}[{walk}].column;",
        f"        for (k = 0; k < {forest.n_outputs}; k++) {{",
        f"            margins[k] += {prefix}_values_{i}[{forest.n_outputs} * leaf + k];",
        "        }",
        "    }",
    ]
    return data, "\n".join(lines)


def _nodes_of(forest: Forest) -> tuple[list[str], list[str], list[str]]:
    """Return the nodes, the values of leaves with several outputs, and the sets of categories."""
    nodes: list[str] = []
    values: list[str] = []
    sets: list[str] = []
    for t, root in enumerate(forest.roots.tolist()):
        tree = forest.tree(t)
        for at in range(len(tree.left)):
            column = int(tree.feature[at])
            if column < 0:
                nodes.append(_leaf(tree.value[at], values))
            elif tree.subset[at] is not None:
                nodes.append(f"{{{len(sets)}, {4 * column + 2}, {root + int(tree.left[at])}}}")
                bits = forest.subsets[root + at].astype("<u8").tobytes()
                sets.append("{" + ", ".join(map(str, bits)) + "}")
            else:
                cut = number(float(tree.threshold[at]))
                marks = 4 * column + int(tree.missing_left[at])
                nodes.append(f"{{{cut}, {marks}, {root + int(tree.left[at])}}}")
    return nodes, values, sets or ["{0}"]


def _leaf(value: Floats, values: list[str]) -> str:
    if len(value) == 1:
        return f"{{{number(float(value[0]))}, 0, 0}}"
    values.extend(number(float(v)) for v in value)
    return f"{{0, {len(values) // len(value) - 1}, 0}}"


def _write_tables(prefix: str, i: int, forest: Forest, subsets: bool) -> tuple[list[str], str]:
    """Write a forest of stumps: a table per column, added in the order of the columns."""
    tables = forest._tables
    assert tables is not None
    data, n_outputs = [], forest.n_outputs
    lines = [f"    margins[{k}] += {number(c)};" for k, c in enumerate(tables.constant.tolist())]
    if len(tables.columns):
        lines.insert(0, "    int code;")
    for f, j in enumerate(tables.columns.tolist()):
        n_bins = int(forest.binner.n_bins[j])
        table, edges = f"{prefix}_table_{i}_{j}", f"{prefix}_edges_{i}_{j}"
        cells = tables.values[f, [*range(n_bins), MISSING]]
        data.append(array("double", table, map(number, cells.ravel().tolist())))
        if forest.binner.is_categorical[j]:
            lines.append(f"    code = codes[{j}] == 255 ? {n_bins} : codes[{j}];")
        else:
            cuts = forest.binner.edges[j]
            data.append(array("double", edges, map(number, [*cuts.tolist(), np.inf])))
            lines.append(f"    code = {prefix}_bin(row[{j}], {edges}, {len(cuts)});")
        for k in range(n_outputs):
            lines.append(f"    margins[{k}] += {table}[{n_outputs} * code + {k}];")
    return data, "\n".join(lines)


BIN = """\
/* The number of edges below x; one more than there can be where x is missing. */
static int PREFIX_bin(double x, const double *edges, int n)
{
    int low = 0, high = n;
    if (x != x) {
        return n + 1;
    }
    while (low < high) {
        const int middle = (low + high) / 2;
        if (edges[middle] < x) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}"""
