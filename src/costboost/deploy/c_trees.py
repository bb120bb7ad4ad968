"""Trees in C: a row -> codes -> the margins of one forest.

As in Python, a row is binned once, and trees compare bytes. A node is one word, 32 bits where trees
and tables are small, so that a tree of eight leaves fills one line of the cache:

    bits   narrow   wide
    limit  0-7      0-7      goes left when the code is not above it
    left   8-15     8-31     the left child, counted from the root; the right one follows it
    code   16-31    32-63    which code is asked for; of a leaf, its number in the tree

Codes stand twice in their array: as they are, and one higher modulo 256, so that missing values,
255, become 0 for the nodes that send them left. A leaf is its own left child with limit 255: rows
take as many steps as a tree is deep, no branch is mispredicted, and four trees are walked at once,
whose loads need not wait for each other. Forests of stumps are one table per column. Leaves are
added tree after tree, as in Python.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from costboost.binning.binner import Binner
from costboost.binning.codes import MISSING
from costboost.trees.forest import Forest
from costboost.typing import Floats, Int64

__all__ = [
    "array",
    "number",
    "string",
    "columns_of_text",
    "n_codes",
    "write_codes",
    "write_encoding",
    "write_forest",
]


# C as text: literals that mean exactly what Python means, and arrays of them

_WIDTH = 100


def number(value: float) -> str:
    """Return a double as C99 writes it exactly, in hexadecimal.

    Examples
    --------
    >>> number(0.1), number(float("-inf")), number(3.0)
    ('0x1.999999999999ap-4', '-INFINITY', '0x1.8p+1')
    """
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "-INFINITY"
    digits, exponent = float(value).hex().split("p")
    return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits}p{exponent}"


def string(text: str) -> str:
    r"""Return a text as a C string of UTF-8, everything unusual in octal.

    Examples
    --------
    >>> print(string('a "b" ??'))
    "a \042b\042 \077\077"
    """
    if "\0" in text:
        raise ValueError(f"{text!r} holds a zero character, where a string of C would end.")
    plain = set(range(32, 127)) - set(b'"\\?')  # ?? would begin a trigraph
    data = text.encode("utf-8", "surrogatepass")
    return '"' + "".join(chr(c) if c in plain else f"\\{c:03o}" for c in data) + '"'


def array(kind: str, name: str, items: Iterable[str]) -> str:
    """Return the definition of a constant array, its lines not too long.

    Examples
    --------
    >>> print(array("int", "sizes", ["1", "2"]))
    static const int sizes[2] = {
        1, 2
    };
    """
    listed = list(items)
    lines, line = [], "   "
    for item in listed:
        if len(line) + len(item) + 2 > _WIDTH and line.strip():
            lines.append(line)
            line = "   "
        line += f" {item},"
    lines.append(line.rstrip(","))
    return f"static const {kind} {name}[{len(listed)}] = {{\n" + "\n".join(lines) + "\n};"


_SHALLOW = 6  # up to this depth all trees take the steps of the deepest


class NodeLayout(NamedTuple):
    """Where the parts of a node stand in its word."""

    kind: str
    code: int
    left_mask: int
    code_mask: int


NARROW = NodeLayout("uint32_t", 16, 0xFF, 0xFFFF)
WIDE = NodeLayout("uint64_t", 32, 0xFFFFFF, 0xFFFFFFFF)


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


# --- rows to codes


def n_codes(forests: list[Forest], used: list[int]) -> int:
    """Return how many codes a row needs: leaves are asked for one, too, at their own number."""
    most = max((int(_sizes(forest).max(initial=1)) + 1) // 2 for forest in forests)
    return max(2 * len(used), most)


def _sizes(forest: Forest) -> Int64:
    return np.diff(np.append(forest.roots, len(forest.words)))


def write_encoding(prefix: str, binner: Binner, used: list[int], size: int) -> str:
    """Return the function that writes the codes of a row."""
    text = set(columns_of_text(binner, used))
    data, calls = [], []
    for place, j in enumerate(used):
        kept: Any = binner.categories[j]
        codes = binner.codes_of_levels(j)
        if codes is not None:
            data.append(array("unsigned char", f"{prefix}_levels_{j}", map(str, codes.tolist())))
            call = f"whole_level(row[{j}], {prefix}_levels_{j}, {len(kept)})"
            if j not in text:
                data.append(array("double", f"{prefix}_categories_{j}", map(number, kept)))
                names = f"{prefix}_categories_{j}, {prefix}_levels_{j}"
                call = f"level(row[{j}], {names}, {len(kept)})"
        elif kept is None:
            edges = [*binner.edges[j].tolist(), np.inf]  # C has no empty arrays
            data.append(array("double", f"{prefix}_edges_{j}", map(number, edges)))
            call = f"bin(row[{j}], {prefix}_edges_{j}, {len(edges) - 1})"
        elif j in text or not kept:
            call = f"whole(row[{j}], {len(kept)})"
        else:
            data.append(array("double", f"{prefix}_categories_{j}", map(number, kept)))
            call = f"place(row[{j}], {prefix}_categories_{j}, {len(kept)})"
        calls.append(f"    codes[{place}] = {prefix}_{call};")
    n = len(used)
    rest = [
        "    int i;",
        *calls,
        f"    for (i = 0; i < {n}; i++) {{",
        f"        codes[{n} + i] = (unsigned char)(codes[i] + 1);",
        "    }",
    ]
    if size > 2 * n:
        rest.append(f"    memset(codes + {2 * n}, 0, {size - 2 * n});")
    if not calls:
        rest = ["    (void)row;", f"    memset(codes, 0, {size});"]
    head = f"static void {prefix}_encode(const double *row, unsigned char *codes)"
    body = "\n".join([head, "{", *rest, "}"])
    helpers = [text for name, text in _LOOKUPS.items() if f"_{name}(" in body]
    return "\n\n".join([*data, *helpers, body]).replace("PREFIX", prefix)


_LOOKUPS = {
    "bin": """\
