"""
The p-norm family
=================

`PNormBoostClassifier` (Lozano and Abe 2008) takes a price for every class of every row and lowers
a bound on the bill of the training rows. Its p sets how much the most costly wrong answer
counts against the others: with p = 1 all count alike, with a large p only the worst. Ten random
price lists in which rare classes are costly to miss, on a simulated table of five classes.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification

from costboost import CostBoostClassifier, PNormBoostClassifier
from costboost.datasets import frequency_costs
from costboost.metrics import total_cost

X, y = make_classification(
    1600,
    12,
    n_informative=8,
    n_classes=5,
    weights=[0.45, 0.25, 0.15, 0.1],
    flip_y=0.02,
    class_sep=1.5,
    n_clusters_per_class=1,
    random_state=0,
)  # made up
X, X_new, y, y_new = X[:800], X[800:], y[:800], y[800:]

# %%
# Costs are shares of that of the best constant answer at the same prices, so that the lists can be
# compared. Each line is one list; the bars are means. A p-norm model contains the list
# that it was trained on; the default is trained once, and decides at all ten. On harder tables than
# this one the published family may cost more than a constant answer, and warns of it.

norms = (1.5, 2, 3, 4)
names = [f"p = {p:g}" for p in norms] + ["CostBoost-\nClassifier"]
shares = np.zeros((10, len(names)))
default = CostBoostClassifier(random_state=0).fit(X, y)  # decides at any prices: trained once
for i in range(10):
    costs = frequency_costs(y, random_state=i)
    constant = min(total_cost(y_new, np.full_like(y_new, k), costs=costs) for k in range(5))
    for j, p in enumerate(norms):
        model = PNormBoostClassifier(p, n_estimators=12, max_leaf_nodes=16, costs=costs)
        shares[i, j] = total_cost(y_new, model.fit(X, y).predict(X_new), costs=costs) / constant
    shares[i, -1] = total_cost(y_new, default.predict(X_new, costs=costs), costs=costs) / constant

figure, ax = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
ax.bar(names, 100 * shares.mean(axis=0), color=["#56B4E9"] * len(norms) + ["#E69F00"])
ax.plot(names, 100 * shares.T, "o-", color="#767676", markersize=3, linewidth=0.8)
ax.axhline(100, color="black", linestyle=":", linewidth=1)
ax.set(ylabel="Paid (% of the best constant answer)", ylim=0)
plt.show()
