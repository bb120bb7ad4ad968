"""
Why was this payment stopped?
=============================

`explain` says of one row what was decided and why: what every action was expected to cost, at
which probability or price the decision would change, what each column added, and the nearest change
of one column that would have changed the answer.
"""

import matplotlib.pyplot as plt

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from costboost.plots import DecisionDisplay

payments = make_card_fraud(6000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X[:3000], payments.y[:3000]
X_new = payments.X[3000:]
costs = Costs(fp=8, tp=8, fn="amount")
model = CostBoostClassifier(random_state=0).fit(X, y, costs=costs)

# %%
# The payment for which letting it pass is expected to cost most.

expected = model.expected_cost(X_new)
row = X_new.loc[[expected[0].idxmax()]]
why = model.explain(row)
print(why)

# %%
# The same as a picture: from what is known of all payments to what is known of this one. What the
# columns added sums to the log odds that the decision rests on.

DecisionDisplay(why).plot()
plt.show()

# %%
# "Nearest" is counted in bins of the column, so that euros and days can be compared. It is a
# statement about the model: whether the world would follow, the model does not know.

change = why.changes[0]
print(f"{change.column} {change.to}: the decision would be {change.decision}")
