"""A fitted model as one C file that needs nothing but libm.

The file holds the trees as arrays and computes what Python computes, in the same order, so that
probabilities and decisions agree bit for bit (on a machine whose libm Python uses, too). It
allocates nothing, keeps no state, and compiles with ``cc -std=c99 -Wall -Wextra -Werror``.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from costboost._version import __version__
from costboost.deploy.c_maps import HELPERS, write_map
from costboost.deploy.c_numbers import write_numbers
from costboost.deploy.c_prices import quoted, write_prices, write_struct
from costboost.deploy.c_trees import (
    array,
    columns_of_text,
    n_codes,
    number,
    string,
    write_codes,
    write_encoding,
    write_forest,
)
from costboost.deploy.exported import Exported, export
from costboost.deploy.prices import Formula
from costboost.estimators.wrappers import MinimumCostRegressor
from costboost.model import Map

__all__ = ["to_c"]

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,40}")


def to_c(model: Any, path: str | os.PathLike[str] | None = None, *, name: str = "model") -> str:
    """Write a fitted model as one C file: probabilities and decisions, without dependencies.

    Parameters
    ----------
    model : CostBoostClassifier, GradientBoostClassifier, GradientBoostRegressor, \
            MinimumCostRegressor or PNormBoostClassifier
        Fitted, with built-in trees; others are refused by name.
    path : path-like, default=None
        Where to write it, too.
    name : str, default="model"
        What every name in the file begins with.

    Returns
    -------
    str
        The text of the file. Its public functions, with ``name="model"``::

            void   model_probabilities(const double *row, double *probabilities);
            int    model_decision(const double *row, const double *costs);
            void   model_expected_costs(const double *row, const double *costs, double *expected);
            double model_prediction(const double *row);                  (a regressor's only one)
            double model_code(int column, const char *text);             (columns of text)

        Of a `MinimumCostRegressor`, at prices per unit::

            double model_mean(const double *row);
            double model_quantile(const double *row, double level);
            double model_cheapest(const double *row, double under, double over);
            double model_probability_above(const double *row, double threshold);

        A row has one double for each column, NaN where missing, and for text what
        ``model_code`` returns. ``costs`` is ``C[true][action]``, in the order of ``classes_``, row
        after row; NULL stands for the prices of ``fit``. A decision is the number of a class (or
        action) in ``model_classes`` (``model_actions``), -1 where a cost is no finite number.
        Methods that do not decide by prices have ``model_decision(row)`` only.

        Where the prices of ``fit`` are read from columns, by name or by expression, they differ
        from row to row: NULL stands for nothing then, and two more declarations say what is read::

            struct model_prices { ... };                               (a member for each column)
            int    model_read_prices(const struct model_prices *prices, double *costs);

        It computes ``costs`` as Python does, bit for bit, and returns 0; or -1, and ``costs`` is
        NaN, where Python raises: a value is missing, a divisor 0, a price negative or too large.
        Prices that a function in Python gives are for the caller to compute. The head of the file
        says which class, action and price is which.

    Examples
    --------
    >>> import costboost
    >>> from costboost.deploy import to_c
    >>> from sklearn.datasets import load_breast_cancer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = costboost.GradientBoostClassifier(n_estimators=5).fit(X, y)
    >>> text = to_c(model, name="tumour")
    >>> "void tumour_probabilities(const double *row, double *probabilities)" in text
    True
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"name={name!r} is no name in C: use letters, digits and underscores.")
    text = _write(model, name)
    if path is not None:
        Path(path).write_text(text, encoding="ascii")
    return text


def _write(model: Any, name: str) -> str:
    if isinstance(model, MinimumCostRegressor):
        return write_numbers(model, name, _write)
    return _CFile(export(model), name).write()


