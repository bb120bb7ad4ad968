"""The application: every command by its name.

A command reads its options here or in `commands`, and does its work in the module of its
name, which is imported when the command runs: ``--help`` answers at once.
"""

from __future__ import annotations

from typing import Annotated, Any

import typer

from costboost._version import __version__
from costboost.cli import commands
from costboost.cli import options as o
from costboost.cli.errors import INTERRUPTED

__all__ = ["app", "call"]

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


def call(given: list[str]) -> int:
    """Run the command that arguments name; return its exit code."""
    try:
        code = typer.main.get_command(app).main(
            args=given, prog_name="costboost", standalone_mode=False
        )
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
    commands.train,
    commands.decide,
    commands.evaluate,
    commands.compare,
    commands.explain,
    commands.report,
    commands.inspect,
):
    app.command()(_command)


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
