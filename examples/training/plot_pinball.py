"""
How many loaves to bake
=======================

A number can be wrong in two directions that cost differently. A loaf that is not sold costs 1 euro,
a customer who finds none costs 4. The cheapest order is then a quantile, not the mean, and
`GradientBoostRegressor(loss="pinball", over=1, under=4)` learns it.
"""

import matplotlib.pyplot as plt
import numpy as np

from costboost import GradientBoostRegressor
from costboost.metrics import asymmetric_cost

rng = np.random.default_rng(0)
n = 3000  # days, made up: Saturdays are busy, cold days slow, and some days nobody knows why
weekday, degrees = rng.integers(0, 6, n), rng.normal(14, 8, n)
busy = np.where(weekday == 5, 220, 120) + 3 * np.clip(degrees, 0, 25)
sold = rng.negative_binomial(20, 20 / (20 + busy))
X = np.column_stack([weekday, degrees])
X, X_new, y, y_new = X[:2000], X[2000:], sold[:2000], sold[2000:]

prices = {"over": 1.0, "under": 4.0}
models = {
    "the mean": GradientBoostRegressor("squared", max_leaf_nodes=8),
    "the cheapest": GradientBoostRegressor("pinball", max_leaf_nodes=8, **prices),
}

# %%
# On most days the cheapest order is too large, on purpose: one customer turned away costs as much
# as four loaves left over.

figure, ax = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
saturday = X_new[:, 0] == 5
ax.plot(X_new[saturday, 1], y_new[saturday], ".", color="#767676", label="demand on Saturdays")
line = np.column_stack([np.full(200, 5), np.linspace(-5, 32, 200)])
for (name, model), color, style in zip(
    models.items(), ("#0072B2", "#D55E00"), ("--", "-"), strict=True
):
    model.fit(X, y)
    cost = asymmetric_cost(y_new, model.predict(X_new), **prices)
    ax.plot(
        line[:, 1], model.predict(line), style, color=color, label=f"{name}: {cost:.1f} EUR a day"
    )
ax.set(xlabel="Degrees (C)", ylabel="Loaves", ylim=(0, 550))
ax.legend(frameon=False, loc="upper left")
plt.show()
