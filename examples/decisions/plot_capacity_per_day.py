"""
Twenty places a day
===================

The team investigates at most twenty payments a day. `decide` takes the cheapest decisions of all
payments of a day together, and says what one more place would have been worth on each day.
"""

import matplotlib.pyplot as plt
import numpy as np

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud

payments = make_card_fraud(12_000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X[:6000], payments.y[:6000]
X_new = payments.X[6000:]
costs = Costs(fp=8, tp=8, fn="amount")
model = CostBoostClassifier(random_state=0).fit(X, y, costs=costs)

# %%
# The payments still to come are those of fourteen days. Some days are busier than others.

rng = np.random.default_rng(0)
share = rng.dirichlet(np.full(14, 20.0))
day = np.sort(rng.choice(14, size=len(X_new), p=share)) + 1

plan = model.decide(X_new, costs=costs, capacity={1: 20}, groups=day)
wanted = model.predict(X_new, costs=costs)  # without a limit
print(
    f"expected cost {plan.expected_cost:,.0f} EUR, without a limit {plan.unlimited_cost:,.0f} EUR"
)

# %%
# Above, how many payments the model would investigate if it could, and the limit. Below, the shadow
# price of the limit: what a twenty-first investigation would be expected to save on that day, its
# own 8 euros already taken off. A day with a high one is a day to ask colleagues for help.

days = np.arange(1, 15)
figure, (top, bottom) = plt.subplots(2, sharex=True, figsize=(6.8, 5.4), layout="constrained")
top.bar(days, [wanted[day == d].sum() for d in days], color="#56B4E9", label="worth investigating")
top.axhline(20, color="black", linestyle="--", linewidth=1.2, label="places")
top.set(ylabel="Payments", title="Investigations, day by day")
top.legend(frameon=False, ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
bottom.bar(days, [plan.shadow_prices[1][d] for d in days], color="#D55E00")
bottom.set(xlabel="Day", ylabel="One more place saves (EUR)", xticks=days)
top.title.set_horizontalalignment("left")
top.title.set_x(0)
plt.show()
