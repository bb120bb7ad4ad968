"""Measures of cost, curves over all costs, their uncertainty, scorers, and tests over data sets.

True labels come first, then predictions or scores; everything else is by keyword, and every
measure takes `sample_weight`. Costs come in any form that `costboost.costs.as_costs` takes.
"""

from costboost.metrics._capacity import (
    CapacityCurve,
    CoverageCurve,
    capacity_curve,
    coverage_curve,
)
from costboost.metrics._curves import (
    brier_curve,
    brier_score,
    brier_score_by_class,
    cost_curve,
    cost_lines,
    curve_area,
)
from costboost.metrics._numbers import (
    crps,
    interval_coverage,
    mean_number_cost,
    number_savings_score,
    pinball_loss,
    quantile_frequencies,
    total_number_cost,
)
from costboost.metrics._policy_cost import BillPart, PolicyCost, policy_cost
from costboost.metrics._price_ranges import (
    PriceEffect,
    PriceSensitivity,
    ScenarioCost,
    price_sensitivity,
    scenario_costs,
)
from costboost.metrics._profit import (
    MaximumProfit,
    emp_churn,
    emp_credit,
    expected_maximum_profit,
    mp_churn,
    profit,
)
from costboost.metrics._ranks import (
    CriticalDifference,
    FriedmanResult,
    average_ranks,
    critical_difference,
    friedman_test,
    holm_correction,
    wilcoxon_holm,
)
from costboost.metrics._realised import (
    asymmetric_cost,
    cost_confusion_matrix,
    f_measure,
    mean_cost,
    mean_regret,
    normalized_cost,
    savings_score,
    total_cost,
)
from costboost.metrics._resampling import (
    BootstrapInterval,
    PairedCostTest,
    bootstrap_interval,
    paired_cost_test,
)
from costboost.metrics._scorers import CostScorer, cross_validate_cost, make_cost_scorer
from costboost.metrics._swap import DecisionSwap, Exchange, compare_decisions
from costboost.metrics._thresholds import (
    cheapest_threshold,
    cost_by_threshold,
    gain_curve,
    lift_curve,
    net_benefit,
    roi,
    roi_curve,
    savings_curve,
)

__all__ = [
    # what decisions cost
    "total_cost",
    "mean_cost",
    "normalized_cost",
    "mean_regret",
    "savings_score",
    "cost_confusion_matrix",
    "f_measure",
    "asymmetric_cost",
    # what predicted numbers cost, and how good quantiles are
    "total_number_cost",
    "mean_number_cost",
    "number_savings_score",
    "pinball_loss",
    "crps",
    "interval_coverage",
    "quantile_frequencies",
    # what they earn
    "profit",
    "emp_credit",
    "emp_churn",
    "expected_maximum_profit",
    "mp_churn",
    "MaximumProfit",
    # what others would have cost, where only some rows have labels
    "policy_cost",
    "PolicyCost",
    "BillPart",
    # while prices move within their ranges
    "price_sensitivity",
    "PriceSensitivity",
    "PriceEffect",
    # under several price lists
    "scenario_costs",
    "ScenarioCost",
    # capacity and deferral
    "capacity_curve",
    "coverage_curve",
    "CapacityCurve",
    "CoverageCurve",
    # probabilities and rankings, over all costs or at given ones
    "brier_score",
    "brier_score_by_class",
    "brier_curve",
    "cost_curve",
    "cost_lines",
    "curve_area",
    "cost_by_threshold",
    "cheapest_threshold",
    "gain_curve",
    "lift_curve",
    "savings_curve",
    "net_benefit",
    "roi",
    "roi_curve",
    # how sure
    "bootstrap_interval",
    "paired_cost_test",
    "BootstrapInterval",
    "PairedCostTest",
    # who is decided differently
    "compare_decisions",
    "DecisionSwap",
    "Exchange",
    # with scikit-learn
    "make_cost_scorer",
    "cross_validate_cost",
    "CostScorer",
    # many methods on many data sets
    "average_ranks",
    "friedman_test",
    "wilcoxon_holm",
    "holm_correction",
    "critical_difference",
    "CriticalDifference",
    "FriedmanResult",
]
