# What other kernels call without the interpreter between: see the docstrings beside the code.
cdef double weigh(const long long[::1] sums, int criterion) noexcept nogil

cdef double bounded_value(
    const long long[::1] sums, int criterion, double l2, double low, double high
) noexcept nogil

cdef bint search_node(
    const long long[:, :, :] hist,
    const long long[:, ::1] counts,
    const long long[::1] columns,
    bint drawn,
    const long long[::1] n_bins,
    const unsigned char[::1] categorical,
    const signed char[::1] monotone,
    const long long[::1] sums,
    int criterion,
    double l2,
    double min_weight,
    long long min_count,
    long long n_rows,
    double low,
    double high,
    long long[:, ::1] sides,
    long long[:, ::1] codes,
    double[::1] keys,
    long long[::1] best_sums,
    double[::1] best,
    unsigned char[::1] goes_left,
) noexcept nogil
