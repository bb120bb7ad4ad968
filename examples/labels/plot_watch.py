"""
A bill that is watched
======================

Terminals and cards are compromised three times as often from day 60 on. A monitor bets, day after
day, that more is paid than was expected; while nothing is worse, its wealth does not grow.
"""

import math

import matplotlib.pyplot as plt
import numpy as np

from costboost import GradientBoostClassifier
from costboost.datasets import make_card_stream
from costboost.monitoring import Monitor

# %%
# Payments are made up. A model learns from the first thirty days, and decides from day 37 on.

stream = make_card_stream(1000, 2000, 110, change="prevalence", change_day=60, random_state=0)
past = stream.day < 30
model = GradientBoostClassifier(n_estimators=50, random_state=0)
model.fit(stream.X[past], stream.y[past])

# %%
# Every day is watched, and billed at once here; in practice with the labels, a week later.

monitor = Monitor(model, reference=20, drift_rows=0)
for day in range(37, 110):
    at = np.flatnonzero(stream.day == day)
    monitor.update(stream.X.iloc[at], stream.y[at], period=day, costs=stream.costs[at])
for alarm in monitor.alarms:
    print(f"day {alarm.period}: {alarm.text}")

# %%
# Above what was paid, and what the model expected to pay; below how much the bets have won.

days = [int(period.name) for period in monitor.periods]
figure, (bills, bets) = plt.subplots(2, 1, sharex=True, figsize=(6.8, 5.2), layout="constrained")
bills.plot(days, [p.billed["paid"] for p in monitor.periods], color="#0072B2", label="paid")
bills.plot(days, [p.expected for p in monitor.periods], color="#999999", label="expected")
bills.set_ylabel("cost of a day")
bills.legend(frameon=False)
for signal in ("paid", "more: 1"):
    wealth = [p.wealth.get(signal, 0.0) / math.log(10) for p in monitor.periods]
    bets.plot(days, wealth, label=signal)
bets.axhline(monitor.limit / math.log(10), color="#D55E00", linestyle=":", label="alarm")
bets.axvline(60, color="#cccccc")
bets.set_ylabel("wealth, powers of ten")
bets.set_xlabel("day")
bets.legend(frameon=False)
plt.show()
