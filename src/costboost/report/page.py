r"""From everything that was computed to one file of HTML: no network, no code but our own.

The script of the page is the only one that a browser will run in it: its digest is in the policy at
the head of the page (Content-Security-Policy), which also forbids every request. Names and values
of the user's table are escaped where they become text; inside the data of the page, which are JSON,
`<`, `>` and `&` are written as `\u003c` and so on, so that no value can end the element.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from functools import cache
from html import escape
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

from costboost._version import __version__
from costboost.persistence.writing import write_atomically
from costboost.report.rows import PageRows

__all__ = ["Report", "fill_page", "to_json"]

SCRIPTS = ("pricing.js", "charts.js", "controls.js", "page.js")


class Report:
    """A live report as one self-contained page of HTML.

    Attributes
    ----------
    html : str
        The page.
    title : str
    warnings : tuple of str
        What the page warns of.
    page_rows : PageRows
        The rows that the page holds, as exact as it holds them: with them, `costboost.metrics`
        gives every figure of the page, at any prices.
    """

    def __init__(
        self, html: str, title: str, warnings: tuple[str, ...], page_rows: PageRows
    ) -> None:
        self.html = html
        self.title = title
        self.warnings = warnings
        self.page_rows = page_rows

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> Path:
        """Write the page to a file, as a whole or not at all.

        Parameters
        ----------
        path : path-like
            Where to; its folder must be there.
        overwrite : bool, default=False
            Whether a file that is there may be replaced.

        Returns
        -------
        Path
        """
        target = Path(path)
        if target.exists() and not overwrite:
            raise FileExistsError(
                f"{target} is there already: give another name, or overwrite=True to replace it."
            )
        write_atomically(target, [self.html.encode("utf-8")])
        return target

    def __repr__(self) -> str:
        doubts = f", {len(self.warnings)} warnings" if self.warnings else ""
        size = len(self.html.encode("utf-8")) / 1e6
        return f"Report({self.title!r}, {len(self.page_rows):,} rows, {size:.2f} MB{doubts})"

    def _repr_html_(self) -> str:
        # A page inside a page: its style and script stay its own, and it may reach nothing else.
        return (
            f'<iframe srcdoc="{escape(self.html, quote=True)}" sandbox="allow-scripts '
            f'allow-modals" title="{escape(self.title, quote=True)}" '
            'style="width: 100%; height: 820px; border: 1px solid #ccc"></iframe>'
        )


def to_json(value: Any) -> str:
    r"""Return JSON that can stand inside a script element, whatever texts it holds.

    Examples
    --------
    >>> to_json({"a": "</script>&"})
    '{"a":"\\u003c/script\\u003e\\u0026"}'
    """
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


@cache
def _part(name: str) -> str:
    return (files("costboost.report") / name).read_text(encoding="utf-8")


def fill_page(parts: Mapping[str, str]) -> str:
    """Fill the template: every ``{{name}}`` once, and never inside what was filled in."""
    script = '"use strict";\n(() => {\n' + "\n".join(map(_part, SCRIPTS)) + "\n})();\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    known = {
        **parts,
        "style": _part("page.css"),
        "script": script,
        "script_digest": digest,
        "version": escape(__version__),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: known[found[1]], _part("page.html"))
