# What other kernels call without the interpreter between: see the docstrings beside the code.
from costboost.trees._search_kernels cimport NodeSums, PairBounds, Rules, SplitSearch

cdef int search_pairs(Rules rules, NodeSums node, SplitSearch search, PairBounds pairs) noexcept nogil
