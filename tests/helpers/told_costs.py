"""The same prices of two classes, told in different ways."""

from costboost import Costs


def costs_of(C, positive):
    """Return the same prices, told for one positive class or the other."""
    if positive is None:
        return Costs.from_matrix(C)
    p, n = positive, 1 - positive
    return Costs(
        fp=C[..., n, p], fn=C[..., p, n], tp=C[..., p, p], tn=C[..., n, n], positive=positive
    )
