"""Boosting of votes: the AdaBoost family, one `Rule` per algorithm and one loop."""
