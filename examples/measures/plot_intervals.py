"""
How certain is a cost?
======================

Total cost is made of a few costly rows and many free ones, so it is less certain than an error
rate. Resampling the rows gives an interval for each model. Two models on the same rows are compared
by their difference, row by row: much of the chance is the same for both, and cancels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from costboost import CostBoostClassifier, Costs, MinimumCostClassifier
from costboost.datasets import make_card_fraud
from costboost.metrics import bootstrap_interval, mean_cost, paired_cost_test

payments = make_card_fraud(12_000, fraud_rate=0.03, random_state=0)  # made up
numbers = payments.X.select_dtypes("number").fillna(0.0)
X, y = numbers[:6000], payments.y[:6000]
X_new, y_new = numbers[6000:], payments.y[6000:]
costs = Costs(fp=8, tp=8, fn="amount")
own = costs.bind_table(X_new)

logistic = make_pipeline(StandardScaler(), LogisticRegression())
models = {
    "CostBoostClassifier": CostBoostClassifier(costs=costs, random_state=0),
    "AdaMEC": CostBoostClassifier("adamec", n_estimators=50, costs=costs, random_state=0),
    "AdaCost": CostBoostClassifier("adacost", n_estimators=50, costs=costs, random_state=0),
    "logistic regression": MinimumCostClassifier(logistic, costs=costs, random_state=0),
}
decided = {name: model.fit(X, y).predict(X_new) for name, model in models.items()}

# %%
# Left, what each costs per payment: most of the intervals overlap. Right, how much more than the
# first each of the others costs: these intervals are narrower, and where one does not contain 0,
# the difference is more than chance.

first, *others = decided
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6), layout="constrained")
for i, answers in enumerate(decided.values()):
    sure = bootstrap_interval(mean_cost, y_new, answers, costs=own, random_state=0)
    left.plot([sure.low, sure.high], [i, i], color="#0072B2", linewidth=2)
    left.plot(sure.estimate, i, "o", color="#0072B2")
for i, name in enumerate(others):
    test = paired_cost_test(
        y_new, decided[name], decided[first], costs=own, n_resamples=1999, random_state=0
    )
    right.plot([test.low, test.high], [i + 1, i + 1], color="#D55E00", linewidth=2)
    right.plot(test.difference, i + 1, "s", color="#D55E00")
    right.annotate(
        f"p = {test.p_value:.3f}",
        (test.difference, i + 1),
        (0, 7),
        textcoords="offset points",
        ha="center",
        fontsize="small",
    )
left.set(yticks=np.arange(len(decided)), yticklabels=list(decided), xlim=(0, None))
left.set(xlabel="EUR per payment", title="What each costs")
right.axvline(0, color="black", linewidth=1)
right.set(yticks=[], xlabel="EUR per payment", title=f"More than {first}")
for ax in (left, right):
    ax.set_ylim(len(decided) - 0.5, -0.7)
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
