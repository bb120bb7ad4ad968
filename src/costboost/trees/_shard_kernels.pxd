# What other kernels call without the interpreter between: see the docstrings beside the code.
from costboost.trees._room_kernels cimport Room, ShardRows

cdef int place_root(ShardRows rows, Room room) noexcept nogil

cdef int add_up(
    ShardRows rows,
    Room room,
    Py_ssize_t node,
    Py_ssize_t slot,
    bint drawn,
    const long long[::1] columns,
) noexcept nogil

cdef int count_rows(
    ShardRows rows,
    Room room,
    Py_ssize_t node,
    Py_ssize_t slot,
    bint drawn,
    const long long[::1] columns,
) noexcept nogil

cdef int divide(ShardRows rows, Room room, Py_ssize_t node) noexcept nogil

cdef int write_leaves(ShardRows rows, Room room, Py_ssize_t n_nodes) noexcept nogil

cdef int find_leaves(ShardRows rows, Room room, Py_ssize_t n_nodes) noexcept nogil
