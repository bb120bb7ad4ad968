"""
A grid search by cost
=====================

`GridSearchCV` optimises its scorer. `make_cost_scorer` reads the prices of the very
rows that it scores, so that the search finds the parameters whose decisions cost least, not those
that are wrong least often.
"""

import matplotlib.pyplot as plt
from sklearn.model_selection import GridSearchCV

from costboost import CostBoostClassifier, Costs
from costboost.datasets import make_card_fraud
from costboost.metrics import make_cost_scorer, total_cost

payments = make_card_fraud(8000, fraud_rate=0.03, random_state=0)  # made up
X, y = payments.X[:4000], payments.y[:4000]
X_new, y_new = payments.X[4000:], payments.y[4000:]
costs = Costs(fp=8, tp=8, fn="amount")

search = GridSearchCV(
    CostBoostClassifier("adamec", costs=costs, cv=3, random_state=0),
    {"n_estimators": [10, 30, 100], "max_depth": [1, 2, 3]},
    scoring=make_cost_scorer(costs),
    cv=3,
).fit(X, y)

# %%
# Scores are minus the mean cost, so that higher is better. The table shows the costs themselves.

table = -search.cv_results_["mean_test_score"].reshape(3, 3)  # max_depth, then n_estimators
figure, ax = plt.subplots(figsize=(5.6, 4.4), layout="constrained")
image = ax.imshow(table, cmap="cividis_r", aspect="auto")
for row in range(3):
    for column in range(3):
        dark = table[row, column] > (table.min() + table.max()) / 2
        ax.text(
            column,
            row,
            f"{table[row, column]:.2f}",
            ha="center",
            va="center",
            color="white" if dark else "black",
        )
ax.set(xticks=range(3), xticklabels=[10, 30, 100], yticks=range(3), yticklabels=[1, 2, 3])
ax.set(xlabel="Rounds", ylabel="Depth of the trees")
ax.set_title("Cost per payment (EUR), three folds", loc="left")
figure.colorbar(image, label="EUR per payment")
plt.show()

# %%
# `search.predict` takes no prices; the model that was found does.

decided = search.best_estimator_.predict(X_new, costs=costs)
own = costs.bind_table(X_new)
print(search.best_params_)
print(f"on new payments: {total_cost(y_new, decided, costs=own):,.0f} EUR")
