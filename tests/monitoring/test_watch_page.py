"""The page of a monitor: its figures, and in a real browser that it is silent and offline."""

import os

import numpy as np
import pytest

from browser import Watched, chromium, wait_until
from costboost import GradientBoostClassifier
from costboost.datasets import make_card_stream
from costboost.monitoring import Monitor, watch_page


@pytest.fixture(scope="module")
def watched():
    stream = make_card_stream(120, 240, 24, change="prices", change_day=20, label_delay=2)
    past = stream.day < 8
    model = GradientBoostClassifier(n_estimators=10, random_state=0)
    model.fit(stream.X[past], stream.y[past])
    monitor = Monitor(model, reference=5, drift_rows=100, capacity={1: 10})
    for day in range(8, 24):
        at = np.flatnonzero(stream.day == day)
        y = stream.y[at] if day < 22 else None
        monitor.update(stream.X.iloc[at], y, period=day, costs=stream.costs[at])
    return monitor


def test_figures_stand_in_the_page(watched):
    page = watch_page(watched, title="A <title>", currency="EUR")
    assert "A &lt;title&gt;" in page
    assert "{{" not in page
    paid = sum(p.billed["paid"] for p in watched.periods if p.billed)
    assert f"EUR {paid:,.0f}" in page
    assert "1 alarm" in page
    assert "was 5 in all periods before, and is 20" in page
    assert "2 periods without labels so far" in page


@pytest.mark.parametrize(("width", "colours"), [(1200, "light"), (380, "dark")])
def test_page_in_a_browser(watched, tmp_path, width, colours):
    path = tmp_path / "w.html"
    path.write_text(watch_page(watched))
    with chromium(os.environ) as browser:
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=colours
        )
        seen = Watched(context.new_page())
        seen.page.goto(path.as_uri())
        wait_until(seen.page, "window.costboostWatch && window.costboostWatch.ready")
        assert seen.page.locator("svg").count() == 3
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        seen.page.keyboard.press("Tab")
        assert seen.page.evaluate("document.activeElement.className") == "skip"
        before = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        seen.page.click("#theme")
        after = seen.page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert before != after
        seen.page.emulate_media(media="print")
        assert not seen.page.is_visible("#print")
        assert seen.said == []
        assert seen.asked == [path.as_uri()]
        context.close()
