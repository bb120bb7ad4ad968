"""Two models are the same if they hold, and say, the same bits."""

import dataclasses

import numpy as np

METHODS = ("predict", "predict_proba", "decision_function", "staged_predict", "apply")


def said(model, X):
    """Return all that a model says of a table."""
    doc = {}
    for name in METHODS:
        if hasattr(model, name):
            try:
                part = getattr(model, name)(X)
                doc[name] = [np.asarray(stage) for stage in part] if "staged" in name else part
            except ValueError as error:
                doc[name] = str(error)
    return doc


def assert_same(one, other, where):
    """Compare two values of any kind, bit for bit and type for type."""
    assert type(one) is type(other), where
    if isinstance(one, np.ndarray) and one.dtype != object:
        assert one.dtype == other.dtype, where
        assert one.shape == other.shape, where
        assert one.tobytes() == other.tobytes(), where
    elif isinstance(one, np.ndarray | list | tuple):
        assert len(one) == len(other), where
        for i, (a, b) in enumerate(zip(one, other, strict=True)):
            assert_same(a, b, f"{where}[{i}]")
    elif isinstance(one, dict):
        assert list(one) == list(other), where
        for key in one:
            assert_same(one[key], other[key], f"{where}.{key}")
    elif hasattr(one, "get_params"):
        assert_same(one.get_params(deep=False), other.get_params(deep=False), where)
        public = {k: v for k, v in vars(one).items() if k.endswith("_")}
        assert_same({k: getattr(other, k) for k in public}, public, where)
    elif dataclasses.is_dataclass(one):
        for field in dataclasses.fields(one):
            parts = (getattr(part, field.name) for part in (one, other))
            assert_same(*parts, f"{where}.{field.name}")
    elif isinstance(one, np.random.RandomState):
        assert_same(one.get_state(), other.get_state(), where)
    elif type(one).__module__.startswith("sklearn"):
        assert_same(vars(one), vars(other), where)
    else:
        assert one == other or (one != one and other != other), where
