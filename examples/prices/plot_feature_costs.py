"""
What to ask, and when to stop
=============================

Columns that are bought before they are known have prices beside those of mistakes. Four ways to buy
them, by the price of a mistake: none, all, those that the default finds worth their price for every
row, and one after the other, row by row.
"""

# %%
# Simulated patients: a cheap measurement, blood, and a scan that nearly says it all
import matplotlib.pyplot as plt
import numpy as np

from costboost import CostBoostClassifier, Costs
from costboost.decisions import with_unknown_tests

rng = np.random.default_rng(0)
ill = (rng.random(1000) < 0.4).astype(int)
noise = rng.normal(size=(1000, 4)) * [1.5, 0.9, 0.9, 0.3]
X = ill[:, None] + noise  # pulse, two values of blood, a scan
prices = {0: 1, "blood": {"columns": [1, 2], "cost": 12}, 3: 90}
X_train, y_train, X_test, y_test = X[:500], ill[:500], X[500:], ill[500:]

# %%
# One model for all prices of mistakes: it has seen rows that lack random tests
copies, rows = with_unknown_tests(X_train, prices)
asking = CostBoostClassifier(random_state=0).fit(copies, y_train[rows], groups=rows)


def bill(costs, decided, spent):
    """Return what tests and mistakes cost a row."""
    return np.mean(spent) + costs.bind([0, 1]).total(y_test, decided) / len(y_test)


mistakes = [10, 30, 100, 300, 1000, 3000]
curves = {"no tests": [], "all tests": [], "columns bought": [], "asked test by test": []}
for price in mistakes:
    costs = Costs(fp=price, fn=price)
    nothing = np.full_like(X_test, np.nan)
    curves["no tests"].append(bill(costs, asking.predict(nothing, costs=costs), 0))
    curves["all tests"].append(bill(costs, asking.predict(X_test, costs=costs), 103))
    bought = CostBoostClassifier(feature_costs=prices, n_estimators=60, random_state=0)
    bought.fit(X_train, y_train, costs=costs)
    spent = bought.test_cost(X_test)
    curves["columns bought"].append(bill(costs, bought.predict(X_test), spent))
    run = asking.sequential_policy(X_test, costs, prices, reference=X_train, unknown="missing")
    curves["asked test by test"].append(bill(costs, run.decisions, run.test_costs))

# %%
# Where mistakes cost much, few rows need the scan, and asking row by row costs least. Below, what
# is bought once for all rows costs as much or a little less: one model that answers for all prices,
# and with any test unknown, knows a little less of each than one that is made for it
fig, ax = plt.subplots()
for (name, cost), style in zip(curves.items(), (":", "--", "-.", "-"), strict=True):
    ax.plot(mistakes, np.array(cost) / mistakes, style, label=name)
ax.set(xscale="log", ylim=(0, 0.62))
ax.set(xlabel="price of a mistake, euros", ylabel="cost of a row / price of a mistake")
ax.legend()
plt.show()
