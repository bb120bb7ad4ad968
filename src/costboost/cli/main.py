"""From arguments to an exit code: whatever goes wrong is one message that says what to do.

    0  done        1  wrong input        2  wrong usage        130  interrupted
    3  an alarm of 'monitor'

and 141 where the reader of the output has gone.

``--debug`` shows the traceback instead; ``--json`` gives the message as JSON, too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from importlib.util import find_spec

from costboost.cli import INTERRUPTED, ReaderGoneError, UsageError

__all__ = ["main"]

_INTERRUPTED = "interrupted; no file was left half written"
NEEDED = ("typer", "rich", "polars")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments; None: those of the process.
    """
    if not os.environ.get("COLUMNS", "1").strip("0"):
        del os.environ["COLUMNS"]  # no width is no answer, and nothing would be shown
    given = list(sys.argv[1:] if argv is None else argv)
    lacking = [name for name in NEEDED if find_spec(name) is None]
    if lacking and given[:1] != ["demo"]:
        print(
            f"costboost: the command line needs {', '.join(lacking)}: pip install 'costboost[cli]'",
            file=sys.stderr,
        )
        return 1
    return _run(given, _demo if lacking else _call)


def _call(given: list[str]) -> int:
    from costboost.cli.commands import call  # its packages may be missing, and take their time

    return call(given)


def _demo(given: list[str]) -> int:
    """Run the demo without the application: it needs no package of the command line's."""
    from costboost.demo import main as demo

    demo(given[1:])
    return 0


def _run(given: list[str], call: Callable[[list[str]], int]) -> int:
    """Run a command; every error becomes a message and a code."""
    try:
        return call(given)
    except UsageError as error:
        return _fail(given, f"{error}\nTry 'costboost {_command(given)}--help'.", 2)
    except KeyboardInterrupt:
        return _fail(given, _INTERRUPTED, INTERRUPTED)
    except ReaderGoneError:
        if sys.stdout is not None:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except Exception as error:
        if _was_interrupted(error):
            return _fail(given, _INTERRUPTED, INTERRUPTED)
        if isinstance(error, (ValueError, OSError, ImportError, MemoryError)):
            return _fail(given, _message(error), 1, error)
        problem = (
            f"{type(error).__name__}: {error}\nThis should not have happened. Run it again with "
            "--debug, and report what it shows together with 'costboost versions'."
        )
        return _fail(given, problem, 1, error)


def _was_interrupted(error: BaseException | None) -> bool:
    """Return whether Ctrl-C caused an error; packages that are being imported wrap it."""
    while error is not None:
        if isinstance(error, KeyboardInterrupt):
            return True
        error = error.__cause__ or error.__context__
    return False


def _command(given: list[str]) -> str:
    return next((f"{word} " for word in given if not word.startswith("-")), "")


def _message(error: BaseException) -> str:
    """Return the message of an error; what the system says of a file comes with its name."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, MemoryError):
        return "there is not enough memory: use fewer rows or columns"
    return str(error)


def _fail(given: list[str], message: str, code: int, error: BaseException | None = None) -> int:
    if "--debug" in given and error is not None:
        raise error
    print(f"costboost: {message}", file=sys.stderr)
    if "--json" in given:
        print(json.dumps({"error": message, "code": code}))
    return code
