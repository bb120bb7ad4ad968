"""Explanations as HTML: a waterfall that adds up, and nothing that is not escaped."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import numpy as np
import pytest

from costboost.explain.decision import DOWN, UP, Explanation, Part, waterfall_steps


def seen_of(parts, base=1.0, **changed):
    total = base + sum(part.added for part in parts)
    whole = {
        "model": "Model",
        "decision": None,
        "probabilities": {},
        "expected_cost": {},
        "stays_within": None,
        "turning_prices": (),
        "output": None,
        "unit": "euros",
        "changes": (),
    }
    return Explanation(base=base, total=total, parts=tuple(parts), **whole | changed)


class Read(HTMLParser):
    """Tags that are open, and all text."""

    def __init__(self, html):
        super().__init__()
        self.open, self.texts, self.bars, self.tags = [], [], [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        if tag == "rect":
            self.bars.append(dict(attrs))
        elif tag != "br":
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.bars.append(dict(attrs))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_steps_lead_from_the_base_to_the_total():
    parts = [Part(f"c{j}", j, (-1.0) ** j * (30 - j)) for j in range(20)] + [Part("no", 0, 0.0)]
    seen = seen_of(parts, base=2.5)
    steps = waterfall_steps(seen, shown=5)
    largest = [f"c{j} = {j}" for j in (4, 3, 2, 1, 0)]
    assert [label for label, _, _ in steps] == ["15 other columns", *largest]
    assert steps[0][1] == seen.base
    assert steps[-1][2] == pytest.approx(seen.total)
    assert all(one[2] == other[1] for one, other in pairwise(steps))


def test_bars_are_as_long_as_what_columns_add():
    read = Read(seen_of([Part("a", 1, 6.0), Part("b", 2, -3.0), Part("c", 3, 1.5)])._repr_html_())
    assert not read.open
    widths = [float(bar["width"]) for bar in read.bars]
    assert widths == pytest.approx([widths[0], widths[0] / 2, widths[0] / 4], abs=0.1)
    assert [bar["fill"] for bar in read.bars] == [UP, DOWN, UP]


def test_labels_are_cut_where_they_would_leave_the_picture():
    short, long = "s" * 30, "l" * 31  # " = 1" follows: 34 letters have room, 35 do not
    read = Read(seen_of([Part(short, 1, 6.0), Part(long, 1, -3.0)])._repr_html_())
    assert f"{short} = 1" in read.texts
    assert f"{long}..." in read.texts
    assert f"{long} = 1" not in read.texts


def test_everything_from_outside_is_escaped():
    evil = '<script>alert("&")</script>'
    changed = {"decision": evil, "probabilities": {evil: 0.5}, "unit": evil, "output": evil}
    changed |= {"expected_cost": {evil: 2.0}, "model": evil}
    read = Read(seen_of([Part(evil, evil, 1.0)], **changed)._repr_html_())
    assert "script" not in read.tags
    assert not read.open
    assert "".join(read.texts).count(evil) >= 5


def test_a_row_of_which_nothing_is_moved_has_no_picture():
    assert "<svg" not in seen_of([Part("a", 1, 0.0)])._repr_html_()


def test_long_labels_are_cut():
    read = Read(seen_of([Part("n" * 80, 1, 1.0)])._repr_html_())
    assert "n" * 31 + "..." in read.texts


def test_bars_lead_from_the_total_to_the_base():
    """Each bar ends where the one above begins, on one scale that fills the picture."""
    added = [6.0, -3.0, 1.5, -0.75]
    html = seen_of([Part(f"c{j}", j, x) for j, x in enumerate(added)], base=2.0)._repr_html_()
    read = Read(html)
    left = np.array([float(bar["x"]) for bar in read.bars])
    width = np.array([float(bar["width"]) for bar in read.bars])
    # Rising bars end at the right, falling ones at the left; the first bar ends at the total.
    rises = np.array(added) > 0
    begins, ends = np.where(rises, left, left + width), np.where(rises, left + width, left)
    np.testing.assert_allclose(begins[:-1], ends[1:], atol=0.11)
    picture = float(re.search(r'<svg width="(\d+)"', html)[1])
    assert (left + width).max() < picture - 40  # room for the amounts
    assert left.min() > 150  # and for the names
    scale = (width.max()) / 6.0
    values = 2.0 + np.cumsum(added[::-1])[::-1]  # where the bars end
    np.testing.assert_allclose(np.diff(ends), scale * np.diff(values), atol=0.3)
    # Names and amounts stand in the row of their bar, amounts behind it, rows below each other.
    texts = [(float(x), float(y)) for x, y in re.findall(r'<text x="([\d.]+)" y="([\d.]+)"', html)]
    tops, high = [float(bar["y"]) for bar in read.bars], float(read.bars[0]["height"])
    assert all(below - above > high for above, below in pairwise(tops))
    for bar in range(4):
        name, amount = texts[2 * bar : 2 * bar + 2]
        assert tops[bar] < name[1] == amount[1] < tops[bar] + high
        assert name[0] < left.min()
        assert amount[0] == pytest.approx(left[bar] + width[bar] + 5.0, abs=0.11)
    height = float(re.search(r'height="(\d+)" role', html)[1])
    assert tops[-1] + high < texts[-1][1] - 8.0 < texts[-1][1] < height
    assert tops[0] >= 0.0


def test_a_bar_of_next_to_nothing_is_seen():
    read = Read(seen_of([Part("a", 1, 6.0), Part("b", 2, 1e-9)])._repr_html_())
    assert float(read.bars[1]["width"]) == 1.0
    assert [text for text in read.texts if text[0] in "+-"] == ["+6.000", "+0.000"]


def test_labels_are_cut_beyond_34_letters():
    names = ["n" * 30, "n" * 31]  # and " = 1"
    read = Read(seen_of([Part(name, 1, 1.0) for name in names])._repr_html_())
    assert "n" * 30 + " = 1" in read.texts
    assert "n" * 31 + "..." in read.texts
