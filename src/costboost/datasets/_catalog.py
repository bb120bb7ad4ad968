"""The papers' sets: one entry each, every fact about it in one place.

Class counts are those of the rows that `load` returns. `_catalog_binary` holds the sets of two
classes without prices; here are those of many classes and those with prices.
"""

from __future__ import annotations

from collections.abc import Mapping

from costboost.datasets._catalog_binary import BINARY, NIKOLAOU
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
