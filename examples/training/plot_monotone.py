"""
Never less suspicious for a larger amount
=========================================

Trees follow the noise of their training rows. Where the direction of an effect is known, it can be
imposed: `monotonic_cst={"amount_to_usual": 1}` makes the probability of fraud never fall as a
payment grows beyond what is usual for the customer, whatever the other columns say.
"""

import matplotlib.pyplot as plt
import numpy as np

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from costboost.metrics import total_cost

payments = make_card_fraud(6000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X[:3000], payments.y[:3000]
X_new, y_new = payments.X[3000:], payments.y[3000:]
costs = Costs(fp=8, tp=8, fn="amount")

# %%
# Two models, one of them constrained; how their answers for five payments move with that column
# alone.

free = CostBoostClassifier("adamec", n_estimators=60, max_depth=3, costs=costs, random_state=0)
bound = CostBoostClassifier(**free.get_params()).set_params(monotonic_cst={"amount_to_usual": 1})
ratios = np.geomspace(0.1, 20, 120)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
for ax, (name, model) in zip(axes, {"free": free, "monotone": bound}.items(), strict=True):
    model.fit(X, y)
    paid = total_cost(y_new, model.predict(X_new), costs=costs.bind_table(X_new))
    for i, color in zip(
        range(5), ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7"), strict=True
    ):
        rows = X_new.iloc[[i] * len(ratios)].assign(amount_to_usual=ratios)
        ax.plot(ratios, 100 * model.predict_proba(rows)[:, 1], color=color, linewidth=1.5)
    ax.set(xscale="log", xlabel="Amount, as a multiple of the customer's usual one")
    ax.xaxis.set_major_formatter("{x:g}")
    ax.set_title(f"{name}: {paid:,.0f} EUR on 3,000 new payments", loc="left", fontsize=11)
axes[0].set(ylabel="Probability of fraud (%)", ylim=0)
plt.show()
