"""What the decisions of models cost, as users get them: ours, and everybody else's.

    python benchmarks/cost.py [--binary] [--priced] [--many] [--quick] [--half dev|test] [--report]

`--binary`: the 18 sets of Nikolaou et al. (2016), in stratified halves, five times (twice from
2,000 rows on), at 21 ratios of costs: cheapest decisions, normalised cost Q. `--priced`: five sets
with a price per row, split 25 times (five times from 2,000 rows on): savings against the cheapest
constant decision. `--many`: 17 sets of 3 to 26 classes, split three times (once from 5,000 rows
on), ten cost matrices each. Without any of the three, all of them.
Models keep their defaults; each fit uses one thread, and two worker processes share the work.
Results are appended to `results/cost.csv`: an interrupted run continues when started again, and
only what changed is measured anew. Data come from the folder named by COSTBOOST_DATA, else from
../shared/data beside the checkout.

`--publish` writes the results asked for to `published/cost.csv`, which is committed, and prints the
README's tables from them; `--published` prints everything from that file and measures nothing, so
that the figures can be checked without a rerun.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from _cost_many import MANY, MANY_HALVES, MANY_SIZES
from _cost_many_report import report_many
from _cost_models import BAGS, BINARY_ONLY, CONTENDERS, FAMILY, OURS, PEERS, own_hash
from _cost_readme import publish, read_published, readme_tables
from _cost_report import report
from _cost_run import Job, Results, run
from _cost_tables import HALVES, NIKOLAOU, PRICED, SIZES, data_folder, default_repeats

QUICK_SETS = {
    "binary": ("nik_heart", "nik_liver", "nik_sonar"),
    "priced": ("creditcard_fraud_sample",),
    "many": ("iris", "wine"),
}
QUICK_MODELS = (OURS, "CatBoost", "LightGBM", "random forest", "logistic regression")
PARTS = {"binary": NIKOLAOU, "priced": PRICED, "many": MANY}
GROUPS = {"nikolaou": NIKOLAOU, "priced": PRICED, "many": MANY, **HALVES, **MANY_HALVES}
ALL_SIZES = SIZES | MANY_SIZES


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--binary", action="store_true", help="two classes, 21 cost ratios")
    add("--priced", action="store_true", help="two classes, a price per row")
    add("--many", action="store_true", help="more than two classes, cost matrices")
    add("--quick", action="store_true", help="about a minute: six small sets, one split, 5 models")
    add("--half", choices=("dev", "test"), help="only the sets seen while choosing, or the others")
    add("--sets", nargs="+", metavar="SET", help=f"names, or {', '.join(GROUPS)}")
    add("--models", nargs="+", metavar="MODEL", help=f"of: {', '.join(map(repr, CONTENDERS))}")
    add("--bags", action="store_true", help="also bags of five, as leaderboards run peers (slow)")
    add("--family", action="store_true", help="also every named method as published (slow)")
    add("--repeats", type=int, metavar="N", help="splits of each set, instead of those above")
    add("--report", action="store_true", help="measure nothing, print what is in the file")
    add("--publish", action="store_true", help="write results to published/cost.csv")
    add("--published", action="store_true", help="measure nothing, print what is committed there")
    add("--keep", action="store_true", help="results of older versions count as done")
    add("--workers", type=int, default=2, metavar="N", help="processes; default: %(default)s")
    folder = Path(__file__).resolve().parent / "results"
    add("--out", type=Path, default=folder, metavar="FOLDER", help="default: benchmarks/results")
    return parser.parse_args()


def chosen_sets(options: argparse.Namespace) -> list[str]:
    """Return the sets asked for, small ones first."""
    parts = [part for part in PARTS if getattr(options, part)] or list(PARTS)
    if options.sets:
        names = [name for given in options.sets for name in _sets_of(given)]
    elif options.quick:
        names = [name for part in parts for name in QUICK_SETS[part]]
    else:
        names = [name for part in parts for name in _half_of(part, options.half)]
    return sorted(set(names), key=lambda name: (ALL_SIZES[name][0] * ALL_SIZES[name][1], name))


def _half_of(part: str, half: str | None) -> tuple[str, ...]:
    """Return the sets of a part; sets with prices have no halves."""
    if half is None:
        return PARTS[part]
    return {"binary": HALVES[half], "priced": (), "many": MANY_HALVES[f"many-{half}"]}[part]


def _sets_of(given: str) -> tuple[str, ...]:
    if given in GROUPS:
        return GROUPS[given]
    for name in (given, f"nik_{given}"):
        if name in ALL_SIZES:
            return (name,)
    raise SystemExit(f"There is no set {given!r}; allowed: {', '.join([*GROUPS, *ALL_SIZES])}.")


def chosen_models(options: argparse.Namespace) -> list[str]:
    if options.models:
        unknown = [name for name in options.models if name not in CONTENDERS]
        if unknown:
            allowed = ", ".join(map(repr, CONTENDERS))
            raise SystemExit(f"There is no model {unknown[0]!r}; allowed: {allowed}.")
        names = list(options.models)
    else:
        names = list(QUICK_MODELS if options.quick else (OURS, *(peer.name for peer in PEERS)))
    more = (*(BAGS if options.bags else ()), *(FAMILY if options.family else ()))
    return names + [c.name for c in more if c.name not in names]


def plan(options: argparse.Namespace) -> list[Job]:
    """Return all jobs, first splits first: a report halfway then covers all sets."""
    sets, models = chosen_sets(options), chosen_models(options)
    repeats = options.repeats or (1 if options.quick else None)
    counts = {name: repeats or _repeats(name) for name in sets}
    return [
        Job(name, repeat, model)
        for repeat in range(max(counts.values()))
        for name in sets
        if repeat < counts[name]
        for model in models
        if name not in MANY or model not in BINARY_ONLY
    ]


def _repeats(name: str) -> int:
    if name in MANY:
        return 1 if MANY_SIZES[name][0] >= 5000 else 3
    return default_repeats(name)


def main() -> int:
    options = read_options()
    jobs = plan(options)
    own_hash()  # of the code as it is now, not when the run has ended
    failed: list[Job] = []
    if options.published:
        show(read_published(), options)
        return 0
    results = Results(options.out / "cost.csv")
    if not options.report:
        if not data_folder().is_dir():
            raise SystemExit(f"No data in {data_folder()}: set COSTBOOST_DATA to their folder.")
        todo = results.missing(jobs, keep=options.keep)
        print(f"{len(jobs)} jobs, {len(jobs) - len(todo)} of them done already", flush=True)
        failed = run(todo, results, options.workers) if todo else []
    lines = results.read()
    splits, models = {(job.set, job.repeat) for job in jobs}, {job.model for job in jobs}
    models |= {member.name for model in models for member in CONTENDERS[model].members}
    wanted = [
        (name, repeat) in splits and (model in models or model.removesuffix(", cheapest") in models)
        for name, repeat, model in zip(lines["set"], lines["repeat"], lines["model"], strict=True)
    ]
    lines = lines[wanted]
    if options.publish:
        publish(lines)
    show(lines, options)
    return 1 if failed else 0


def show(lines: Any, options: argparse.Namespace) -> None:
    """Print all reports, and the README's tables where results are, or become, published."""
    options.out.mkdir(parents=True, exist_ok=True)
    of_many = lines["set"].isin(MANY)
    if (~of_many).any():
        report(lines[~of_many], options.out)
    if of_many.any():
        report_many(lines[of_many])
    if options.publish or options.published:
        print("", *readme_tables(lines), sep="\n\n")
    print(f"Load average {', '.join(f'{x:.2f}' for x in os.getloadavg())}")


if __name__ == "__main__":
    sys.exit(main())
