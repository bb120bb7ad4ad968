"""Moments and spans of time, from users' columns and texts, as whole microseconds.

A column of dates becomes microseconds since 1970 in UTC; a column of plain numbers counts days, and
becomes microseconds since day 0. Whole numbers compare and subtract exactly, so that a row on the
border of a period is on the same side of it everywhere.
"""

from __future__ import annotations

import datetime
import re
from typing import Any, NamedTuple

import narwhals.stable.v1 as nw
import numpy as np
from numpy.typing import NDArray

from costboost.inputs.arrays import is_missing, missing_in
from costboost.typing import Int64, Mask

__all__ = ["DAY", "Moments", "read_moments", "read_span", "show_moment", "show_span"]

DAY = 86_400_000_000
_UNITS = {"w": 7 * DAY, "d": DAY, "h": DAY // 24, "min": DAY // 1440, "s": 1_000_000}
_SPAN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", re.IGNORECASE)
_MOST_DAYS = 1e8  # beyond, microseconds leave 64 bits


class Moments(NamedTuple):
    """When, for each row.

    Attributes
    ----------
    at : int64 array of shape (n,)
        Microseconds; 0 where missing.
    missing : bool array of shape (n,)
    dates : bool
        Whether they are dates; else they count days.
    """

    at: Int64
    missing: Mask
    dates: bool


def read_moments(values: Any, name: str) -> Moments:
    """Read a column of dates, or of numbers that count days.

    Parameters
    ----------
    values : array-like of shape (n,)
        datetime64, a date column of pandas, polars or Arrow (with a time zone or without), Python's
        dates, or plain numbers.
    name : str
        What messages call it.

    Raises
    ------
    ValueError
        If they are neither, such as text, or not one for each row.
    """
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and series.dtype in (nw.Datetime, nw.Date):
        dates = series.cast(nw.Datetime("us")) if series.dtype == nw.Date else series
        nulls = series.is_null().to_numpy()
        return Moments(
            dates.dt.timestamp("us").fill_null(0).to_numpy().astype(np.int64),
            np.asarray(nulls, dtype=np.bool_),
            True,
        )
    given: NDArray[Any] = np.asarray(values)
    if given.ndim != 1:
        raise ValueError(
            f"{name} has shape {given.shape}: give one moment for each row, shape (n_samples,)."
        )
    if given.dtype.kind == "O":
        given = _of_objects(given, name)
    if given.dtype.kind == "M":
        empty = np.isnat(given)
        known = np.where(empty, np.datetime64(0, "us"), given.astype("datetime64[us]"))
        return Moments(known.astype(np.int64), empty, True)
    if given.dtype.kind not in "iuf":
        first = given[0].item() if len(given) else None
        raise ValueError(
            f"{name} holds {given.dtype}, such as {first!r}, which is no moment: give dates (text "
            "becomes dates by pandas.to_datetime), or numbers that count days."
        )
    return _of_days(given.astype(np.float64), name)


def _of_objects(given: NDArray[Any], name: str) -> NDArray[Any]:
    """Return dates of Python as datetime64, and numbers as floats."""
    empty = missing_in(given)
    known = given[~empty]
    if all(isinstance(value, datetime.date) for value in known):
        out = np.full(len(given), np.datetime64("NaT", "us"))
        out[~empty] = [np.datetime64(_without_zone(value), "us") for value in known]
        return out
    for row, value in zip(np.flatnonzero(~empty).tolist(), known, strict=True):
        if isinstance(value, bool) or not isinstance(value, int | float | np.number):
            raise ValueError(
                f"row {row}: {name} is {value!r}, which is no moment: give dates (text becomes "
                "dates by pandas.to_datetime), or numbers that count days."
            )
    return np.array([np.nan if is_missing(value) else float(value) for value in given])


def _without_zone(value: datetime.date) -> datetime.date:
    """Return a moment in UTC, as datetime64 is."""
    if isinstance(value, datetime.datetime) and value.tzinfo is not None:
        return value.astimezone(datetime.UTC).replace(tzinfo=None)
    return value


def _of_days(days: NDArray[np.float64], name: str) -> Moments:
    empty = np.isnan(days)
    far = ~empty & ~(np.abs(days) <= _MOST_DAYS)
    if far.any():
        row = int(np.argmax(far))
        raise ValueError(
            f"row {row}: {name} is {days[row]:g}; numbers count days, up to {_MOST_DAYS:.0e}. Turn "
            "seconds into dates first: pandas.to_datetime(seconds, unit='s')."
        )
    at = np.rint(np.where(empty, 0.0, days) * DAY).astype(np.int64)
    return Moments(at, empty, False)


def read_span(value: Any, name: str, *, positive: bool = False) -> int:
    """Read a span of time as microseconds.

    Parameters
    ----------
    value : str, number, timedelta or timedelta64
        Such as "7D", "36h", "90min", "2W"; a number counts days.
    name : str
        What messages call it.
    positive : bool, default=False
        Whether nothing at all is refused.

    Examples
    --------
    >>> read_span("7D", "gap") == read_span(7, "gap") == read_span("1W", "gap")
    True
    """
    found = _microseconds(value)
    if found is None:
        raise ValueError(
            f"{name}={value!r} is no span of time: give one such as '7D', '36h', '90min' or '2W' "
            "(months have no fixed length: '30D'), or a number of days."
        )
    if found < 0 or (positive and found == 0):
        raise ValueError(f"{name}={value!r} must be {'above' if positive else 'at least'} 0.")
    return found


def _microseconds(value: Any) -> int | None:
    if isinstance(value, str):
        match = _SPAN.fullmatch(value)
        unit = _UNITS.get(match[2].lower()) if match else None
        days = None if match is None or unit is None else float(match[1]) * unit / DAY
    elif isinstance(value, np.timedelta64):
        days = None if np.isnat(value) else float(value / np.timedelta64(1, "D"))
    elif isinstance(value, datetime.timedelta):
        days = value / datetime.timedelta(days=1)
    elif isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool):
        days = float(value)
    else:
        days = None
    if days is None or not abs(days) <= _MOST_DAYS:
        return None
    return round(days * DAY)


def show_moment(at: int, *, dates: bool) -> str:
    """Return a moment as a message shows it: a date, with its time where it has one; or a day."""
    if not dates:
        return f"day {at / DAY:g}"
    text = str(np.datetime64(at, "us").astype("datetime64[s]")).replace("T", " ")
    return text.removesuffix(" 00:00:00")


def show_span(span: int) -> str:
    """Return a span of time in its largest whole unit.

    Examples
    --------
    >>> show_span(7 * DAY), show_span(DAY // 2)
    ('7D', '12h')
    """
    for unit in ("d", "h", "min", "s"):
        if span % _UNITS[unit] == 0:
            return f"{span // _UNITS[unit]}{unit.upper() if unit == 'd' else unit}"
    return f"{span / _UNITS['s']:g}s"
