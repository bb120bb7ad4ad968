"""Gradient boosting: one loss object per loss and one loop."""
