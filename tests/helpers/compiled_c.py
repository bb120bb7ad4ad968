"""Exported C, compiled without a warning and called from Python."""

import ctypes
import shutil
import subprocess

import numpy as np
import pandas as pd

from costboost.deploy import to_c

COMPILER = shutil.which("gcc") or shutil.which("cc")
FLAGS = ("-O2", "-Wall", "-Wextra", "-Werror", "-std=c99", "-ffp-contract=off", "-shared", "-fPIC")
DOUBLES = ctypes.POINTER(ctypes.c_double)


def compiled(source):
    """Return the library of a file of C."""
    library = source.with_suffix(".so")
    run = [COMPILER, *FLAGS, "-o", str(library), str(source), "-lm"]
    found = subprocess.run(run, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stderr == ""
    return ctypes.CDLL(str(library))


class Compiled:
    """The functions of an exported model, row by row."""

    def __init__(self, model, folder, name="model"):
        source = folder / f"{name}.c"
        to_c(model, source, name=name)
        self.library, self.name = compiled(source), name
        self.n_classes = len(getattr(model, "classes_", [0]))
        for function in ("prediction", "code"):
            if hasattr(self.library, f"{name}_{function}"):
                getattr(self.library, f"{name}_{function}").restype = ctypes.c_double

    def __call__(self, function, *args):
        given = [a.ctypes.data_as(DOUBLES) if isinstance(a, np.ndarray) else a for a in args]
        return getattr(self.library, f"{self.name}_{function}")(*given)

    def rows(self, X):
        """Return a table as doubles, text as the codes that the model gives it."""
        if not isinstance(X, pd.DataFrame):
            return np.ascontiguousarray(X, dtype=np.float64)
        columns = []
        for j, column in enumerate(X):
            if X[column].map(lambda cell: isinstance(cell, str)).any():
                texts = [v.encode() if isinstance(v, str) else None for v in X[column]]
                columns.append([np.nan if t is None else self("code", j, t) for t in texts])
            else:
                columns.append(X[column].astype(float))
        return np.ascontiguousarray(np.column_stack(columns), dtype=np.float64)

    def probabilities(self, rows):
        out = np.empty((len(rows), self.n_classes))
        for row, part in zip(rows, out, strict=True):
            self("probabilities", row, part)
        return out

    def decisions(self, rows, prices=None):
        given = [None] * len(rows) if prices is None else np.ascontiguousarray(prices, float)
        return np.array([self("decision", *pair) for pair in zip(rows, given, strict=True)])
