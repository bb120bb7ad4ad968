"""What `costboost.costs.Costs` does, as pure functions of its `State`.

state     the canonical form of costs, and its cells
reading   what users write -> State
binding   State + the labels of a data set -> State; labels <-> codes
pricing   State + codes or probabilities -> prices and decisions
text      State -> its repr
"""
