"""
Leave the doubtful cases to a doctor
====================================

A model need not decide everything. Where no decision is clearly cheap, a row can be deferred: to a
second test, to a person. This example draws what decisions cost when the rows that the model is
least certain about are deferred, and then what it does if deferring has a price.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import train_test_split

from costboost import CostBoostClassifier, Costs
from costboost.datasets import load_breast_cancer
from costboost.plots import CoverageDisplay

tumours = load_breast_cancer()  # 569 tumours of scikit-learn, "benign" or "malignant"
X, X_new, y, y_new = train_test_split(
    tumours.X, tumours.y, test_size=0.5, stratify=tumours.y, random_state=0
)

# %%
# A malignant tumour that is sent home costs 20 times a needless second look. (An illustration, not
# medical advice.)

costs = Costs(fp=1, fn=20, positive="malignant")
model = CostBoostClassifier(costs=costs, random_state=0).fit(X, y)

# %%
# From right to left, more and more tumours are deferred, those first for which even the cheapest
# decision is expected to cost most. The second curve adds what deferring them costs, half a second
# look each.

CoverageDisplay.from_estimator(
    model, X_new, y_new, price=0.5, name="model", currency="second looks"
)
plt.show()

# %%
# A doctor's opinion costs half a second look. `decide(defer=0.5)` adds it as a third action,
# which may be limited like any other.

for capacity in (None, {"defer": 10}):
    plan = model.decide(X_new, defer=0.5, capacity=capacity)
    print(capacity, plan.counts, f"expected cost {plan.expected_cost:.1f}")
