"""Arrays with pages of their own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from costboost.runtime.machine import own_pages, release_memory


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
    release_memory()


LIMITED = """
import resource
import subprocess
import sys
from pathlib import Path

import numpy as np
from costboost.runtime.machine import own_pages
used = next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmSize")) * 1024
resource.setrlimit(resource.RLIMIT_AS, (used + (64 << 20), used + (64 << 20)))
try:
    own_pages((1 << 28,), np.float32)
except MemoryError as error:
    print(error)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's /proc")
def test_without_room_there_is_a_memory_error():
    """Of mmap it is an OSError, which callers do not expect of arrays."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED], capture_output=True, text=True, check=True
    )
    assert "1,073,741,824 bytes" in done.stdout
