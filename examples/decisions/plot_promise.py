"""
What can be promised, and how many rows it takes
================================================

A bill on rows that the model has not seen is an estimate. `costboost.guarantee` turns it into a
bound on the mean bill of all such rows, right with a chosen confidence for every number of rows,
and `GuaranteedClassifier` decides so that a limit on it, and on other things, can be promised.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.frozen import FrozenEstimator

from costboost import CostBoostClassifier, Costs, GuaranteedClassifier
from costboost.datasets import make_card_fraud
from costboost.guarantee import cost_bound

payments = make_card_fraud(16_000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X, payments.y
costs = Costs(fp=8, fn=120)  # euros
model = CostBoostClassifier("adamec", 50, random_state=0).fit(X[:4000], y[:4000])
X_held, y_held, X_new, y_new = X[4000:12_000], y[4000:12_000], X[12_000:], y[12_000:]

# %%
# The model by its own threshold: its bill on more and more of the rows held out, and what is
# promised of all such rows.

own = model.predict(X_held, costs=costs)
bound = cost_bound(y_held, own, costs=costs)
print(f"EUR {bound.mean:.2f} a row on {bound.n_rows:,} rows. {bound.sentence('EUR')}")

sizes = [250, 500, 1000, 2000, 4000, 8000]
bounds = {
    method: [cost_bound(y_held[:n], own[:n], costs=costs, method=method) for n in sizes]
    for method in ("hoeffding", "betting")
}

figure, ax = plt.subplots(figsize=(6.8, 4.2), layout="constrained")
for (method, found), color in zip(bounds.items(), ("#D55E00", "#0072B2"), strict=True):
    ax.plot(sizes, [b.upper for b in found], "o-", color=color, label=f"promised ({method})")
ax.plot(sizes, [b.mean for b in bounds["betting"]], "o--", color="black", label="seen")
ax.set(xlabel="Rows held out", ylabel="Average bill (EUR a row)", ylim=0, xscale="log")
ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()

# %%
# With people at 4 euros a row, and few honest customers to be blocked: one of many policies that
# all keep both limits, the cheapest of them. Where none does, it says what it would take.

kept = GuaranteedClassifier(
    FrozenEstimator(model), 2.4, defer=4, at_most={"blocked": 0.005}, random_state=0
)
print(kept.fit(X_held, y_held, costs=costs).promise_)
print(f"EUR {-kept.score(X_new, y_new):.2f} on rows that came later")
print(f"{np.mean(kept.predict(X_new) == 'defer'):.1%} of them are left to people")
try:
    kept.set_params(limit=1.5).fit(X_held, y_held, costs=costs)
except ValueError as refused:
    print(refused)
