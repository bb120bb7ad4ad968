"""What a command leaves behind: lines, Markdown, CSV files, pictures; and how sure a mean is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from costboost.plots.style import need_matplotlib
from papers.experiment import Options, Row, read_rows, write_rows

TABLES = Path(__file__).parent / "tables"


def published(name: str) -> list[Row]:
    """Read a published table, typed again as ``papers/tables/NAME.csv``.

    Examples
    --------
    >>> published("cai_table3")[0]
    {'dataset': 'Cancer', 'c45': 38.59, 'adaboost': 41.39, 'adacost': 50.86, 'gradient': 53.68}
    """
    return read_rows(TABLES / f"{name}.csv")


class Report:
    """Collects what a command finds.

    Parameters
    ----------
    title : str
    options : Options
        `options.out` receives ``results.md`` and what it refers to.
    """

    def __init__(self, title: str, options: Options) -> None:
        self.out = options.out
        self.out.mkdir(parents=True, exist_ok=True)
        self.parts = [f"# {title}"]
        print(title)

    def say(self, text: str) -> None:
        """Print a paragraph."""
        self.parts.append(text)
        print(f"\n{text}")

    def table(self, name: str, rows: Sequence[Row], title: str = "", digits: int = 2) -> None:
        """Print rows as a table, and write them as ``NAME.csv``."""
        write_rows(self.out / f"{name}.csv", rows)
        names = list(dict.fromkeys(key for row in rows for key in row))
        cells = [[_text(row.get(key), digits) for key in names] for row in rows]
        if title:
            self.say(title)
        self.parts.append(_markdown(names, cells))
        print(f"\n{_plain(names, cells)}")

    def picture(self, name: str, figure: Any, about: str) -> None:
        """Save a figure as ``NAME.png``."""
        import matplotlib.pyplot as plt

        figure.savefig(self.out / f"{name}.png", dpi=110)
        plt.close(figure)
        self.parts.append(f"![{about}]({name}.png)")

    def close(self) -> None:
        """Write ``results.md``."""
        text = "\n\n".join(self.parts) + "\n"
        (self.out / "results.md").write_text(text, encoding="utf-8")
        print(f"\nTables and pictures are in {self.out}.")


def new_figure(rows: int, columns: int, width: float, height: float) -> tuple[Any, Any]:
    """Return a figure without a window, and its axes as an array of two dimensions."""
    need_matplotlib("a picture of the papers")
    import matplotlib.pyplot as plt

    size = (width, height)
    figure, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained")
    return figure, axes


def with_legend(figure: Any, ax: Any) -> Any:
    """Return the figure with the legend of these axes below all of them."""
    handles, labels = ax.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False)
    return figure


def _text(value: Any, digits: int) -> str:
    if value is None:
        return ""
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def _markdown(names: list[str], cells: list[list[str]]) -> str:
    escaped = [[text.replace("|", "\\|") for text in line] for line in (names, *cells)]
    lines = [escaped[0], ["---"] * len(names), *escaped[1:]]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _plain(names: list[str], cells: list[list[str]]) -> str:
    widths = [max(len(line[i]) for line in [names, *cells]) for i in range(len(names))]
    lines = [names, *cells]
    texts = ["  ".join(t.ljust(w) for t, w in zip(line, widths, strict=True)) for line in lines]
    return "\n".join(text.rstrip() for text in texts)


# ------------------------------------------------------------ how sure a mean is


class Interval(NamedTuple):
    """A mean, and where it lies with a confidence of 95%."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        return self.text(2)

    def text(self, digits: int, sign: str = "") -> str:
        """Return mean and limits, rounded; with their signs where `sign` is "+".

        The mean of a single value has no limits that could be known.
        """
        form = f"{sign}.{digits}f"
        if math.isinf(self.low):
            return f"{self.mean:{form}}"
        return f"{self.mean:{form}} [{self.low:{form}}, {self.high:{form}}]"


def mean_interval(
    values: Sequence[float], test_to_train: float = 0.0, level: float = 0.95
) -> Interval:
    """Return Student's interval of a mean over splits of one data set.

    Splits share training rows, so their results are not independent: `test_to_train`, the ratio of
    test to training rows, is added to 1/n (Nadeau and Bengio 2003). 0 is for values that are
    independent, such as one for each data set.

    Examples
    --------
    >>> str(mean_interval([1.0, 2.0, 3.0, 2.0]))
    '2.00 [0.70, 3.30]'
    >>> str(mean_interval([1.0, 2.0, 3.0, 2.0], test_to_train=1 / 9))
    '2.00 [0.44, 3.56]'
    """
    x = np.asarray(values, dtype=float)
    mean = float(x.mean())
    if len(x) < 2:
        return Interval(mean, -math.inf, math.inf)
    half = float(stats.t.ppf(0.5 + level / 2, len(x) - 1) * x.std(ddof=1))
    half *= math.sqrt(1 / len(x) + test_to_train)
    return Interval(mean, mean - half, mean + half)


def place(published: float, interval: Interval, digits: int = 2) -> str:
    """Say where a published figure lies, rounded as it was printed.

    Examples
    --------
    >>> place(2.5, Interval(2.0, 1.5, 2.4), digits=1)
    'published is above'
    """
    slack = 0.5 * 10.0**-digits
    if published > interval.high + slack:
        return "published is above"
    return "published is below" if published < interval.low - slack else "within"


def order_verdict(published: Mapping[str, float], ours: Mapping[str, float]) -> str:
    """Say whether ours are in the published order; ties in either count for neither side.

    Examples
    --------
    >>> order_verdict({"a": 1, "b": 2, "c": 3}, {"a": 5, "b": 9, "c": 7})
    '2 of 3 pairs in the published order'
    """
    names = list(published)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    pairs = [(a, b) for a, b in pairs if published[a] != published[b]]
    agree = sum((published[a] - published[b]) * (ours[a] - ours[b]) > 0 for a, b in pairs)
    if agree == len(pairs):
        return "same order"
    return f"{agree} of {len(pairs)} pairs in the published order"
