"""Costs of decisions: `Costs`, an immutable `State` with pure functions of it.

costs        the class that users hold; it calls the functions of the other modules
state        the canonical form of costs and its cells; labels that come with a table of prices
reading      what users write -> State; the only place that validates prices
binding      State + labels of a data set, or its table -> State; labels <-> numbers
pricing      State + numbers or probabilities -> prices and decisions; slicing, arithmetic
text         State -> repr, words, a data frame, warnings
uncertain    prices times factors that are not known exactly -> certain costs, ratios, regrets
laws         what is known of a factor: a range, a distribution, draws
expressions  an expression's tree + a table -> prices
grammar      the text of an expression -> its tree
feature_costs  what columns cost, beside what mistakes do
numbers         what it costs to answer a number too low or too high: `NumberCosts`
number_pricing  its prices + the distribution of a number -> expected cost, and the cheapest answer
"""

from costboost.costs.costs import Costs, as_costs
from costboost.costs.expressions import Expression, ExpressionError, expression
from costboost.costs.feature_costs import ColumnTests, FeatureCosts, as_feature_costs
from costboost.costs.number_pricing import NumberDistribution
from costboost.costs.numbers import NumberCosts, as_number_costs
from costboost.costs.state import Factor
from costboost.costs.uncertain import Uncertain, uncertain

__all__ = [
    "ColumnTests",
    "Costs",
    "Expression",
    "ExpressionError",
    "Factor",
    "FeatureCosts",
    "NumberCosts",
    "NumberDistribution",
    "Uncertain",
    "as_costs",
    "as_feature_costs",
    "as_number_costs",
    "expression",
    "uncertain",
]
