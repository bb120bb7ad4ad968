"""Prices that are read from tables: random expressions, odd tables, and what Python answers."""

import ctypes

import numpy as np
import pandas as pd

import costboost as cb
from compiled_c import Compiled
from costboost.costs import expression
from costboost.deploy.c_prices import field_names
from costboost.deploy.exported import export
from zoo import quiet_fit

NUMBERS, TEXTS, TRUTHS = ("a", "own share", "NULL"), ("t", "a*/b"), ("flag",)
WORDS = ["vip", "the rest", "\N{SNOWMAN} 'x' PREFIX", "b"]


def odd_prices(n, rng):
    """Return a table with numbers of every size, text and truths; some are missing."""
    sizes = 10.0 ** rng.uniform(-12, 12, size=(n, len(NUMBERS)))
    whole = rng.integers(-3, 4, size=sizes.shape).astype(float)
    odd = rng.choice([0.0, -0.0, 0.5, 2.5, 1e-306, 1e300, 1e308], size=sizes.shape)
    numbers = np.choose(rng.integers(4, size=sizes.shape), [sizes, sizes, whole, odd])
    numbers[rng.uniform(size=sizes.shape) < 0.1] = np.nan
    table = pd.DataFrame(numbers, columns=list(NUMBERS))
    for name in TEXTS:
        table[name] = pd.Series(rng.choice([*WORDS, None], size=n), dtype=object)
    for name in TRUTHS:
        table[name] = pd.Series(rng.choice([True, False, None], size=n), dtype=object)
    return table


def plain_prices(n, seed):
    """Return a table that the model takes, with numbers in one of its columns."""
    rng = np.random.default_rng(seed)
    return odd_prices(n, rng).drop(columns=["flag"]).assign(a=rng.normal(size=n))


def trained(n=200, labels=("bad", "good")):
    """Return a small model of a table with all those columns."""
    X = plain_prices(n, 0)
    y = np.where(X["a"] > np.random.default_rng(1).normal(size=n), *labels)
    model = cb.CostBoostClassifier("adamec", 3, cv=2, random_state=0)
    return quiet_fit(model, X, y)


def with_prices(model, prices):
    """Return the model, deciding by other prices than those of ``fit``."""
    model.costs_ = cb.Costs.check(prices).bind(model.classes_)
    model.costs_per_row_ = False
    return model


def drawn_number(rng, depth):
    if depth == 0:
        return (
            _name(rng.choice(NUMBERS))
            if rng.uniform() < 0.7
            else str(rng.choice(["0", "2.5", "1e3", "7"]))
        )
    one, two = (drawn_number(rng, depth - 1) for _ in range(2))
    digits = rng.integers(-3, 4)
    return rng.choice(
        [
            f"({one} {rng.choice(list('+-*/'))} {two})",
            f"-({one})",
            f"{rng.choice(['min', 'max'])}({one}, {two}, {drawn_number(rng, 0)})",
            f"abs({one})",
            f"round({one}, {digits})",
            f"round({one})",
            f"if({drawn_truth(rng, depth - 1)}, {one}, {two})",
            f"if({drawn_truth(rng, depth - 1)}, {one}, {two})",
        ]
    )


def drawn_text(rng, depth):
    if depth == 0:
        word = str(rng.choice(WORDS)).replace("'", "''")
        return _name(rng.choice(TEXTS)) if rng.uniform() < 0.6 else f"'{word}'"
    parts = [drawn_text(rng, depth - 1) for _ in range(2)]
    return f"if({drawn_truth(rng, depth - 1)}, {parts[0]}, {parts[1]})"


def drawn_truth(rng, depth):
    order = rng.choice(["==", "!=", "<", "<=", ">", ">="])
    if depth == 0:
        return rng.choice(
            [
                f"missing({_name(rng.choice((*NUMBERS, *TEXTS, *TRUTHS)))})",
                f"{drawn_number(rng, 0)} {order} {drawn_number(rng, 0)}",
                f"{drawn_text(rng, 0)} {rng.choice(['==', '!='])} {drawn_text(rng, 0)}",
                "flag",
            ]
        )
    one, two = (drawn_truth(rng, depth - 1) for _ in range(2))
    less = depth - 1
    return rng.choice(
        [
            f"({one} {rng.choice(['and', 'or'])} {two})",
            f"(not {one})",
            f"({drawn_number(rng, less)} {order} {drawn_number(rng, less)})",
            f"({drawn_text(rng, less)} {rng.choice(['==', '!='])} {drawn_text(rng, less)})",
            f"if({one}, {two}, {drawn_truth(rng, less)})",
        ]
    )


def _name(name):
    return f"`{name}`"


def drawn_prices(rng):
    """Return four prices, each by its own expression."""
    texts = [f"{drawn_number(rng, int(rng.integers(1, 4)))} + 0 * abs(a)" for _ in range(4)]
    prices = dict(zip(("fp", "fn", "tp", "tn"), map(expression, texts), strict=True))
    return cb.Costs(**prices, positive="bad", benefits=bool(rng.integers(2)))


def in_python(costs, table):
    """Return ``C[true, action]`` of each row, one at a time; NaN where Python raises."""
    found = np.full((len(table), 2, 2), np.nan)
    for i in range(len(table)):
        try:
            found[i] = np.asarray(costs.bind_table(table[i : i + 1]))[0]
        except ValueError:
            continue
    return found


class Priced(Compiled):
    """An exported model whose prices are read from a struct."""

    def __init__(self, model, folder, name="model"):
        super().__init__(model, folder, name)
        self.columns = export(model).prices.columns
        kinds = {"text": ctypes.c_char_p}
        fields = field_names(self.columns)
        listed = [(fields[n], kinds.get(k, ctypes.c_double)) for n, k in self.columns.items()]
        self.struct = type("Prices", (ctypes.Structure,), {"_fields_": listed})
        self.n_actions = len(model.costs_.actions)

    def costs(self, table):
        """Return what the struct of each row makes of costs; NaN where it says -1."""
        out = np.empty((len(table), self.n_classes, self.n_actions))
        for i, part in enumerate(out):
            given = [self._value(table[name].iloc[i], kind) for name, kind in self.columns.items()]
            answer = self("read_prices", ctypes.byref(self.struct(*given)), part)
            assert answer == (-1 if np.isnan(part).any() else 0)
            assert np.isnan(part).all() or not np.isnan(part).any()
        return out

    def _value(self, value, kind):
        if pd.isna(value):
            return None if kind == "text" else float("nan")
        if kind == "text":
            return value.encode()
        return float(isinstance(value, str) or value)

    def expected(self, rows, costs):
        out = np.empty((len(rows), self.n_actions))
        for row, prices, part in zip(rows, costs, out, strict=True):
            self("expected_costs", row, np.ascontiguousarray(prices), part)
        return out
