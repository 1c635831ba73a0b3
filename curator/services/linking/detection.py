"""Dictionary detection of mentions, through the linker process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence

from curator.domain.decisions import Change, ChangeKind, OperationKind
from curator.domain.documents import Document, Mention, MentionOrigin, SourceMention
from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.wording import UserError, ntr
from curator.services.core import EventBus
from curator.services.ports import Clock, DetectedMention, JobHandle, LinkerPort, QueueFilter, Store, UnitOfWork
from curator.services.training import OnEnd, OnProgress

PAGE = 500


class DetectionService:
    def __init__(
        self, store: Store, linker: LinkerPort, events: EventBus, clock: Clock, *, curator: Callable[[], str]
    ) -> None:
        self._store = store
        self._linker = linker
        self._events = events
        self._clock = clock
        self._curator = curator

    def documents_without_mentions(self) -> list[int]:
        """Visible documents in queue order."""
        with self._store.read() as unit:
            total = unit.documents.count(QueueFilter())
            rows = [
                row for at in range(0, total, PAGE) for row in unit.documents.rows(QueueFilter(), offset=at, limit=PAGE)
            ]
        return [row.document_id for row in rows if row.mentions == 0]

    def usual_types(self) -> tuple[str, ...]:
        """The knowledge-base types that the project's mention types link to: the default types to detect.

        Empty if there are no mentions yet, or if one of their types is unrestricted.
        """
        with self._store.read() as unit:
            mapping = unit.meta.type_mapping()
            allowed = [mapping.types_for(name) for name in unit.documents.mention_types()]
        return tuple(sorted({kind for types in allowed for kind in types})) if all(allowed) else ()

    def start(
        self,
        document_ids: Sequence[int] | None = None,
        *,
        types: Sequence[str] = (),
        on_progress: OnProgress,
        on_end: OnEnd,
    ) -> JobHandle:
        """Mark names, synonyms, remembered mentions and the documents' own abbreviations, by longest match, in these
        documents (None: all without mentions); one undoable operation per document. `types` are knowledge-base types
        (empty: all).

        The outcome's result holds `documents` and `mentions`. A mention that overlaps an existing one is not added.
        """
        ids = self.documents_without_mentions() if document_ids is None else list(document_ids)
        with self._store.read() as unit:
            texts = [(one, unit.documents.get(one).text) for one in ids]
        run = _Detection(self._linker, len(texts), self._add, on_progress, on_end)
        return run.start(texts, types)

    def _add(self, document_id: int, found: Sequence[DetectedMention]) -> int:
        """Store the detected mentions of one document; returns the number of added mentions."""
        with self._store.write() as unit:
            document = unit.documents.get(document_id)
            names = _type_names(unit)
            new = _new_mentions(document, found, unit.mentions.of_document(document_id), names)
            if not new:
                return 0
            ids = unit.mentions.add(document_id, new, origin=MentionOrigin.DETECTED)
            text = ntr(
                "Detected {n} mention in {external_id}",
                "Detected {n:,} mentions in {external_id}",
                len(ids),
                external_id=document.external_id,
            )
            curator = self._curator()
            operation = unit.decisions.append_operation(
                OperationKind.ADD_MENTION,
                actor=curator,
                at=self._clock.now(),
                text=text,
                payload={"mentions": ids},
            )
        self._events.emit(Change(ChangeKind.MENTIONS, curator, text, (document_id,), tuple(ids), operation))
        return len(ids)


class _Detection:
    """One run; implements `JobHandle`. Callbacks arrive in the linker's thread."""

    def __init__(
        self,
        linker: LinkerPort,
        total: int,
        add: Callable[[int, Sequence[DetectedMention]], int],
        on_progress: OnProgress,
        on_end: OnEnd,
    ) -> None:
        self._linker = linker
        self._total = total
        self._add = add
        self._on_progress = on_progress
        self._on_end = on_end
        self._request = 0
        self._documents = 0
        self._mentions = 0
        self._problem = ""
        self._ended = threading.Event()
        self._outcome: JobOutcome | None = None

    def start(self, texts: Sequence[tuple[int, str]], types: Sequence[str]) -> _Detection:
        self._request = self._linker.detect(texts, types=types, on_document=self._received, on_end=self._end)
        return self

    def cancel(self) -> None:
        self._linker.cancel(self._request)

    def wait(self, timeout: float | None = None) -> JobOutcome | None:
        self._ended.wait(timeout)
        return self._outcome

    def _received(self, document_id: int, found: Sequence[DetectedMention]) -> None:
        try:
            self._mentions += self._add(document_id, found)
        except UserError as error:  # a full disk: stored mentions stay, the run ends as failed
            self._problem = str(error)
            return
        self._documents += 1
        self._on_progress(
            Progress(
                "detect mentions", self._documents, self._total, ntr("{n:,} mention", "{n:,} mentions", self._mentions)
            )
        )

    def _end(self, outcome: JobOutcome) -> None:
        counts = {"documents": self._documents, "mentions": self._mentions}
        if self._problem:
            outcome = JobOutcome(JobState.FAILED, self._problem)
        elif outcome.state is JobState.DONE:
            outcome = JobOutcome(
                JobState.DONE,
                ntr(
                    "Detected {n} mention.",
                    "Detected {n:,} mentions.",
                    self._mentions,
                ),
                counts,
            )
        self._outcome = outcome
        try:
            self._on_end(outcome)
        finally:
            self._ended.set()


def _type_names(unit: UnitOfWork) -> dict[str, str]:
    """Knowledge-base type -> the project's own type for it: the same name, else its most frequent one."""
    mapping = unit.meta.type_mapping()
    names: dict[str, str] = {}
    for name in unit.documents.mention_types():
        for kb_type in mapping.types_for(name):
            if name == kb_type or kb_type not in names:
                names[kb_type] = name
    return names


def _new_mentions(
    document: Document, found: Iterable[DetectedMention], there: Iterable[Mention], names: Mapping[str, str]
) -> list[SourceMention]:
    taken = [span for mention in there for span in mention.spans]
    new = []
    for one in found:
        if any(one.span.start < span.end and span.start < one.span.end for span in taken):
            continue
        kb_type = one.types[0] if one.types else "Entity"
        text = document.text[one.span.start : one.span.end]
        new.append(SourceMention(spans=(one.span,), text=text, type=names.get(kb_type, kb_type)))
        taken.append(one.span)
    return new
