"""
What if the prices are wrong?
=============================

Nobody knows exactly what a missed fraud costs: some of its amount is recovered, and the share
varies. A price may therefore be `uncertain`: a range, a distribution or draws times a price. Models
train and decide by its mean, and the bill says how much depends on it.
"""

import matplotlib.pyplot as plt
from scipy import stats

from costboost import CostBoostClassifier, Costs
from costboost.costs import expression, uncertain
from costboost.datasets import make_card_fraud
from costboost.metrics import price_sensitivity
from costboost.plots import PriceSensitivityDisplay, ScenarioDisplay

payments = make_card_fraud(12_000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X[:6000], payments.y[:6000]
X_new, y_new = payments.X[6000:], payments.y[6000:]

# %%
# Between 60 % and all of a fraud's amount is lost: on average about 80 %. A call to the customer
# costs between 5 and 14 euros, most often a little below 8, whether the payment was a fraud or not:
# ``together`` makes both prices one number.

call = uncertain(1, distribution=stats.triang(0.3, 5, 9), together="a call")
lost = uncertain("amount", low=0.6, high=1.0, together="share lost")
costs = Costs(fp=call, tp=call, fn=lost)
model = CostBoostClassifier(random_state=0).fit(X, y, costs=costs)
print(costs.describe())

# %%
# Decisions are those at the means. That is optimal as long as nothing else is learnt about a price
# before deciding: an expected cost is linear in every price. The bill has two intervals, which are
# kept apart, for more rows shrink only one of them.

proba = model.predict_proba(X_new)
print(price_sensitivity(y_new, proba, costs=costs.bind_table(X_new)))

# %%
# The tornado shows the bill at both ends of each price, the widest bar on top.

display = PriceSensitivityDisplay.from_estimator(model, X_new, y_new, costs=costs, currency="EUR")
plt.show()

# %%
# For a single payment: between which values of each factor its decision stays as it is.

stays = costs.bind_table(X_new).bind(model.classes_).stays_within(proba)
for name, ends in stays.items():
    print(name, ends[:3].round(2).tolist())

# %%
# Prices of another day may also be given as named scenarios. New prices need no new model: each
# scenario has the bill of decisions by its own prices, and that of today's decisions under them.

ScenarioDisplay.from_estimator(
    model,
    X_new,
    y_new,
    scenarios={
        "today": costs.at(),
        "recession": Costs(fp=25, tp=10, fn="amount"),
        "insured": Costs(fp=9, tp=9, fn=expression("min(amount, 60)")),
    },
    currency="EUR",
)
plt.show()
