"""Prices as they are written, on a command line or in a file, become `Costs`.

    two classes    fp = 8, fn = "0.75 * amount + 20", tp, tn
    actions        what each decision costs where each class is true; decisions may be the classes

Every price is a number, a column or an expression over columns, and is kept as its text. A
``costs.toml`` says the same::

    currency = "EUR"

    [actions]
    review = 25                # the same whatever is true

    [actions.approve]
    default = "0.75 * amount"  # approving a loan that defaults
    paid = 0

    [ranges.approve]
    default = "0.6..0.9"       # between which ends the number lies that the price begins with

In place of two ends may stand a distribution of scipy.stats, "beta(6, 2)", or draws, "0.71, 0.64,
0.8"; and after any of them a name, which prices that move together share.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from costboost.cli import InputError, UsageError
from costboost.cli.columns import label_of, shown
from costboost.costs import Costs, Expression, ExpressionError, FeatureCosts
from costboost.costs.laws import Law, Range, named_distribution, read_law
from costboost.costs.pricing import is_number
from costboost.costs.uncertain import Uncertain, renamed
from costboost.inputs.checks import usual_positive

__all__ = ["SIGNS", "Prices", "read_prices", "read_scenarios", "read_toml"]

SIGNS = ("fp", "fn", "tp", "tn")
_NAMES = ("currency", "positive", "benefits", *SIGNS, "actions", "ranges")
_NUMBER = r"([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
_NAME = r"(?:\s+(\S.*?))?\s*"  # of prices that move together
_RANGE = re.compile(rf"\s*{_NUMBER}\s*\.\.\s*{_NUMBER}{_NAME}")
_DISTRIBUTION = re.compile(rf"\s*([A-Za-z]\w*)\s*\(([^()]*)\){_NAME}")
_DRAWS = re.compile(rf"\s*({_NUMBER}(?:\s*,\s*{_NUMBER})+)(?:\s+([^\s\d.,+-].*?))?\s*")

Actions = dict[str, str | dict[str, str]]


@dataclass(frozen=True)
class Prices:
    """The prices of decisions as texts; either the signs or the actions are given.

    `ranges` says of some prices, by where they stand, what is known of the number that they begin
    with: two ends, a distribution or draws; a name after it is that of the prices that move
    together.
    """

    fp: str | None = None
    fn: str | None = None
    tp: str | None = None
    tn: str | None = None
    actions: Actions | None = None
    positive: str | None = None
    benefits: bool = False
    currency: str = ""
    ranges: dict[str, str] | None = None

    def __post_init__(self) -> None:
        texts = self.texts()
        for where, text in texts.items():
            _parsed(where, text)
            _ranged(where, text, (self.ranges or {}).get(where), None)

    def texts(self) -> dict[str, str]:
        """Return every price by where it stands."""
        signs = {sign: getattr(self, sign) for sign in SIGNS}
        found = {sign: text for sign, text in signs.items() if text is not None}
        for action, prices in (self.actions or {}).items():
            each = prices if isinstance(prices, Mapping) else {"": prices}
            found |= {f"{action}, {truth}".rstrip(", "): text for truth, text in each.items()}
        return found

    def columns(self) -> list[str]:
        """Return the columns that are read, each once."""
        read = (name for text in self.texts().values() for name in Expression(text).columns)
        return list(dict.fromkeys(read))

    def changed(self, new: Prices) -> Prices:
        """Return these prices with others in place of those that are given anew."""
        if new.actions is not None:
            currency = new.currency or self.currency
            return replace(new, positive=new.positive or self.positive, currency=currency)
        given = {name: value for name, value in asdict(new).items() if value}
        signs = any(name in SIGNS for name in given)
        given["actions"] = None if signs else self.actions
        kept = {} if signs and self.actions else self.ranges or {}
        kept = {where: ends for where, ends in kept.items() if where not in given}
        return replace(self, **{**given, "ranges": {**kept, **(new.ranges or {})} or None})

    def check_ranges(self) -> None:
        """Raise where a range is of a price that is not given."""
        texts = self.texts()
        for where, ends in (self.ranges or {}).items():
            if where not in texts:
                known = ", ".join(map(repr, texts)) or "none"
                raise InputError(
                    f"The range {ends!r} is of {where!r}, which has no price; prices are given of: "
                    f"{known}."
                )

    def check(self, frame: pl.DataFrame, target: str | None) -> None:
        """Compute every price once, so that errors name options and columns of this table."""
        self.check_ranges()
        for where, text in self.texts().items():
            made = Expression(text)
            if target in made.columns:
                raise InputError(
                    f"{where}: the price reads the target {target!r}, which nobody knows when a "
                    "decision is made. Give the price of each class its own option."
                )
            try:
                values = made(frame)
            except ExpressionError as error:
                raise InputError(f"{where}: {error}") from None
            below = (values < 0).nonzero()[0]
            if below.size and not self.benefits:
                raise InputError(
                    f"{where}: {text} is {values[below[0]]:g} in row {below[0]}. Prices are not "
                    "negative: use max(..., 0), or say --benefits if money is earned there."
                )

    def positive_of(self, classes: Sequence[Any]) -> Any:
        """Return the positive of two classes; None where there are more."""
        if self.positive is not None:
            return label_of(self.positive, classes, "--positive")
        known = usual_positive(list(classes)) if len(classes) == 2 else None
        if known is None and len(classes) == 2 and self.actions is None:
            one, other = map(shown, classes)
            raise UsageError(
                f"The target is {one} or {other}: say with --positive which of them is the "
                f"positive one. With --positive {one}, fp is the price of calling {other} {one}, "
                f"and fn that of calling {one} {other}."
            )
        return known

    def costs(
        self, classes: Sequence[Any], reading: Callable[[Expression], Any] | None = None
    ) -> Costs:
        """Return the costs for the classes of a target, not yet read from a table.

        `reading` makes of an expression what reads it; that does so itself without.
        """
        labels = list(classes)
        if self.actions is not None:
            return self._of_actions(labels, reading)
        if len(labels) != 2:
            raise UsageError(
                f"The target has {len(labels)} classes ({', '.join(map(shown, labels[:5]))}): "
                "fp and fn are for two. Write a costs.toml that says what each answer costs, and "
                "give it with --costs."
            )
        lacking = [f"--{sign}" for sign in SIGNS[:2] if getattr(self, sign) is None]
        if lacking:
            raise UsageError(
                f"Say what mistakes cost: {' and '.join(lacking)} missing. A number, a column or "
                'an expression, such as --fp 8 --fn "0.75 * amount".'
            )
        signs = {sign: self._price(sign, getattr(self, sign) or "0", reading) for sign in SIGNS}
        return Costs(**signs, positive=self.positive_of(labels), benefits=self.benefits)

    def _of_actions(self, labels: list[Any], reading: Callable[[Expression], Any] | None) -> Costs:
        assert self.actions is not None
        prices: dict[Any, Any] = {}
        square = {shown(label) for label in labels} == set(self.actions)
        written = [
            t for price in self.actions.values() if isinstance(price, Mapping) for t in price
        ]
        places = {t: i for i, t in reversed([*enumerate(self.actions if square else written)])}
        labels.sort(key=lambda label: places.get(shown(label), len(places)))  # as the user has them
        for action, by_truth in self.actions.items():
            name = label_of(action, labels, "action") if square else action
            if isinstance(by_truth, Mapping):
                where = f"costs.toml: [actions.{action}]"
                cells = {
                    label_of(t, labels, where): self._price(f"{action}, {t}", p, reading)
                    for t, p in by_truth.items()
                }
                lacking = [shown(label) for label in labels if label not in cells]
                if lacking:
                    raise InputError(f"{where} lacks the price where {lacking[0]} is true.")
                prices[name] = {label: cells[label] for label in labels}
            else:
                one = self._price(action, by_truth, reading)
                prices[name] = dict.fromkeys(labels, renamed(one, action))  # whatever is true
        return Costs.of_actions(prices, benefits=self.benefits)

    def _price(self, where: str, text: str, reading: Callable[[Expression], Any] | None) -> Any:
        """Return one price as `Costs` takes it, uncertain if it has a range."""
        return _ranged(where, text, (self.ranges or {}).get(where), reading)


def _parsed(where: str, text: str) -> Expression:
    try:
        return Expression(text)
    except ExpressionError as error:
        raise InputError(f"{where}: {error}") from None


def _cell(text: str, reading: Callable[[Expression], Any] | None) -> Any:
    """Return a price as `Costs` takes it: a number, the name of a column, or an expression."""
    made = Expression(text)
    if made.constant is not None:
        return made.constant
    if reading is not None:
        return reading(made)
    return made if made.column is None else made.column


def _ranged(
    where: str, text: str, ends: str | None, reading: Callable[[Expression], Any] | None
) -> Any:
    """Return a price whose leading number, or 1, is not known exactly; as it is without `ends`."""
    if ends is None:
        return _cell(text, reading)
    mean, price = _split(text)
    try:
        law, together = _law(ends, mean)
    except ValueError as error:
        raise InputError(f"{where}, within {ends}: {error}") from None
    if law is None:
        raise InputError(
            f"{where}: {ends!r} is no range: write LOW..HIGH, such as 0.6..0.9, a distribution of "
            "scipy.stats, such as beta(6, 2), or draws, such as 0.71, 0.64, 0.8; and after it a "
            "name if prices move together, such as 0.6..0.9 recovery."
        )
    stated = mean is None or isinstance(law, Range) or math.isclose(mean, law.mean, rel_tol=1e-9)
    if not stated and mean != 1.0:
        raise InputError(
            f"{where}: the price {text} begins with {mean:g}, but the mean of {ends} is "
            f"{law.mean!r}, and stands for that number: write "
            + (f"{law.mean!r}." if price == "1" else f"{price.strip()} without it.")
        )
    return Uncertain(_cell(price, reading), law, together)


def _split(text: str) -> tuple[float | None, str]:
    """Return the number that a price begins with, and what it multiplies."""
    made = Expression(text)
    if made.constant is not None:
        return made.constant, "1"
    if made.leading is not None:
        return made.leading[0], made.leading[1].text
    return None, text


def _law(ends: str, mean: float | None) -> tuple[Law | None, str | None]:
    """Return what a text says of a number, and the name after it; None if it is none of the forms.

    The mean of a range is the number that the price begins with; others have one of their own.
    """
    if (found := _RANGE.fullmatch(ends)) is not None:
        low, high, together = found.groups()
        return read_law(float(low), float(high), mean, None, None), together
    if (found := _DRAWS.fullmatch(ends)) is not None:
        values = [float(value) for value in found[1].split(",")]
        return read_law(None, None, None, None, values), found.groups()[-1]
    if (found := _DISTRIBUTION.fullmatch(ends)) is None:
        return None, None
    name, inside, together = found.groups()
    args: list[float] = []
    kwds: dict[str, float] = {}
    for part in inside.split(",") if inside.strip() else []:
        key, equals, value = part.rpartition("=")
        if re.fullmatch(rf"\s*{_NUMBER}\s*", value) is None:
            raise ValueError(f"the parameter {part.strip()!r} of {name} is no number.")
        if equals:
            kwds[key.strip()] = float(value)
        elif kwds:
            raise ValueError(f"the parameter {part.strip()} of {name} stands after a named one.")
        else:
            args.append(float(value))
    return named_distribution(name, tuple(args), kwds), together


def read_prices(
    *,
    costs: str | None,
    currency: str | None,
    positive: str | None,
    benefits: bool,
    ranges: Mapping[str, str | None] | None = None,
    **signs: str | None,
) -> Prices:
    """Read prices from options, or from the file that one of them names.

    `ranges` are those of options, by sign; they replace those of a file.
    """
    asked = {sign: ends for sign, ends in (ranges or {}).items() if ends is not None}
    given = [f"--{sign}" for sign in SIGNS if signs.get(sign) is not None]
    if costs is not None and given:
        raise UsageError(f"Give prices by {', '.join(given)} or by --costs {costs}, not by both.")
    made = Prices(**signs) if costs is None else read_toml(Path(costs))  # type: ignore[arg-type]
    return replace(
        made,
        ranges={**(made.ranges or {}), **asked} or None,
        positive=positive or made.positive,
        benefits=benefits or made.benefits,
        currency=made.currency if currency is None else currency,
    )


def read_column_costs(given: Sequence[str], pay: str | None) -> FeatureCosts | None:
    """Read prices of columns: COLUMN=PRICE, or NAME=COLUMN+COLUMN:PRICE if bought together."""
    if not given:
        if pay is not None:
            raise UsageError("--column-pay says who pays --column-cost: give that too.")
        return None
    found: dict[str, Any] = {}
    for text in given:
        name, equals, rest = text.rpartition("=")
        columns, colon, price = rest.rpartition(":")
        try:
            value = float(price)
        except ValueError:
            equals = ""
        if not equals or not name or (colon and not columns):
            raise UsageError(
                f"--column-cost {text!r}: write COLUMN=PRICE, such as mri=300, or "
                "NAME=COLUMN+COLUMN:PRICE of columns bought together, such as blood=tsh+t3:22."
            )
        if name in found:
            raise UsageError(f"--column-cost prices {name!r} twice: give one price.")
        found[name] = {"columns": columns.split("+"), "cost": value} if colon else value
    try:
        return FeatureCosts(found, **({} if pay is None else {"pay": pay}))
    except ValueError as error:
        raise UsageError(str(error).replace("feature_costs", "--column-cost", 1)) from None


def read_scenarios(given: Sequence[str]) -> dict[str, Prices]:
    """Read the files of scenarios by name; each may hold only the prices that differ."""
    found: dict[str, Prices] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals or not name.strip() or not path:
            raise UsageError(f"--scenario {text!r}: write NAME=FILE, such as recession=bad.toml.")
        if name.strip() in found:
            raise UsageError(f"--scenario {name.strip()!r} is given twice: name each once.")
        found[name.strip()] = read_toml(Path(path))
    return found


def read_toml(path: Path) -> Prices:
    """Read a file of prices."""
    if not path.is_file():
        raise InputError(f"{path} does not exist: --costs takes a file such as costs.toml.")
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is no TOML: {error}.") from None
    unknown = [name for name in given if name not in _NAMES]
    if unknown:
        raise InputError(f"{path}: {unknown[0]!r} is not known; it may hold {', '.join(_NAMES)}.")
    if "actions" in given and any(sign in given for sign in SIGNS):
        raise InputError(f"{path} has both actions and fp or fn: keep one of them.")
    signs = {sign: _text(path, sign, given[sign]) for sign in SIGNS if sign in given}
    return Prices(
        **signs,
        actions=_actions(path, given["actions"]) if "actions" in given else None,
        ranges=_ranges(path, given["ranges"]) if "ranges" in given else None,
        positive=None if "positive" not in given else shown(given["positive"]),
        benefits=_flag(path, given.get("benefits", False)),
        currency=str(given.get("currency", "")),
    )


def _flag(path: Path, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{path}: benefits is true or false, not {value!r}.")
    return value


def _actions(path: Path, given: Any) -> Actions:
    if not isinstance(given, dict) or len(given) < 2:
        raise InputError(
            f"{path}: actions has at least two decisions, such as [actions.approve] and "
            "[actions.decline], each with a price for every class."
        )
    return {
        action: {t: _text(path, f"actions.{action}.{t}", p) for t, p in prices.items()}
        if isinstance(prices, dict)
        else _text(path, f"actions.{action}", prices)
        for action, prices in given.items()
    }


def _ranges(path: Path, given: Any) -> dict[str, str]:
    """Return ranges by where their prices stand, from a table that is like that of the prices."""
    found: dict[str, Any] = {}
    for name, ends in given.items() if isinstance(given, dict) else [("ranges", given)]:
        inner = ends if isinstance(ends, dict) else {"": ends}
        found |= {f"{name}, {truth}".rstrip(", "): text for truth, text in inner.items()}
    for where, text in found.items():
        if isinstance(text, list) and len(text) > 1 and all(map(is_number, text)):
            found[where] = ", ".join(map(repr, text))  # draws
        elif not isinstance(text, str):
            raise InputError(
                f"{path}: the range of {where} is {text!r}: write LOW..HIGH in quotes, such as "
                '"0.6..0.9", a distribution, such as "beta(6, 2)", or draws, such as [0.71, 0.64].'
            )
    return found


def _text(path: Path, where: str, price: Any) -> str:
    if isinstance(price, bool) or not isinstance(price, int | float | str):
        raise InputError(
            f"{path}: {where} = {price!r} is no price: give a number, a column or an expression."
        )
    return str(price)
