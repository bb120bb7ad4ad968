"""Cells of a column as they are written, and the dates and times of day among them.

Which of 01/02/2026 is the month is a question to the whole file, as the decimal sign is: one date
with a 31 in it settles it for all, and what nothing settles is refused by name once it is needed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import polars as pl

__all__ = ["ORDERS", "Cells", "Problem", "first_of", "read_dates"]

_TIME = r"(?P<H>[0-9]{1,2}):(?P<M>[0-9]{2})(?::(?P<S>[0-9]{2})(?P<f>\.[0-9]{1,9})?)?"
_TAIL = rf"(?:(?:T| +){_TIME} ?(?P<half>[AaPp][Mm])?(?P<zone>Z|[-+][0-9]{{2}}:?[0-9]{{2}})?)?$"
_YEAR_FIRST = r"^(?P<y>[0-9]{4})[-/.](?P<a>[0-9]{1,2})[-/.](?P<b>[0-9]{1,2})" + _TAIL
_YEAR_LAST = r"^(?P<a>[0-9]{1,2})(?P<by>[-/.])(?P<b>[0-9]{1,2})[-/.](?P<y>[0-9]{4})" + _TAIL
_SHORT_YEAR = r"^[0-9]{1,2}[-/.][0-9]{1,2}[-/.][0-9]{2}(?:[ T].*)?$"
ORDERS = {"dmy": "day/month/year", "mdy": "month/day/year"}


class Problem(NamedTuple):
    """Why a column could not be understood, which matters once it is needed."""

    text: str
    is_date: bool = False


@dataclass
class Cells:
    """The cells of a column, as they are written."""

    name: str
    cells: pl.Series  # without blanks around them, null where they are empty
    known: pl.Series  # without markers of missing values, too

    def first(self, which: pl.Series) -> str:
        """Return the first of some cells as it is written, and where it stands."""
        at = first_of(which) or 0
        return f"{self.cells[at]!r} in row {at}"


def first_of(which: pl.Series) -> int | None:
    """Return the number of the first row that is true; None if none is."""
    which = which.fill_null(False)
    return int(which.arg_max() or 0) if which.any() else None


def read_dates(
    columns: Sequence[Cells], order: str | None, guess: bool
) -> tuple[str | None, dict[str, pl.Series], dict[str, Problem]]:
    """Return the order of days and months, the columns of dates and times, and what is unclear.

    `order` is the one that is known; without `guess`, dates are as ISO 8601 writes them.
    """
    made: dict[str, pl.Series] = {}
    problems: dict[str, Problem] = {}
    slashed: list[tuple[Cells, pl.DataFrame]] = []
    for column in columns:
        known = column.known.drop_nulls()
        if not len(known):
            continue
        if known.str.contains(_YEAR_FIRST).all():
            parts = column.known.str.extract_groups(_YEAR_FIRST).struct.unnest()
            _take(column, parts, "ab", made, problems)
        elif not guess:
            continue
        elif known.str.contains(_YEAR_LAST).all():
            parts = column.known.str.extract_groups(_YEAR_LAST).struct.unnest()
            if (parts["by"].drop_nulls() == ".").all():
                _take(column, parts, "ba", made, problems)
            else:
                slashed.append((column, parts))
        elif known.str.contains(_SHORT_YEAR).all():
            problems[column.name] = Problem(
                f"Column {column.name!r} holds dates with years of two digits, such as "
                f"{column.first(column.known.is_not_null())}: write years with four.",
                True,
            )
        elif known.str.contains(rf"^{_TIME}$").all():
            short = (column.known.str.count_matches(":") == 1).fill_null(False)
            full = (column.known + ":00").zip_with(short, column.known)
            times = full.str.to_time("%H:%M:%S%.f", strict=False)
            if times.null_count() == column.known.null_count():
                made[column.name] = times.alias(column.name)
    orders = {c.name: _order(parts) for c, parts in slashed}
    order = order or next((o for o in orders.values() if o), None)
    for column, parts in slashed:
        own = orders[column.name]
        if order is None or own not in (None, order):
            problems[column.name] = _unclear(column, parts, own, order)
        else:
            _take(column, parts, "ba" if order == "dmy" else "ab", made, problems)
    return order, made, problems


def _order(parts: pl.DataFrame) -> str | None:
    """Return the order of day and month that dates show; "" where they contradict each other."""
    first, second = (parts[name].cast(pl.Int64) > 12 for name in "ab")
    if first.any():
        return "" if second.any() else "dmy"
    return "mdy" if second.any() else None


def _unclear(column: Cells, parts: pl.DataFrame, own: str | None, order: str | None) -> Problem:
    cell = column.first(column.known.is_not_null())
    if own is None:
        what = f"{cell}, and none shows whether the day or the month comes first"
        return Problem(f"Column {column.name!r} holds dates, {what}: say --dates dmy or mdy.", True)
    if own == "":
        one, other = (column.first(parts[name].cast(pl.Int64) > 12) for name in "ab")
        return Problem(
            f"Column {column.name!r} holds dates of two kinds, {one} and {other}: give one.", True
        )
    at = column.first(parts["a" if own == "dmy" else "b"].cast(pl.Int64) > 12)
    return Problem(
        f"Column {column.name!r} holds {at}, where dates are {ORDERS[order or 'dmy']}: check "
        "--dates.",
        True,
    )


def _take(
    column: Cells,
    parts: pl.DataFrame,
    places: str,
    made: dict[str, pl.Series],
    problems: dict[str, Problem],
) -> None:
    """Build dates, of which `places` are the month and the day."""
    month, day = (parts[p].str.zfill(2) for p in places)
    text = parts["y"] + "-" + month + "-" + day
    timed = parts["H"].is_not_null().any()
    if not timed:
        dates = text.str.to_date("%Y-%m-%d", strict=False)
    else:
        hour = parts["H"].fill_null("0").cast(pl.Int64)
        late = parts["half"].str.to_lowercase()
        hour = pl.select(
            pl.when(late == "pm").then(hour % 12 + 12).when(late == "am").then(hour % 12)
            .otherwise(hour)
        ).to_series()  # fmt: skip
        clock = hour.cast(pl.String).str.zfill(2) + ":" + parts["M"].fill_null("00")
        clock = clock + ":" + parts["S"].fill_null("00") + parts["f"].fill_null(".0")
        dates = (text + "T" + clock).str.to_datetime("%Y-%m-%dT%H:%M:%S%.f", strict=False)
        dates = _at_greenwich(dates, parts["zone"])
    lost = column.known.is_not_null() & dates.is_null()
    if lost.any():
        problems[column.name] = Problem(
            f"Column {column.name!r} holds dates, and {column.first(lost)}, which is none.", True
        )
    else:
        made[column.name] = dates.alias(column.name)


def _at_greenwich(dates: pl.Series, zone: pl.Series) -> pl.Series:
    """Drop the time zone; a clock without one stays as it is."""
    if not zone.is_not_null().any():
        return dates
    away = zone.str.replace(":", "", literal=True).str.replace("Z", "+0000", literal=True)
    minutes = away.str.slice(1, 2).cast(pl.Int64) * 60 + away.str.slice(3, 2).cast(pl.Int64)
    signed = minutes * (1 - 2 * (away.str.starts_with("-")).cast(pl.Int64))
    return dates - (signed.fill_null(0) * 60_000_000).cast(pl.Duration("us"))
