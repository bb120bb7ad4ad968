"""
A price for every payment
=========================

A missed fraud costs the amount of the payment, an investigation 8 euros. The amounts spread over
four orders of magnitude, so no single price describes them. This example compares the costs of four
policies on the same payments, which the model has not seen.
"""

import matplotlib.pyplot as plt
import numpy as np

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from costboost.metrics import paired_cost_test
from costboost.plots import PolicyDisplay

payments = make_card_fraud(12_000, fraud_rate=0.03, random_state=0)  # made up
words = np.where(payments.y == 1, "fraud", "honest")
X, y = payments.X[:6000], words[:6000]  # the later half is still to come
X_new, y_new = payments.X[6000:], words[6000:]

costs = Costs(fp=8, tp=8, fn="amount", positive="fraud")  # the name of a column
model = CostBoostClassifier(random_state=0).fit(X, y, costs=costs)

# %%
# The model learns what is likely; prices enter when it decides. So the same model can decide by the
# mean amount, the same for all, or by the amount of each payment. Nothing is trained again.

mean_amount = round(float(X["amount"].mean()))
one_price = Costs(fp=8, tp=8, fn=mean_amount, positive="fraud")
policies = {
    "investigate nothing": np.full(len(y_new), "honest"),
    "above 300 euros": np.where(X_new["amount"] > 300, "fraud", "honest"),
    f"model, {mean_amount} euros each": model.predict(X_new, costs=one_price),
    "model, own amounts": model.predict(X_new, costs=costs),
}

# %%
# All four are compared at the true prices. A bar is split by what was decided: payments that were
# answered "honest" cost the frauds among them, those answered "fraud" their investigations. The
# lines are 95 % intervals from resampling payments.

own = costs.bind_table(X_new)
PolicyDisplay.from_decisions(
    y_new, policies, costs=own, baseline="investigate nothing", currency="EUR"
)
plt.show()

# %%
# The last two costs come from the same payments, so their difference is known better than either of
# them: a paired test says how well.

*_, same, each = policies.values()
test = paired_cost_test(y_new, each, same, costs=own, random_state=0)
difference = test.difference * len(y_new)
print(f"a price for every payment costs {difference:+,.0f} EUR, p = {test.p_value:.3f}")
