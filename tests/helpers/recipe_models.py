"""Shared by the tests of the recipe: a small model, and Ctrl-C in one of its rounds."""

from costboost import CostBoostClassifier


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
