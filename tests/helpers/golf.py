"""Quinlan's golf: fourteen days, and whether to play on them."""

import numpy as np

SUNNY, OVERCAST, RAIN = 0, 1, 2
# Quinlan 1993, Figure 2-1: outlook, temperature, humidity, windy; play.
GOLF = np.array(
    [
        [SUNNY, 75, 70, 1, 1],
        [SUNNY, 80, 90, 1, 0],
        [SUNNY, 85, 85, 0, 0],
        [SUNNY, 72, 95, 0, 0],
        [SUNNY, 69, 70, 0, 1],
        [OVERCAST, 72, 90, 1, 1],
        [OVERCAST, 83, 78, 0, 1],
        [OVERCAST, 64, 65, 1, 1],
        [OVERCAST, 81, 75, 0, 1],
        [RAIN, 71, 80, 1, 0],
        [RAIN, 65, 70, 1, 0],
        [RAIN, 75, 80, 0, 1],
        [RAIN, 68, 80, 0, 1],
        [RAIN, 70, 96, 0, 1],
    ]
)
KINDS = np.array([True, False, False, True])


def golf(missing=False):
    data = GOLF.astype(float)
    if missing:
        data[5, 0] = np.nan  # the book's example: the outlook of the sixth row is not known
    return data[:, :4], data[:, 4].astype(int)