/* The number of edges below x; 255 where x is missing. */
static unsigned char PREFIX_bin(double x, const double *edges, int n)
{
    const double *low = edges;
    while (n > 1) {
        const int half = n / 2;
        low += (low[half - 1] < x) * half;
        n -= half;
    }
    return x != x ? 255 : (unsigned char)(low - edges + (n == 1 && *low < x));
}""",
    "whole": """\
/* A code that PREFIX_code gave, or 255: missing. */
static unsigned char PREFIX_whole(double x, int n)
{
    return x >= 0.0 && x < n && x == (int)x ? (unsigned char)x : 255;
}""",
    "whole_level": """\
/* The code of the level that PREFIX_code numbered, or of levels not seen; 255: missing. */
static unsigned char PREFIX_whole_level(double x, const unsigned char *codes, int n)
{
    return x != x ? 255 : codes[x >= 0.0 && x < n && x == (int)x ? (int)x : n];
}""",
    "level": """\
/* The code of a number among sorted levels, or of those not seen; 255: missing. */
static unsigned char PREFIX_level(double x, const double *kept, const unsigned char *codes, int n)
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
    return x != x ? 255 : codes[kept[low] == x ? low : n];
}""",
    "place": """\
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
}""",
}


def write_codes(prefix: str, binner: Binner, used: list[int]) -> str:
    """Return the public function from a text to what a row holds for it."""
    columns = columns_of_text(binner, used)
    parts = []
    for j in columns:
        kept = [str(key) for key in binner.categories[j] or ()]
        parts.append(array("char *const", f"{prefix}_texts_{j}", map(string, kept)))
    coded = {j for j in columns if binner.codes_of_levels(j) is not None}
    cases = "\n".join(
        f"    case {j}:\n        kept = {prefix}_texts_{j};\n"
        f"        n = {len(binner.categories[j] or ())};\n"
        + "        unseen = n;\n" * (j in coded)
        + "        break;"
        for j in columns
    )
    code = _CODE
    if coded:  # a level that is not known is not missing there
        head, last = "    int low = 0, high, n;\n", "        }\n    }\n    return NAN;"
        code = code.replace(head, head + "    double unseen = NAN;\n")
        code = code.replace(last, last.replace("NAN", "unseen"))
    code = code.replace("PREFIX", prefix).replace("CASES", cases)
    return "\n\n".join([*parts, code])  # texts may hold any word


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


# --- codes to margins


def write_forest(prefix: str, i: int, forest: Forest, used: list[int]) -> str:
    """Return the function from codes to the margins of forest i."""
    places = {j: place for place, j in enumerate(used)}
    write = _write_nodes if forest.tables is None else _write_tables
    data, body = write(f"{prefix}_{{}}_{i}", forest, places)
    base = [f"    margins[{k}] = {number(b)};" for k, b in enumerate(forest.base + 0.0)]
    head = f"static void {prefix}_forest_{i}(const unsigned char *codes, double *margins)"
    unused = [] if "codes" in body else ["    (void)codes;"]
    return "\n\n".join([*data, "\n".join([head, "{", *unused, *base, body, "}"])])


def _write_nodes(name: str, forest: Forest, places: dict[int, int]) -> tuple[list[str], str]:
    """Write trees as words, and the loop that walks them."""
    if not len(forest):
        return [], ""
    small = _sizes(forest).max() <= NARROW.left_mask + 1 and 2 * len(places) <= NARROW.code_mask
    layout = NARROW if small else WIDE
    words, leaves, values = _pack(forest, places, layout)
    suffix = "u" if layout is NARROW else "ull"
    data = [
        array(layout.kind, name.format("nodes"), (f"{word:#x}{suffix}" for word in words)),
        array("int", name.format("roots"), map(str, forest.roots.tolist())),
        array("int", name.format("leaves"), map(str, leaves)),
        array("double", name.format("values"), map(number, values.ravel().tolist())),
    ]
    steps = _write_steps(name, forest, data)
    if len(forest.subsets):
        data += _write_sets(name, forest)
    walk = _WALK_SETS if len(forest.subsets) else _WALK
    add = _ADD_ONE if forest.n_outputs == 1 else _ADD_MANY
    body = re.sub(r"ADD\((\d), ([^)]*?)\);", add + ";", walk)
    return data, _filled(body, name, forest, layout, steps)


def _write_steps(name: str, forest: Forest, data: list[str]) -> str:
    """Return how many steps four trees take: those of the deepest of all, or of the four."""
    deepest = int(forest.depths.max())
    if deepest <= _SHALLOW:
        return str(deepest)
    fours = np.maximum.reduceat(forest.depths, np.arange(0, len(forest), 4))
    data.append(array("int", name.format("depths"), map(str, fours.tolist())))
    return f"{name.format('depths')}[t / 4]"


def _filled(body: str, name: str, forest: Forest, layout: NodeLayout, steps: str) -> str:
    """Fill in the words of a template, all at once: a name may itself be one of them."""
    words = {
        "STEPS": steps,
        "ADD_UP": f"{name.split('_{}')[0]}_add",
        "KIND": layout.kind,
        "TREES": str(len(forest)),
        "OUTPUTS": str(forest.n_outputs),
        "CODE_BITS": str(layout.code),
        "LEFT_MASK": f"{layout.left_mask:#x}",
        **{part.upper(): name.format(part) for part in ("nodes", "roots", "leaves", "values")},
        **{part.upper(): name.format(part) for part in ("sets", "numbers")},
    }
    return re.sub(rf"\b({'|'.join(words)})\b", lambda found: words[found[0]], body)


def _pack(
    forest: Forest, places: dict[int, int], layout: NodeLayout
) -> tuple[list[int], list[int], Floats]:
    """Return nodes as words, where each tree's leaves begin, and the values of all leaves."""
    words = [int(word) for word in forest.words]
    ends = np.append(forest.roots, len(words)).tolist()
    packed: list[int] = []
    leaves: list[int] = []
    kept: list[int] = []
    for root, stop in pairwise(ends):
        first = len(kept)
        leaves.append(first)
        for at in range(root, stop):
            left, limit, shift = words[at] >> 40, words[at] & 255, words[at] >> 8 & 1
            if left == at - root:
                code = len(kept) - first
                kept.append(at)
            else:
                code = places[words[at] >> 16 & 0xFFFFFF] + shift * len(places)
            packed.append(limit | left << 8 | code << layout.code)
    return packed, leaves, forest.values[kept]


