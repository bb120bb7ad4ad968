"""Arrays with pages of their own."""

import numpy as np
import pytest

from costboost.runtime.memory import give_back, own_pages


@pytest.mark.parametrize("shape", [(3, 5), (0, 4), (4, 1 << 18), (1 << 21,)])
def test_arrays_are_as_any_others(shape):
    array = own_pages(shape, np.float32)
    assert array.shape == shape
    assert array.dtype == np.float32
    assert array.flags.c_contiguous
    assert array.flags.writeable
    array[:] = 2.5
    assert np.all(array == 2.5)
    del array
    give_back()
