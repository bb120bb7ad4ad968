"""``costboost report``: a page in which prices can be dragged."""

from __future__ import annotations

from pathlib import Path

from costboost.cli.evaluate import note_training_rows
from costboost.cli.prices import Prices
from costboost.cli.recipe import Recipe, read_model
from costboost.cli.rows import load_rows
from costboost.cli.screen import Screen
from costboost.cli.writing import check_output
from costboost.report import make_report

__all__ = ["report"]


def report(
    model_path: str,
    table: str,
    prices: Prices,
    screen: Screen,
    *,
    output: str,
    force: bool,
    target: str | None,
    current: str | None,
    rows: bool,
    title: str | None,
) -> None:
    """Write the report of a model on a table whose truth is known."""
    check_output(output, force, (".html", ".htm"))
    kept = read_model(model_path)
    read, source = load_rows(
        kept, table, prices, screen, target=target, needs_target=True, current=current
    )
    when = kept.recipe.time  # capacities are those of a day
    note_training_rows(screen, kept, source.digest)
    currency = prices.currency or (kept.recipe.prices.currency if kept.recipe.prices else "")
    with screen.listening(), screen.working("Writing the report"):
        made = make_report(
            kept.model,
            read.X,
            read.truth,
            costs=read.costs,
            current=read.current,
            time=None if when not in read.frame.columns else read.frame[when].to_numpy(),
            rows=rows,
            currency=currency,
            notes=_notes(kept.recipe),
            title=title or f"{Path(model_path).name} on {Path(source.name).name}",
        )
        made.save(output, overwrite=force)
    size = Path(output).stat().st_size
    screen.say(f"Wrote {output} ({size / 1024:,.0f} KB): open it in a browser.")
    if rows:
        screen.note("the page holds the values of some rows: --rows asked for it.")
    screen.result({"report": output, "size": size, "rows": rows})


def _notes(recipe: Recipe) -> dict[str, str]:
    """Return what the model card should say of how the model was trained."""
    counts = ", ".join(f"{count:,} {part}" for part, count in recipe.rows.items())
    notes = {
        "Trained": " ".join(part for part in (recipe.trained, f"on {recipe.table}") if part),
        "Digest of that file": recipe.digest,
        "Its rows": f"{counts}; {recipe.how}" if recipe.how else counts,
        "Columns left out": "\n".join(f"{name}: {why}" for name, why in recipe.left_out.items()),
    }
    return {name: text for name, text in notes.items() if text} if recipe.table else {}
