"""One undoable step over provisional entities and the decisions that follow from it.

The payload of its operation is that of a decision with `entities`: [{"before": null | record, "after": record}, …].
Undo restores the earlier records; a new entity is marked as deleted, so that its id is never used again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from curator.domain.decisions import Change, ChangeKind, OperationKind, Shown, Verdict
from curator.domain.entities import Entity, ProvisionalEntity
from curator.services.curating.deciding import NOTHING_SHOWN, decide_in
from curator.services.ports.processes import Clock
from curator.services.ports.storage import UnitOfWork

Edit = tuple[ProvisionalEntity | None, ProvisionalEntity]
"""An entity before (None: it did not exist) and after."""


def entity_step(
    unit: UnitOfWork,
    kind: OperationKind,
    edits: Sequence[Edit],
    verdicts: Mapping[int, Verdict],
    *,
    curator: str,
    clock: Clock,
    text: str,
    notes: Mapping[int, str] | None = None,
    shown: Mapping[int, Shown] | None = None,
) -> Change:
    """Store the entities, then decide about mentions, as one operation. Raises UserError like `decide_in`."""
    for _, after in edits:
        unit.kb.save_provisional(after)
    ids = list(verdicts)
    change = decide_in(
        unit,
        ids,
        list(verdicts.values()),
        curator=curator,
        clock=clock,
        shown=[(shown or {}).get(one, NOTHING_SHOWN) for one in ids],
        notes=[(notes or {}).get(one, "") for one in ids],
        text=text,
        kind=kind,
        more={"entities": [{"before": _packed(before), "after": _packed(after)} for before, after in edits]},
    )
    return replace(change, kind=ChangeKind.ENTITIES)


def restore_entities(unit: UnitOfWork, payload: Mapping[str, Any], *, forward: bool) -> None:
    """Redo or undo a step's changes of provisional entities."""
    edits = payload.get("entities", ())
    for edit in edits if forward else reversed(edits):
        after = _unpacked(edit["after"])
        if forward:
            unit.kb.save_provisional(after)
        else:
            before = edit["before"]
            unit.kb.save_provisional(_unpacked(before) if before is not None else replace(after, deleted=True))


def _packed(one: ProvisionalEntity | None) -> dict[str, Any] | None:
    if one is None:
        return None
    return {
        "id": one.id,
        "name": one.entity.name,
        "types": list(one.entity.types),
        "definition": one.entity.definition,
        "synonyms": list(one.entity.synonyms),
        "author": one.author,
        "at": one.at.isoformat(),
        "deleted": one.deleted,
        "successor": one.successor,
    }


def _unpacked(record: Mapping[str, Any]) -> ProvisionalEntity:
    entity = Entity(
        record["id"], record["name"], tuple(record["synonyms"]), tuple(record["types"]), record["definition"]
    )
    at = datetime.fromisoformat(record["at"])
    return ProvisionalEntity(entity, record["author"], at, record["deleted"], record["successor"])
