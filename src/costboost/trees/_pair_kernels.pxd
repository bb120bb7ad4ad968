# What other kernels call without the interpreter between: see the docstrings beside the code.
from costboost.trees._search_kernels cimport NodeSums, Pairs, Rules, Search

cdef int search_pairs(Rules rules, NodeSums node, Search search, Pairs pairs) noexcept nogil
