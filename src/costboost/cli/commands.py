"""The application: every command with its options.

A command does its work in the module of its name, which is imported when the command runs:
``--help`` answers at once.
"""

from __future__ import annotations

from dataclasses import asdict
from functools import cache
from typing import Annotated, Any

import typer

from costboost._version import __version__
from costboost.cli import INTERRUPTED
from costboost.cli import options as o

__all__ = [
    "decide",
    "monitor",
    "evaluate",
    "explain",
    "inspect",
    "report",
    "challenge",
    "compare",
    "train",
    "app",
    "call",
]


def decide(
    model: o.Model,
    table: o.Table,
    *,
    output: Annotated[
        str | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="CSV, Parquet, Arrow, JSON lines; else stdout."
        ),
    ] = None,
    prices: o.PriceOptions,
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
    explore: Annotated[
        float | None,
        typer.Option(
            "--explore", metavar="SHARE", help="Draw so many decisions to learn from: 0.01."
        ),
    ] = None,
    never: Annotated[
        list[str] | None,
        typer.Option(
            "--never", metavar="ACTION=COLUMN", help="Not for rows in which the column is true."
        ),
    ] = None,
    parity: o.ParityOptions,
    regret: Annotated[
        str | None,
        typer.Option(
            "--regret", metavar="minimax", help="The least regret within the ranges of prices."
        ),
    ] = None,
    ask: Annotated[
        str | None,
        typer.Option(
            "--ask",
            metavar="reference|missing",
            help="What to ask next of rows known in part; unknown columns are drawn, or missing.",
        ),
    ] = None,
    column_costs: o.ColumnCostOptions,
    seed: o.Seed = 0,
    only_decisions: Annotated[
        bool, typer.Option("--only-decisions", help="Leave out the columns of the table.")
    ] = False,
    prefix: Annotated[str, typer.Option("--prefix", help="Before the names of new columns.")] = "",
    form: o.FormOptions,
    force: o.Force = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Decide about new rows: decisions, probabilities, expected costs."""
    from costboost.cli import decide as command
    from costboost.cli.output import Screen

    command.decide(
        model,
        table,
        prices.read(),
        Screen(as_json, aside=output in (None, "-")),
        form=form.read(),
        output=output,
        force=force,
        capacity=capacity or (),
        per=per,
        defer=defer,
        explore=explore,
        never=never or (),
        parity=parity.read(),
        regret=regret,
        ask=ask,
        column_costs=column_costs.read(),
        seed=seed,
        only_decisions=only_decisions,
        prefix=prefix,
    )


def monitor(
    model: o.Model,
    table: o.Table,
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")
    ] = "watch.html",
    state: Annotated[
        str | None,
        typer.Option(
            "--state", metavar="FILE", help="What is kept from run to run; beside the page else."
        ),
    ] = None,
    time: o.Time = None,
    period: Annotated[
        str, typer.Option("--period", metavar="SPAN", help="How long a period is: 1d, 1w, 1h.")
    ] = "1d",
    target: o.MaybeTarget = None,
    label_delay: o.LabelDelay = None,
    decided: Annotated[
        str | None,
        typer.Option(
            "--decided",
            metavar="COLUMN",
            help="What was decided; the column decision, or else what the model decides.",
            rich_help_panel="Columns",
        ),
    ] = None,
    capacity: Annotated[
        list[str] | None,
        typer.Option("--capacity", metavar="ACTION=N", help="Rows a period, to show its use."),
    ] = None,
    alpha: Annotated[
        float | None,
        typer.Option("--alpha", metavar="SHARE", help="Of false alarms, ever: 0.05."),
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option("--tolerance", metavar="SHARE", help="Ring for what is worse by more: 0.25."),
    ] = None,
    reference: Annotated[
        int | None,
        typer.Option("--reference", metavar="N", help="So many periods say what is usual: 21."),
    ] = None,
    prices: o.PriceOptions,
    form: o.FormOptions,
    force: o.Force = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Watch by periods what decisions cost; exit code 3 once an alarm has rung."""
    from costboost.cli import monitor as command
    from costboost.cli.output import Screen

    code = command.monitor(
        model, table, prices.read(), Screen(as_json), form=form.read(), time=time,
        period=period, target=target, label_delay=label_delay, decided=decided,
        capacity=capacity or (), state=state, output=output, force=force, alpha=alpha,
        tolerance=tolerance, reference=reference,
    )  # fmt: skip
    if code:
        raise typer.Exit(code)


