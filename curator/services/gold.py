"""Annotations of a file as decisions by `import:FILE`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState, SourceDocument, SourceMention
from curator.domain.wording import ntr
from curator.services.ports import Clock, Problem, UnitOfWork
from curator.services.restoring import Stored, restore_decisions, says_more

MOST_PROBLEMS = 50


class GoldWriter:
    """Appends one decision for each annotation that says what it is, with nothing shown.

    A mention links to all of its ids that resolve, primary or alternate; it is NIL where none does or the file says
    so; one without any statement stays undecided. Documents without an undecided mention are done.
    """

    def __init__(self, file_name: str, clock: Clock) -> None:
        self._curator = f"import:{file_name}"
        self._clock = clock
        self._unresolved: Counter[str] = Counter()
        self._first: dict[str, tuple[int, str]] = {}  # unresolved id -> line and document of its first mention
        self.counts: Counter[str] = Counter()

    def write(self, unit: UnitOfWork, documents: Sequence[Stored], *, finish: bool = True) -> None:
        """Without `finish` no document becomes done: there are other mentions in it."""
        """Of documents that come with their decisions these are put back, each by its own curator."""
        restored = [one for one in documents if says_more(one[0])]
        if restored:
            restore_decisions(unit, restored, self.counts)
            documents = [one for one in documents if not says_more(one[0])]
        given = {one for source, _ in documents for mention in source.mentions for one in mention.ids}
        resolved = unit.kb.resolve(given)
        mention_ids: list[int] = []
        verdicts: list[Verdict] = []
        for source, (document_id, ids) in documents:
            found = [self._verdict(source, mention, resolved) for mention in source.mentions]
            decided = [(i, v) for i, v in zip(ids, found, strict=True) if v is not None]
            mention_ids += [i for i, _ in decided]
            verdicts += [v for _, v in decided]
            if finish and len(decided) == len(found):
                unit.documents.set_state(document_id, DocumentState.DONE)
        self._append(unit, mention_ids, verdicts)

    def problems(self) -> list[Problem]:
        """One note for each id that the knowledge base does not know, the most frequent first."""
        common = self._unresolved.most_common(MOST_PROBLEMS)
        notes = [self._problem(unresolved, number) for unresolved, number in common]
        left = len(self._unresolved) - len(common)
        if left:
            notes.append(
                Problem(
                    0,
                    "note",
                    ntr(
                        "{n} more id is not in the knowledge base",
                        "{n:,} more ids are not in the knowledge base",
                        left,
                    ),
                )
            )
        if out := self.counts["decisions left out"]:
            words = ntr(
                "{n} decision links to entities that are not in the knowledge base: left undecided",
                "{n:,} decisions link to entities that are not in the knowledge base: left undecided",
                out,
            )
            notes.append(Problem(0, "note", words))
        return notes

    def _verdict(self, source: SourceDocument, mention: SourceMention, resolved: Mapping[str, str]) -> Verdict | None:
        ids = tuple(dict.fromkeys(resolved[one] for one in mention.ids if one in resolved))
        for one in mention.ids:
            if one not in resolved:
                self._unresolved[one] += 1
                self._first.setdefault(one, (source.line, source.external_id))
        self.counts["unresolved ids"] += sum(one not in resolved for one in mention.ids)
        if ids:
            self.counts["linked"] += 1
            return Verdict.link(*ids)
        if mention.nil or mention.ids:
            self.counts["nil"] += 1
            return Verdict.nil()
        self.counts["without a statement"] += 1
        return None

    def _append(self, unit: UnitOfWork, mention_ids: Sequence[int], verdicts: Sequence[Verdict]) -> None:
        if mention_ids:
            unit.decisions.append(
                mention_ids,
                verdicts,
                curator=self._curator,
                at=self._clock.now(),
                operation_id=0,
                shown=[None] * len(mention_ids),
            )

    def _problem(self, unresolved: str, number: int) -> Problem:
        line, document = self._first[unresolved]
        text = ntr(
            "id {id} is not in the knowledge base (once, first in document {document}): "
            "NIL where the mention has no other id that is",
            "id {id} is not in the knowledge base ({n:,} times, first in document {document}): "
            "NIL where the mention has no other id that is",
            number,
            id=unresolved,
            document=document,
        )
        return Problem(line, "note", text)
