"""How long a step to take: alpha in closed form, or the minimiser of Z.

Z(alpha) = sum q exp(-alpha u) is convex. For |u| <= 1 Schapire and Singer's estimate
1/2 ln((1 + r) / (1 - r)), r = E[u], never overshoots the minimiser, has its sign, and equals it for
u in {-1, +1}; it is AdaBoost's alpha, and the start of the search elsewhere.
"""

from __future__ import annotations

import math

from costboost.boosting.adaboost.normalizer import Sums

# The half log of an error of one ulp: what a perfect learner's vote weighs at most.
MAX_ALPHA = 0.5 * math.log((1 - 2.0**-52) / 2.0**-52)
# A learner that comes back right after its own step has E[u] = 0, but for rounding: no step.
NEGLIGIBLE = 1e-12
TOLERANCE = 1e-13
# Newton's method doubles the digits: after a step this short, relatively, there is nothing to gain.
CLOSE = 1e-7


def half_log(sums: Sums, n_classes: int = 2, max_alpha: float = MAX_ALPHA) -> float:
    """Return 1/2 [ln(sum q (1 + u) / sum q (1 - u)) + ln(K - 1)], at most `max_alpha`.

    Written as a ratio of two sums so that nothing cancels as the error vanishes.
    """
    plus, minus = sums.balance()
    if minus <= 0.0:
        return max_alpha if plus > 0.0 else 0.0
    if plus <= 0.0:
        return -max_alpha
    alpha = min(0.5 * (math.log(plus / minus) + math.log(n_classes - 1)), max_alpha)
    return alpha if abs(alpha) > NEGLIGIBLE else 0.0


def search(sums: Sums, max_alpha: float = MAX_ALPHA) -> float:
    """Return the minimiser of Z within +-max_alpha: Newton's method kept inside a bracket.

    Where Z falls for ever, that is the end of the interval. The search begins at Schapire and
    Singer's estimate.
    """
    plus, minus = sums.balance()
    if abs(plus - minus) <= NEGLIGIBLE * (plus + minus):  # E[u] = 0: Z is least at 0
        return 0.0
    low, high = (0.0, max_alpha) if plus > minus else (-max_alpha, 0.0)
    end = high if plus > minus else low
    start = 0.5 * math.log(plus / minus) if plus > 0.0 and minus > 0.0 else 0.0
    alpha = start if low < start < high else 0.5 * (low + high)
    for _ in range(100):
        _, slope, curvature = sums.z(alpha)
        if slope < 0.0:
            low = alpha
        else:
            high = alpha
        following = alpha - slope / curvature if curvature > 0.0 else math.inf
        if low < following < high:
            if abs(following - alpha) <= CLOSE * abs(alpha):
                return following
        elif end in (low, high) and sums.z(end)[1] * end < 0.0:
            return end
        else:
            following = 0.5 * (low + high)
        if abs(following - alpha) <= TOLERANCE * max(1.0, abs(alpha)):
            return following
        alpha = following
    return alpha
