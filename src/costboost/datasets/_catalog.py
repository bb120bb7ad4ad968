"""The papers' sets: one entry each, every fact about it in one place.

Class counts are those of the rows that `load` returns. Sets of two classes without prices come
first, then those of many classes and those with prices.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from costboost.datasets._spec import (
    OpenML,
    Spec,
    bank_calls,
    card_amounts,
    five_to_one,
    german_amounts,
    south_german_lines,
    taiwan_lines,
)

# Sets of two classes without prices: those of Cai et al., of Fan et al. and of Nikolaou et al.

_UCI = "CC BY 4.0"

# OpenML's are in capitals.
# fmt: off
_HEPATITIS_COLUMNS = (
    "age", "sex", "steroid", "antivirals", "fatigue", "malaise", "anorexia", "liver_big",
    "liver_firm", "spleen_palpable", "spiders", "ascites", "varices", "bilirubin", "alk_phosphate",
    "sgot", "albumin", "protime", "histology",
)
# fmt: on

BINARY: Mapping[str, Spec] = {
    # Cai, Song and Zhang
    "breast_cancer_ljubljana": Spec(
        classes={"no-recurrence-events": 201, "recurrence-events": 85},
        n_features=9,
        description="Breast cancer, Ljubljana: does it come back",
        source=f"UCI 14, {_UCI}",
        positive="recurrence-events",
        coded=("deg-malig",),
        openml=OpenML(13),
    ),
    "hepatitis": Spec(
        classes={1: 32, 2: 123},
        n_features=19,
        description="Hepatitis: 1 dies, 2 lives; categories are coded 1 and 2 as at UCI",
        source=f"UCI 46, {_UCI}",
        positive=1,
        coded=("*", "-age", "-bilirubin", "-alk_phosphate", "-sgot", "-albumin", "-protime"),
        openml=OpenML(55, labels={"DIE": 1, "LIVE": 2}, columns=_HEPATITIS_COLUMNS),
    ),
    "pima": Spec(
        classes={0: 500, 1: 268},
        n_features=8,
        description="Diabetes of Pima women: 1 is positive; some zeros are missing values",
        source="withdrawn from UCI, CC0 as listed on Kaggle",
        positive=1,
        openml=OpenML(37, labels={"tested_negative": 0, "tested_positive": 1}),
    ),
    "sick_euthyroid": Spec(
        classes={"negative": 2870, "sick-euthyroid": 293},
        n_features=25,
        description="Thyroid disease: sick euthyroid (UCI warns that the file may be corrupted)",
        source=f"UCI 102, {_UCI}",
        positive="sick-euthyroid",
    ),
    # Fan, Stolfo, Zhang and Chan
    "hypothyroid": Spec(
        classes={"hypothyroid": 151, "negative": 3012},
        n_features=25,
        description="Thyroid disease: hypothyroid (UCI warns that the file may be corrupted)",
        source=f"UCI 102, {_UCI}",
        positive="hypothyroid",
    ),
    "dis": Spec(
        classes={"discordant": 58, "negative": 3714},
        n_features=29,
        description="Thyroid disease: discordant binding; TBG is always missing",
        source=f"UCI 102, {_UCI}",
        positive="discordant",
        n_train=2800,
    ),
    "crx": Spec(
        classes={"+": 307, "-": 383},
        n_features=15,
        description="Credit approval in disguise",
        source=f"UCI 27, {_UCI}",
        positive="+",
        openml=OpenML(29),
    ),
    "breast_cancer_wisconsin": Spec(
        classes={2: 458, 4: 241},
        n_features=9,
        description="Breast cancer, Wisconsin, nine grades: 2 is benign, 4 malignant",
        source=f"UCI 15, {_UCI}",
        positive=4,
        openml=OpenML(15, labels={"benign": 2, "malignant": 4}),
    ),
    "wpbc": Spec(
        classes={"N": 151, "R": 47},
        n_features=33,
        description="Breast cancer, Wisconsin, prognosis: R recurs; its time is not a feature",
        source=f"UCI 16, {_UCI}",
        positive="R",
        not_features=("time",),
    ),
    "wdbc": Spec(
        classes={"B": 357, "M": 212},
        n_features=30,
        description="Breast cancer, Wisconsin, diagnosis: M is malignant, B benign",
        source=f"UCI 17, {_UCI}",
        positive="M",
        openml=OpenML(1510, labels={"1": "B", "2": "M"}),
    ),
    "boolean_standin": Spec(
        classes={0: 28397, 1: 4371},
        n_features=15,
        description="All assignments of 15 bits, labelled by a DNF of five terms: a stand-in for "
        "the set of Fan et al., whose function is not known",
        source="generated",
        positive=1,
    ),
    "sick": Spec(
        classes={"negative": 3541, "sick": 231},
        n_features=29,
        description="Thyroid disease: sick; TBG is always missing",
        source=f"UCI 102, {_UCI}",
        positive="sick",
        n_train=2800,
        openml=OpenML(38),
    ),
    # Nikolaou et al., as UCI distributes them
    "haberman": Spec(
        classes={1: 225, 2: 81},
        n_features=3,
        description="Survival after breast surgery: 2 died within five years",
        source=f"UCI 43, {_UCI}",
        positive=2,
        openml=OpenML(43),
    ),
    "ionosphere": Spec(
        classes={"b": 126, "g": 225},
        n_features=34,
        description="Radar returns, good or bad",
        source=f"UCI 52, {_UCI}",
        positive="b",
        openml=OpenML(59),
    ),
    "house_votes84": Spec(
        classes={"democrat": 267, "republican": 168},
        n_features=16,
        description="Votes in the US House, 1984; '?' is neither yea nor nay, a category",
        source=f"UCI 105, {_UCI}",
        positive="republican",
        missing_category="?",
        openml=OpenML(56),
    ),
    "liver_bupa": Spec(
        classes={1: 145, 2: 200},
        n_features=6,
        description="Liver disorders; the customary label is the donors' train/test selector",
        source=f"UCI 60, {_UCI}",
        positive=1,
    ),
    "parkinsons": Spec(
        classes={0: 48, 1: 147},
        n_features=22,
        description="Voices: 1 is Parkinson's disease; 195 recordings of 31 people",
        source=f"UCI 174, {_UCI}",
        positive=1,
        openml=OpenML(1488, labels={"1": 0, "2": 1}),
    ),
    "spambase": Spec(
        classes={0: 2788, 1: 1813},
        n_features=57,
        description="Mail: 1 is spam",
        source=f"UCI 94, {_UCI}",
        positive=1,
        openml=OpenML(44),
    ),
    "sonar": Spec(
        classes={"M": 111, "R": 97},
        n_features=60,
        description="Sonar returns: M is a mine, R a rock",
        source=f"UCI 151, {_UCI}",
        positive="M",
        openml=OpenML(40, labels={"Mine": "M", "Rock": "R"}),
    ),
    "kr_vs_kp": Spec(
        classes={"nowin": 1527, "won": 1669},
        n_features=36,
        description="Chess endings, king and rook against king and pawn: can White win",
        source=f"UCI 22, {_UCI}",
        positive="nowin",
        openml=OpenML(3),
    ),
    "mushroom": Spec(
        classes={"e": 4208, "p": 3916},
        n_features=22,
        description="Mushrooms: e is edible, p poisonous; veil-type is constant",
        source=f"UCI 73, {_UCI}",
        positive="p",
        openml=OpenML(24),
    ),
}


# ---- The 18 files that Nikolaou et al. (2016) published as the input of their paper.


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


_SOLAR = (
    "Solar flares: active regions of the sun over 24 hours; rows 1 to 323 are flare.data1, the "
    "rest flare.data2"
)
_FLARE_COUNTS = ("-c_class", "-m_class", "-x_class")

# fmt: off
_LETTERS = {
    "A": 789, "B": 766, "C": 736, "D": 805, "E": 768, "F": 775, "G": 773, "H": 734, "I": 755,
    "J": 747, "K": 739, "L": 761, "M": 792, "N": 783, "O": 753, "P": 803, "Q": 783, "R": 758,
    "S": 748, "T": 796, "U": 813, "V": 764, "W": 752, "X": 787, "Y": 786, "Z": 734,
}
# fmt: on

# Lozano and Abe 2008; more than two classes, so no positive one.
MANY_CLASSES: Mapping[str, Spec] = {
    "splice": Spec(
        classes={"EI": 767, "IE": 768, "N": 1655},
        n_features=60,
        description="Splice junctions of DNA; D, N, S and R are codes of ambiguity",
        source="UCI 69, CC BY 4.0",
        openml=OpenML(46),
    ),
    "anneal": Spec(
        classes={"1": 8, "2": 99, "3": 684, "5": 67, "U": 40},
        n_features=38,
        description="Annealing of steel; '?' mostly means 'not applicable', so it is a category",
        source="UCI 3, CC BY 4.0",
        coded=("*", "-carbon", "-hardness", "-strength", "-thick", "-width", "-len"),
        missing_category="?",
        n_train=798,
        openml=OpenML(1),
    ),
    "satimage": Spec(
        classes={1: 1533, 2: 703, 3: 1358, 4: 626, 5: 707, 7: 1508},
        n_features=36,
        description="Statlog Landsat pixels: kinds of soil and crop",
        source="UCI 146, CC BY 4.0",
        n_train=4435,
    ),
    "solar_flare_zurich": Spec(
        classes={"B": 212, "C": 287, "D": 327, "E": 116, "F": 51, "H": 396},
        n_features=12,
        description=f"{_SOLAR}; the label is the modified Zurich class",
        source="UCI 89, CC BY 4.0",
        coded=("*", *_FLARE_COUNTS),
    ),
    "solar_flare_c": Spec(
        classes={0: 1171, 1: 141, 2: 40, 3: 20, 4: 9, 5: 4, 6: 3, 8: 1},
        n_features=12,
        description=f"{_SOLAR}; the label is the number of C-class flares that follow",
        source="UCI 89, CC BY 4.0",
        coded=("*", *_FLARE_COUNTS),
        not_features=("m_class", "x_class"),
    ),
    "letter": Spec(
        classes=_LETTERS,
        n_features=16,
        description="Capital letters in many fonts, described by sixteen numbers",
        source="UCI 59, CC BY 4.0",
        n_train=16000,
        openml=OpenML(6),
    ),
    "pendigits": Spec(
        classes=dict(enumerate((1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055))),
        n_features=16,
        description="Handwritten digits: eight points of the pen",
        source="UCI 81, CC BY 4.0",
        n_train=7494,
        openml=OpenML(32),
    ),
    "segment": Spec(
        classes=dict.fromkeys(
            ("brickface", "cement", "foliage", "grass", "path", "sky", "window"), 330
        ),
        n_features=19,
        description="Regions of outdoor images; region-pixel-count is constant",
        source="UCI 50, CC BY 4.0",
        openml=OpenML(36),
    ),
    "ann_thyroid": Spec(
        classes={1: 166, 2: 368, 3: 6666},
        n_features=21,
        description="Thyroid disease for neural networks: 3 is normal, 1 and 2 are diseases",
        source="UCI 102, CC BY 4.0",
        coded=("*", "-age", "-TSH", "-T3", "-TT4", "-T4U", "-FTI"),
        n_train=3772,
    ),
    "semeion": Spec(
        classes=dict(enumerate((161, 162, 159, 159, 161, 159, 161, 158, 155, 158))),
        n_features=256,
        description="Handwritten digits of 16 x 16 black or white pixels",
        source="UCI 178, CC BY 4.0",
        openml=OpenML(1501, labels={str(digit + 1): digit for digit in range(10)}),
    ),
    "waveform_noise": Spec(
        classes={0: 1692, 1: 1653, 2: 1655},
        n_features=40,
        description="Breiman's waveforms; the last nineteen columns are noise",
        source="UCI 108, CC BY 4.0",
        openml=OpenML(60),
    ),
}

# fmt: off
_TAIWAN_COLUMNS = (
    "LIMIT_BAL", "SEX", "EDUCATION", "MARRIAGE", "AGE",
    "PAY_0", "PAY_2", "PAY_3", "PAY_4", "PAY_5", "PAY_6",
    "BILL_AMT1", "BILL_AMT2", "BILL_AMT3", "BILL_AMT4", "BILL_AMT5", "BILL_AMT6",
    "PAY_AMT1", "PAY_AMT2", "PAY_AMT3", "PAY_AMT4", "PAY_AMT5", "PAY_AMT6",
)
_BANK_COLUMNS = (
    "age", "job", "marital", "education", "default", "balance", "housing", "loan", "contact",
    "day", "month", "duration", "campaign", "pdays", "previous", "poutcome",
)
# fmt: on

PRICED: Mapping[str, Spec] = {
    "german_credit": Spec(
        classes={1: 700, 2: 300},
        n_features=20,
        description="German credit: 1 is a good customer, 2 a bad one; amounts in DM",
        source="UCI 144, CC BY 4.0",
        positive=2,
        pricing={"matrix": five_to_one, "amount": german_amounts},
        openml=OpenML(31, labels={"good": 1, "bad": 2}),
    ),
    "german_credit_numeric": Spec(
        classes={1: 700, 2: 300},
        n_features=24,
        description="German credit in Strathclyde's numeric coding; x4 is hundreds of DM",
        source="UCI 144, CC BY 4.0",
        positive=2,
        pricing={"matrix": five_to_one},
    ),
    "heart_statlog": Spec(
        classes={1: 150, 2: 120},
        n_features=13,
        description="Heart disease: 1 is absent, 2 present",
        source="UCI 145, CC BY 4.0",
        positive=2,
        coded=(
            "sex",
            "chest",
            "fasting_blood_sugar",
            "resting_electrocardiographic_results",
            "exercise_induced_angina",
            "thal",
        ),
        pricing={"matrix": five_to_one},
        openml=OpenML(53, labels={"absent": 1, "present": 2}),
    ),
    "credit_default_taiwan": Spec(
        classes={0: 23364, 1: 6636},
        n_features=23,
        description="Taiwanese credit cards: 1 defaults next month; LIMIT_BAL is in NT$",
        source="UCI 350, CC BY 4.0",
        positive=1,
        coded=("SEX", "EDUCATION", "MARRIAGE"),
        pricing={"credit-line": taiwan_lines},
        openml=OpenML(42477, columns=_TAIWAN_COLUMNS),
    ),
    "bank_marketing": Spec(
        classes={"no": 33144, "yes": 4787},
        n_features=16,
        description="Calls of a Portuguese bank: who subscribes to a deposit. As Bahnsen et al. "
        "have it: customers with a positive balance, without what is known only after the call",
        source="UCI 222 (bank-full), CC BY 4.0",
        positive="yes",
        not_features=("contact", "day", "month", "duration", "campaign", "pdays"),
        above=("balance", 0.0),
        pricing={"balance": bank_calls},
        openml=OpenML(1461, labels={"1": "no", "2": "yes"}, columns=_BANK_COLUMNS),
    ),
    "creditcard_fraud_sample": Spec(
        classes={0: 944, 1: 465},
        n_features=29,
        description="A sample of the ULB card transactions: frauds are far more frequent in it "
        "than in life",
        source="R package CSboost (Hoppner et al.); the whole set is DbCL 1.0",
        positive=1,
        pricing={"amount": card_amounts},
    ),
    "south_german_credit": Spec(
        classes={0: 300, 1: 700},
        n_features=20,
        description="German credit as corrected by Groemping (2019): 1 is good, 0 bad; the amount "
        "is a monotone function of DM",
        source="UCI 522, CC BY 4.0",
        positive=0,
        coded=("*", "-duration", "-amount", "-age"),
        pricing={"credit-line": south_german_lines},
    ),
}

CATALOG: Mapping[str, Spec] = {**BINARY, **MANY_CLASSES, **PRICED, **NIKOLAOU}