class _CFile:
    """The parts of a file, in the order in which C wants them."""

    def __init__(self, exported: Exported, prefix: str) -> None:
        self.model, self.prefix = exported, prefix
        self.used = exported.used_features
        self.text = columns_of_text(exported.binner, self.used)
        self.n_codes = n_codes(exported.forests, self.used)

    def write(self) -> str:
        """Return the whole file."""
        forests, answers = self._forests(), self._answers()
        helpers = self._helpers("\n".join([*forests, *answers]))
        parts = [self._head(), *self._names()]
        parts += [*self._named(helpers), *forests, *self._named(answers), *self._prices()]
        return "\n\n".join(part for part in parts if part) + "\n"

    def _named(self, parts: list[str]) -> list[str]:
        """Fill in the prefix; texts of the model, which may hold any word, come with it."""
        return [part.replace("PREFIX", self.prefix) for part in parts]

    def _head(self) -> str:
        model = self.model
        what = f"{len(model.forests)} forests, {model.binner.n_features} columns"
        lines = [
            f"/* A {model.name} of costboost {__version__}: {what}, {model.n_classes} classes.",
            "   Compile without -ffast-math, with -ffp-contract=off if that is not the default.",
            "   See docs/c.md for how to call it.",
            *self._order(),
            "*/",
            "",
            "#include <math.h>",
            "#include <stdint.h>",
            "#include <string.h>",
            "",
            f"#define {self._upper}_COLUMNS {model.binner.n_features}",
            f"#define {self._upper}_CLASSES {model.n_classes}",
            f"#define {self._upper}_ACTIONS {self._n_actions}",
            "",
            *self._named(self._prototypes()),
        ]
        if self._columns:
            assert model.prices is not None
            lines += ["", write_struct(self.prefix, model.prices)]
        return "\n".join(lines)

    def _order(self) -> list[str]:
        """Return which number is which class, action and price, for the head of the file."""
        model = self.model
        if model.classes is None:
            return []
        said = ["", f"   Classes: {_numbered(model.classes)}."]
        if model.prices is None or model.actions is None:
            return said
        if model.costs is not None and not model.costs.is_square:
            said.append(f"   Actions: {_numbered(model.actions)}.")
        n = len(model.actions)
        said.append(f"   costs[{n} * true class + action]; those of fit:")
        for i, cell in enumerate(model.prices.cells):
            if isinstance(cell, Formula):
                said.append(f"     costs[{i}]: {quoted(str(cell))}")
            elif len(model.prices.cells) <= _LISTED:
                said.append(f"     costs[{i}]: {cell:g}")
        if self._columns:
            name = self.prefix
            said.append(f"   {name}_read_prices computes them from struct {name}_prices.")
        elif model.prices.formulas:
            said.append("   A function in Python cannot be written in C: the caller gives costs.")
        else:
            said.append("   NULL in place of costs stands for these.")
        return said

    @property
    def _columns(self) -> dict[str, Any]:
        """The columns that prices are read from."""
        return {} if self.model.prices is None else self.model.prices.columns

    def _prices(self) -> list[str]:
        if not self._columns:
            return []
        assert self.model.prices is not None
        return write_prices(self.prefix, self.model.prices)

    @property
    def _upper(self) -> str:
        return self.prefix.upper()

    @property
    def _n_actions(self) -> int:
        actions = self.model.actions
        return 1 if actions is None else len(actions)

    def _prototypes(self) -> list[str]:
        model = self.model
        if model.classes is None:
            listed = ["double PREFIX_prediction(const double *row);"]
        elif model.model.decision == "cheapest":
            listed = [_PROBABILITIES + ";", _DECISION + ";", _EXPECTED + ";"]
        else:
            listed = [_PROBABILITIES + ";", "int PREFIX_decision(const double *row);"]
        if self.text:
            listed.append("double PREFIX_code(int column, const char *text);")
        return listed

    def _names(self) -> list[str]:
        """Return the names of columns, classes and actions, for whoever wants to show them."""
        model = self.model
        lists = {"columns": model.binner.feature_names, "classes": model.classes}
        if model.costs is not None and not model.costs.is_square:
            lists["actions"] = model.costs.actions
        return [
            f"extern const char *const {self.prefix}_{name}[];\n"
            + array(
                "char *const", f"{self.prefix}_{name}", map(string, map(str, listed))
            ).removeprefix("static ")
            for name, listed in lists.items()
            if listed is not None
        ]

    def _helpers(self, body: str) -> list[str]:
        """Return the functions that the body calls, and those that these call."""
        needed: set[str] = set()
        search = re.sub(r'"[^"]*"', "", body)  # texts call nothing
        while True:
            found = {name for name in HELPERS if f"_{name}(" in search} - needed
            if not found:
                break
            needed |= found
            search = "\n".join(HELPERS[name] for name in found)
        return [text for name, text in HELPERS.items() if name in needed]

    def _forests(self) -> list[str]:
        binner = self.model.binner
        parts = [write_encoding(self.prefix, binner, self.used, self.n_codes)]
        if self.text:
            parts.append(write_codes(self.prefix, binner, self.used))
        parts += [
            write_forest(self.prefix, i, forest, self.used)
            for i, forest in enumerate(self.model.forests)
        ]
        return parts

    def _answers(self) -> list[str]:
        model, fitted = self.model, self.model.model
        if model.classes is None:
            return [self._prediction()]
        parts = [self._shares("mean", [member.maps for member in fitted.members])]
        parts.append(f"{_PROBABILITIES}\n{{\n    PREFIX_mean(row, probabilities);\n}}")
        if fitted.decision == "largest":
            return [*parts, self._largest()]
        if fitted.priced is not None:
            parts.append(self._shares("priced", [fitted.priced]))
        return [*parts, *self._decisions("mean" if fitted.priced is None else "priced")]

    def _encode(self) -> list[str]:
        return [f"    unsigned char codes[{self.n_codes}];", "    PREFIX_encode(row, codes);"]

    def _prediction(self) -> str:
        lines = ["double PREFIX_prediction(const double *row)", "{", "    double v[1];"]
        return "\n".join(
            [*lines, *self._encode(), "    PREFIX_forest_0(codes, v);", "    return v[0];", "}"]
        )

    def _shares(self, name: str, maps: list[tuple[Map, ...]]) -> str:
        """Return the function that averages what the maps make of the forests' margins."""
        n, data = self.model.n_classes, []
        lines = [f"static void PREFIX_{name}(const double *row, double *out)", "{"]
        lines += [f"    double v[{n}];", "    int k;", *self._encode()]
        for i, steps in enumerate(maps):
            n_values = self.model.forests[i].n_outputs
            lines.append(f"    PREFIX_forest_{i}(codes, v);")
            for s, step in enumerate(steps):
                more, text, n_values = write_map("PREFIX", step, n_values, f"{i}_{s}")
                data += more
                lines += [f"    {line}" for line in text.splitlines()]
            add = "out[k] = v[k];" if i == 0 else "out[k] += v[k];"
            lines.append(f"    for (k = 0; k < {n}; k++) {{\n        {add}\n    }}")
        if len(maps) > 1:
            lines.append(
                f"    for (k = 0; k < {n}; k++) {{\n        out[k] /= {len(maps)}.0;\n    }}"
            )
        return "\n\n".join([*data, "\n".join([*lines, "}"])])

    def _largest(self) -> str:
        n = self.model.forests[0].n_outputs
        lines = ["int PREFIX_decision(const double *row)", "{", f"    double v[{n}];"]
        lines += [
            *([] if n == 1 else ["    int k, best = 0;"]),
            *self._encode(),
            "    PREFIX_forest_0(codes, v);",
        ]
        if n == 1:
            return "\n".join([*lines, "    return v[0] > 0.0;", "}"])
        search = (
            f"    for (k = 1; k < {n}; k++) {{\n        best = v[k] > v[best] ? k : best;\n    }}"
        )
        return "\n".join([*lines, search, "    return best;", "}"])

    def _decisions(self, source: str) -> list[str]:
        costs, prices = self.model.costs, self.model.prices
        assert costs is not None
        assert prices is not None
        n, n_actions = self.model.n_classes, self._n_actions
        parts = [array("double", "PREFIX_costs", map(number, prices.constants))]
        parts.append(_EXPECT.replace("CLASSES", str(n)).replace("ACTIONS", str(n_actions)))
        binary = costs.is_square and n == 2
        decide = _DECIDE_TWO if binary else _DECIDE_MANY
        positive = costs._state.positive_code if binary else 0
        decide = decide.replace("POSITIVE", str(positive)).replace("ACTIONS", str(n_actions))
        parts.append(decide.replace("CLASSES", str(n)))
        return [part.replace("SOURCE", source) for part in parts]


