# What other kernels call without the interpreter between: see the docstrings beside the code.
cdef int add_class_weights(
    const unsigned char[:, ::1] codes,
    const unsigned int[::1] order,
    bint whole,
    const long long[::1] begins,
    const long long[::1] ends,
    const double[::1] weights,
    const double[::1] factors,
    const double[::1] scales,
    long long[::1] hist,
    bint drawn,
    const long long[::1] columns,
) noexcept nogil

cdef int add_pairs(
    const unsigned char[:, ::1] codes,
    const unsigned int[::1] order,
    bint whole,
    const long long[::1] begins,
    const long long[::1] ends,
    const long long[:, ::1] pairs,
    long long[::1] hist,
    bint drawn,
    const long long[::1] columns,
) noexcept nogil

cdef int add_vectors(
    const unsigned char[:, ::1] codes,
    const unsigned int[::1] order,
    bint whole,
    const long long[::1] begins,
    const long long[::1] ends,
    const int[:, ::1] vectors,
    long long[::1] hist,
    bint drawn,
    const long long[::1] columns,
) noexcept nogil

cdef int add_rows(
    const unsigned char[:, ::1] codes,
    const unsigned int[::1] order,
    bint whole,
    const long long[::1] begins,
    const long long[::1] ends,
    long long[:, ::1] counts,
    bint drawn,
    const long long[::1] columns,
) noexcept nogil

cdef int part_rows(
    const unsigned char[:, ::1] codes,
    Py_ssize_t feature,
    const unsigned char[::1] goes_left,
    unsigned int[::1] order,
    unsigned int[::1] scratch,
    bint whole,
    const long long[::1] begins,
    const long long[::1] ends,
    long long[::1] middles,
) noexcept nogil

cdef int write_leaf(
    const unsigned int[::1] order,
    bint whole,
    const long long[::1] begins,
    const long long[::1] ends,
    unsigned short leaf,
    unsigned short[::1] leaves,
) noexcept nogil

cdef long long write_split(
    const unsigned char[:, ::1] codes,
    Py_ssize_t feature,
    const unsigned char[::1] goes_left,
    const unsigned int[::1] order,
    bint whole,
    const long long[::1] begins,
    const long long[::1] ends,
    unsigned short left,
    unsigned short right,
    unsigned short[::1] leaves,
) noexcept nogil
