"""The built-in weak learner: columns -> codes -> histograms -> splits -> one tree -> a forest."""
