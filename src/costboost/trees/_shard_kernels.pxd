# What other kernels call without the interpreter between: see the docstrings beside the code.
from costboost.trees._grow_data_kernels cimport TreeScratch, ShardRows

cdef int place_root(ShardRows rows, TreeScratch tree) noexcept nogil

cdef int add_up(
    ShardRows rows,
    TreeScratch tree,
    Py_ssize_t node,
    Py_ssize_t slot,
    bint drawn,
    const long long[::1] columns,
) noexcept nogil

cdef int count_rows(
    ShardRows rows,
    TreeScratch tree,
    Py_ssize_t node,
    Py_ssize_t slot,
    bint drawn,
    const long long[::1] columns,
) noexcept nogil

cdef int divide(ShardRows rows, TreeScratch tree, Py_ssize_t node) noexcept nogil

cdef int write_leaves(ShardRows rows, TreeScratch tree, Py_ssize_t n_nodes) noexcept nogil

cdef int find_leaves(ShardRows rows, TreeScratch tree, Py_ssize_t n_nodes) noexcept nogil