def evaluate(
    model: o.Model,
    table: o.Table,
    *,
    target: o.MaybeTarget = None,
    current: o.Current = None,
    groups: o.Groups = None,
    late: o.LateOptions,
    propensity: o.Propensity = None,
    prices: o.PriceOptions,
    scenario: o.Scenario = None,
    form: o.LabelFormOptions,
    promise: o.Promise = None,
    cap: o.Cap = None,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Bill a model on rows whose truth is known."""
    from costboost.cli import models as command
    from costboost.cli.output import Screen
    from costboost.cli.prices import read_scenarios

    command.evaluate(
        model, table, prices.read(), Screen(as_json), form=form.read(),
        scenarios=read_scenarios(scenario or ()), target=target, current=current,
        groups=groups, propensity=propensity, promise=promise, cap=cap, **asdict(late),
    )  # fmt: skip


def explain(
    model: o.Model,
    table: o.Table,
    *,
    row: Annotated[
        int | None, typer.Option("--row", min=0, help="Which row, counted from 0.")
    ] = None,
    identifier: Annotated[
        str | None,
        typer.Option("--id", metavar="VALUE", help="Or which identifier it has; COLUMN=VALUE."),
    ] = None,
    prices: o.PriceOptions,
    form: o.FormOptions,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Say why one row is decided as it is, and what would turn the decision."""
    from costboost.cli import models as command
    from costboost.cli.output import Screen

    command.explain(
        model, table, prices.read(), Screen(as_json), form=form.read(), row=row,
        identifier=identifier,
    )  # fmt: skip


def report(
    model: o.Model,
    table: o.Table,
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="The page to write.")
    ] = "report.html",
    target: o.MaybeTarget = None,
    current: o.Current = None,
    rows: Annotated[
        bool, typer.Option("--rows", help="Explain some rows: their values are then in the page.")
    ] = False,
    title: Annotated[str | None, typer.Option("--title", help="Of the page.")] = None,
    promise: o.Promise = None,
    cap: o.Cap = None,
    parity: o.ParityOptions,
    swap_with: Annotated[
        list[str] | None,
        typer.Option(
            "--swap-with",
            metavar="WHAT",
            help="Who is decided differently than by another model, a costs.toml, or a column.",
        ),
    ] = None,
    prices: o.PriceOptions,
    scenario: o.Scenario = None,
    form: o.LabelFormOptions,
    force: o.Force = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Write a page in which prices can be dragged, and what happens seen."""
    from costboost.cli import models as command
    from costboost.cli.output import Screen
    from costboost.cli.prices import read_scenarios

    command.report(
        model, table, prices.read(), Screen(as_json), form=form.read(),
        scenarios=read_scenarios(scenario or ()), output=output, force=force, target=target,
        current=current, rows=rows, title=title, promise=promise, cap=cap,
        parity=parity.read(), swap=swap_with or (),
    )  # fmt: skip


def inspect(model: o.Model, as_json: o.Json = False, debug: o.Debug = False) -> None:
    """Say what is in a model file."""
    from costboost.cli import models as command
    from costboost.cli.output import Screen

    command.inspect(model, Screen(as_json))


# ---- Commands that train.


def train(
    table: o.Table,
    target: o.Target,
    *,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the model.")
    ] = "model.cb",
    prices: o.PriceOptions,
    column_costs: o.ColumnCostOptions,
    columns: o.ColumnOptions,
    form: o.LabelFormOptions,
    method: o.Method = "auto",
    holdout: o.Holdout = 0.2,
    refit: Annotated[
        bool, typer.Option("--refit", help="Train again on all rows after the bill.")
    ] = False,
    training: o.TrainingOptions,
    force: o.Force = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Train a model and bill it, in money, on rows that it has not seen."""
    from costboost.cli import train as command
    from costboost.cli.output import Screen

    command.train(
        table,
        prices.read(),
        columns.read(target, form.read(), training.seed),
        Screen(as_json),
        output=output,
        force=force,
        method=method,
        maker=training.read(feature_costs=column_costs.read()),
        holdout=holdout,
        refit=refit,
    )


