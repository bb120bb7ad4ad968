# Ask for a cache line before it is needed: rows of a node lie scattered in memory.
cdef extern from *:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define costboost_prefetch(address) __builtin_prefetch(address)
    #define costboost_prefetch_far(address) __builtin_prefetch(address, 0, 2)
    #else
    #define costboost_prefetch(address)
    #define costboost_prefetch_far(address)
    #endif
    """
    void prefetch "costboost_prefetch" (const void* address) noexcept nogil
    void prefetch_far "costboost_prefetch_far" (const void* address) noexcept nogil