_LISTED = 16  # so many constant prices are said in the head of the file


def _numbered(labels: Any) -> str:
    return ", ".join(f"{i} {quoted(str(label))}" for i, label in enumerate(labels))


_PROBABILITIES = "void PREFIX_probabilities(const double *row, double *probabilities)"
_DECISION = "int PREFIX_decision(const double *row, const double *costs)"
_EXPECTED = "void PREFIX_expected_costs(const double *row, const double *costs, double *expected)"

_EXPECT = f"""\
/* Expected costs over a power of two, which is returned: no product of small numbers is lost, and
   no digit of a cost that is small beside the largest. */
static int PREFIX_price(const double *p, const double *costs, double *expected)
{{
    double largest = 0.0;
    int a, i, exponent;
    for (i = 0; i < CLASSES * ACTIONS; i++) {{
        largest = fabs(costs[i]) > largest ? fabs(costs[i]) : largest;
    }}
    (void)frexp(largest, &exponent);
    exponent = exponent > 256 || exponent < -256 ? exponent - 1000 : 0;
    for (a = 0; a < ACTIONS; a++) {{
        expected[a] = 0.0;
        for (i = 0; i < CLASSES; i++) {{
            expected[a] += p[i] * ldexp(costs[i * ACTIONS + a], -exponent);
        }}
    }}
    return exponent;
}}

/* Whether every cost is a finite number. */
static int PREFIX_are_costs(const double *costs)
{{
    int i, all = 1;
    for (i = 0; i < CLASSES * ACTIONS; i++) {{
        all = all && costs[i] - costs[i] == 0.0;
    }}
    return all;
}}

{_EXPECTED}
{{
    double p[CLASSES];
    int a, exponent;
    PREFIX_SOURCE(row, p);
    exponent = PREFIX_price(p, costs ? costs : PREFIX_costs, expected);
    for (a = 0; a < ACTIONS; a++) {{
        expected[a] = ldexp(expected[a], exponent);
    }}
}}"""

