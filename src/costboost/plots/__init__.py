"""Pictures of cost, in the manner of scikit-learn's displays.

Every picture has `from_estimator` or `from_predictions`, keeps its numbers and its artists as
attributes, and is drawn again by `plot(ax=)`; several models on the same axes get colours, line
styles and markers of their own. Numbers come from `costboost.metrics`. Drawing needs matplotlib,
``pip install costboost[plot]``; importing this does not.
"""

from costboost.plots._capacity import CapacityDisplay, CoverageDisplay
from costboost.plots._cost_curve import CostCurveDisplay, NumberCostDisplay
from costboost.plots._explanations import ContributionsDisplay, DecisionDisplay
from costboost.plots._parity import FairnessFrontierDisplay
from costboost.plots._policies import PolicyDisplay, SwapDisplay
from costboost.plots._price_ranges import PriceSensitivityDisplay, ScenarioDisplay
from costboost.plots._ranks import CriticalDifferenceDisplay
from costboost.plots._ratio_curves import BrierCurveDisplay, NetBenefitDisplay
from costboost.plots._savings import SavingsCurveDisplay
from costboost.plots._thresholds import ThresholdCostDisplay
from costboost.plots._training import TrainingCostDisplay
from costboost.plots.reliability import QuantileCalibrationDisplay, ReliabilityDisplay

__all__ = [
    # over all cost ratios
    "CostCurveDisplay",
    "BrierCurveDisplay",
    "NetBenefitDisplay",
    # at given costs
    "ThresholdCostDisplay",
    "SavingsCurveDisplay",
    "PriceSensitivityDisplay",
    "ScenarioDisplay",
    # of explanations
    "DecisionDisplay",
    "ContributionsDisplay",
    "PolicyDisplay",
    "SwapDisplay",
    # capacity and deferral
    "CapacityDisplay",
    "CoverageDisplay",
    # parity between groups
    "FairnessFrontierDisplay",
    # of numbers
    "NumberCostDisplay",
    "QuantileCalibrationDisplay",
    # of probabilities, of training, of many data sets
    "ReliabilityDisplay",
    "TrainingCostDisplay",
    "CriticalDifferenceDisplay",
]
