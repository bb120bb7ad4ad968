"""Score -> probability.

A *calibrator* is a small frozen object of a few numbers and one function: ``predict`` maps scores
to probabilities, ``fit`` returns a fitted copy. Scores are ``(n,)`` for the second of two classes,
or ``(n, K)`` with one column per class. Three layers, each usable alone:

1. one score: `Sigmoid`, `SigmoidBrier`, `Beta`, `Isotonic`, `Temperature`, `BiasCorrected`, listed
   in `CALIBRATORS`;
2. K classes: `ClassCalibration`, one calibrator per class against the rest, normalised, or one of
   all classes (`Temperature`, `ClassBiases`);
3. which rows: `calibrate_folds` trains on folds, calibrates on what they left out, and returns a
   `CalibratedScores`. It never sees a table: the caller's ``fit_fold`` and ``score_fold`` do, so
   that an estimator can cut folds on codes it binned once.

Rows count by ``sample_weight`` and never by cost: a calibrated probability is a natural frequency,
and prices enter afterwards. Rows of weight zero are as good as absent, a row of weight 3 is three,
and weights below 1 may have any unit (`calibrators.row_counts`). Constant scores say nothing, and
give the prior.
"""

from costboost.calibration._fitting import (
    CalibratedScores,
    ClassCalibration,
    calibrate_fitted,
    calibrate_folds,
)
from costboost.calibration._folds import (
    calibration_folds,
    calibration_splits,
    copies_in,
    keeps_copies,
    labels_of_sets,
    numbered,
    read_groups,
)
from costboost.calibration.calibrators import (
    CALIBRATORS,
    Beta,
    BiasCorrected,
    ClassBiases,
    Isotonic,
    Sigmoid,
    SigmoidBrier,
    Temperature,
)

__all__ = [
    "CALIBRATORS",
    "Sigmoid",
    "SigmoidBrier",
    "Beta",
    "Isotonic",
    "Temperature",
    "BiasCorrected",
    "ClassBiases",
    "ClassCalibration",
    "CalibratedScores",
    "calibrate_folds",
    "calibrate_fitted",
    "calibration_folds",
    "calibration_splits",
    "copies_in",
    "keeps_copies",
    "labels_of_sets",
    "numbered",
    "read_groups",
]
