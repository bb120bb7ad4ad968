# What other kernels read without the interpreter between: see the docstrings beside the code.
cimport cython

cdef Py_ssize_t MISSING


@cython.final
cdef class Rules:
    cdef const long long[::1] n_bins
    cdef const unsigned char[::1] categorical
    cdef const signed char[::1] monotone
    cdef bint bounded
    cdef int criterion
    cdef double l2
    cdef double min_weight
    cdef long long min_count


@cython.final
cdef class NodeSums:
    cdef const long long[:, :, :] hist
    cdef const long long[:, ::1] counts
    cdef const long long[::1] columns
    cdef bint drawn
    cdef const long long[::1] sums
    cdef long long n_rows
    cdef double low
    cdef double high


@cython.final
cdef class PairBounds:
    cdef bint newton
    cdef double l2
    cdef long long first
    cdef long long second
    cdef double all_first
    cdef double all_second
    cdef double bar
    cdef Py_ssize_t column
    cdef Py_ssize_t place
    cdef Py_ssize_t last
    cdef bint missing
    cdef long long absent
    cdef long long absent_second
    cdef long long absent_count


@cython.final
cdef class SplitSearch:
    cdef readonly double gain
    cdef readonly double rounding
    cdef readonly Py_ssize_t feature
    cdef Py_ssize_t place
    cdef readonly Py_ssize_t threshold
    cdef bint missing_left
    cdef long long[::1] left_sums
    cdef unsigned char[::1] goes_left
    cdef double parent
    cdef bint counting
    cdef long long[::1] left
    cdef long long[::1] right
    cdef long long[::1] codes
    cdef long long[::1] held
    cdef double[::1] keys
    cdef PairBounds pairs
