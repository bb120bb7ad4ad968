"""The options of the commands that ask a model: about new rows, old ones, one, or itself."""

from __future__ import annotations

from typing import Annotated

import typer

from costboost.cli import options as o

__all__ = ["decide", "evaluate", "explain", "inspect", "report"]


def decide(
    model: o.Model,
    table: o.Table,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="CSV, Parquet, Arrow, JSON lines; else stdout."
        ),
    ] = None,
    fp: o.Fp = None,
    fn: o.Fn = None,
    tp: o.Tp = None,
    tn: o.Tn = None,
    costs: o.CostsFile = None,
    positive: o.Positive = None,
    benefits: o.Benefits = False,
    currency: o.Currency = None,
    capacity: Annotated[
        list[str] | None,
        typer.Option(
            "--capacity", metavar="ACTION=N", help="At most so many rows, or a share: 0.05."
        ),
    ] = None,
    per: Annotated[
        str | None,
        typer.Option(
            "--per", metavar="COLUMN", help="Capacities hold for each value of it: a day."
        ),
    ] = None,
    defer: Annotated[
        str | None,
        typer.Option("--defer", metavar="PRICE", help="What it costs to leave a row to others."),
    ] = None,
    only_decisions: Annotated[
        bool, typer.Option("--only-decisions", help="Leave out the columns of the table.")
    ] = False,
    prefix: Annotated[str, typer.Option("--prefix", help="Before the names of new columns.")] = "",
    force: o.Force = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Decide about new rows: decisions, probabilities, expected costs."""
    from costboost.cli import decide as command
    from costboost.cli.prices import read_prices
    from costboost.cli.screen import Screen

    prices = read_prices(
        fp=fp, fn=fn, tp=tp, tn=tn, costs=costs, currency=currency, positive=positive,
        benefits=benefits,
    )  # fmt: skip
    command.decide(
        model,
        table,
        prices,
        Screen(as_json, aside=output in (None, "-")),
        output=output,
        force=force,
        capacity=capacity or (),
        per=per,
        defer=defer,
        only_decisions=only_decisions,
        prefix=prefix,
    )


def evaluate(
    model: o.Model,
    table: o.Table,
    target: o.MaybeTarget = None,
    current: o.Current = None,
    groups: o.Groups = None,
    fp: o.Fp = None,
    fn: o.Fn = None,
    tp: o.Tp = None,
    tn: o.Tn = None,
    costs: o.CostsFile = None,
    positive: o.Positive = None,
    benefits: o.Benefits = False,
    currency: o.Currency = None,
    seed: o.Seed = 0,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Bill a model on rows whose truth is known."""
    from costboost.cli import evaluate as command
    from costboost.cli.prices import read_prices
    from costboost.cli.screen import Screen

    prices = read_prices(
        fp=fp, fn=fn, tp=tp, tn=tn, costs=costs, currency=currency, positive=positive,
        benefits=benefits,
    )  # fmt: skip
    command.evaluate(
        model, table, prices, Screen(as_json), target=target, current=current, groups=groups,
        seed=seed,
    )  # fmt: skip


def explain(
    model: o.Model,
    table: o.Table,
    row: Annotated[
        int, typer.Option("--row", min=0, help="Which row, counted from 0.", show_default=False)
    ],
    fp: o.Fp = None,
    fn: o.Fn = None,
    tp: o.Tp = None,
    tn: o.Tn = None,
    costs: o.CostsFile = None,
    positive: o.Positive = None,
    benefits: o.Benefits = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Say why one row is decided as it is, and what would turn the decision."""
    from costboost.cli import explain as command
    from costboost.cli.prices import read_prices
    from costboost.cli.screen import Screen

    prices = read_prices(
        fp=fp, fn=fn, tp=tp, tn=tn, costs=costs, currency=None, positive=positive,
        benefits=benefits,
    )  # fmt: skip
    command.explain(model, table, prices, Screen(as_json), row=row)


def report(
    model: o.Model,
    table: o.Table,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")
    ] = "report.html",
    target: o.MaybeTarget = None,
    current: o.Current = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Explain some rows: their values are then in the page.")
    ] = False,
    title: Annotated[str | None, typer.Option("--title", help="Of the page.")] = None,
    fp: o.Fp = None,
    fn: o.Fn = None,
    tp: o.Tp = None,
    tn: o.Tn = None,
    costs: o.CostsFile = None,
    positive: o.Positive = None,
    benefits: o.Benefits = False,
    currency: o.Currency = None,
    force: o.Force = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Write a page in which prices can be dragged, and what happens seen."""
    from costboost.cli import report as command
    from costboost.cli.prices import read_prices
    from costboost.cli.screen import Screen

    prices = read_prices(
        fp=fp, fn=fn, tp=tp, tn=tn, costs=costs, currency=currency, positive=positive,
        benefits=benefits,
    )  # fmt: skip
    command.report(
        model, table, prices, Screen(as_json), output=output, force=force, target=target,
        current=current, rows=rows, title=title,
    )  # fmt: skip


def inspect(model: o.Model, as_json: o.Json = False, debug: o.Debug = False) -> None:
    """Say what is in a model file."""
    from costboost.cli import inspect as command
    from costboost.cli.screen import Screen

    command.inspect(model, Screen(as_json))
