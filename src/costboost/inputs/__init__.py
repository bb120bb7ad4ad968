"""Every check of what a user gives, once: tables, labels, weights, numbers, callbacks."""
