"""What the decisions of models cost, as users get them: ours, and everybody else's.

    python benchmarks/cost.py [--quick] [--half dev|test] [--sets ...] [--models ...] [--report]

The 18 binary sets of Nikolaou et al. (2016), in stratified halves, five times (twice from 2,000
rows on), at 21 ratios of costs: cheapest decisions, normalised cost Q. Five sets with a price per
row, split 25 times (five times from 2,000 rows on): savings against the cheapest constant decision.
Models keep their defaults; each fit uses one thread, and two worker processes share the work.
Results are appended to `results/cost.csv`: an interrupted run continues when started again, and
only what changed is measured anew. Data come from the folder named by COSTBOOST_DATA, else from
../shared/data beside the checkout.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from _cost_models import CONTENDERS, FAMILY, OURS, PEERS, own_hash
from _cost_report import report
from _cost_run import Job, Results, run
from _cost_tables import HALVES, NIKOLAOU, PRICED, SIZES, data_folder, default_repeats

QUICK_SETS = ("nik_heart", "nik_liver", "nik_sonar", "creditcard_fraud_sample")
QUICK_MODELS = (OURS, "CatBoost", "LightGBM", "random forest", "logistic regression")
GROUPS = {"nikolaou": NIKOLAOU, "priced": PRICED, **HALVES}


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--quick", action="store_true", help="about a minute: four small sets, one split, 5 models")
    add(
        "--half",
        choices=sorted(HALVES),
        help="only the half of the 18 sets used for choosing, or the other",
    )
    add("--sets", nargs="+", metavar="SET", help=f"names, or {', '.join(GROUPS)}")
    add("--models", nargs="+", metavar="MODEL", help=f"of: {', '.join(map(repr, CONTENDERS))}")
    add("--family", action="store_true", help="also every named method as published (slow)")
    add("--repeats", type=int, metavar="N", help="splits of each set, instead of those above")
    add("--report", action="store_true", help="measure nothing, print what is in the file")
    add("--keep", action="store_true", help="results of older versions count as done")
    add("--workers", type=int, default=2, metavar="N", help="processes; default: %(default)s")
    folder = Path(__file__).resolve().parent / "results"
    add("--out", type=Path, default=folder, metavar="FOLDER", help="default: benchmarks/results")
    return parser.parse_args()


def chosen_sets(options: argparse.Namespace) -> list[str]:
    """Return the sets asked for, small ones first."""
    if options.sets:
        names = [name for given in options.sets for name in _sets_of(given)]
    elif options.half:
        names = list(HALVES[options.half])
    else:
        names = list(QUICK_SETS if options.quick else (*NIKOLAOU, *PRICED))
    return sorted(set(names), key=lambda name: (SIZES[name][0] * SIZES[name][1], name))


def _sets_of(given: str) -> tuple[str, ...]:
    if given in GROUPS:
        return GROUPS[given]
    for name in (given, f"nik_{given}"):
        if name in SIZES:
            return (name,)
    raise SystemExit(f"There is no set {given!r}; allowed: {', '.join([*GROUPS, *SIZES])}.")


def chosen_models(options: argparse.Namespace) -> list[str]:
    if options.models:
        unknown = [name for name in options.models if name not in CONTENDERS]
        if unknown:
            allowed = ", ".join(map(repr, CONTENDERS))
            raise SystemExit(f"There is no model {unknown[0]!r}; allowed: {allowed}.")
        names = list(options.models)
    else:
        names = list(QUICK_MODELS if options.quick else (OURS, *(peer.name for peer in PEERS)))
    return names + [c.name for c in FAMILY if options.family and c.name not in names]


def plan(options: argparse.Namespace) -> list[Job]:
    """Return all jobs, first splits first: a report halfway then covers all sets."""
    sets, models = chosen_sets(options), chosen_models(options)
    repeats = options.repeats or (1 if options.quick else None)
    counts = {name: repeats or default_repeats(name) for name in sets}
    return [
        Job(name, repeat, model)
        for repeat in range(max(counts.values()))
        for name in sets
        if repeat < counts[name]
        for model in models
    ]


def main() -> int:
    options = read_options()
    jobs = plan(options)
    own_hash()  # of the code as it is now, not when the run has ended
    results = Results(options.out / "cost.csv")
    failed: list[Job] = []
    if not options.report:
        if not data_folder().is_dir():
            raise SystemExit(f"No data in {data_folder()}: set COSTBOOST_DATA to their folder.")
        todo = results.missing(jobs, keep=options.keep)
        print(f"{len(jobs)} jobs, {len(jobs) - len(todo)} of them done already", flush=True)
        failed = run(todo, results, options.workers) if todo else []
    lines = results.read()
    splits, models = {(job.set, job.repeat) for job in jobs}, {job.model for job in jobs}
    wanted = [
        (name, repeat) in splits and (model in models or model.removesuffix(", cheapest") in models)
        for name, repeat, model in zip(lines["set"], lines["repeat"], lines["model"], strict=True)
    ]
    if any(wanted):
        report(lines[wanted], options.out)
    print(f"Load average {', '.join(f'{x:.2f}' for x in os.getloadavg())}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
