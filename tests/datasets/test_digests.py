"""A digest for every set."""

import re

from costboost.datasets._catalog import CATALOG
from costboost.datasets._loading import DIGESTS


def test_every_set_has_a_digest():
    assert set(DIGESTS) == set(CATALOG)
    assert all(re.fullmatch("[0-9a-f]{64}", digest) for digest in DIGESTS.values())
    assert len(set(DIGESTS.values())) == len(DIGESTS)
