"""Dictionary detection of mentions, through the linker process."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from functools import partial

from curator.domain.decisions import OperationKind
from curator.domain.documents import Document, Mention, MentionOrigin, SourceMention
from curator.domain.jobs import LinkerState, Progress
from curator.domain.wording import UserError, ntr, tr
from curator.services.core.context import Context, Service
from curator.services.core.keys import active_bundle
from curator.services.curating.deciding import step_in
from curator.services.linking.linking import NO_INDEX, answers_of, wait_ready
from curator.services.linking.remembering import MemoryService, teach_entities
from curator.services.ports.processes import BundleStore, DetectedMention, JobHandle, JobPort, LinkerPort
from curator.services.ports.queue import QueueFilter
from curator.services.ports.storage import UnitOfWork
from curator.services.training.job_chain import OnEnd, OnProgress

PAGE = 500


class DetectionService(Service):
    def __init__(
        self, context: Context, linker: LinkerPort, bundles: BundleStore, memory: MemoryService, jobs: JobPort
    ) -> None:
        super().__init__(context)
        self._linker = linker
        self._bundles = bundles
        self._memory = memory
        self._jobs = jobs

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
        types: Sequence[str] | None = None,
        on_progress: OnProgress,
        on_end: OnEnd,
    ) -> JobHandle:
        """Mark names, synonyms, remembered mentions and the documents' own abbreviations, by longest match, in these
        documents (None: all without mentions); one undoable operation per document. The linker first learns the
        decisions made so far. `types` are knowledge-base types (empty: all; None: the usual ones).

        The outcome's result holds `documents` and `mentions`. A mention that overlaps an existing one is not added.
        """
        return self._jobs.run_here(partial(self._detect, document_ids, types), on_progress=on_progress, on_end=on_end)

    def _detect(
        self, document_ids: Sequence[int] | None, types: Sequence[str] | None
    ) -> Generator[Progress, None, dict[str, object]]:
        ids = self.documents_without_mentions() if document_ids is None else document_ids
        wanted = self.usual_types() if types is None else types
        yield from self._ready()
        documents = mentions = 0
        for at in range(0, len(ids), PAGE):
            with self._store.read() as unit:
                texts = [(one, unit.documents.get(one).text) for one in ids[at : at + PAGE]]
            with closing(answers_of(self._linker, partial(self._ask, texts, wanted))) as answers:
                for answer in answers:
                    if answer is not None:
                        documents, mentions = documents + 1, mentions + self._add(*answer)
                    words = ntr("{n:,} mention", "{n:,} mentions", mentions)
                    yield Progress("detect mentions", documents, len(ids), words)
        message = ntr("Detected {n} mention.", "Detected {n:,} mentions.", mentions)
        return {"documents": documents, "mentions": mentions, "message": message}

    def _ready(self) -> Generator[Progress, None, None]:
        """Wait for the linker, with the project's new entities and decisions. Raises UserError if there is no index,
        and LinkerUnavailableError."""
        with self._store.read() as unit:
            bundle_id = active_bundle(unit.meta)
        if not bundle_id:
            raise UserError(tr(NO_INDEX))
        if self._linker.status.state is LinkerState.OFF:
            self._linker.open(self._bundles.path(bundle_id), bundle_id)
        yield from wait_ready(self._linker)
        yield from teach_entities(self._linker, self._store)
        yield from self._memory.current()

    def _ask(
        self,
        texts: Sequence[tuple[int, str]],
        types: Sequence[str],
        receive: Callable[[int, list[DetectedMention]], None],
        end: OnEnd,
    ) -> int:
        return self._linker.detect(texts, types=types, on_document=receive, on_end=end)

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
            kind, who, clock = OperationKind.ADD_MENTION, self._curator(), self._clock
            change = step_in(unit, kind, text, {"mentions": ids}, curator=who, clock=clock, documents=[document_id])
        self._emit(change)
        return len(ids)


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
