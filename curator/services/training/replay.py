"""Makes decisions from gold, like a curator who knows the answers, recording the linker's suggestions as shown."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from curator.domain.decisions import Decision, Outcome
from curator.domain.documents import Split
from curator.domain.jobs import Progress
from curator.domain.wording import ntr
from curator.services.core.context import Service
from curator.services.curating.deciding import decide_in, shown_of
from curator.services.ports.storage import UnitOfWork

CURATOR = "replay"


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """`links` is the number of links; `first` of these were the first candidate shown; `unshown` decisions had no
    suggestion yet."""

    documents: int
    decisions: int
    links: int
    first: int
    unshown: int


@dataclass(slots=True)
class _Tally:
    documents: int = 0
    decisions: int = 0
    links: int = 0
    first: int = 0
    unshown: int = 0

    def report(self) -> ReplayReport:
        return ReplayReport(self.documents, self.decisions, self.links, self.first, self.unshown)


class ReplayService(Service):
    """Replays the decisions of `import --gold`, in document order, with one undoable operation per document."""

    def replay(self, split: Split, *, limit: int) -> Generator[Progress, None, ReplayReport]:
        """At most `limit` decisions by `replay`; mentions decided after the import are not changed."""
        tally = _Tally()
        with self._store.read() as unit:
            ids = unit.documents.ids(split=split)
        for document_id in ids:
            if tally.decisions >= limit:
                break
            self._document(document_id, limit - tally.decisions, tally)
            yield Progress("replay", tally.decisions, limit, ntr("{n:,} document", "{n:,} documents", tally.documents))
        return tally.report()

    def _document(self, document_id: int, left: int, tally: _Tally) -> None:
        with self._store.write() as unit:
            gold = _imported(unit, document_id)[:left]
            if not gold:
                return
            for decision in gold:
                _count(unit, decision, tally)
            change = decide_in(
                unit,
                [one.mention_id for one in gold],
                [one.verdict for one in gold],
                curator=CURATOR,
                clock=self._clock,
            )
        tally.documents += 1
        tally.decisions += len(gold)
        self._events.emit(change)


def _imported(unit: UnitOfWork, document_id: int) -> list[Decision]:
    """Current decisions of an import, in text order."""
    current = unit.decisions.current_of_document(document_id)
    found = [current.get(one.id) for one in unit.mentions.of_document(document_id)]
    return [one for one in found if one is not None and one.is_imported]


def _count(unit: UnitOfWork, decision: Decision, tally: _Tally) -> None:
    shown = shown_of(unit.suggestions.get(decision.mention_id))
    tally.unshown += shown is None
    if decision.verdict.outcome is Outcome.LINK:
        tally.links += 1
        first = shown.candidates[0].entity_id if shown and shown.candidates else None
        tally.first += first in decision.verdict.entity_ids
