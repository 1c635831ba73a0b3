"""An exported bulk step: its sample as JSON lines to mark, followed by its plan. Pure.

Each line is one suggestion to check, with `"right": null`; the checker writes true or false there. The last line holds
the plan, made before the sample was seen: the sets, their samples and all their suggestions, so that the bound holds
regardless of the time that checking takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any

from curator.domain.wording import UserError, tr
from curator.services.curating.bulk_plan import BulkPlan, BulkSet
from curator.services.ports.queue import Chance, MentionContext

FORMAT = 2
"""1 was the format of plans whose limit counted the checked mentions among the accepted."""


@dataclass(frozen=True, slots=True)
class SampleSheet:
    """A read sheet: the plan, the marks so far, and (document, string) of each mention on the sheet."""

    plan: BulkPlan
    marks: Mapping[int, bool]
    shown: Mapping[int, tuple[str, str]]


def sheet_of(plan: BulkPlan, contexts: Iterable[MentionContext], marks: Mapping[int, bool]) -> str:
    """The sheet with a line for each of the mentions `contexts`, with the marks in `marks`."""
    chances = {one.mention_id: one for one in plan.chances}
    lines = [_line(one, chances[one.mention_id], marks.get(one.mention_id)) for one in contexts]
    lines.append({"plan": _packed(plan)})
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)


def read_sheet(text: str) -> SampleSheet:
    """The sheet. Raises UserError, with the line number, if it is not a sheet or a mark is neither true nor false."""
    plan: BulkPlan | None = None
    marks: dict[int, bool] = {}
    shown: dict[int, tuple[str, str]] = {}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        found = _read(line, number)
        if "plan" in found:
            plan = _unpacked(found["plan"], number)
            continue
        mention_id, mark = found.get("mention"), found.get("right")
        if not isinstance(mention_id, int) or not (mark is None or isinstance(mark, bool)):
            raise UserError(
                tr("Line {line}: “mention” must be a number, and “right” must be true, false or null.", line=number)
            )
        shown[mention_id] = (str(found.get("document", "")), str(found.get("text", "")))
        if mark is not None:
            marks[mention_id] = mark
    if plan is None:
        raise UserError(tr("The plan is missing: keep the last line of the file as it was written."))
    strangers = shown.keys() - {one for sample in plan.samples for one in sample}
    if strangers:
        raise UserError(
            tr(
                "Mention {id} is not in the sample that was drawn. Change only “right” in the lines of the file.",
                id=min(strangers),
            )
        )
    return SampleSheet(plan, marks, shown)


def _line(context: MentionContext, chance: Chance, mark: bool | None) -> dict[str, Any]:
    return {
        "right": mark,
        "text": context.text,
        "suggested": context.head.name if context.head is not None else "",
        "entity": chance.entity_id,
        "probability": round(chance.probability, 4),
        "type": context.type,
        "left": context.left,
        "after": context.right,
        "document": context.external_id,
        "mention": context.mention_id,
    }


def _packed(plan: BulkPlan) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "error": plan.error,
        "held_out": plan.held_out,
        "sets": [astuple(one) for one in plan.sets],
        "samples": plan.samples,
        "chances": [astuple(one) for one in plan.chances],
    }


def _unpacked(packed: Mapping[str, Any], number: int) -> BulkPlan:
    try:
        if packed["format"] != FORMAT:
            raise UserError(tr("The sample was drawn by another version of Curator. Draw a new sample."))
        tried, wrong = packed["held_out"]
        return BulkPlan(
            float(packed["error"]),
            tuple(_chance(one) for one in packed["chances"]),
            tuple(_set(one) for one in packed["sets"]),
            tuple(tuple(int(one) for one in sample) for sample in packed["samples"]),
            (int(tried), int(wrong)),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise UserError(tr("Line {line} contains no readable plan.", line=number)) from error


def _chance(one: Sequence[Any]) -> Chance:
    mention_id, document_id, probability, entity_id = one
    return Chance(int(mention_id), int(document_id), float(probability), str(entity_id))


def _set(one: Sequence[Any]) -> BulkSet:
    threshold, size, expected, checks, allowed, alpha = one
    return BulkSet(float(threshold), int(size), float(expected), int(checks), int(allowed), float(alpha))


def _read(line: str, number: int) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise UserError(tr("Line {line} is not JSON: {error}.", line=number, error=error)) from error
    if not isinstance(found, dict):
        raise UserError(tr("Line {line} is not a line of a sample.", line=number))
    return found
