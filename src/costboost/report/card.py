"""The model card: what was trained, on what, how it was judged, and with which software.

It lists what the model itself knows. What it cannot know (where the table came from, how rows were
held out, who may use it) is for the user to add as notes.
"""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from sklearn.base import clone

from costboost._version import __version__
from costboost.estimators.adaboost.choices import recipe_words
from costboost.explain.decision import plain
from costboost.persistence.container import PRELUDE, ModelFileError, lay_out
from costboost.persistence.kinds import ESTIMATORS
from costboost.persistence.packing import Packer
from costboost.report.rows import PageRows
from costboost.report.warning import forests_of, training_rows
from costboost.report.words import Words, esc, price_words
from costboost.text import fixed
from costboost.versions import PACKAGES

__all__ = ["card_html", "make_card", "model_digest", "rows_digest"]

Card = dict[str, dict[str, str]]

_LISTED = 30  # columns by name


def make_card(
    model: Any, rows: PageRows, given_rows: int, words: Words, notes: Mapping[str, str] | None
) -> Card:
    """Return the sections of the card, each a dictionary of facts."""
    return {
        "The model": _about_model(model),
        "What it was trained on": _about_training(model),
        "How it was judged": _about_rows(rows, given_rows, words),
        **({"Notes": {str(k): str(v) for k, v in notes.items()}} if notes else {}),
        "Versions": _versions(),
        "Digests": _digests(model, rows),
    }


def _about_model(model: Any) -> dict[str, str]:
    facts = {"Kind": type(model).__name__}
    for name, heading in (("method", "Method"), ("loss", "Loss"), ("n_iter_", "Rounds")):
        if getattr(model, name, None) is not None:
            facts[heading] = str(getattr(model, name))
    if hasattr(model, "recipe_"):
        facts |= recipe_words(model.recipe_)
    elif hasattr(model, "calibration"):
        facts["Calibration"] = f"{model.calibration}, cv={getattr(model, 'cv', None)}"
    changed = _changed_parameters(model)
    facts["Parameters"] = (
        "\n".join(f"{name} = {_brief(value)}" for name, value in changed.items())
        or "all as they are by default"
    )
    return facts


def _changed_parameters(model: Any) -> dict[str, Any]:
    """Return the parameters that differ from the default, as far as they can be compared."""
    given = model.get_params(deep=False)
    try:
        usual = type(model)().get_params(deep=False)
    except TypeError:  # a wrapper needs its estimator
        usual = {}
    return {k: v for k, v in given.items() if k not in usual or repr(usual[k]) != repr(v)}


def _brief(value: Any) -> str:
    text = repr(clone(value, safe=False)) if hasattr(value, "get_params") else repr(value)
    text = " ".join(text.split())
    return text if len(text) <= 160 else text[:157] + "..."


def _about_training(model: Any) -> dict[str, str]:
    facts = {}
    seen = training_rows(forests_of(model))
    if seen is not None:
        facts["Rows"] = f"{fixed(seen)} (by weight; with calibration folds, of the largest)"
    if hasattr(model, "n_features_in_"):
        facts["Columns"] = str(model.n_features_in_)
    names = [str(name) for name in getattr(model, "feature_names_in_", [])]
    if names:
        facts["Their names"] = ", ".join(names[:_LISTED]) + (", ..." if names[_LISTED:] else "")
    facts["Classes"] = ", ".join(plain(c) for c in np.asarray(model.classes_).tolist())
    if hasattr(model, "costs_"):
        facts["Its own prices"] = _capital(model.costs_.describe())
    return facts


def _about_rows(rows: PageRows, given_rows: int, words: Words) -> dict[str, str]:
    counts = np.bincount(rows.truth, minlength=len(rows.classes))
    by_class = ", ".join(f"{words.classes[k]}: {fixed(int(counts[k]))}" for k in words.order[0])
    facts = {
        "Rows": f"{fixed(given_rows)} that were given to the report. The model cannot tell "
        "whether it was trained on them: figures hold for new rows only if it was not.",
        "By class": by_class,
        "Prices": price_words(rows, words),
        "Intervals": "95 %, from the mean, the variance and the skewness of what rows cost (Hall "
        "1992). Rows are taken as independent of each other.",
    }
    if rows.weight is not None:
        facts["Weights"] = f"rows are weighted; the weights add up to {fixed(rows.weight.sum())}"
    return facts


def _capital(text: str) -> str:
    return "\n".join(line[:1].upper() + line[1:] for line in text.splitlines())


def _versions() -> dict[str, str]:
    found = {"costboost": __version__, "Python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _digests(model: Any, rows: PageRows) -> dict[str, str]:
    own = model_digest(model)
    return {
        "Model file": own or "none: the model holds what costboost.save does not write",
        "Rows": rows_digest(rows),
    }


def model_digest(model: Any) -> str | None:
    """Return the digest that a file of the model carries (BLAKE2b), if it can be saved as one."""
    if type(model) not in ESTIMATORS:
        return None
    packer = Packer()
    try:
        packer.pack(model, type(model).__name__)
        first = lay_out({"objects": packer.objects}, packer.arrays)[0]
    except ModelFileError:
        return None
    return str(PRELUDE.unpack(first)[-1].hex())


def rows_digest(rows: PageRows) -> str:
    """Return a digest (BLAKE2b) of the probabilities, truths and prices of the rows."""
    digest = hashlib.blake2b(digest_size=32)
    for part in (rows.proba, rows.truth, *rows.prices.columns, rows.prices.values):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def card_html(card: Card) -> str:
    """Return the card as HTML."""
    parts = []
    for title, facts in card.items():
        code = title == "Digests"
        lines = "".join(
            f"<dt>{esc(name)}</dt><dd>{f'<code>{esc(fact)}</code>' if code else esc(fact)}</dd>"
            for name, fact in facts.items()
        )
        parts.append(f"<section><h3>{esc(title)}</h3><dl>{lines}</dl></section>")
    return f'<div class="card">{"".join(parts)}</div>'
