"""Shared by the tests of the recipe: a small model, and Ctrl-C in one of its rounds."""

from dataclasses import replace

from costboost import CostBoostClassifier
from costboost.estimators.adaboost import choices


def auto(n_estimators=40, **options):
    return CostBoostClassifier("auto", n_estimators, cv=3, random_state=0, **options)


def interrupt_loop(monkeypatch, loop, number):
    taken = iter(range(1, 10_000))
    take = loop.rounds

    def interrupted(self, first=0):
        for done in take(self, first):
            if next(taken) == number:
                raise KeyboardInterrupt
            yield done

    monkeypatch.setattr(loop, "rounds", interrupted)


def without_additive(monkeypatch):
    """Leave the additive model out, as from some tens of thousands of rows on."""
    change_recipe(monkeypatch, additive=choices.always(0.0))


def change_recipe(monkeypatch, **numbers):
    monkeypatch.setattr(choices, "NEWEST", replace(choices.NEWEST, **numbers))
