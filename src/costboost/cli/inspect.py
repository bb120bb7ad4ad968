"""``costboost inspect``: what is in a model file."""

from __future__ import annotations

from inspect import signature
from typing import Any

from costboost.cli.labels import shown
from costboost.cli.money import Money
from costboost.cli.recipe import Kept, read_model
from costboost.cli.screen import Screen
from costboost.cli.words import listed

__all__ = ["inspect"]


def inspect(path: str, screen: Screen) -> None:
    """Say what a model is, what it was trained on, and what it decides by."""
    kept = read_model(path)
    result = _result(kept)
    screen.say(f"{path}: {result['estimator']}, {kept.size / 1024:,.0f} KB", "bold")
    screen.facts(_facts(kept, result))
    if kept.recipe.bill:
        money = Money(kept.recipe.prices.currency if kept.recipe.prices else "")
        screen.say()
        screen.say("What decisions cost on the rows held out then")
        lines = [
            [str(line["policy"]), money.bare(line["cost"]), money.span(line["low"], line["high"])]
            for line in kept.recipe.bill
        ]
        unit = f"cost, {money.currency}" if money.currency else "cost"
        screen.table(["", unit, "95 % interval"], lines)
    screen.result(result)


def _result(kept: Kept) -> dict[str, Any]:
    model, recipe = kept.model, kept.recipe
    usual = {k: p.default for k, p in signature(type(model)).parameters.items()}
    changed = {k: v for k, v in model.get_params(deep=False).items() if _differs(v, usual.get(k))}
    changed.pop("n_jobs", None)  # of this process
    prices = recipe.prices.texts() if recipe.prices else {}
    return {
        "estimator": type(model).__name__,
        "version": kept.version,
        "size": kept.size,
        "parameters": changed,
        "classes": [shown(label) for label in getattr(model, "classes_", [])],
        "rounds": getattr(model, "n_iter_", None),
        "features": {f.name: f.kind for f in recipe.features}
        or list(getattr(model, "feature_names_in_", [])),
        "left_out": recipe.left_out,
        "target": recipe.target,
        "positive": None if recipe.prices is None else recipe.prices.positive,
        "prices": prices,
        "method": recipe.method or None,
        "trained": recipe.trained or None,
        "table": recipe.table or None,
        "digest": recipe.digest or None,
        "rows": recipe.rows,
        "how": recipe.how or None,
        "bill": recipe.bill,
    }


def _differs(value: Any, usual: Any) -> bool:
    return repr(value) != repr(usual)


def _facts(kept: Kept, found: dict[str, Any]) -> list[tuple[str, str]]:
    recipe = kept.recipe
    facts = [("written by", f"costboost {found['version']}")]
    if recipe.target is not None:
        rows = recipe.rows
        facts += [
            ("trained", f"{recipe.trained} on {rows['train']:,} rows of {recipe.table}"),
            ("held out", f"{rows['held_out']:,} rows, {recipe.how}"),
            ("target", f"{recipe.target}: {listed(found['classes'])}"),
        ]
    else:
        facts.append(("classes", listed(found["classes"])))
    if found["rounds"] is not None:
        facts.append(("rounds", f"{found['rounds']:,}"))
    if found["parameters"]:
        facts.append(("set to", listed([f"{k}={v!r}" for k, v in found["parameters"].items()])))
    facts.append(("features", listed(list(found["features"]), 20)))
    facts += [
        ("left out" if not i else "", f"{name}: {why}")
        for i, (name, why) in enumerate(found["left_out"].items())
    ]
    held = kept.model.costs_ if hasattr(kept.model, "costs_") else None
    own = {} if held is None or found["prices"] else {"prices": str(held)}
    given = {**{f"price {k}": v for k, v in found["prices"].items()}, **own}
    return [*facts, *given.items()]
