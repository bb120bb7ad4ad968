"""The 18 files that Nikolaou et al. (2016) published as the input of their paper.

Their code takes label 1 as positive and everything else as negative. Columns are numbers, some of
them scaled; they have no names but x1, x2 ...
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from costboost.datasets._spec import Spec


class _SetFile(NamedTuple):
    n_features: int
    rows: int
    positives: int
    positive_means: str
    note: str = ""


_FILES = {
    "congress": _SetFile(16, 435, 168, "republican", "a missing vote has a code of its own"),
    "german_credit": _SetFile(24, 1000, 300, "a bad customer", "standardised"),
    "heart": _SetFile(13, 270, 120, "disease present", "scaled to [0, 1]"),
    "ionosphere": _SetFile(34, 351, 126, "a bad radar return"),
    "krvskp": _SetFile(36, 3196, 1527, "White cannot win"),
    "landsatm": _SetFile(36, 6435, 703, "cotton crop, against five other kinds of land"),
    "liver": _SetFile(6, 345, 145, "class 1", "the class is the donors' train/test selector"),
    "mushroom": _SetFile(21, 8124, 3916, "poisonous", "codes standardised, veil-type left out"),
    "musk2": _SetFile(166, 6598, 1017, "musk", "standardised"),
    "parkinsons": _SetFile(22, 195, 147, "Parkinson's disease", "several recordings per person"),
    "pima": _SetFile(8, 768, 500, "NO diabetes"),
    "semeion": _SetFile(256, 1593, 161, "the digit 0, against the other nine"),
    "sonar": _SetFile(60, 208, 97, "rock"),
    "spambase": _SetFile(57, 4601, 1813, "spam", "standardised"),
    "splicem": _SetFile(
        60, 3175, 765, "IE, against EI and N", "rows with ambiguous bases left out"
    ),
    "survival": _SetFile(3, 306, 225, "survived five years"),
    "waveformm": _SetFile(40, 5000, 1653, "class 1, against 0 and 2"),
    "wdbc": _SetFile(
        31,
        569,
        212,
        "malignant",
        "the patient's number, x1, is dropped; three runs of 64 cells are zero in the published "
        "file, see 'wdbc' for sound data",
    ),
}


def _spec(name: str, file: _SetFile) -> Spec:
    note = f"; {file.note}" if file.note else ""
    return Spec(
        classes={0: file.rows - file.positives, 1: file.positives},
        n_features=file.n_features,
        description=f"The authors' own file; 1 means {file.positive_means}{note}",
        source=f"github.com/nnikolaou/Cost-sensitive-Boosting-Tutorial, {_licence(name)}",
        positive=1,
        not_features=("x1",) if name == "wdbc" else (),
        one_against_rest=True,
    )


def _licence(name: str) -> str:
    return "CC0 as listed on Kaggle" if name == "pima" else "CC BY 4.0 (UCI)"


NIKOLAOU: Mapping[str, Spec] = {f"nik_{name}": _spec(name, file) for name, file in _FILES.items()}