_DECIDE_TWO = f"""\
/* Elkan (2001): the positive class where its probability is above a / (a + b), which may round to
   0 or 1: what is certain is answered. */
{_DECISION}
{{
    const double *const c = costs ? costs : PREFIX_costs;
    const int pos = POSITIVE, neg = 1 - pos;
    const double a = c[2 * neg + pos] - c[2 * neg + neg], b = c[2 * pos + neg] - c[2 * pos + pos];
    double p[CLASSES];
    int positive;
    if (!PREFIX_are_costs(c)) {{
        return -1;
    }}
    PREFIX_SOURCE(row, p);
    if (a + b > 0.0) {{
        positive = a < 0.0 || p[pos] > a / (a + b) || (b > 0.0 && p[pos] >= 1.0);
    }} else if (a >= 0.0) {{
        positive = 0;
    }} else {{
        positive = b >= 0.0 || p[pos] < a / (a + b) || p[pos] == 0.0;
    }}
    return positive ? pos : neg;
}}"""

_DECIDE_MANY = f"""\
{_DECISION}
{{
    const double *const c = costs ? costs : PREFIX_costs;
    double p[CLASSES], expected[ACTIONS];
    int a, best = 0;
    if (!PREFIX_are_costs(c)) {{
        return -1;
    }}
    PREFIX_SOURCE(row, p);
    (void)PREFIX_price(p, c, expected);
    for (a = 1; a < ACTIONS; a++) {{
        best = expected[a] < expected[best] ? a : best;
    }}
    return best;
}}"""
