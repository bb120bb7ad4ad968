"""A real browser for tests of pages: Debian's chromium, driven by playwright."""

import shutil
import time
from contextlib import contextmanager

import pytest

FLAGS = [
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
INSTALL = (
    "needs a browser: `apt-get install chromium` (or set COSTBOOST_CHROMIUM to one) and "
    "`pip install playwright`"
)


def find_chromium(environ):
    """Return the path of a chromium, or None."""
    named = environ.get("COSTBOOST_CHROMIUM")
    names = [named] if named else ["chromium", "chromium-browser", "google-chrome"]
    return next((path for path in map(shutil.which, names) if path), None)


class Watched:
    """A page, with everything that it says and asks for."""

    def __init__(self, page):
        self.page = page
        self.said = []
        self.asked = []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self.asked.append(request.url))


def wait_until(page, expression, seconds=20):
    """Wait for an expression to hold; asked from outside, as pages may forbid `eval`."""
    end = time.monotonic() + seconds
    while not page.evaluate(f"() => Boolean({expression})"):
        assert time.monotonic() < end, f"still not so: {expression}"
        time.sleep(0.02)


@contextmanager
def chromium(environ):
    """Yield a running browser; skip where there is none."""
    path = find_chromium(environ)
    if path is None:
        pytest.skip(INSTALL)
    driver = pytest.importorskip("playwright.sync_api", reason=INSTALL)
    with driver.sync_playwright() as player:
        browser = player.chromium.launch(executable_path=path, args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()
