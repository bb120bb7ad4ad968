"""How Sphinx builds the site: `make docs`. Nothing is fetched, neither here nor by a reader.

Names in backticks in docstrings become links where they are public names, and literals elsewhere,
so that every link can be checked (`nitpicky`).
"""

import os
import sys
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import roles
from sphinx.addnodes import pending_xref

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ["OMP_NUM_THREADS"] = "1"  # threads that spin beside each other take twice the time

from names import public_names, write_reference  # noqa: E402

from costboost import __version__  # noqa: E402

project = "costboost"
author = "The costboost developers"
copyright = "the costboost developers, BSD-3-Clause"
version = release = __version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_templates", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.zip"]
templates_path = ["_templates"]
nitpicky = True
suppress_warnings = ["config.cache"]  # the gallery's settings hold functions

# Pages
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

# Reference
autosummary_generate = True
autodoc_typehints = "none"  # the numpydoc sections give types in words
autodoc_member_order = "groupwise"
autodoc_preserve_defaults = True
toc_object_entries_show_parents = "hide"
autodoc_default_options = {"inherited-members": True}
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
default_role = "public"

# Gallery
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "abort_on_example_error": True,
    "backreferences_dir": None,
    "capture_repr": ("__repr__",),
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

# Look
html_theme = "pydata_sphinx_theme"
html_title = "costboost"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["llms.txt"]
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it would read pages by fetch(), which files on a disk refuse
html_sidebars = {"start": [], "choose": [], "faq": [], "glossary": []}
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "show_toc_level": 2,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "github-dark",
}

PUBLIC = public_names()


def link_public(name, rawtext, text, lineno, inliner, options=None, content=()):
    """Turn `Costs` or `metrics.total_cost` into a link to its page; all else into a literal."""
    key = text.strip("()").removeprefix("costboost.")
    code = nodes.literal(rawtext, text, classes=["xref", "py"])
    if key not in PUBLIC:
        return [code], []
    link = pending_xref(
        rawtext, code, refdomain="py", reftype="obj", reftarget=PUBLIC[key], refexplicit=True
    )
    return [link], []


def skip_foreign(app, what, name, member, skip, options):
    """Leave out what scikit-learn and Python bring along: it is documented there."""
    if name.startswith("set_") and name.endswith("_request"):
        return True
    function = getattr(member, "fget", None) or getattr(member, "__func__", member)
    home = getattr(function, "__module__", None)
    if type(member).__name__ == "_tuplegetter":  # fields of named tuples: in their docstring
        return True
    if what == "class" and home is not None and not home.startswith("costboost"):
        return True
    return skip


def setup(app):
    """Register the role of backticks, and what the reference shows."""
    roles.register_local_role("public", link_public)
    app.connect("autodoc-skip-member", skip_foreign)
    (HERE / "reference").mkdir(exist_ok=True)
    write_reference(HERE / "reference")
