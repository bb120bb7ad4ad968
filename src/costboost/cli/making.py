"""The options of the commands that train: ``train`` and ``compare``."""

from __future__ import annotations

from typing import Annotated

import typer

from costboost.cli import options as o

__all__ = ["compare", "train"]


def train(
    table: o.Table,
    target: o.Target,
    output: Annotated[
        str, typer.Option("--output", "-o", metavar="FILE", help="Where to write the model.")
    ] = "model.cb",
    fp: o.Fp = None,
    fn: o.Fn = None,
    tp: o.Tp = None,
    tn: o.Tn = None,
    costs: o.CostsFile = None,
    positive: o.Positive = None,
    benefits: o.Benefits = False,
    currency: o.Currency = None,
    time: o.Time = None,
    groups: o.Groups = None,
    current: o.Current = None,
    drop: o.Drop = None,
    keep: o.Keep = None,
    as_number: o.AsNumber = None,
    as_category: o.AsCategory = None,
    skip_unlabelled: o.SkipUnlabelled = False,
    method: o.Method = "auto",
    rounds: o.Rounds = None,
    calibration: o.Calibration = "auto",
    holdout: Annotated[
        float, typer.Option("--holdout", help="Share of the rows to hold out; 0 for none.")
    ] = 0.2,
    refit: Annotated[
        bool, typer.Option("--refit", help="Train again on all rows after the bill.")
    ] = False,
    seed: o.Seed = 0,
    jobs: o.Jobs = -1,
    force: o.Force = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Train a model and bill it, in money, on rows that it has not seen."""
    from costboost.cli import train as command
    from costboost.cli.methods import Maker
    from costboost.cli.prices import read_prices
    from costboost.cli.screen import Screen

    prices = read_prices(
        fp=fp, fn=fn, tp=tp, tn=tn, costs=costs, currency=currency, positive=positive,
        benefits=benefits,
    )  # fmt: skip
    command.train(
        table,
        prices,
        command.Choices(
            target=target,
            time=time,
            groups=groups,
            current=current,
            drop=drop or (),
            keep=keep or (),
            as_number=as_number or (),
            as_category=as_category or (),
            skip_unlabelled=skip_unlabelled,
            seed=seed,
        ),
        Screen(as_json),
        output=output,
        force=force,
        method=method,
        maker=Maker(rounds=rounds, calibration=calibration, seed=seed, jobs=jobs),
        holdout=holdout,
        refit=refit,
    )


def compare(
    table: o.Table,
    target: o.Target,
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
    fp: o.Fp = None,
    fn: o.Fn = None,
    tp: o.Tp = None,
    tn: o.Tn = None,
    costs: o.CostsFile = None,
    positive: o.Positive = None,
    benefits: o.Benefits = False,
    currency: o.Currency = None,
    time: o.Time = None,
    groups: o.Groups = None,
    current: o.Current = None,
    drop: o.Drop = None,
    keep: o.Keep = None,
    as_number: o.AsNumber = None,
    as_category: o.AsCategory = None,
    skip_unlabelled: o.SkipUnlabelled = False,
    rounds: o.Rounds = None,
    calibration: o.Calibration = "auto",
    seed: o.Seed = 0,
    jobs: o.Jobs = -1,
    force: o.Force = False,
    as_json: o.Json = False,
    debug: o.Debug = False,
) -> None:
    """Compare methods, or models, on the same folds: paired intervals and ranks."""
    from costboost.cli import compare as command
    from costboost.cli.methods import Maker
    from costboost.cli.prices import read_prices
    from costboost.cli.screen import Screen
    from costboost.cli.train import Choices

    prices = read_prices(
        fp=fp, fn=fn, tp=tp, tn=tn, costs=costs, currency=currency, positive=positive,
        benefits=benefits,
    )  # fmt: skip
    command.compare(
        table,
        prices,
        Choices(
            target=target,
            time=time,
            groups=groups,
            current=current,
            drop=drop or (),
            keep=keep or (),
            as_number=as_number or (),
            as_category=as_category or (),
            skip_unlabelled=skip_unlabelled,
            seed=seed,
        ),
        Screen(as_json),
        methods=method or [],
        models=model or [],
        n_folds=folds,
        picture=picture,
        force=force,
        maker=Maker(rounds=rounds, calibration=calibration, seed=seed, jobs=jobs),
    )
