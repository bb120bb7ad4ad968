"""What kernels run on: compiled or interpreted, and on which threads."""