def compare(
    table: o.Table,
    target: o.Target,
    *,
    method: Annotated[
        list[str] | None,
        typer.Option("--method", help="A method; give several.", autocompletion=o._methods),
    ] = None,
    model: Annotated[
        list[str] | None,
        typer.Option("--model", metavar="FILE", help="A model file; give several."),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", min=2, help="How many folds.")] = 5,
    picture: Annotated[
        str | None,
        typer.Option("--picture", metavar="FILE", help="Draw the critical differences (PNG, SVG)."),
    ] = None,
    swap: Annotated[
        bool,
        typer.Option("--swap", help="Of two: which rows the second decides differently."),
    ] = False,
    prices: o.PriceOptions,
    scenario: o.Scenario = None,
    columns: o.ColumnOptions,
    form: o.LabelFormOptions,
    training: o.TrainingOptions,
    force: o.Force = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Compare methods, or models, on the same folds: paired intervals and ranks."""
    from costboost.cli import compare as command
    from costboost.cli.output import Screen
    from costboost.cli.prices import read_scenarios

    command.compare(
        table,
        prices.read(),
        columns.read(target, form.read(), training.seed),
        Screen(as_json),
        scenarios=read_scenarios(scenario or ()),
        methods=method or [],
        models=model or [],
        n_folds=folds,
        picture=picture,
        swap=swap,
        force=force,
        maker=training.read(),
    )


def challenge(
    model: o.Model,
    table: o.Table,
    *,
    recalibrate: Annotated[
        bool,
        typer.Option("--recalibrate", help="Only fit the map from scores to probabilities anew."),
    ] = False,
    reprice: Annotated[
        bool,
        typer.Option("--reprice", help="Only decide by the prices given here, train nothing."),
    ] = False,
    output: Annotated[
        str | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write the new model."),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option("--method", help="Another than the old model's.", autocompletion=o._methods),
    ] = None,
    holdout: o.MaybeHoldout = None,
    target: o.MaybeTarget = None,
    late: o.LateOptions,
    groups: o.Groups = None,
    prices: o.PriceOptions,
    form: o.LabelFormOptions,
    training: o.TrainingOptions,
    force: o.Force = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Say whether a new model, map to probabilities, or prices would pay, or to wait."""
    from costboost.cli import monitor as command
    from costboost.cli.output import Screen

    command.challenge(
        model, table, prices.read(), Screen(as_json), form=form.read(), target=target,
        groups=groups, recalibrate=recalibrate, reprice=reprice, method=method,
        maker=training.read(), holdout=holdout, output=output, force=force, **asdict(late),
    )  # fmt: skip


# ---- The application.

app = typer.Typer(
    name="costboost",
    help="Boosting that minimises what mistakes cost, not how many there are.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

# What the parser of arguments raises; typer brings its own, and older ones took click's.
_USAGE: Any = typer.BadParameter.__mro__[1]
_ABORT: Any = typer.Abort


@cache
def _parser() -> Any:
    """Return the parser of the application, which takes longer to make than to use."""
    return typer.main.get_command(app)


def call(given: list[str]) -> int:
    """Run the command that arguments name; return its exit code."""
    try:
        code = _parser().main(args=given, prog_name="costboost", standalone_mode=False)
    except _USAGE as error:
        error.show()
        return 2
    except _ABORT:
        raise KeyboardInterrupt from None
    except typer.Exit as left:
        code = left.exit_code
    if code == INTERRUPTED:  # newer versions make a code of it themselves
        raise KeyboardInterrupt
    return code if isinstance(code, int) else 0


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"costboost {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
    debug: o.Debug = False,
) -> None:
    pass


for _command in (
    train,
    decide,
    monitor,
    evaluate,
    challenge,
    compare,
    explain,
    report,
    inspect,
):
    app.command()(o.flat(_command))


@app.command()
def demo(
    rows: Annotated[
        int, typer.Option("--rows", min=1000, help="Card payments to make up.")
    ] = 100_000,
    seed: o.Seed = 0,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FOLDER", help="Where the picture goes.")
    ] = "demo-output",
    debug: o.Debug = False,
) -> None:
    """Show what fraud costs under five policies, on made-up card payments."""
    from costboost.demo import main

    main(["--rows", str(rows), "--seed", str(seed), "--output", output])


@app.command()
def versions(as_json: o.Json = False, debug: o.Debug = False) -> None:
    """Show what is installed, for bug reports."""
    from costboost.cli.output import Screen
    from costboost.versions import installed, show_versions

    if not as_json:
        show_versions()
    Screen(as_json).result(installed())
