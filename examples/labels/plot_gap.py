"""
A bill that nobody will ever pay
================================

A fraud is known a week after its payment. A bill that uses labels as if they were known at once, in
features or in training, promises savings that will not come. Here is the same model, week by week,
judged both ways.
"""

import matplotlib.pyplot as plt
import numpy as np

from costboost import GradientBoostClassifier, TimeSplit
from costboost.datasets import make_card_stream
from costboost.metrics import total_cost

# %%
# Two streams of the same payments, made up: in the second, the share of frauds at a terminal counts
# frauds that nobody had reported yet.

late = make_card_stream(500, 1000, random_state=0)
at_once = make_card_stream(500, 1000, label_delay=0, random_state=0)

# %%
# Train on 28 days, decide for 7, with ten investigations a day. As it would have been, the last
# seven days before the decisions have no labels yet.

how = {"horizon": "7D", "window": "28D"}
folds = TimeSplit(12, time=late.time, label_delay="7D", **how)
promised = TimeSplit(12, time=late.time, **how)


def weekly_bills(stream, split):
    """Return what each test week costs."""
    bills = []
    for train, test in split.split(stream.X):
        model = GradientBoostClassifier(n_estimators=50, random_state=0)
        model.fit(stream.X.iloc[train], stream.y[train])
        plan = model.decide(
            stream.X.iloc[test],
            costs=stream.costs[test],
            capacity={1: 10},
            groups=stream.day[test],
        )
        bills.append(total_cost(stream.y[test], plan.decisions, costs=stream.costs[test]))
    return np.array(bills)


paid = weekly_bills(late, folds)
hoped = weekly_bills(at_once, promised)
nothing = np.array([late.amount[test][late.y[test] == 1].sum() for _, test in folds.split(late.X)])
print(f"promised {hoped.sum():,.0f}, paid {paid.sum():,.0f}, doing nothing {nothing.sum():,.0f}")

# %%
# Each week the bill to pay lies above the promised one.

start = [period.test_from for period in folds.periods()]
figure, axes = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
axes.plot(start, nothing, color="#999999", linestyle=":", label="doing nothing")
axes.plot(start, paid, color="#D55E00", marker="o", markersize=4, label="labels a week later")
axes.plot(start, hoped, color="#56B4E9", marker="s", markersize=4, label="labels at once")
axes.fill_between(start, hoped, paid, color="#D55E00", alpha=0.15, linewidth=0)
axes.set(ylabel="Bill of the week (EUR)", ylim=(0, None))
axes.set_title("The same model, judged with labels that were not there", loc="left")
axes.legend(frameon=False)
figure.autofmt_xdate()
plt.show()
