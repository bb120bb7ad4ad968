"""One module per paper: its protocol, its published numbers, ours beside them."""
