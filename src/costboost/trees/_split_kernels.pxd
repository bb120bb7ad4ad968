# What other kernels call without the interpreter between: see the docstrings beside the code.
from costboost.trees._search_kernels cimport NodeSums, Rules, SplitSearch

cdef bint search_node(Rules rules, NodeSums node, SplitSearch search) noexcept nogil
