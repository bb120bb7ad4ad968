"""What a command leaves behind: lines on the screen, the same as Markdown, CSV files, pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from costboost.papers.cells import Row, read_rows, write_rows
from costboost.papers.options import Options
from costboost.plots.style import need_matplotlib

__all__ = ["Report", "new_figure", "published", "with_legend"]

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
