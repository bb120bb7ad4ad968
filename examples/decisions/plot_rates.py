"""
Keeping to a rate, one row at a time
====================================

`decide` shares out places among rows that are there at once. Payments come one by one, and each
waits for its answer. `RateClassifier` learns the price at which a given share of rows takes an
action, and adds it when it decides. It keeps to the rate on average, not exactly.
"""

import matplotlib.pyplot as plt
import numpy as np

from costboost import CostBoostClassifier, Costs, RateClassifier
from costboost.datasets import make_card_fraud

payments = make_card_fraud(12_000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X[:6000], payments.y[:6000]
X_new, y_new = payments.X[6000:], payments.y[6000:]
costs = Costs(fp=8, tp=8, fn="amount")

boosting = CostBoostClassifier("adamec", n_estimators=50, random_state=0)
free = RateClassifier(boosting, random_state=0).fit(X, y, costs=costs)
limited = RateClassifier(boosting, {1: 0.02}, random_state=0).fit(X, y, costs=costs)
price = limited.action_prices_[1]
print(
    f"an investigation costs 8 EUR; at a rate of 2 % it is treated as costing {8 + price:.2f} EUR"
)

# %%
# Sixty batches of a hundred payments, in the order in which they come. The limit holds in the long
# run; a batch may have more or fewer, as chance has it.

figure, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
seen = np.arange(1, len(X_new) + 1)
for name, model, color, style in (
    ("no limit", free, "#D55E00", "--"),
    ("at most 2 %", limited, "#0072B2", "-"),
):
    taken = model.predict(X_new, costs=costs) == 1
    batches = 100 * taken.reshape(-1, 100).mean(axis=1)
    ax.plot(seen[99::100], batches, ".", color=color, alpha=0.5)
    running = 100 * np.cumsum(taken) / seen
    ax.plot(
        seen[99:],
        running[99:],
        style,
        color=color,
        linewidth=2,
        label=f"{name}: {running[-1]:.1f} %",
    )
ax.axhline(2, color="black", linestyle=":", linewidth=1)
ax.set(xlabel="Payments so far", ylabel="Investigated (%)", ylim=0)
ax.xaxis.set_major_formatter("{x:,.0f}")
ax.set_title(
    "Share investigated so far (lines) and in each hundred (dots)", loc="left", fontsize=11
)
ax.legend(frameon=False)
plt.show()
