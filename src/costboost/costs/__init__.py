"""What each mistake costs: `Costs`, a `State` plus pure functions of it.

costs       the class that users hold
makers      its other constructors
faces       its prices by name, as a table and in words
rows        cut by row like an array, or by the labels of an index
state       the canonical form of costs, and its cells
labelled    labels that come with a table of prices
cells       one price: a number, one per row, a column, a function
grammar     the text of an expression -> its tree
expressions the tree of an expression + a table -> prices
reading     what users write -> State
tables      State + the table of its rows -> State without unread columns
binding     State + the labels of a data set -> State; labels <-> numbers
pricing     State + numbers or probabilities -> prices and decisions
arithmetic  State times a number, plus a number, one after the other
doubts      State -> what looks turned round
text        State -> its repr
words       State -> words, a DataFrame
"""

from costboost.costs.costs import Costs, as_costs
from costboost.costs.expressions import Expression, ExpressionError, expression

__all__ = ["Costs", "Expression", "ExpressionError", "as_costs", "expression"]
