"""Fixtures that give every estimator in turn."""

import pytest

from inputs_cases import BOOSTERS, BUILT_IN, CLASSIFIERS


@pytest.fixture(params=list(CLASSIFIERS))
def make(request):
    return CLASSIFIERS[request.param]


@pytest.fixture(params=list(BOOSTERS))
def booster(request):
    return BOOSTERS[request.param]


@pytest.fixture(params=BUILT_IN)
def own(request):
    """Estimators whose trees are the built-in ones."""
    return BOOSTERS[request.param]
