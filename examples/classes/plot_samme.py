"""
Ten digits, and one that must not be missed
===========================================

With more than two classes the AdaBoost methods run as SAMME and its cost-sensitive kin: the price
of a confusion enters the weights. Here a 7 that is read as something else costs ten times any other
mistake, as on a form where a 7 calls for help.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from costboost import CostBoostClassifier, Costs
from costboost.metrics import mean_cost

X, y = load_digits(return_X_y=True)  # 1,797 digits of scikit-learn
X, X_new, y, y_new = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
matrix = 1.0 - np.eye(10)
matrix[7, :7] = matrix[7, 8:] = 10
costs = Costs.from_matrix(matrix, classes=range(10))

# %%
# What decisions cost after each round, on digits that were not trained on: three methods as they
# were published, without calibration.

figure, ax = plt.subplots(figsize=(6.8, 4.4), layout="constrained")
styles = (("adaboost", "#000000", ":"), ("cgada", "#0072B2", "--"), ("adac2", "#D55E00", "-"))
for method, color, style in styles:
    model = CostBoostClassifier(
        method, n_estimators=60, max_depth=4, costs=costs, calibration=None, random_state=0
    ).fit(X, y)
    paid = [mean_cost(y_new, decided, costs=costs) for decided in model.staged_predict(X_new)]
    found = 100 * (model.predict(X_new)[y_new == 7] == 7).mean()
    label = f"{method}: {found:.0f} % of the sevens found"
    ax.plot(np.arange(len(paid)) + 1, paid, style, color=color, label=label)
ax.set(xlabel="Round", ylabel="Mean cost of a digit (a plain mistake costs 1)", ylim=0)
ax.legend(frameon=False)
plt.show()

# %%
# AdaC2 multiplies by the price in every round and ends up reading too many digits as sevens; CGAda
# uses it once, at the start. `CostBoostClassifier()` prices at the end, and calibrates.

default = CostBoostClassifier(costs=costs, random_state=0).fit(X, y)
print(f"the default: {mean_cost(y_new, default.predict(X_new), costs=costs):.3f} a digit")
