"""Model files as bytes, without a disk."""

import numpy as np

from costboost.persistence import container


def whole(header, arrays):
    """Return the bytes of a file."""
    return b"".join(bytes(part) for part in container.lay_out(header, arrays))


def opened(data):
    """Return what the bytes of a file hold."""
    return container.open_contents(np.frombuffer(data, dtype=np.uint8))
