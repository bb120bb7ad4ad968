# What other kernels read without the interpreter between: see the docstrings beside the code.
cimport cython

from costboost.trees._search_kernels cimport NodeSums, SplitSearch

cdef long long NONE, UNDIVIDED


@cython.final
cdef class ShardRows:
    cdef const unsigned char[:, ::1] codes
    cdef const long long[::1] skips
    cdef const long long[::1] starts
    cdef const long long[::1] ends
    cdef bint sampled
    cdef unsigned int[::1] order
    cdef unsigned int[::1] scratch
    cdef unsigned short[::1] leaves
    cdef int kind
    cdef const double[::1] weights
    cdef const double[::1] factors
    cdef const double[::1] scales
    cdef const long long[:, ::1] pairs
    cdef const int[:, ::1] vectors


@cython.final
cdef class TreeScratch:
    cdef long long[::1] feature
    cdef long long[::1] threshold
    cdef long long[::1] left
    cdef long long[::1] depth
    cdef long long[::1] slot
    cdef long long[::1] leaf
    cdef long long[::1] n_rows
    cdef double[::1] gain
    cdef double[::1] rounding
    cdef double[::1] low
    cdef double[::1] high
    cdef long long[:, :, ::1] sums
    cdef long long[:, :, ::1] ranges
    cdef unsigned char[:, ::1] goes_left
    cdef long long[:, ::1] hists
    cdef const long long[:, :, :, :] views
    cdef long long[:, :, ::1] counts
    cdef long long[::1] counted
    cdef long long[::1] free
    cdef long long[::1] waiting
    cdef NodeSums node
    cdef SplitSearch search
