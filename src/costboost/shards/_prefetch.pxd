# Ask for a cache line before it is needed: rows of a node lie scattered in memory.
cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define costboost_prefetch(address) __builtin_prefetch(address)
    #else
    #define costboost_prefetch(address)
    #endif
    """
    void prefetch "costboost_prefetch" (const void* address) noexcept nogil
