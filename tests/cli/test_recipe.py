"""What a model file remembers: it comes back, and what is changed in it is refused or harmless."""

import copy
import json

import numpy as np
import pytest

from costboost import CostBoostClassifier, load, save
from costboost.cli import InputError
from costboost.cli.columns import Feature
from costboost.cli.models import inspect
from costboost.cli.output import Screen
from costboost.cli.prices import Prices
from costboost.cli.recipe import NAME, Kept, Recipe, read_model

RECIPE = Recipe(
    target="fraud",
    features=(Feature("amount", "number"), Feature("odd [name]", "category")),
    left_out={"id": "an identifier"},
    prices=Prices(fp="8", fn="2 * amount", positive="yes"),
    method="auto",
    rows={"train": 10, "held_out": 2},
    bill=[{"policy": "do nothing", "cost": 3.5, "low": 1.0, "high": 5.0, "acted": None}],
)
JUNK = (None, True, 0, -1, 2.5, "", "x", [], {}, [[1, 2]], {"a": 1}, "__import__('os')", "1 +")
JUNK += (float("nan"), float("inf"), 10**400, "\ud800", [None], [{}], [[[], "number"]], {"a": {}})


def test_a_recipe_comes_back_as_it_was():
    notes = json.loads(json.dumps(RECIPE.to_notes()))
    assert Recipe.of_notes(notes) == RECIPE
    assert Recipe.of_notes({}) is None


def places(node, path=()):
    yield path
    if isinstance(node, dict | list):
        parts = node.items() if isinstance(node, dict) else enumerate(node)
        for key, part in parts:
            yield from places(part, (*path, key))


def changed(notes, path, junk, rng):
    made = copy.deepcopy(notes)
    holder = made
    for key in path[:-1]:
        holder = holder[key]
    if rng.uniform() < 0.2:
        del holder[path[-1]]
    else:
        holder[path[-1]] = junk
    return made


def test_changed_notes_are_refused_or_make_a_recipe_that_can_be_shown(monkeypatch, capsys):
    notes, rng = RECIPE.to_notes(), np.random.default_rng(0)
    refused = 0
    for path in places(notes):
        for junk in JUNK if path else ():
            try:
                found = Recipe.of_notes(changed(notes, path, junk, rng))
            except InputError:
                refused += 1
                continue
            assert found is None or isinstance(found, Recipe)
            if found is not None:
                kept = Kept(CostBoostClassifier(), found, "m.cb", "0.1.0", 1)
                monkeypatch.setattr("costboost.cli.models.read_model", lambda path, kept=kept: kept)
                inspect("m.cb", Screen(False))
                capsys.readouterr().out.encode()
            if found is not None and found.prices is not None:
                assert all(isinstance(text, str) for text in found.prices.texts().values())
    assert refused > 200


def test_a_newer_format_says_so():
    notes = RECIPE.to_notes()
    notes[NAME]["format"] = 2
    with pytest.raises(InputError, match="upgrade"):
        Recipe.of_notes(notes)


def test_notes_of_another_model_are_refused(folder, tmp_path):
    save(load(folder / "model.cb"), tmp_path / "m.cb", notes=RECIPE.to_notes())
    with pytest.raises(InputError, match="other features"):
        read_model(str(tmp_path / "m.cb"))
