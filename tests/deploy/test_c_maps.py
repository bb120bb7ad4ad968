"""Maps in C agree with Python bit for bit."""

import ctypes

import numpy as np
import pytest

from compiled_c import COMPILER, DOUBLES, compiled
from costboost.deploy.c_maps import HELPERS, write_map
from deploy_maps import CASES

pytestmark = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")


def c_of(maps):
    """Return a file with all helpers and one function for each map, callable from outside."""
    parts = ["#include <math.h>"]
    parts += [text.replace("static ", "", 1) for text in HELPERS.values()]
    for i, (step, n_values) in enumerate(maps):
        data, lines, _ = write_map("PREFIX", step, n_values, f"0_{i}")
        parts += [*data, f"void PREFIX_map_{i}(double *v)\n{{\n{lines}\n}}"]
    return "\n\n".join(parts).replace("PREFIX", "model") + "\n"


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    source = tmp_path_factory.mktemp("maps") / "maps.c"
    source.write_text(c_of([(step, scores.shape[1]) for step, scores, _ in CASES.values()]))
    return compiled(source)


@pytest.mark.parametrize("name", CASES)
def test_every_map_is_what_python_computes(name, library):
    step, scores, expected = CASES[name]
    n_values = write_map("x", step, scores.shape[1], "0")[2]
    assert n_values == expected.shape[1]
    function = getattr(library, f"model_map_{list(CASES).index(name)}")
    for row, answer in zip(scores, expected, strict=True):
        v = np.zeros(3)
        v[: len(row)] = row
        function(v.ctypes.data_as(DOUBLES))
        if name == "softmax":  # scipy's is another way to compute it
            np.testing.assert_allclose(v, answer, rtol=1e-14)
        else:
            np.testing.assert_array_equal(v[:n_values], answer)


@pytest.mark.parametrize("n", [1, 2, 7, 8, 9, 127, 128, 129, 300])
def test_sums_run_in_the_order_of_numpy(n, library):
    library.model_sum.restype = ctypes.c_double
    values = np.random.default_rng(n).lognormal(0, 9, size=n)
    assert library.model_sum(values.ctypes.data_as(DOUBLES), n) == np.sum(values)


def test_values_that_are_all_0_are_divided_alike(library):
    v = np.zeros(7)
    library.model_normalise(v.ctypes.data_as(DOUBLES), 7)
    assert v.tolist() == [1 / 7] * 7