def _write_sets(name: str, forest: Forest) -> list[str]:
    """Write the sets of categories, and for each node the number of its set, from 1 on."""
    is_set = (forest.words >> np.uint64(9)) & np.uint64(1) == 1
    numbers = np.where(is_set, np.cumsum(is_set), 0)
    rows = forest.subsets[is_set].astype("<u8")
    sets = ["{0}", *("{" + ", ".join(map(str, bits.tobytes())) + "}" for bits in rows)]
    return [
        array("int", name.format("numbers"), map(str, numbers.tolist())),
        array("unsigned char", name.format("sets"), sets).replace("]", "][32]", 1),
    ]


# Trees beyond the last are the last four's first again, and are not added.
_WALK = """\
    int t, step;
    for (t = 0; t < TREES; t += 4) {
        const int n = TREES - t;
        const KIND *const one = NODES + ROOTS[t], *const two = NODES + ROOTS[n > 1 ? t + 1 : t];
        const KIND *const three = NODES + ROOTS[n > 2 ? t + 2 : t];
        const KIND *const four = NODES + ROOTS[n > 3 ? t + 3 : t];
        KIND a = *one, b = *two, c = *three, d = *four;
        for (step = 0; step < STEPS; step++) {
            a = one[(a >> 8 & LEFT_MASK) + (codes[a >> CODE_BITS] > (a & 255))];
            b = two[(b >> 8 & LEFT_MASK) + (codes[b >> CODE_BITS] > (b & 255))];
            c = three[(c >> 8 & LEFT_MASK) + (codes[c >> CODE_BITS] > (c & 255))];
            d = four[(d >> 8 & LEFT_MASK) + (codes[d >> CODE_BITS] > (d & 255))];
        }
        ADD(0, a);
        if (n > 1) {
            ADD(1, b);
        }
        if (n > 2) {
            ADD(2, c);
        }
        if (n > 3) {
            ADD(3, d);
        }
    }"""

