"""The tick formatter: a subclass of matplotlib's, so imported only once something is drawn."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.ticker import Formatter

from costboost.text import number, tick_texts


# matplotlib is untyped where it is not installed.
class FullNumbers(Formatter):  # type: ignore[misc, unused-ignore]
    """Ticks as people write them: 12,500 rather than 1.25 with 1e4 in the corner."""

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the text of one value, such as that under the pointer."""
        return number(x, 3)

    def format_ticks(self, values: Sequence[float]) -> list[str]:
        """Return the texts of all ticks; equally spaced ones have equally many decimals."""
        ticks = [float(v) for v in values]
        get_scale = getattr(self.axis, "get_scale", None)  # an axis of ticks alone has none
        if get_scale is not None and get_scale() in ("log", "logit"):
            return [f"{v:,.0f}" if 1 <= v < 1e12 else f"{v:.9g}" for v in ticks]
        return tick_texts(ticks)
