"""The site that `make docs` built: its links, its reference, and its pages in a real browser."""

import importlib
import importlib.util
import os
import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

import costboost
from browser import Watched, chromium, wait_until

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "docs"


def built(test):
    """Mark a test of the built site; skip it where there is none."""
    there = (SITE / "index.html").exists()
    return pytest.mark.site(pytest.mark.skipif(not there, reason="no site: make docs")(test))


# Pages of every kind: prose, tables, cards, wide code, reference, generated.
LOOKED_AT = (
    "index",
    "guide",
    "gallery/index",
    "tutorials/index",
    "start",
    "choose",
    "trades",
    "costs",
    "default",
    "sklearn",
    "command-line",
    "coming-from",
    "algorithms",
    "benchmarks",
    "papers/nikolaou",
    "faq",
    "glossary",
    "reference/index",
    "reference/costboost.metrics",
    "reference/generated/costboost.CostBoostClassifier",
    "reference/generated/costboost.metrics.total_cost",
    "genindex",
)
QUIET = ("log:", "debug:", "info:")
# Text that reaches beyond its box, or beyond the window: only tables and code may be scrolled.
CUT = """() => [...document.querySelectorAll("article :is(h1, h2, h3, p, li, dt, dd)")]
    .filter(e => !e.closest("table, pre") && (
        e.getBoundingClientRect().right > innerWidth + 1
        || (e.matches("h1, h2, h3, p, dt") && e.scrollWidth > e.clientWidth + 1)))
    .map(e => e.textContent.slice(0, 40))"""


def load_names():
    """Return the module with which docs/conf.py writes the reference."""
    spec = importlib.util.spec_from_file_location("names", ROOT / "docs" / "names.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Page(HTMLParser):
    """The anchors of a page, and where it leads."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.leads, self.loads = set(), [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.anchors |= {given[key] for key in ("id", "name") if given.get(key)}
        if tag == "a" and given.get("href") is not None:
            self.leads.append(given["href"])
        loads = tag in ("script", "img", "iframe", "source") or (
            tag == "link" and given.get("rel") in ("stylesheet", "icon", "preload", "shortcut icon")
        )
        if loads and (given.get("src") or given.get("href")):
            self.loads.append(given.get("src") or given["href"])


def test_every_public_folder_is_in_the_reference():
    """A folder is public if the package offers it, or if nothing else could be imported from it."""
    offered = {f"costboost.{name}" for name in costboost._PACKAGES}
    assert {*offered, "costboost", "costboost.dask", "costboost.spark"} == set(load_names().MODULES)


@pytest.mark.parametrize("module", load_names().MODULES)
def test_every_public_object_has_an_example(module):
    pytest.importorskip({"costboost.dask": "dask", "costboost.spark": "pyspark"}.get(module, "re"))
    house = importlib.import_module(module)
    named = {name: getattr(house, name) for name in house.__all__}
    without = [n for n, value in named.items() if callable(value) and ">>> " not in value.__doc__]
    assert without == []


@built
@pytest.mark.parametrize("module", load_names().MODULES)
def test_no_public_name_is_missing(module):
    pytest.importorskip({"costboost.dask": "dask", "costboost.spark": "pyspark"}.get(module, "re"))
    names = load_names()
    pages = (SITE / "reference" / "generated").glob("*.html")
    pages = {page.stem: page for page in pages}
    public = names.public_names()
    for name in importlib.import_module(module).__all__:
        full = f"{module}.{name}"
        listed = [full] if full in pages else [public.get(name)]
        assert listed[0] in pages, full
        assert f'id="{listed[0]}"' in pages[listed[0]].read_text(encoding="utf-8")


@built
def test_every_link_and_anchor_inside_leads_somewhere():
    pages = {path.resolve(): Page(path) for path in SITE.rglob("*.html")}
    lost = []
    for path, page in pages.items():
        for link in page.leads:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            there = target.exists() and (
                not anchor or target not in pages or anchor in pages[target].anchors
            )
            if not there:
                lost.append(f"{path.relative_to(SITE)} -> {link}")
    assert lost == []


@built
def test_nothing_is_loaded_from_outside():
    asked = {
        (path.name, source)
        for path in SITE.rglob("*.html")
        for source in Page(path).loads
        if urlsplit(source).scheme not in ("", "data") or urlsplit(source).netloc
    }
    assert asked == set()
    styles = [path.read_text(encoding="utf-8") for path in SITE.rglob("*.css")]
    imported = [url for text in styles for url in re.findall(r"url\(['\"]?(https?:[^)]*)", text)]
    assert imported == []


@built
def test_no_page_is_lost():
    """Whatever stands in docs/ is on the site, and in somebody's list of pages."""
    for source in (ROOT / "docs").rglob("*.md"):
        page = SITE / source.relative_to(ROOT / "docs").with_suffix(".html")
        assert page.exists(), page
    listed = Page(SITE / "reference" / "index.html").leads
    assert "costboost.metrics.html" in listed


@pytest.fixture(scope="module")
def browser():
    with chromium(os.environ) as running:
        yield running


@built
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [1400, 380])
def test_pages_are_quiet_and_fit_the_window(browser, width, theme):
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
    context.add_init_script(f"localStorage.setItem('mode', '{theme}')")
    tutorials = [f"tutorials/{path.stem}" for path in (ROOT / "docs" / "tutorials").glob("*.md")]
    complaints = []
    for name in (*LOOKED_AT, *tutorials):
        page = context.new_page()
        watched = Watched(page)
        page.goto((SITE / f"{name}.html").as_uri())
        shown = page.evaluate("document.documentElement.dataset.theme")
        if shown != theme:
            complaints.append((name, f"is shown in {shown}"))
        reach = page.evaluate("document.documentElement.scrollWidth")
        if reach > width:
            complaints.append((name, f"is {reach} wide"))
        said = [text for text in watched.said if not text.startswith(QUIET)]
        outside = [url for url in watched.asked if not url.startswith(("file:", "data:"))]
        complaints += [(name, text) for text in said + outside]
        cut = page.evaluate(CUT)
        complaints += [(name, f"cuts {text!r}") for text in cut]
        page.close()
    context.close()
    assert complaints == []


@built
def test_search_works_from_disk(browser):
    page = browser.new_page()
    page.goto((SITE / "search.html").as_uri() + "?q=savings_score")
    wait_until(page, "document.querySelector('#search-results li a')")
    hits = page.evaluate(
        "[...document.querySelectorAll('#search-results li a')].map(a => a.getAttribute('href'))"
    )
    assert any("costboost.metrics.savings_score" in hit for hit in hits)
    page.close()
