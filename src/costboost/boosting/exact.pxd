# The compiled twins of `exact.py`, whose docstrings say what they do; here, so that C inlines them.
cdef inline long long rest(double term, long long units) noexcept nogil:
    return <long long>((term - units) * 1099511627776.0)  # 2**40


cdef inline int add(
    long long[:, ::1] out, Py_ssize_t row, Py_ssize_t at, double term
) noexcept nogil:
    cdef long long units = <long long>term
    out[row, at] += units
    out[row, at + 1] += rest(term, units)
    return 0
