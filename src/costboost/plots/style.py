"""What all pictures share: axes, colours, line styles, numbers as text, ticks, legends.

Curves differ by colour (Okabe and Ito's, safe for the colour blind) *and* by line style
and marker, so that they survive a black-and-white printer. Every curve is tagged; the next one
drawn on the same axes takes the next style. What belongs to the axes rather than to a model (the
cost of deciding without looking, say) is tagged too, and drawn once.

matplotlib is optional: nothing here imports it before something is drawn.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from costboost.runtime.machine import need
from costboost.text import tick_texts

# Okabe and Ito 2008, without yellow, which vanishes on white; dark ones first.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#000000", "#CC79A7", "#E69F00", "#56B4E9")
LINE_STYLES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.5)),
    (0, (6, 1.5, 1.2, 1.5)),
    (0, (1.2, 1.2)),
    (0, (9, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
    (0, (2.5, 2.5)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#767676"
CURVE = "costboost-curve"


def need_matplotlib(what: str) -> None:
    """Raise an error that names the remedy where matplotlib is missing."""
    need("matplotlib", what)


def axes_for(ax: Any, what: str, figsize: tuple[float, float] = (6.8, 4.2)) -> Any:
    """Return the axes given, or those of a new figure."""
    need_matplotlib(what)
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=figsize, layout="constrained")
    figure._costboost_height = figsize[1]  # ours: it may grow with its legend
    return ax


def explain(ax: Any, tag: str, label: str, **style: Any) -> Any:
    """Add a mark to the legend alone, once."""
    return once(ax, tag, [], [], label=label, linestyle="none", color=GREY, **style)


def tagged(ax: Any, tag: str) -> list[Any]:
    """Return the lines on these axes that carry a tag."""
    return [line for line in ax.lines if line.get_gid() == tag]


def curve_style(
    ax: Any, given: Mapping[str, Any], *, markers: bool = False, mark: str | None = None
) -> dict[str, Any]:
    """Return the style of the next curve on these axes; what the user gave prevails.

    `mark` is the marker of a point that is drawn by itself: only the legend shows it on the curve.
    """
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    i = len(tagged(ax, CURVE))
    style: dict[str, Any] = {
        "color": COLORS[i % len(COLORS)],
        "linestyle": LINE_STYLES[i % len(LINE_STYLES)],
        "linewidth": 1.8,
        "zorder": 3,
    }
    if markers:
        # Offsets keep the markers of curves that coincide beside each other.
        style |= {
            "marker": MARKERS[i % len(MARKERS)],
            "markersize": 5,
            "markevery": (0.03 + 0.035 * (i % 4), 0.14),
        }
    if mark is not None:
        style |= {"marker": mark, "markersize": 7, "markeredgecolor": "white", "markevery": []}
    return {**style, **normalize_kwargs(dict(given), Line2D), "gid": CURVE}


def point(ax: Any, x: float, y: float, color: Any, marker: str, *, zorder: float = 5) -> Any:
    """Draw one point of a curve that means something: a disc, or a diamond."""
    size = {"o": 9, "D": 8}[marker]  # as large to the eye
    style = {"color": color, "markeredgecolor": "white", "markersize": size, "zorder": zorder}
    return ax.plot([x], [y], linestyle="none", marker=marker, clip_on=False, **style)[0]


def once(ax: Any, tag: str, x: Any, y: Any, **style: Any) -> Any:
    """Draw a grey line that belongs to the axes, unless it is there; return it."""
    there = tagged(ax, tag)
    if there:
        return there[0]
    style = {"color": GREY, "linewidth": 1.2, "linestyle": (0, (4, 2)), "zorder": 2, **style}
    return ax.plot(x, y, gid=tag, **style)[0]


def highest(ax: Any) -> float:
    """Return the largest ordinate of the curves on these axes."""
    return max((float(np.max(line.get_ydata())) for line in tagged(ax, CURVE)), default=0.0)


def plain(text: str) -> str:
    """Return text that matplotlib prints as it is: no formulas between dollars."""
    return text.replace("$", r"\$")


def entry(ax: Any, name: str | None, facts: str) -> str:
    """Return the text of a legend entry: the name of a model, if any, and what is to be known."""
    text = f"{name}: {facts}" if name else facts
    lines = "\n".join(textwrap.wrap(text, _letters_across(ax)))
    # matplotlib leaves labels that begin with an underscore out of the legend.
    return plain(f" {lines}" if lines.startswith("_") else lines)


def points_across(ax: Any) -> float:
    """Return the width of the axes in points."""
    return float(72 * ax.get_window_extent().width / ax.figure.dpi)


def _letters_across(ax: Any) -> int:
    """Return how many letters of a legend fit the width of the axes."""
    width = points_across(ax)
    # In points: the sample of a line takes 45, a letter of small print about 4.3.
    return max(16, int((width - 45) / 4.3))


def _is_reference(handle: Any) -> bool:
    tag = getattr(handle, "get_gid", lambda: None)()
    return isinstance(tag, str) and tag.startswith("costboost-") and tag != CURVE


def show_legend(ax: Any, beneath: float = 0.0) -> Any:
    """Show a legend above the axes, so that it hides nothing; None if nothing is to be explained.

    Models come first, what belongs to the axes last. Our own figures grow, and those with a layout
    engine make room; in others the axes cede the room, and that for `beneath`, in inches.
    """
    handles, labels = ax.get_legend_handles_labels()
    if hasattr(ax, "_costboost_right"):
        more = ax._costboost_right.get_legend_handles_labels()
        handles, labels = handles + more[0], labels + more[1]
    if not handles:
        return None
    order = sorted(range(len(handles)), key=lambda i: _is_reference(handles[i]))
    legend = ax.legend(
        [handles[i] for i in order],
        [labels[i] for i in order],
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        borderaxespad=0.2,
        frameon=False,
        fontsize="small",
        handlelength=3.2,
    )
    above = legend.get_window_extent().height / ax.figure.dpi
    if hasattr(ax.figure, "_costboost_height"):
        ax.figure.set_size_inches(ax.figure.get_figwidth(), ax.figure._costboost_height + above)
    elif ax.figure.get_layout_engine() is None:
        _make_room(ax, above, beneath)
    return legend


class _Room:
    """Places axes within the box that the figure's layout gives them, less some inches.

    A locator is asked whenever the axes are drawn or measured, so ``tight_layout``, which moves
    that box, is followed, and finds the legend inside it.
    """

    def __init__(self, ax: Any, above: float, beneath: float) -> None:
        self.ax, self.above, self.beneath = ax, above, beneath

    def get_subplotspec(self) -> Any:
        """Return the place in the grid: ``tight_layout`` asks a locator, if there is one."""
        return self.ax.get_subplotspec()

    def __call__(self, ax: Any, renderer: Any) -> Any:
        from matplotlib.transforms import Bbox

        box, inches = ax.get_position(original=True), ax.figure.get_figheight()
        height = box.height - (self.above + self.beneath) / inches
        bottom = box.y0 + self.beneath / inches
        return Bbox.from_bounds(box.x0, bottom, box.width, max(height, 0.25 * box.height))


def _make_room(ax: Any, above: float, beneath: float) -> None:
    """Shrink axes within their box, by inches; those on top of them too."""
    for part in (ax, getattr(ax, "_costboost_right", None)):
        if part is not None:
            part.set_axes_locator(_Room(part, above, beneath))
            part.apply_aspect(part.get_axes_locator()(part, None))


def dress(ax: Any, xlabel: str, ylabel: str) -> None:
    """Label the axes and draw a faint grid behind everything."""
    ax.set(xlabel=plain(xlabel), ylabel=plain(ylabel))
    ax.grid(True, color="#dddddd", linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def right_of(ax: Any, ylabel: str) -> Any:
    """Return axes on the same place with a scale of their own on the right, made once."""
    if not hasattr(ax, "_costboost_right"):
        right = ax._costboost_right = ax.twinx()
        right.spines[["top", "left"]].set_visible(False)
        right.set_ylabel(plain(ylabel))
    return ax._costboost_right


def unit(what: str, currency: str | None) -> str:
    """Return an axis title with its unit."""
    return f"{what} ({currency})" if currency else what


def head(ax: Any, paragraphs: Sequence[str], fontsize: float) -> None:
    """Write a title of some lines, none longer than the axes are wide."""
    engine = ax.figure.get_layout_engine()
    if engine is not None:
        engine.execute(ax.figure)  # labels on the left make axes narrower than they are made
    letters = max(24, int(points_across(ax) / (0.52 * fontsize)))  # of average width
    lines = [line for text in paragraphs for line in textwrap.wrap(text, letters)]
    ax.set_title(plain("\n".join(lines)), loc="left", fontsize=fontsize)


def plain_ticks(axis: Any) -> None:
    """Print every tick in full: thousands separators, no offset, no common power of ten."""
    from matplotlib.ticker import NullFormatter

    from costboost.plots._formatter import FullNumbers

    axis.set_major_formatter(FullNumbers())
    axis.set_minor_formatter(NullFormatter())


def few_ticks(ax: Any) -> None:
    """Limit the ticks along x to those that fit beside each other."""
    from matplotlib.ticker import MaxNLocator

    low, high = sorted(ax.get_xlim())
    for most in range(8, 1, -1):
        locator = MaxNLocator(most, steps=[1, 2, 2.5, 5, 10])
        ticks = [float(t) for t in locator.tick_values(low, high) if low <= t <= high]
        # In points: a letter takes about 5.6, and two texts need a gap of two letters. Axes
        # that share a figure will get a little narrower.
        if 5.6 * sum(len(text) + 2 for text in tick_texts(ticks)) <= 0.9 * points_across(ax):
            break
    ax.xaxis.set_major_locator(locator)
