"""Prices in C: a struct of what is read -> ``C[true][action]``, as Python computes it.

Every price becomes one function. An `if` is one in C, and the second part of an `and` is computed
where the first does not settle it: so a value may be missing, or a divisor zero, where it is not
asked for, and anywhere else the function returns -1, as Python raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from costboost.costs.expressions import digits_of
from costboost.costs.grammar import Call, Name, Node, Number, Operation, Text
from costboost.deploy.c_trees import number, string
from costboost.deploy.prices import Formula, Kind, PriceFormulas, kind_of
from costboost.inputs.arrays import LARGEST_COST, SMALLEST_COST

__all__ = ["field_names", "write_prices", "write_struct"]

# Words of C and C++, and macros in small letters.
_TAKEN = (
    "and asm auto bool break case catch char class const continue default delete do double else "
    "enum explicit export extern false float for friend goto if inline int long mutable namespace "
    "new not operator or private protected public register restrict return short signed sizeof "
    "static struct switch template this throw true try typedef typename union unsigned using "
    "virtual void volatile while xor errno linux unix"
)
_RESERVED = frozenset(_TAKEN.split())


def field_names(columns: dict[str, Kind]) -> dict[str, str]:
    """Return the member of the struct for every column: its name, made fit for C.

    Examples
    --------
    >>> field_names({"own share": "number", "own-share": "number", "if": "text"})
    {'own share': 'own_share', 'own-share': 'own_share_2', 'if': 'if_'}
    """
    found: dict[str, str] = {}
    for name in columns:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        plain = plain if plain[:1].isalpha() else f"column_{plain}"
        if plain in _RESERVED or plain.isupper():  # macros, such as NULL, are in capitals
            plain = f"{plain}_"
        tried, n = plain, 1
        while tried in found.values():
            n += 1
            tried = f"{plain}_{n}"
        found[name] = tried
    return found


_TYPES = {"number": "double ", "text": "const char *", "truth": "double "}
_MEANT = {
    "number": "NAN where it is missing",
    "text": "UTF-8, NULL where it is missing",
    "truth": "1 true, 0 false, NAN where it is missing",
}


def write_struct(prefix: str, prices: PriceFormulas) -> str:
    """Return the struct of the columns that are read, and the prototype of what reads it."""
    fields = field_names(prices.columns)
    members = [
        f"    {_TYPES[kind]}{fields[name]}; /* the column {quoted(name)}: {_MEANT[kind]} */"
        for name, kind in prices.columns.items()
    ]
    return "\n".join(
        [
            f"struct {prefix}_prices {{",
            *members,
            "};",
            f"int {_READ.replace('PREFIX', prefix)};",
        ]
    )


def quoted(text: str) -> str:
    r"""Return a text as it may stand in a comment.

    Examples
    --------
    >>> print(quoted("a */ b"))
    "a *\057 b"
    """
    plain = string(text).replace("\\042", '"')
    return plain.replace("*/", "*\\057").replace("/*", "/\\052")


_READ = "PREFIX_read_prices(const struct PREFIX_prices *prices, double *costs)"


def write_prices(prefix: str, prices: PriceFormulas) -> list[str]:
    """Return the functions that compute prices, the public one last."""
    least = "" if prices.benefits else " && *price >= 0.0"
    check = _CHECK.replace("LEAST", least).replace("PREFIX", prefix)
    formulas = prices.formulas
    parts = [check]
    parts += [_PriceCode(prefix, f, prices.columns).write(i) for i, f in enumerate(formulas)]
    return [*parts, _whole(prefix, prices)]


def _whole(prefix: str, prices: PriceFormulas) -> str:
    formulas = prices.formulas
    calls = [f"{prefix}_price_{i}(prices, read + {i}) != 0" for i in range(len(formulas))]
    lines = [
        f"int {_READ}".replace("PREFIX", prefix),
        "{",
        f"    double read[{len(formulas)}];",
        "    int i;",
        f"    for (i = 0; i < {len(prices.cells)}; i++) {{",
        "        costs[i] = NAN;",
        "    }",
        "    if (" + "\n        || ".join(calls) + ") {",
        "        return -1;",
        "    }",
    ]
    for i, cell in enumerate(prices.cells):
        value = f"read[{formulas.index(cell)}]" if isinstance(cell, Formula) else number(cell)
        lines.append(f"    costs[{i}] = {value};")
    return "\n".join([*lines, "    return 0;", "}"])


_CHECK = f"""\
/* Whether a number is a price, 0 for no; minus zero becomes zero. */
static int PREFIX_is_price(double *price)
{{
    const double size = fabs(*price);
    *price += 0.0;
    return size <= {number(LARGEST_COST)} && (size == 0.0 || size >= {number(SMALLEST_COST)})LEAST;
}}"""


class _PriceCode:
    """Writes one formula as a function; every value that is computed has a variable."""

    def __init__(self, prefix: str, formula: Formula, columns: dict[str, Kind]) -> None:
        self.prefix, self.formula, self.columns = prefix, formula, columns
        self.fields = field_names(columns)
        self.lines: list[str] = []
        self.n_values, self.depth = 0, 1

    def write(self, i: int) -> str:
        """Return the function."""
        prefix, formula = self.prefix, self.formula
        assert formula.tree is not None
        head = f"static int {prefix}_price_{i}(const struct {prefix}_prices *prices, double *price)"
        comment = f"/* {quoted(formula.text)} */"
        self._say(f"*price = {self._number(formula.tree)};")
        self._refuse_if(f"!{prefix}_is_price(price)")
        for sign, by in formula.steps:
            self._say(f"*price {sign}= {number(by)};")
        if formula.steps:
            self._refuse_if(f"!{prefix}_is_price(price)")
        return "\n".join([comment, head, "{", *self.lines, "    return 0;", "}"])

    # --- lines

    def _say(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def _refuse_if(self, condition: str) -> None:
        self._say(f"if ({condition}) {{")
        self._say("    return -1;")
        self._say("}")

    def _value(self, kind: str, text: str | None = None) -> str:
        """Declare a variable, and return its name."""
        name = f"v{self.n_values}"
        self.n_values += 1
        self._say(f"{kind}{name};" if text is None else f"{kind}{name} = {text};")
        return name

    def _column(self, node: Name) -> str:
        """Return the member that holds a column, checked not to be missing."""
        member = f"prices->{self.fields[node.name]}"
        self._refuse_if(self._missing(node.name))
        return member

    def _missing(self, name: str) -> str:
        member = f"prices->{self.fields[name]}"
        text = self.columns[name] == "text"
        return f"{member} == NULL" if text else f"{member} != {member}"

    def _choice(self, node: Call, kind: str, of: Callable[[Node], str]) -> str:
        condition = self._truth(node.parts[0])
        value = self._value(kind)
        for head, part in ((f"if ({condition}) {{", node.parts[1]), ("} else {", node.parts[2])):
            self._say(head)
            self.depth += 1
            self._say(f"{value} = {of(part)};")
            self.depth -= 1
        self._say("}")
        return value

    # --- the three kinds

    def _number(self, node: Node) -> str:
        if isinstance(node, Number):
            return number(node.value)
        if isinstance(node, Name):
            return self._column(node)
        if isinstance(node, Call) and node.function == "if":
            return self._choice(node, "double ", self._number)
        assert isinstance(node, Operation | Call)
        if isinstance(node, Call) and node.function == "round":
            digits = digits_of(self.formula.text, node)
            return self._rounded(self._number(node.parts[0]), digits)
        parts = [self._number(part) for part in node.parts]
        if isinstance(node, Call):
            return self._extreme(node.function, parts)
        if len(parts) == 1:
            return self._value("const double ", f"-({parts[0]})")
        if node.sign == "/":
            self._refuse_if(f"{parts[1]} == 0.0")
        return self._value("const double ", f"{parts[0]} {node.sign} {parts[1]}")

    def _rounded(self, part: str, digits: int) -> str:
        """Return a number rounded as numpy rounds: a product or quotient, its nearest, and back."""
        if digits == 0:
            return self._value("const double ", f"rint({part})")
        there, back = ("*", "/") if digits > 0 else ("/", "*")
        power = number(10.0 ** abs(digits))
        return self._value("const double ", f"rint({part} {there} {power}) {back} {power}")

    def _extreme(self, function: str, parts: list[str]) -> str:
        if function == "abs":
            return self._value("const double ", f"fabs({parts[0]})")
        sign, found = {"min": "<", "max": ">"}[function], parts[0]
        for part in parts[1:]:  # what is no number wins, as in numpy
            kept = f"{found} {sign} {part} || {found} != {found}"
            found = self._value("const double ", f"{kept} ? {found} : {part}")
        return found

    def _text(self, node: Node) -> str:
        if isinstance(node, Text):
            return string(node.value)
        if isinstance(node, Name):
            return self._column(node)
        assert isinstance(node, Call)
        return self._choice(node, "const char *", self._text)

    def _truth(self, node: Node) -> str:
        if isinstance(node, Name):
            return self._value("const int ", f"{self._column(node)} != 0.0")
        if isinstance(node, Call):
            if node.function == "if":
                return self._choice(node, "int ", self._truth)
            assert isinstance(node.parts[0], Name)
            return self._value("const int ", self._missing(node.parts[0].name))
        assert isinstance(node, Operation)
        if node.sign == "not":
            return self._value("const int ", f"!{self._truth(node.parts[0])}")
        if node.sign in ("and", "or"):
            return self._joined(node)
        if kind_of(node.parts[0], self.columns) == "text":
            left, right = (self._text(part) for part in node.parts)
            return self._value("const int ", f"strcmp({left}, {right}) {node.sign} 0")
        left, right = (self._number(part) for part in node.parts)
        return self._value("const int ", f"{left} {node.sign} {right}")

    def _joined(self, node: Operation) -> str:
        """Compute the second part only where the first does not settle it."""
        value = self._value("int ", self._truth(node.parts[0]))
        self._say(f"if ({value if node.sign == 'and' else '!' + value}) {{")
        self.depth += 1
        self._say(f"{value} = {self._truth(node.parts[1])};")
        self.depth -= 1
        self._say("}")
        return value
