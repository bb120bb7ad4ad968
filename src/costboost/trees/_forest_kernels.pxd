# What other kernels call without the interpreter between: see the docstrings beside the code.
cdef Py_ssize_t turn(
    const unsigned char[:, ::1] codes,
    Py_ssize_t begin,
    const long long[::1] features,
    unsigned char[:, ::1] columns,
) noexcept nogil
