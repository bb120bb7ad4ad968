# What other kernels call without the interpreter between: see the docstrings beside the code.
from costboost.trees._search_kernels cimport NodeSums, Rules, SplitSearch

cdef int GINI, ENTROPY, ERROR, NEWTON, VECTOR, ONE_HOT, SQUARES
cdef double ROUNDING

cdef double weigh(const long long[::1] sums, int criterion) noexcept nogil

cdef double bounded_value(
    const long long[::1] sums, int criterion, double l2, double low, double high
) noexcept nogil

cdef double node_score(Rules rules, NodeSums node) noexcept nogil

cdef bint holds(
    NodeSums node, SplitSearch search, Py_ssize_t place, Py_ssize_t code
) noexcept nogil

cdef Py_ssize_t cut_codes(
    Rules rules, NodeSums node, SplitSearch search, Py_ssize_t column, Py_ssize_t place
) noexcept nogil

cdef Py_ssize_t cut_order(
    Rules rules, NodeSums node, SplitSearch search, Py_ssize_t place, Py_ssize_t n_codes
) noexcept nogil
