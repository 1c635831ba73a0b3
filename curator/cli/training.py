"""train, linkers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from curator.cli.console import Report, Result, counted, echo, ensure_index, project_command, run_job
from curator.domain.jobs import ActivationKind, BundleInfo, GateVerdict
from curator.domain.wording import UserError
from curator.services.training.bundle_metrics import NIL, DiffKind, DiffRow, diff_rows, diff_words, queue_asked
from curator.services.training.bundles import DiskReport, DiskUse, manifest_text, notes_of, size_words
from curator.services.training.recipes import CONTEXT, FIRST

if TYPE_CHECKING:
    from curator.bootstrap import Project
    from curator.domain.jobs import JobOutcome
    from curator.services.ports.processes import JobHandle
    from curator.services.training.retraining import TrainingPreview


# Linkers on the command line: the list, one linker, and the answers that one changed, as text and as JSON. In the code
# and in JSON, a linker on disk is a bundle.

CHECKS = {
    GateVerdict.PROMOTE: "better",
    GateVerdict.NO_GAIN: "no gain",
    GateVerdict.REFUSED: "worse",
    GateVerdict.NOT_GATED: "not checked",
}
"""Results of the check of a new linker."""
USES = {
    ActivationKind.JOB: "put into use automatically by a job of",
    ActivationKind.CURATOR: "put into use by",
    ActivationKind.ROLLBACK: "rolled back to this linker by",
}
MARKS = {DiffKind.BETTER: "+ becomes right", DiffKind.WORSE: "- becomes wrong", DiffKind.QUEUE: "? undecided"}


def bundle_json(info: BundleInfo, use: DiskUse | None = None) -> dict[str, Any]:
    facts = asdict(info) | {"created_at": info.created_at.isoformat(), "verdict": info.verdict.value}
    return facts | ({"bytes": use.size, "own_bytes": use.own} if use is not None else {})


def listing_text(bundles: Sequence[BundleInfo], disk: DiskReport) -> str:
    """A line for each linker, then the disk space of all."""
    lines = [_line(one, disk.bundles.get(one.id)) for one in bundles]
    if bundles:
        lines.append(f"{size_words(disk.total)} in total. Files that several linkers share are counted once.")
    if disk.trainings:
        lines.append(f"{size_words(disk.trainings)} kept to resume interrupted trainings.")
    return "\n".join(lines)


def _line(info: BundleInfo, use: DiskUse | None) -> str:
    mark = "*" if info.active else " "
    stages = ", ".join(info.stages)
    size = size_words(use.size) if use is not None else ""
    return f"{mark} {info.id}  {info.recipe}  {CHECKS[info.verdict]}  {stages}  {size}  {info.summary}".rstrip()


def bundle_text(project: Project, info: BundleInfo) -> str:
    """When and why the linker was in use, the notes of its training, and its manifest."""
    used = [
        f"{one.at:%Y-%m-%d %H:%M}  {USES[one.kind]} {one.actor}" + (f": {one.reason}" if one.reason else "")
        for one in project.retraining.activations()
        if one.bundle_id == info.id
    ]
    return "\n".join([*used, *notes_of(info), manifest_text(info)])


def changes_text(project: Project, info: BundleInfo) -> str:
    """The answers that changed with this linker, a line for each mention."""
    rows = diff_rows(info.metrics)
    return "\n".join(
        [*(_change_words(project, row) for row in rows), diff_words(rows, asked=queue_asked(info.metrics))]
    )


def _change_words(project: Project, row: DiffRow) -> str:
    def name(entity_id: str) -> str:
        entity = None if entity_id == NIL else project.knowledge.entity(entity_id)
        return entity_id if entity is None else f"{entity.name} ({entity_id})"

    gold = "" if row.kind is DiffKind.QUEUE else f"  decided {' + '.join(map(name, row.gold)) or NIL}"
    return f"{MARKS[row.kind]}  mention {row.mention}  “{row.surface}”  {name(row.before)} → {name(row.after)}{gold}"


Start = Callable[[Report, Callable[["JobOutcome"], None]], "JobHandle"]


@project_command("train", read_only=lambda given: given["preview"])
@click.option("--recipe", metavar="NAME", help="Recipe to train, such as curator, pel-pb-quick or prototype.")
@click.option(
    "--max-minutes", type=click.FloatRange(min=0, min_open=True), metavar="M", help="Finish within M minutes."
)
@click.option(
    "--set", "given", multiple=True, metavar="NAME=VALUE", help="Change a parameter of the recipe. Repeatable."
)
@click.option(
    "--seed", type=int, default=0, show_default=True, help="Random seed. The same seed and data give the same weights."
)
@click.option(
    "--device",
    type=click.Choice(["auto", "cpu", "cuda"]),
    default="auto",
    show_default=True,
    help="Device to train on.",
)
@click.option("--tensorboard", is_flag=True, help="Also write the live figures to P/tensorboard.")
@click.option(
    "--preview",
    is_flag=True,
    help="Only show the decisions to learn from, the time of the last training and what is recommended. Default "
    "recipe: names.",
)
@click.option("--resume", is_flag=True, help="Resume the training that was interrupted.")
@click.option("--discard", is_flag=True, help="Discard the training that was interrupted.")
def train(
    project: Project,
    *,
    recipe: str | None,
    max_minutes: float | None,
    given: tuple[str, ...],
    seed: int,
    device: str,
    tensorboard: bool,
    preview: bool,
    resume: bool,
    discard: bool,
) -> Result:
    """Retrain the linker from the decisions in train documents.

    The new linker is put into use only if a check on held-out documents finds it better.

    Start a training with --recipe. After an interruption, use --resume or --discard.
    """
    if preview and not (resume or discard):
        recipe = recipe or FIRST
    if sum((recipe is not None, resume, discard)) != 1:
        raise click.UsageError("Give one of --recipe NAME, --resume and --discard.")
    if recipe is None:
        return _after_a_crash(project, discard=discard)
    from curator.services.training.recipes import find_recipe, parsed_values

    params = parsed_values(find_recipe(recipe), _pairs(given))
    if not preview:
        if problem := project.retraining.problem(recipe):
            raise UserError(problem)
        if project.retraining.needs_index():
            ensure_index(project)
    shown = project.retraining.preview(recipe, params)
    if preview:
        return Result(asdict(shown), _preview_text(shown, recipe))
    echo(_preview_text(shown, recipe), err=True)
    return _run(
        lambda show, end: project.retraining.start(
            recipe,
            params,
            seed=seed,
            device=device,
            max_minutes=max_minutes,
            tensorboard=tensorboard,
            on_progress=show,
            on_end=end,
        )
    )


def _after_a_crash(project: Project, *, discard: bool) -> Result:
    left = project.retraining.interrupted()
    if not left:
        raise UserError("No training was interrupted in this project. Start one with --recipe NAME.")
    if discard:
        project.retraining.discard_interrupted(left[0].id)
        return Result({"discarded": left[0].id}, f"Discarded. {left[0].words}")
    echo(left[0].words, err=True)
    return _run(lambda show, end: project.retraining.resume(left[0].id, on_progress=show, on_end=end))


def _run(start: Start) -> Result:
    outcome = run_job(start)
    state = "is in use now" if outcome.result["active"] else "is kept but not in use"
    words = _diff_words(outcome.result.get("metrics", {}))
    return Result(outcome.result, f"{outcome.message}\n{words}Linker {outcome.result['bundle']} {state}.")


def _diff_words(metrics: Mapping[str, Any]) -> str:
    from curator.services.training.bundle_metrics import diff_rows, diff_words, queue_asked

    return f"{diff_words(diff_rows(metrics), asked=queue_asked(metrics))}\n" if "flips" in metrics else ""


@project_command("linkers", read_only=lambda given: not (given["used"] or given["rollback"] or given["delete"]))
@click.option("--use", "used", metavar="ID", help="Use this linker, even if it did not pass the check.")
@click.option(
    "--reason", default="", metavar="TEXT", help="Reason for --use. Required if the check found the linker worse."
)
@click.option("--rollback", is_flag=True, help="Roll back to the linker that was in use before.")
@click.option("--delete", multiple=True, metavar="ID", help="Delete this linker from the disk. Repeatable.")
@click.option("--show", metavar="ID", help="Show when and why this linker was in use, its notes and its manifest.")
@click.option("--changes", metavar="ID", help="List the mentions whose answer changes with this linker.")
def linkers(
    project: Project,
    *,
    used: str | None,
    reason: str,
    rollback: bool,
    delete: tuple[str, ...],
    show: str | None,
    changes: str | None,
) -> Result:
    """List the linkers of P with their size on disk, oldest first. A star marks the one in use.

    With an option, use, show or delete a linker, or roll back to the one before.
    """
    if sum(map(bool, (used, rollback, delete, show, changes))) > 1:
        raise click.UsageError("Give one of --use, --rollback, --delete, --show and --changes.")
    if reason and not used:
        raise click.UsageError("--reason requires --use ID.")
    if show:
        one = _bundle(project, show)
        return Result(bundle_json(one), bundle_text(project, one))
    if changes:
        one = _bundle(project, changes)
        return Result(
            {"bundle": one.id, "changes": list(map(asdict, diff_rows(one.metrics)))}, changes_text(project, one)
        )
    if used:
        project.retraining.promote(used, reason=reason)
    elif rollback:
        project.retraining.rollback()
    for each in delete:
        project.retraining.delete(each)
    listed, disk = project.retraining.bundles(), project.retraining.disk()
    rows = [bundle_json(one, disk.bundles.get(one.id)) for one in listed]
    return Result({"bundles": rows, "bytes": disk.total}, listing_text(listed, disk))


def _bundle(found: Project, bundle_id: str) -> BundleInfo:
    known = {one.id: one for one in found.retraining.bundles()}
    if bundle_id not in known:
        raise UserError(f"Linker {bundle_id!r} was not found. Linkers of this project: {', '.join(known) or 'none'}.")
    return known[bundle_id]


def _pairs(given: tuple[str, ...]) -> dict[str, str]:
    pairs = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals:
            raise click.UsageError(f"--set takes NAME=VALUE, not {one!r}.")
        pairs[name.strip()] = value.strip()
    return pairs


def _preview_text(shown: TrainingPreview, recipe: str) -> str:
    """The forecast of the training, as shown in the dialog, in lines."""
    lines = [
        f"Learns from {counted(shown.links, 'link', 'links')}"
        + (f" and {counted(shown.nils, 'NIL decision', 'NIL decisions')}" if shown.nils else "")
        + f" in {counted(shown.documents, 'document', 'documents')} ({counted(shown.entities, 'entity', 'entities')}).",
        f"Does not learn from {counted(shown.left_out, 'NIL decision', 'NIL decisions')}." if shown.left_out else "",
        f"Candidates that were shown but not chosen: {shown.passed_over:,}." if shown.passed_over else "",
        f"Linked entities that are not in the knowledge base: {shown.outside:,}." if shown.outside else "",
        _judges(shown),
        shown.expects,
        f"The last training with this recipe here took {_minutes(shown.seconds / 60)}." if shown.seconds else "",
        f"The training cannot start: {shown.problem}" if shown.problem else "",
        f"Also recommended: --recipe {CONTEXT}. {shown.context}" if shown.context and recipe != CONTEXT else "",
    ]
    return "\n".join(line for line in lines if line)


def _judges(shown: TrainingPreview) -> str:
    if shown.in_turn:
        return "Evaluated with cross-validation over these documents."
    if not shown.validation_decisions:
        return "No validation document is decided: a fifth of these documents is held out for evaluation."
    decisions = counted(shown.validation_decisions, "decision", "decisions")
    documents = counted(shown.validation_documents, "validation document", "validation documents")
    most = f", at most {shown.judged_at_most} links." if shown.judged_at_most else "."
    return f"Evaluated on {decisions} in {documents}{most}"


def _minutes(minutes: float) -> str:
    return counted(max(1, round(minutes)), "minute", "minutes")
