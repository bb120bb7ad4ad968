# What other kernels read and call without the interpreter between: see the docstrings beside the code.
cimport cython


@cython.final
cdef class Derivatives:
    cdef int kind
    cdef const double[::1] cores
    cdef int output
    cdef const unsigned char[::1] labels
    cdef bint by_class
    cdef const double[::1] a
    cdef const double[::1] weights
    cdef bint by_weight
    cdef double[:, ::1] block


cdef Py_ssize_t write_block(Derivatives read, Py_ssize_t begin) noexcept nogil
