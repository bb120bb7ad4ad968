"""Plain NumPy twins of the library: slow, obvious, and the referee of its tests."""
