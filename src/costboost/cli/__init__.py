"""The command line: a table and prices in, decisions and their bill in money out.

main        arguments -> an exit code: 0, 1 wrong input, 2 wrong usage, 130 interrupted
commands    the application: all commands with their options; imports nothing that takes time
options     options that commands share
output      text, tables, bars and JSON on the screen; results in files
reading     files of all kinds -> a table
cells       cells as they are written -> numbers, dates, truths
columns     which columns are features, of which kind; labels of the target
prices      options and costs.toml -> `Costs`
methods     names -> estimators
recipe      what a model file remembers of its table; rows of a table read by it
bill        what policies cost, what else is found, and warnings
train       `costboost train`, with held-out rows and folds
compare     `costboost compare`
decide      `costboost decide` and `monitor`
models      `costboost evaluate`, `explain`, `inspect` and `report`
"""

from __future__ import annotations

__all__ = ["INTERRUPTED", "InputError", "ReaderGoneError", "UsageError"]

INTERRUPTED = 130  # exit code after Ctrl-C


class InputError(ValueError):
    """A file, a table or a price that cannot be used: exit code 1."""


class UsageError(Exception):
    """Options that do not go together, or lack one: exit code 2."""


class ReaderGoneError(Exception):
    """The reader of standard output has closed it, as ``head`` does: exit code 141."""
