"""train, bundles."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import AS_JSON, PROJECT, ensure_index, opened, run_job, say
from curator.domain.bundles import BundleInfo
from curator.domain.errors import UserError

if TYPE_CHECKING:
    from curator.services.retraining import TrainingPreview


@click.command("train")
@PROJECT
@click.option("--recipe", required=True, metavar="NAME", help="pel-pb, amh-dual, prototype, …")
@click.option("--max-minutes", type=click.FloatRange(min=0, min_open=True), metavar="M", help="Stop in time.")
@click.option("--set", "given", multiple=True, metavar="NAME=VALUE", help="Another value for a parameter.")
@click.option("--seed", type=int, default=0, show_default=True, help="Same seed, same data: the same weights.")
@click.option(
    "--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True, help="Where it trains."
)
@click.option("--preview", is_flag=True, help="Only say what it would learn from and how long it would take.")
@AS_JSON
def train(
    project: Path,
    *,
    recipe: str,
    max_minutes: float | None,
    given: tuple[str, ...],
    seed: int,
    device: str,
    preview: bool,
    as_json: bool,
) -> None:
    """Retrain the linker from the decisions of train documents; it serves unless validation says worse."""
    from curator.services.recipes import find_recipe

    params = find_recipe(recipe).parse(_pairs(given))
    if preview:
        with opened(project, read_only=True) as found:
            shown = found.retraining.preview(recipe, params, device=device)
        say(asdict(shown), _preview_text(shown), as_json=as_json)
        return
    with opened(project) as found:
        if problem := found.retraining.problem():
            raise UserError(problem)
        ensure_index(found)
        outcome = run_job(
            lambda show, end: found.retraining.start(
                recipe,
                params,
                seed=seed,
                device=device,
                max_minutes=max_minutes,
                on_progress=show,
                on_end=end,
            )
        )
    serves = "serves now" if outcome.result["active"] else "is kept and does not serve"
    say(outcome.result, f"{outcome.message}\nThe bundle {outcome.result['bundle']} {serves}.", as_json=as_json)


@click.command("bundles")
@PROJECT
@click.option("--promote", metavar="ID", help="Let this bundle serve, whatever its gate said.")
@click.option("--rollback", is_flag=True, help="Back to the bundle that served before.")
@AS_JSON
def bundles(project: Path, *, promote: str | None, rollback: bool, as_json: bool) -> None:
    """List the bundles of P, oldest first; promote one, or go back."""
    if promote and rollback:
        raise click.UsageError("Give --promote or --rollback, not both.")
    with opened(project, read_only=not (promote or rollback)) as found:
        if promote:
            found.retraining.promote(promote)
        elif rollback:
            found.retraining.rollback()
        listed = found.retraining.bundles()
    say({"bundles": [_bundle(one) for one in listed]}, "\n".join(map(_bundle_text, listed)), as_json=as_json)


def _pairs(given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals:
            raise click.UsageError(f"--set takes NAME=VALUE, not {one!r}.")
        pairs[name.strip()] = value.strip()
    return pairs


def _preview_text(shown: TrainingPreview) -> str:
    lines = [
        f"Learns from {shown.links:,} links and {shown.nils:,} NIL decisions in {shown.documents:,} documents "
        f"({shown.entities:,} entities).",
        f"Judged by {shown.validation_decisions:,} decisions in {shown.validation_documents:,} validation documents.",
        f"About {max(1, round(shown.minutes)):,} minutes ({shown.basis}).",
    ]
    return "\n".join([*lines, *([f"It cannot start: {shown.problem}"] if shown.problem else [])])


def _bundle(info: BundleInfo) -> dict[str, Any]:
    return asdict(info) | {"created_at": info.created_at.isoformat(), "verdict": info.verdict.value}


def _bundle_text(info: BundleInfo) -> str:
    mark = "*" if info.active else " "
    stages = ", ".join(info.stages)
    return f"{mark} {info.id}  {info.recipe}  {info.verdict.value.replace('_', ' ')}  {stages}  {info.summary}".rstrip()
