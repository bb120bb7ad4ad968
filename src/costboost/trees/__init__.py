"""The built-in weak learner: histograms -> splits -> one tree -> a forest."""
