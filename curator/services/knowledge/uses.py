"""All uses of one entity: the mentions currently linked to it, and moving some of them to another entity or to NIL.

A link to several entities counts as a use of each. Moving a use changes only this entity; the others of the link stay.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from curator.domain.decisions import Change, Outcome, Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.entities import Entity
from curator.domain.same_string import string_key
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Service
from curator.services.curating.deciding import redecide, unchanged
from curator.services.ports.queue import MentionUse
from curator.services.ports.storage import UnitOfWork

UNKNOWN = (
    "The knowledge base has no entity {id}, and no mention is linked to it. Search the knowledge base for its name, "
    "or check the identifier."
)
NO_TARGET = "The knowledge base has no entity {id}. Search it for the right identifier; nothing was changed."
ITSELF = "These mentions are linked to “{name}” already. Choose another entity; nothing was changed."
NOTHING = "No mention was chosen. Tick those that you want to change."
MOVED_NOTE = "Moved from {id} “{name}” to {into} “{new}” in the list of its uses"
NIL_NOTE = "Was {id} “{name}”; marked NIL in the list of its uses"


class UseOrder(StrEnum):
    DOUBTFUL = "doubtful"  # the least probable first, those without a suggestion last
    DOCUMENT = "document"
    NEWEST = "newest"


@dataclass(frozen=True, slots=True)
class UseFilter:
    """A filter of the uses. '' and None mean any; `string` is a `domain.same_string.string_key`."""

    string: str = ""
    curator: str = ""
    split: Split | None = None


@dataclass(frozen=True, slots=True)
class UsedString:
    """Spellings of one string: the most frequent one, their common key, and their number of uses."""

    text: str
    key: str
    number: int


@dataclass(frozen=True, slots=True)
class Uses:
    """Every mention currently linked to an entity, in queue and text order. `entity` is its record, or its old record
    if the knowledge base no longer has it (`gone`), or None if only the identifier is known. `successor`: the entity
    that now has the identifier as an alternate one."""

    entity_id: str
    entity: Entity | None
    gone: bool
    successor: Entity | None
    uses: tuple[MentionUse, ...]

    @property
    def name(self) -> str:
        return self.entity.name if self.entity is not None else self.entity_id

    @property
    def documents(self) -> int:
        return len({one.context.document_id for one in self.uses})

    @property
    def done(self) -> int:
        """Uses in documents that are done."""
        return sum(one.state is DocumentState.DONE for one in self.uses)

    def strings(self) -> tuple[UsedString, ...]:
        """The strings, most frequent first."""
        spellings: dict[str, Counter[str]] = {}
        for text, number in Counter(one.context.text for one in self.uses).items():
            spellings.setdefault(string_key(text), Counter())[" ".join(text.split())] += number
        found = [UsedString(texts.most_common(1)[0][0], key, texts.total()) for key, texts in spellings.items()]
        return tuple(sorted(found, key=lambda one: (-one.number, one.text.casefold())))

    def curators(self) -> tuple[str, ...]:
        return tuple(sorted({one.context.curator for one in self.uses}))

    def chosen(self, where: UseFilter, order: UseOrder) -> list[MentionUse]:
        """The uses that pass the filter, in this order; equal ones in the order of documents."""
        found = [one for one in self.uses if _passes(one, where)]
        if order is UseOrder.DOUBTFUL:
            found.sort(key=lambda one: (one.probability is None, one.probability or 0.0))
        elif order is UseOrder.NEWEST:
            found.sort(key=lambda one: one.at, reverse=True)
        return found


def _passes(one: MentionUse, where: UseFilter) -> bool:
    return (
        (not where.curator or one.context.curator == where.curator)
        and (where.split is None or one.split is where.split)
        and (not where.string or string_key(one.context.text) == where.string)
    )


class UseService(Service):
    def of(self, entity_id: str) -> Uses:
        """The uses of an entity, by primary id, or by alternate id if no mention is linked to it. It reads the context
        of each: call it from a worker thread.

        Raises UserError for an id that neither the knowledge base nor any decision has.
        """
        with self._store.read() as unit:
            known, found = unit.kb.get_many([entity_id]).get(entity_id), unit.kb.get(entity_id)
            ids = unit.links.linked_to([entity_id])
            if known is None and not ids and found is not None:
                entity_id, known, ids = found.id, found, unit.links.linked_to([found.id])
            entity = known or unit.kb.former(entity_id)
            if entity is None and not ids:
                raise UserError(tr(UNKNOWN, id=entity_id))
            uses = tuple(unit.queue.uses(entity_id, ids))
        return Uses(entity_id, entity, known is None, found if known is None else None, uses)

    def change(self, uses: Uses, mention_ids: Collection[int], to: Verdict) -> Change:
        """Move these uses to the entity of a link, or mark them NIL, as one operation; each decision gets a note.

        Raises UserError if nothing is chosen, if one is not listed or was decided or deleted since, if the entity is
        unknown or the same, and while the curator judges in a round; then nothing is changed. Raises ValueError for a
        verdict that is neither NIL nor a link to one entity.
        """
        if to.outcome is not Outcome.NIL and len(to.entity_ids) != 1:
            raise ValueError("uses are moved to one entity, or to NIL")
        self._refuse_in_round()
        wanted = set(mention_ids)
        listed = {one.context.mention_id: one.context.verdict for one in uses.uses}
        if not wanted:
            raise UserError(tr(NOTHING))
        chosen = {one: was for one, was in listed.items() if one in wanted}
        with self._store.write() as unit:
            now = unchanged(unit, chosen, missing=len(wanted) - len(chosen))
            text, note = _words(unit, uses, to, len(chosen))
            change = redecide(
                unit,
                {one: _replaced(now[one].verdict, uses.entity_id, to) for one in chosen},
                now,
                dict.fromkeys(chosen, note),
                curator=self._curator(),
                clock=self._clock,
                text=text,
            )
        return self._emit(change)


def _replaced(verdict: Verdict, entity_id: str, to: Verdict) -> Verdict:
    """The link with this entity replaced; for NIL, it is removed from a link to several."""
    kept = tuple(
        dict.fromkeys(new for one in verdict.entity_ids for new in (to.entity_ids if one == entity_id else (one,)))
    )
    return Verdict.link(*kept) if kept else to


def _words(unit: UnitOfWork, uses: Uses, to: Verdict, number: int) -> tuple[str, str]:
    """The history's text of the step, and the note of each decision. Raises UserError for the wrong entity."""
    if to.outcome is Outcome.NIL:
        text = ntr("Marked {n} use of “{name}” NIL", "Marked {n:,} uses of “{name}” NIL", number, name=uses.name)
        return text, NIL_NOTE.format(id=uses.entity_id, name=uses.name)
    into = to.entity_ids[0]
    if into == uses.entity_id:
        raise UserError(tr(ITSELF, name=uses.name))
    target = unit.kb.get_many([into]).get(into)
    if target is None:
        raise UserError(tr(NO_TARGET, id=into))
    names = {"name": uses.name, "new": target.name}
    text = ntr("Moved {n} use of “{name}” to “{new}”", "Moved {n:,} uses of “{name}” to “{new}”", number, **names)
    return text, MOVED_NOTE.format(id=uses.entity_id, into=into, **names)
