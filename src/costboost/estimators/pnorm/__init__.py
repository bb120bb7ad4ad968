"""`PNormBoostClassifier`: the multi-class L_p family behind one scikit-learn estimator.

The class is a skin: it checks what it is given, settles a plan, and hands rows to a trainer, which
trains one mixture, or one for each fold of a calibration. Tables are binned once.
"""

from costboost.estimators.pnorm.classifier import PNormBoostClassifier

__all__ = ["PNormBoostClassifier"]
