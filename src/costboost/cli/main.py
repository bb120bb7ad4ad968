"""From arguments to an exit code: whatever goes wrong is one message that says what to do.

    0  done        1  wrong input        2  wrong usage        130  interrupted

and 141 where whoever read the output has gone.

``--debug`` shows the traceback instead; ``--json`` gives the message as JSON, too.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Sequence
from importlib.util import find_spec

from costboost.cli.errors import INTERRUPTED, ReaderGoneError, UsageError

__all__ = ["main"]

NEEDED = ("typer", "rich", "polars")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    Parameters
    ----------
    argv : sequence of str, default=None
        Arguments; None: those of the process.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    lacking = [name for name in NEEDED if find_spec(name) is None]
    if lacking:
        print(
            f"costboost: the command line needs {', '.join(lacking)}: pip install 'costboost[cli]'",
            file=sys.stderr,
        )
        return 1
    return _run(given)


def _run(given: list[str]) -> int:
    """Run the application; every error becomes a message and a code."""
    try:
        from costboost.cli.app import call  # its packages may be missing, and take their time

        return call(given)
    except UsageError as error:
        return _fail(given, f"{error}\nTry 'costboost {_command(given)}--help'.", 2)
    except KeyboardInterrupt:
        return _fail(given, "interrupted; nothing was written", INTERRUPTED)
    except ReaderGoneError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    except (ValueError, OSError, ImportError, MemoryError) as error:
        return _fail(given, _told(error), 1, error)
    except Exception as error:
        problem = (
            f"{type(error).__name__}: {error}\nThis should not have happened. Run it again with "
            "--debug, and report what it shows together with 'costboost versions'."
        )
        return _fail(given, problem, 1, error)


def _command(given: list[str]) -> str:
    return next((f"{word} " for word in given if not word.startswith("-")), "")


def _told(error: BaseException) -> str:
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
