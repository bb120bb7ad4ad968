"""What each mistake costs: `Costs`, a `State` plus pure functions of it.

costs     the class that users hold
state     the canonical form of costs, and its cells
rows      cut by row like an array
reading   what users write -> State
binding   State + the labels of a data set -> State; labels <-> codes
pricing   State + codes or probabilities -> prices and decisions
text      State -> its repr
"""

from costboost.costs.costs import Costs, as_costs

__all__ = ["Costs", "as_costs"]
