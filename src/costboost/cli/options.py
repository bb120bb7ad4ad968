"""Options that commands share, each described once, and the groups that come together.

A group is a dataclass whose fields are options. A command takes it as one parameter, `flat` shows
its options to the parser one by one, and `read` makes of them what the work is done with.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:  # a command that is not run must not load what runs it
    from costboost.cli.cells import Form
    from costboost.cli.prices import Prices
    from costboost.cli.train import Choices, Maker
    from costboost.costs import FeatureCosts
    from costboost.decisions import Parity

__all__: list[str] = []

_PRICES = "Prices: a number, a column or an expression"
_COLUMNS = "Columns"
_WRITTEN = "How the table is written, where that cannot be told"


def _methods(incomplete: str) -> list[str]:
    from costboost.cli.train import method_names  # only a shell that completes asks

    return [name for name in method_names() if name.startswith(incomplete)]


Table = Annotated[
    str,
    typer.Argument(
        metavar="TABLE",
        help="CSV, Parquet, Arrow, JSON lines or .xlsx, also gzipped; - is standard input.",
        show_default=False,
    ),
]
Model = Annotated[
    str,
    typer.Argument(metavar="MODEL", help="A file that 'train' has written.", show_default=False),
]

# prices

Fp = Annotated[
    str | None,
    typer.Option("--fp", help="What a false positive costs.", rich_help_panel=_PRICES),
]
Fn = Annotated[
    str | None,
    typer.Option(
        "--fn", help='A false negative, such as "0.75 * amount + 20".', rich_help_panel=_PRICES
    ),
]
Tp = Annotated[
    str | None, typer.Option("--tp", help="A true positive; 0 else.", rich_help_panel=_PRICES)
]
Tn = Annotated[
    str | None, typer.Option("--tn", help="A true negative; 0 else.", rich_help_panel=_PRICES)
]
FpRange = Annotated[
    str | None,
    typer.Option(
        "--fp-range",
        metavar="LOW..HIGH",
        help="What is known of the number --fp begins with: two ends, or beta(6, 2).",
        rich_help_panel=_PRICES,
    ),
]
ColumnCost = Annotated[
    list[str] | None,
    typer.Option(
        "--column-cost",
        metavar="COLUMN=PRICE",
        help="What a column costs before it is known; blood=tsh+t3:22 for those bought together.",
        rich_help_panel=_PRICES,
    ),
]
ColumnPay = Annotated[
    str | None,
    typer.Option(
        "--column-pay",
        metavar="row|model",
        help="Who pays it: each row that needs the column, or the model once.",
        rich_help_panel=_PRICES,
    ),
]
FnRange = Annotated[
    str | None,
    typer.Option(
        "--fn-range",
        metavar="LOW..HIGH",
        help="What is known of the number --fn begins with: two ends, or beta(6, 2).",
        rich_help_panel=_PRICES,
    ),
]
TpRange = Annotated[
    str | None,
    typer.Option(
        "--tp-range",
        metavar="LOW..HIGH",
        help="What is known of the number --tp begins with: two ends, or beta(6, 2).",
        rich_help_panel=_PRICES,
    ),
]
TnRange = Annotated[
    str | None,
    typer.Option(
        "--tn-range",
        metavar="LOW..HIGH",
        help="What is known of the number --tn begins with: two ends, or beta(6, 2).",
        rich_help_panel=_PRICES,
    ),
]
CostsFile = Annotated[
    str | None,
    typer.Option(
        "--costs",
        "--prices",
        metavar="FILE",
        help="A costs.toml in their place: for many classes, and for actions.",
        rich_help_panel=_PRICES,
    ),
]
Scenario = Annotated[
    list[str] | None,
    typer.Option(
        "--scenario",
        metavar="NAME=FILE",
        help="The same decisions under other prices: a costs.toml with those that differ.",
        rich_help_panel=_PRICES,
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(
        "--positive", metavar="LABEL", help="The positive class.", rich_help_panel=_PRICES
    ),
]
Benefits = Annotated[
    bool,
    typer.Option("--benefits", help="Allow negative prices: earnings.", rich_help_panel=_PRICES),
]
Currency = Annotated[
    str | None,
    typer.Option("--currency", help="Written before amounts: EUR.", rich_help_panel=_PRICES),
]

# columns

Target = Annotated[
    str,
    typer.Option(
        "--target",
        metavar="COLUMN",
        help="The truth.",
        rich_help_panel=_COLUMNS,
        show_default=False,
    ),
]
MaybeTarget = Annotated[
    str | None,
    typer.Option(
        "--target",
        metavar="COLUMN",
        help="The truth, if it is not where it was in training.",
        rich_help_panel=_COLUMNS,
    ),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="COLUMN",
        help="The time of each row; train and compare hold out the latest.",
        rich_help_panel=_COLUMNS,
    ),
]
_HELD = typer.Option("--holdout", help="Share of the rows that judge and are not trained on.")
Holdout = Annotated[float, _HELD]
MaybeHoldout = Annotated[float | None, _HELD]
Gap = Annotated[
    str | None,
    typer.Option(
        "--gap",
        metavar="SPAN",
        help="From training to the first decision, with --time: 7d, 12h.",
        rich_help_panel=_COLUMNS,
    ),
]
LabelDelay = Annotated[
    str | None,
    typer.Option(
        "--label-delay",
        metavar="SPAN",
        help="Labels are known so long after --time: 30d. Later rows are no negatives yet.",
        rich_help_panel=_COLUMNS,
    ),
]
LabelTime = Annotated[
    str | None,
    typer.Option(
        "--label-time",
        metavar="COLUMN",
        help="When each label became known; empty where it is open.",
        rich_help_panel=_COLUMNS,
    ),
]
Propensity = Annotated[
    str | None,
    typer.Option(
        "--propensity",
        metavar="COLUMN",
        help="The chance that a row had to get its label; rows weigh 1 / it, and stand for all.",
        rich_help_panel=_COLUMNS,
    ),
]
Groups = Annotated[
    str | None,
    typer.Option(
        "--groups",
        metavar="COLUMN",
        help="Who; rows of one are held out together, and intervals allow for it.",
        rich_help_panel=_COLUMNS,
    ),
]
Current = Annotated[
    str | None,
    typer.Option(
        "--current",
        metavar="COLUMN",
        help="What is decided today, to be billed beside the model.",
        rich_help_panel=_COLUMNS,
    ),
]
Drop = Annotated[
    list[str] | None,
    typer.Option("--drop", metavar="COLUMN", help="Leave out.", rich_help_panel=_COLUMNS),
]
Keep = Annotated[
    list[str] | None,
    typer.Option(
        "--keep",
        metavar="COLUMN",
        help="Learn from it though it looks like an identifier.",
        rich_help_panel=_COLUMNS,
    ),
]
AsNumber = Annotated[
    list[str] | None,
    typer.Option(
        "--as-number",
        metavar="COLUMN",
        help="Take a date as days, or codes such as 00042 as numbers.",
        rich_help_panel=_COLUMNS,
    ),
]
AsCategory = Annotated[
    list[str] | None,
    typer.Option(
        "--as-category",
        metavar="COLUMN",
        help="Take numbers as categories.",
        rich_help_panel=_COLUMNS,
    ),
]
SkipUnlabelled = Annotated[
    bool,
    typer.Option(
        "--skip-unlabelled",
        help="Leave out rows without a target.",
        rich_help_panel=_COLUMNS,
    ),
]

# how the table is written

Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        metavar="SIGN",
        help="Before the decimals of numbers: . or ,",
        rich_help_panel=_WRITTEN,
    ),
]
Thousands = Annotated[
    str | None,
    typer.Option(
        "--thousands",
        metavar="SIGN",
        help="Between thousands: . , ' or a blank; none.",
        rich_help_panel=_WRITTEN,
    ),
]
Missing = Annotated[
    list[str] | None,
    typer.Option(
        "--missing",
        metavar="TEXT",
        help="Means in every column that nothing is known; give several.",
        rich_help_panel=_WRITTEN,
    ),
]
Dates = Annotated[
    str | None,
    typer.Option(
        "--dates",
        metavar="ORDER",
        help="dmy for 31/12/2026, mdy for 12/31/2026.",
        rich_help_panel=_WRITTEN,
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        metavar="NAME",
        help="Of a text that is not UTF-8: latin-1, utf-16.",
        rich_help_panel=_WRITTEN,
    ),
]
Sheet = Annotated[
    str | None,
    typer.Option(
        "--sheet", metavar="NAME", help="Of a workbook (.xlsx).", rich_help_panel=_WRITTEN
    ),
]
Label = Annotated[
    list[str] | None,
    typer.Option(
        "--label",
        metavar="TEXT=LABEL",
        help="What a value of the target means; TEXT= that nothing is known.",
        rich_help_panel=_WRITTEN,
    ),
]
TidyLabels = Annotated[
    bool,
    typer.Option(
        "--tidy-labels",
        help="Labels that differ by blanks and capitals are one.",
        rich_help_panel=_WRITTEN,
    ),
]

# what is asked of decisions

ParityBy = Annotated[
    str | None,
    typer.Option("--parity", metavar="COLUMN", help="Rates of its groups differ little: a region."),
]
ParityOf = Annotated[
    str | None,
    typer.Option("--parity-of", metavar="RATE", help="Which: rate (if not said), missed, blocked."),
]
ParityWithin = Annotated[
    float | None,
    typer.Option(
        "--parity-within", metavar="SHARE", help="How far they may differ: 0.02 if not said."
    ),
]
ParityAction = Annotated[
    str | None,
    typer.Option(
        "--parity-action", metavar="ACTION", help="With rate: of what; else the positive class."
    ),
]
Promise = Annotated[
    float | None,
    typer.Option(
        "--promise",
        metavar="CONFIDENCE",
        help="Bound the mean cost of new rows, with this confidence, such as 0.95.",
    ),
]
Cap = Annotated[
    float | None,
    typer.Option("--cap", help="With --promise: the most that a row can cost."),
]

# training

Method = Annotated[
    str,
    typer.Option("--method", help="Our recipe, or a published method.", autocompletion=_methods),
]
Rounds = Annotated[
    int | None, typer.Option("--rounds", min=1, help="At most so many rounds of boosting.")
]
Calibration = Annotated[str, typer.Option("--calibration", help="How scores become probabilities.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="Of everything that is drawn.")]
Jobs = Annotated[int, typer.Option("--jobs", help="Threads; -1 is one for each core.")]

# output

Force = Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show where an error comes from.")]


# ---- Groups


@dataclass(frozen=True, kw_only=True)
class PriceOptions:
    """What decisions cost."""

    fp: Fp = None
    fn: Fn = None
    tp: Tp = None
    tn: Tn = None
    fp_range: FpRange = None
    fn_range: FnRange = None
    tp_range: TpRange = None
    tn_range: TnRange = None
    costs: CostsFile = None
    positive: Positive = None
    benefits: Benefits = False
    currency: Currency = None

    def read(self) -> Prices:
        """Return the prices."""
        from costboost.cli.prices import SIGNS, read_prices

        return read_prices(
            **{sign: getattr(self, sign) for sign in SIGNS},
            ranges={sign: getattr(self, f"{sign}_range") for sign in SIGNS},
            costs=self.costs,
            positive=self.positive,
            benefits=self.benefits,
            currency=self.currency,
        )


@dataclass(frozen=True, kw_only=True)
class ParityOptions:
    """Which rates may differ between which groups, and by how much."""

    parity: ParityBy = None
    parity_of: ParityOf = None
    parity_within: ParityWithin = None
    parity_action: ParityAction = None

    def read(self) -> Parity | None:
        """Return what is asked for, the groups being a column; None if nothing is."""
        from costboost.cli.decide import read_parity

        return read_parity(self.parity, self.parity_of, self.parity_within, self.parity_action)


@dataclass(frozen=True, kw_only=True)
class ColumnCostOptions:
    """What columns cost."""

    column_cost: ColumnCost = None
    column_pay: ColumnPay = None

    def read(self) -> FeatureCosts | None:
        """Return the prices of columns, if there are any."""
        from costboost.cli.prices import read_column_costs

        return read_column_costs(self.column_cost or (), self.column_pay)


@dataclass(frozen=True, kw_only=True)
class FormOptions:
    """How a table is written."""

    decimal: Decimal = None
    thousands: Thousands = None
    missing: Missing = None
    dates: Dates = None
    encoding: Encoding = None
    sheet: Sheet = None

    def read(self) -> Form:
        """Return the form that is asked for."""
        from costboost.cli.cells import Form

        return Form.asked(**asdict(self))


@dataclass(frozen=True, kw_only=True)
class LabelFormOptions(FormOptions):
    """How a table is written whose labels are read."""

    label: Label = None
    tidy_labels: TidyLabels = False


@dataclass(frozen=True, kw_only=True)
class LateOptions:
    """When rows were decided, and their labels known."""

    time: Time = None
    gap: Gap = None
    label_delay: LabelDelay = None
    label_time: LabelTime = None


@dataclass(frozen=True, kw_only=True)
class ColumnOptions(LateOptions):
    """Which column is what, where a model is trained."""

    propensity: Propensity = None
    groups: Groups = None
    current: Current = None
    drop: Drop = None
    keep: Keep = None
    as_number: AsNumber = None
    as_category: AsCategory = None
    skip_unlabelled: SkipUnlabelled = False

    def read(self, target: str, form: Form, seed: int) -> Choices:
        """Return the choices of a training."""
        from costboost.cli.train import Choices

        given = {name: value for name, value in asdict(self).items() if value is not None}
        return Choices(target=target, form=form, seed=seed, **given)


@dataclass(frozen=True, kw_only=True)
class TrainingOptions:
    """How models are trained."""

    rounds: Rounds = None
    calibration: Calibration = "auto"
    seed: Seed = 0
    jobs: Jobs = -1

    def read(self, feature_costs: FeatureCosts | None = None) -> Maker:
        """Return what makes the models."""
        from costboost.cli.train import Maker

        return Maker(**asdict(self), feature_costs=feature_costs)


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command whose groups of options are options of its own, for the parser."""
    hints = get_type_hints(command, include_extras=True)
    groups, flattened = {}, []
    for name, parameter in inspect.signature(command).parameters.items():
        kind = hints[name]
        if not is_dataclass(kind):
            flattened.append(parameter.replace(annotation=kind, kind=parameter.KEYWORD_ONLY))
            continue
        groups[name] = [field.name for field in fields(kind)]
        inner = get_type_hints(kind, include_extras=True)
        flattened += [
            inspect.Parameter(
                field.name, parameter.KEYWORD_ONLY, default=field.default,
                annotation=inner[field.name],
            )
            for field in fields(kind)
        ]  # fmt: skip

    def run(**given: Any) -> None:
        made = {
            name: hints[name](**{part: given.pop(part) for part in parts})
            for name, parts in groups.items()
        }
        command(**given, **made)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in flattened}
    run.__signature__ = inspect.Signature(flattened)  # type: ignore[attr-defined]
    return run
