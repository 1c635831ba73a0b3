"""Bundles on the command line: one, all, and what one changed, in words and as JSON data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from curator.domain.bundles import BundleInfo
from curator.services.training.bundle_files import DiskReport, DiskUse, manifest_text, notes_of, size_words
from curator.services.training.promotion_diff import NIL, DiffKind, DiffRow, diff_rows, diff_words, queue_asked

if TYPE_CHECKING:
    from curator.bootstrap import Project

MARKS = {DiffKind.BETTER: "+ becomes right", DiffKind.WORSE: "- becomes wrong", DiffKind.QUEUE: "? undecided"}


def bundle_json(info: BundleInfo, use: DiskUse | None = None) -> dict[str, Any]:
    facts = asdict(info) | {"created_at": info.created_at.isoformat(), "verdict": info.verdict.value}
    return facts | ({"bytes": use.size, "own_bytes": use.own} if use is not None else {})


def listing_text(bundles: Sequence[BundleInfo], disk: DiskReport) -> str:
    """A line for each bundle, and the space of all."""
    lines = [_line(one, disk.bundles.get(one.id)) for one in bundles]
    if bundles:
        lines.append(f"{size_words(disk.total)} in all; files that several bundles share count once.")
    if disk.trainings:
        lines.append(f"{size_words(disk.trainings)} kept by interrupted trainings to go on from.")
    return "\n".join(lines)


def _line(info: BundleInfo, use: DiskUse | None) -> str:
    mark = "*" if info.active else " "
    stages = ", ".join(info.stages)
    size = size_words(use.size) if use is not None else ""
    verdict = info.verdict.value.replace("_", " ")
    return f"{mark} {info.id}  {info.recipe}  {verdict}  {stages}  {size}  {info.summary}".rstrip()


def bundle_text(project: Project, info: BundleInfo) -> str:
    """When and why it served, the notes of its making, its manifest."""
    served = [
        f"{one.at:%Y-%m-%d %H:%M} {one.kind.value} {one.actor} {one.reason}".rstrip()
        for one in project.retraining.activations()
        if one.bundle_id == info.id
    ]
    return "\n".join([*served, *notes_of(info), manifest_text(info)])


def changes_json(info: BundleInfo) -> dict[str, Any]:
    return {"bundle": info.id, "changes": [asdict(one) for one in diff_rows(info.metrics)]}


def changes_text(project: Project, info: BundleInfo) -> str:
    """The promotion diff, a line for each mention."""
    rows = diff_rows(info.metrics)
    return "\n".join([*(_change(project, row) for row in rows), diff_words(rows, asked=queue_asked(info.metrics))])


def _change(project: Project, row: DiffRow) -> str:
    def name(entity_id: str) -> str:
        entity = None if entity_id == NIL else project.knowledge.entity(entity_id)
        return entity_id if entity is None else f"{entity.name} ({entity_id})"

    gold = "" if row.kind is DiffKind.QUEUE else f"  decided {' + '.join(map(name, row.gold)) or NIL}"
    return f"{MARKS[row.kind]}  mention {row.mention}  “{row.surface}”  {name(row.before)} → {name(row.after)}{gold}"