_WALK_SETS = """\
    int t, step;
    for (t = 0; t < TREES; t++) {
        const KIND *const tree = NODES + ROOTS[t];
        KIND at = 0;
        for (step = 0; step < STEPS; step++) {
            const KIND word = tree[at];
            const unsigned code = codes[word >> CODE_BITS];
            const int set = NUMBERS[ROOTS[t] + (int)at];
            const int right = set ? !(SETS[set][code >> 3] >> (code & 7) & 1) : code > (word & 255);
            at = (word >> 8 & LEFT_MASK) + (KIND)right;
        }
        ADD(0, tree[at]);
    }"""

_ADD_ONE = r"margins[0] += VALUES[LEAVES[t + \1] + (int)(\2 >> CODE_BITS)]"
_ADD_MANY = (
    r"ADD_UP(margins, VALUES + OUTPUTS * (LEAVES[t + \1] + (int)(\2 >> CODE_BITS)), OUTPUTS)"
)


def _write_tables(name: str, forest: Forest, places: dict[int, int]) -> tuple[list[str], str]:
    """Write a forest of stumps: a table per column, added in the order of the columns."""
    tables = forest.tables
    assert tables is not None
    data, n_outputs = [], forest.n_outputs
    lines = [f"    margins[{k}] += {number(c)};" for k, c in enumerate(tables.constant.tolist())]
    for f, j in enumerate(tables.columns.tolist()):
        n_bins, place = int(forest.binner.n_bins[j]), places[j]
        table = f"{name.format('table')}_{j}"
        cells = tables.values[f, [*range(n_bins), MISSING]]
        data.append(array("double", table, map(number, cells.ravel().tolist())))
        code = f"(codes[{place}] == 255 ? {n_bins} : codes[{place}])"
        for k in range(n_outputs):
            at = code if n_outputs == 1 else f"{n_outputs} * {code} + {k}"
            lines.append(f"    margins[{k}] += {table}[{at}];")
    return data, "\n".join(lines)
