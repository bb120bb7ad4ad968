"""
A report for those who set the prices
=====================================

`model.report` makes one HTML file with sliders for the prices, which update the total cost. It
needs no network and no Python. Its numbers agree with this library to the cent: here the cost at
the opening prices, and at others, is computed from the rows that the page holds.
"""

import matplotlib.pyplot as plt
import numpy as np

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from costboost.metrics import total_cost

payments = make_card_fraud(8000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X[:4000], payments.y[:4000]
X_new, y_new = payments.X[4000:], payments.y[4000:]
costs = Costs(fp=8, tp=8, fn="amount")
model = CostBoostClassifier(random_state=0).fit(X, y, costs=costs)

report = model.report(
    X_new,
    y_new,
    currency="EUR",
    names={0: "honest", 1: "fraud"},
    current=(X_new["amount"] > 300).astype(int),  # what is done today
    title="Which card payments should be investigated?",
)
print(report)
print(f"warnings on the page: {list(report.warnings)}")

# `report.save("payments.html")` writes the file; in a notebook, `report` shows itself.

# %%
# What the slider of the investigation price does: at every price the page's rows are decided
# again, and the cost is added up.

rows = report.page_rows
prices = np.arange(2, 61, 2)
bills = []
for price in prices:
    matrix = [[0, price], [1, price]]  # a missed fraud costs its amount once
    decided = rows.decide(matrix)
    bills.append(total_cost(rows.labels, decided, costs=rows.costs(matrix)))

opening = total_cost(rows.labels, rows.decide(), costs=rows.costs())
print(f"the page opens with EUR {opening:,.2f}: {f'EUR {opening:,.2f}' in report.html}")

figure, ax = plt.subplots(figsize=(6.8, 4), layout="constrained")
ax.plot(prices, bills, "o-", color="#0072B2", label="the bill on the page")
ax.plot(8, opening, "D", color="#D55E00", markersize=9, label=f"as it opens: {opening:,.0f} EUR")
ax.set(xlabel="Price of an investigation (EUR)", ylabel="Bill of 4,000 payments (EUR)", ylim=0)
ax.yaxis.set_major_formatter("{x:,.0f}")
ax.legend(frameon=False)
plt.show()
