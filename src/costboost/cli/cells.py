"""Cells as they are written become values: numbers, dates, truths, or text.

How numbers are written is a question to the whole file, not to a cell: ``1.000`` is one thousand
beside ``12,5``, and one beside ``12.5``. So every column is looked at first, under either reading;
what only one of them can read settles it for all, and what nothing settles is refused by name once
it is needed. A `Form` is what was found. Models keep it, and read later files by it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

import polars as pl

from costboost.cli import InputError, UsageError
from costboost.cli.dates import ORDERS, Cells, Problem, first_of, read_dates
from costboost.text import count

__all__ = ["MISSING", "Form", "Understood", "understand"]

# What other programs write where nothing is known, in columns of numbers, dates and truths.
MISSING = ("nan", "na", "n/a", "n.a.", "#n/a", "<na>", "nat", "null", "none", "nil", "?", "-", "--")
_SPOILT = 0.9  # share of cells that are numbers, from which on the others are mistakes
_MANY = 0.5  # ... and from which on a category is worth a word
_OTHER = {".": ",", ",": "."}
_BLANKS = " \u00a0\u202f"
_APOSTROPHES = "'\u2019"
_CURRENCY = (
    r"(?:US\$|[$\u20ac\u00a3\u00a5\u20b9]|(?i:EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|SEK|NOK|DKK|PLN|"
    r"CZK|BRL|MXN|ZAR|Fr\.|kr\.?))"
)
_NAMES = {"\u20ac": "EUR", "\u00a3": "GBP", "$": "$", "\u00a5": "\u00a5", "US$": "USD"}
_AMOUNT = (
    rf"^(?P<open>\()?\s*(?P<sign>[-+\u2212])?\s*(?P<before>{_CURRENCY})?\s*(?P<sign2>[-+\u2212])?\s*"
    rf"(?P<digits>[0-9.,{_APOSTROPHES}{_BLANKS}]*[0-9][0-9.,]*(?:[eE][-+]?[0-9]+)?)"
    rf"\s*(?P<after>{_CURRENCY})?\s*(?P<close>\))?$"
)
_UNSURE_POINT = r"^[-+]?[1-9][0-9]{0,2}\.[0-9]{3}$"


@dataclass(frozen=True, kw_only=True)
class Form:
    """The notation of a file: decimal sign, dates, and so on; None where not known.

    Attributes
    ----------
    decimal : "." or "," or None
    thousands : str or None
        What stands between groups of three digits; "" for nothing.
    dates : "dmy", "mdy" or None
        What comes first in 01/02/2026.
    missing : tuple of str
        Cells that mean in every column that nothing is known.
    currencies : dict of str -> str
        By column.
    encoding, sheet : str or None
        Of a text that is not UTF-8; of a workbook.
    labels : dict of str -> str
        What values of the target mean; "" that nothing is known.
    tidy_labels : bool
        Whether labels that differ by blanks or capitals are one.
    """

    decimal: str | None = None
    thousands: str | None = None
    dates: str | None = None
    missing: tuple[str, ...] = ()
    currencies: dict[str, str] = field(default_factory=dict)
    encoding: str | None = None
    sheet: str | None = None
    labels: dict[str, str] = field(default_factory=dict)
    tidy_labels: bool = False

    @classmethod
    def asked(cls, **options: Any) -> Form:
        """Return the form that options ask for, by their names; lists become tuples and dicts."""
        given = {name: value for name, value in options.items() if value is not None}
        _check(given, "decimal", (".", ","), "a sign: . or ,")
        signs = (".", ",", "'", " ", "none")
        _check(given, "thousands", signs, "a sign (. , ' or a blank), or none")
        _check(given, "dates", tuple(ORDERS), "dmy or mdy, for 31/12/2026 or 12/31/2026")
        if given.get("thousands") == "none":
            given["thousands"] = ""
        if given.get("decimal") and given.get("decimal") == given.get("thousands"):
            raise UsageError("--decimal and --thousands are the same sign: give two.")
        pairs = [text.partition("=") for text in given.pop("label", ())]
        for text, equals, _ in pairs:
            if not equals:
                raise UsageError(f"--label {text!r}: write TEXT=LABEL, or TEXT= for no label.")
        labels = {text: label for text, _, label in pairs}
        missing = tuple(given.pop("missing", ()))
        return cls(missing=missing, labels=labels, **given)

    def changed(self, asked: Form) -> Form:
        """Return this form with others in place of those parts that are asked for."""
        given = {f.name: getattr(asked, f.name) for f in fields(asked)}
        return replace(
            self, **{name: value for name, value in given.items() if value not in _UNSAID}
        )


_UNSAID: tuple[Any, ...] = (None, (), {}, False)


def _check(given: dict[str, Any], name: str, allowed: Collection[str], what: str) -> None:
    if name in given and given[name] not in allowed:
        raise UsageError(f"--{name} {given[name]!r} is not known: give {what}.")


class Understood(NamedTuple):
    """A table of values, and what was understood on the way."""

    frame: pl.DataFrame
    form: Form
    problems: dict[str, Problem]
    notes: dict[str, str]
    remarks: list[str]


@dataclass
class _Column(Cells):
    """How the cells of a column can be read."""

    markers: list[str]
    reads: dict[str, pl.Series]  # by decimal sign: which cells are numbers
    digits: pl.Series | None = None
    signs: pl.Series | None = None  # -1 or 1
    currency: pl.Series | None = None
    codes: bool = False  # whole numbers, some with zeros before them

    def is_number(self, decimal: str) -> bool:
        """Return whether every cell is a number, written so."""
        good = self.reads[decimal]
        return bool((good | self.known.is_null()).all())

    def settles(self) -> str | None:
        """Return the only decimal sign with which all cells are numbers."""
        able = [sign for sign in _OTHER if self.is_number(sign)]
        return able[0] if len(able) == 1 else None

    def unsure(self) -> int | None:
        """Return the first row that is a number either way, but not the same."""
        assert self.digits is not None
        return first_of(self.reads["."] & self.reads[","] & self.digits.str.contains("[.,]"))


def understand(
    frame: pl.DataFrame,
    known: Form,
    asked: Form,
    *,
    source: str,
    separator: str | None,
    texts: Collection[str] = (),
    numbers: Collection[str] = (),
    guess: bool = True,
) -> Understood:
    """Return a table whose columns of text are what they hold.

    Parameters
    ----------
    frame : polars DataFrame
    known, asked : Form
        What was understood of an earlier file, and what options say.
    source : str
        The name of the file.
    separator : str or None
        Between its cells.
    texts, numbers : collections of str
        Columns that are text, or numbers, whatever they look like.
    guess : bool, default=True
        Whether text may be numbers, dates or truths; without, only `numbers` are looked at, and
        dates as ISO 8601 writes them.
    """
    form = known.changed(asked)
    looked: dict[str, _Column] = {}
    columns = frame.get_columns()
    for at, column in enumerate(columns):
        if form.missing:
            columns[at] = column = _without(column, form.missing)
        if column.dtype == pl.String and column.name not in texts:
            looked[column.name] = _look(column)
    worded = [c for c in looked.values() if guess or c.name in numbers]
    form, problems = _settle_numbers(worded, form, known, asked, source, separator, set(numbers))
    notes: dict[str, str] = {}
    seen: dict[str, list[str]] = {}
    made: dict[str, pl.Series] = {}
    dated: list[_Column] = []
    for column_ in looked.values():
        name = column_.name
        if name in problems:
            continue
        value = None
        if guess or name in numbers:
            value = _value(column_, form, name in numbers, guess)
        if value is None:
            dated.append(column_)
            continue
        made[name] = value
        seen[name] = column_.markers
    order, dates, unclear = read_dates(dated, form.dates, guess)
    form = replace(form, dates=order)
    made |= dates
    problems |= unclear
    seen |= {name: looked[name].markers for name in dates}
    for column_ in dated:
        if column_.name in made or column_.name in problems:
            continue
        if column_.name in numbers:
            problems[column_.name] = _no_number(column_, form)
        else:
            _weigh_text(column_, form, guess, problems, notes)
    codes = [c.name for c in looked.values() if c.codes and c.name not in made]
    out = [made.get(c.name, c) for c in columns]
    remarks = _remarks(form, [c for c in looked.values() if c.name in made], seen, codes)
    return Understood(pl.DataFrame(out), form, problems, notes, remarks)


def _without(column: pl.Series, missing: Collection[str]) -> pl.Series:
    """Return a column with nothing where cells mean nothing."""
    if column.dtype == pl.String:
        gone = column.str.strip_chars().is_in([m.strip() for m in missing])
    elif column.dtype.is_numeric():
        values = pl.Series(list(missing), dtype=pl.String).cast(pl.Float64, strict=False)
        gone = column.cast(pl.Float64).is_in(values.drop_nulls().to_list())
    else:
        return column
    return column.set(gone.fill_null(False), None)


# --- numbers


def _readable(decimal: str) -> str:
    """Return the pattern of digits that are a number with a decimal sign."""
    d, other = f"[{decimal}]", f"[{_OTHER[decimal]}]"
    power = "(?:[eE][-+]?[0-9]+)?"
    groups = "|".join(f"(?:{sign}[0-9]{{3}})+" for sign in (other, f"[{_BLANKS}]", "['\u2019]"))
    grouped = rf"[1-9][0-9]{{0,2}}(?:{groups})(?:{d}[0-9]*)?"
    return rf"^(?:[0-9]+(?:{d}[0-9]*)?{power}|{d}[0-9]+{power}|{grouped})$"


_READABLE = {sign: _readable(sign) for sign in _OTHER}


def _look(column: pl.Series) -> _Column:
    """Find the cells of a column that are numbers, under either decimal sign."""
    cells = column.str.strip_chars()
    cells = cells.set((cells == "").fill_null(False), None)
    marked = cells.str.to_lowercase().is_in(MISSING).fill_null(False)
    markers = cells.filter(marked).unique(maintain_order=True).to_list()
    known = cells.set(marked, None) if markers else cells
    floats = known.cast(pl.Float64, strict=False)
    if floats.null_count() == known.null_count() and floats.is_finite().all():
        return _plain(column.name, cells, known, markers)
    parts = known.str.extract_groups(_AMOUNT).struct.unnest()
    digits = parts["digits"].str.strip_chars()
    digits = digits.set((parts["open"].is_null() != parts["close"].is_null()).fill_null(True), None)
    minus = parts["open"].is_not_null() | parts["sign"].is_in(["-", "\u2212"]).fill_null(False)
    minus |= parts["sign2"].is_in(["-", "\u2212"]).fill_null(False)
    currency = pl.select(pl.coalesce(parts["before"], parts["after"])).to_series()
    return _Column(
        column.name,
        cells,
        known,
        markers,
        {sign: digits.str.contains(rule).fill_null(False) for sign, rule in _READABLE.items()},
        digits,
        1 - 2 * minus.cast(pl.Int8),
        currency,
        bool(_codes(digits)),
    )


def _plain(name: str, cells: pl.Series, known: pl.Series, markers: list[str]) -> _Column:
    """Look at a column of numbers as computers write them, which most are."""
    point = known.str.contains(".", literal=True)
    one = known.is_not_null()
    # A number with a point is one with commas for decimals, too, where three digits follow it.
    comma = one & (~point | known.str.contains(_UNSURE_POINT))
    reads = {".": one, ",": comma.fill_null(False)}
    return _Column(name, cells, known, markers, reads, known, codes=_codes(known))


def _codes(digits: pl.Series) -> bool:
    """Return whether whole numbers are written with zeros before them, as only identifiers are."""
    if not digits.str.contains("^[-+]?0[0-9]").any():
        return False
    return bool(digits.drop_nulls().str.contains("^[-+]?[0-9]+$").all())


def _settle_numbers(
    columns: list[_Column],
    form: Form,
    known: Form,
    asked: Form,
    source: str,
    separator: str | None,
    numbers: set[str],
) -> tuple[Form, dict[str, Problem]]:
    """Settle decimal sign, thousands and currencies of a file."""
    able = [c for c in columns if c.known.null_count() < len(c.known)]
    able = [c for c in able if any(map(c.is_number, _OTHER))]
    decimals: dict[str, _Column] = {}
    for column in able:
        sign = column.settles()
        if sign is not None:
            decimals.setdefault(sign, column)
    decimal = asked.decimal or _OTHER.get(asked.thousands or "")
    if decimal is None and (known.decimal or known.thousands in _OTHER):
        decimal = known.decimal or _OTHER[known.thousands or "."]
        if decimals and decimal not in decimals:
            ((sign, column),) = decimals.items()
            raise InputError(
                f"{source} writes decimals with {sign!r} ({_example(column, sign)}), and the file "
                f"that the model was trained on with {decimal!r}: say --decimal {sign} if both "
                "are right."
            )
    if decimal is None and len(decimals) == 2:
        both = " and ".join(f"{sign!r} ({_example(c, sign)})" for sign, c in decimals.items())
        raise InputError(
            f"{source} writes decimals with {both}: say which of them it is, --decimal . or "
            "--decimal ,"
        )
    decimal = decimal or next(iter(decimals), None)
    unsure = {c.name: at for c in able if (at := c.unsure()) is not None}
    if decimal is None and unsure and separator == ",":
        decimal = "."  # programs that write decimal commas separate cells by something else
    form = replace(form, decimal=decimal)
    if form.thousands == decimal:  # of the earlier file
        form = replace(form, thousands=None)
    problems = {}
    for column in able:
        name, one = column.name, column.cells[unsure.get(column.name, 0)]
        if decimal is None and name in unsure:
            problems[name] = Problem(
                f"Column {name!r} holds {one!r} in row {unsure[name]}, which may be "
                f"{one.replace(_sign(one), '')} or {one.replace(_sign(one), '.')}, and no other "
                "number of the file shows which: say --decimal . or --decimal ,"
            )
        elif decimal is not None and not column.is_number(decimal):
            bad = column.first(~column.reads[decimal] & column.known.is_not_null())
            problems[name] = Problem(
                f"Column {name!r} holds {bad}, which is no number where decimals are written "
                f"with {decimal!r}: check --decimal, or say --as-category {name!r} or --drop "
                f"{name!r}."
            )
    good = [c for c in able if c.name not in problems]
    form = _settle_thousands(good, form, problems)
    return _settle_currencies(good, form, known, problems), problems


def _sign(cell: str) -> str:
    return "." if "." in cell else ","


def _example(column: _Column, sign: str) -> str:
    """Return the cell that settles a decimal sign."""
    only = column.reads[sign] & ~column.reads[_OTHER[sign]]
    return f"{column.name!r}, {column.first(only)}"


def _settle_thousands(columns: list[_Column], form: Form, problems: dict[str, Problem]) -> Form:
    other = _OTHER[form.decimal or "."]
    kinds = {other: other, " ": _BLANKS, "'": _APOSTROPHES}
    settled = form.thousands
    for column in columns:
        assert column.digits is not None
        for sign, signs in kinds.items():
            grouped = column.digits.str.contains(f"[{signs}]")
            if not grouped.any():
                continue
            settled = sign if settled is None else settled
            if sign != settled:
                what = f"separated by {settled!r}" if settled else "not separated"
                problems[column.name] = Problem(
                    f"Column {column.name!r} holds {column.first(grouped)}, where thousands are "
                    f"{what}: check --thousands, or say --as-category {column.name!r} or --drop "
                    f"{column.name!r}."
                )
    return replace(form, thousands=settled)


def _settle_currencies(
    columns: list[_Column], form: Form, known: Form, problems: dict[str, Problem]
) -> Form:
    found = {}
    for column in columns:
        if column.currency is None or not column.currency.is_not_null().any():
            continue
        marks = column.currency.drop_nulls().unique(maintain_order=True).to_list()
        names = {_NAMES.get(mark, mark.upper()): mark for mark in marks}
        before = known.currencies.get(column.name)
        if len(names) > 1:
            one, other = (column.first(column.currency == mark) for mark in marks[:2])
            problems[column.name] = Problem(
                f"Column {column.name!r} holds amounts of several currencies, {one} and {other}: "
                "give all in one."
            )
        elif before is not None and before not in names:
            problems[column.name] = Problem(
                f"Column {column.name!r} is in {before} where the model was trained, and holds "
                f"{column.first(column.currency == marks[0])} now: give it in {before}."
            )
        else:
            found[column.name] = next(iter(names))
    return replace(form, currencies={**known.currencies, **found})


def _value(column: _Column, form: Form, forced: bool, guess: bool) -> pl.Series | None:
    """Return a column as numbers or truths; None if it is neither."""
    known = column.known
    if known.null_count() == len(known):
        # Nothing but markers, or nothing at all: what that is, only a model can say.
        return known.cast(pl.Float64) if forced else None
    if column.is_number(form.decimal or "."):
        return None if column.codes and not forced else _numbers(column, form)
    if not guess and not forced:
        return None
    lower = known.str.to_lowercase()
    if (lower.is_in(["true", "false"]) | lower.is_null()).all():
        return (lower == "true").alias(column.name)
    return None


def _numbers(column: _Column, form: Form) -> pl.Series | None:
    decimal = form.decimal or "."
    text = column.digits
    assert text is not None
    if column.signs is None:  # as computers write them
        text = text.str.replace_all(".", "", literal=True) if decimal == "," else text
    else:
        text = text.str.replace_all(f"[{_OTHER[decimal]}{_BLANKS}{_APOSTROPHES}]", "")
        text = text.str.replace(decimal, ".", literal=True)
    whole = text.cast(pl.Int64, strict=False)
    if whole.null_count() == text.null_count():
        numbers = whole
    elif text.drop_nulls().str.contains("^[-+]?[0-9]+$").all():
        return None  # more digits than numbers have: identifiers
    else:
        numbers = text.cast(pl.Float64)
    made = numbers if column.signs is None else numbers * column.signs.cast(numbers.dtype)
    return made.alias(column.name)


def _no_number(column: _Column, form: Form) -> Problem:
    decimal = form.decimal or "."
    bad = column.known.is_not_null() & ~column.reads[decimal]
    return Problem(
        f"Column {column.name!r} holds numbers to the model, and {column.first(bad)}: leave such "
        f"cells empty, or say --missing {column.cells[first_of(bad) or 0]!r} if it means that "
        "nothing is known."
    )


def _weigh_text(
    column: _Column, form: Form, guess: bool, problems: dict[str, Problem], notes: dict[str, str]
) -> None:
    """Note a problem where nearly all cells of a category are numbers."""
    n = len(column.known) - column.known.null_count()
    good = column.reads[form.decimal or "."]
    numbers = int(good.sum())
    if column.codes or not n or numbers < _MANY * n:
        return
    name = column.name
    if numbers == n:
        if not guess:
            notes[name] = (
                f"{name} holds numbers as text, such as {column.first(good)}: they are "
                "categories, unless --as-number says otherwise."
            )
        return
    bad = column.known.is_not_null() & ~good
    others = f"{count(n - numbers, 'cell')}, such as {column.first(bad)}"
    if numbers < _SPOILT * n:
        notes[name] = (
            f"{name} is a category, though its cells are numbers but for {others}: --missing says "
            "which of them mean that nothing is known."
        )
        return
    cell = column.cells[first_of(bad) or 0]
    problems[name] = Problem(
        f"Column {name!r} holds numbers but for {others}: say --missing {cell!r} if it means that "
        f"nothing is known, or --as-category {name!r} or --drop {name!r}."
    )


# --- what was understood


def _remarks(
    form: Form, columns: list[_Column], seen: dict[str, list[str]], codes: list[str]
) -> list[str]:
    """Return remarks on notation that is not the default: decimal sign, dates, missing cells."""
    remarks = []
    written = [c for c in columns if c.signs is not None and c.is_number(form.decimal or ".")]
    if form.decimal == "," or written:
        if form.decimal:
            remarks.append(f"decimals with {form.decimal!r}")
        if form.thousands:
            remarks.append(f"thousands with {form.thousands!r}")
    markers = list(dict.fromkeys([*form.missing, *(m for found in seen.values() for m in found)]))
    if markers:
        remarks.append(f"missing where {', '.join(map(repr, markers))} stands")
    by_mark: dict[str, list[str]] = {}
    for name, mark in form.currencies.items():
        by_mark.setdefault(mark, []).append(name)
    remarks += [f"{mark} in {', '.join(names[:5])}" for mark, names in by_mark.items()]
    if form.dates:
        remarks.append(f"dates as {ORDERS[form.dates]}")
    if codes:
        remarks.append(f"text with zeros before numbers in {', '.join(codes[:5])}")
    return remarks
