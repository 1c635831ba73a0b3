"""What the tests of files share: stored documents made from read ones, as storage would hand them to a writer."""

from __future__ import annotations

import dataclasses
import gzip
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from curator.domain.decisions import Decision, Verdict
from curator.domain.documents import Mention, MentionOrigin, SourceDocument, Span
from curator.services.ports.files import ExportDocument, ExportMention
from tests.rewriting import AT, source_file, stored_document


def decision(verdict: Verdict) -> Decision:
    return Decision(1, 1, verdict, "a curator", AT)


def export_document(
    source: SourceDocument,
    *,
    verdicts: Mapping[int, Verdict] | None = None,
    removed: Sequence[int] = (),
    added: Sequence[tuple[Span | tuple[Span, ...], str, Verdict | None]] = (),
) -> ExportDocument:
    """`verdicts` and `removed` go by index of the mention; `added` are mentions of the curator's."""
    document = stored_document(1, source)
    golds = []
    for index, found in enumerate(source.mentions):
        if index in removed:
            continue
        stored = Mention(
            index, 1, found.spans, found.text, found.type, MentionOrigin.SOURCE, found.raw_ids, found.record
        )
        verdict = (verdicts or {}).get(index)
        golds.append(ExportMention(stored, decision(verdict) if verdict else None, verdict is None))
    for number, (where, kind, verdict) in enumerate(added):
        spans = where if isinstance(where, tuple) else (where,)
        text = " ".join(source.text[s.start : s.end] for s in spans)
        stored = Mention(1000 + number, 1, spans, text, kind, MentionOrigin.CURATOR)
        golds.append(ExportMention(stored, decision(verdict) if verdict else None, False))
    records = tuple(source.mentions[i].record for i in removed)
    return ExportDocument(document, source.raw, tuple(golds), records)


def fresh(item: ExportDocument, ids: Sequence[tuple[str, ...]]) -> ExportDocument:
    """The document as one of another format: without record, each mention decided."""
    mentions = tuple(
        ExportMention(
            dataclasses.replace(gold.mention, record=-1),
            decision(Verdict.link(*wanted) if wanted else Verdict.nil()),
            False,
        )
        for gold, wanted in zip(item.mentions, ids, strict=True)
    )
    return dataclasses.replace(item, raw="", mentions=mentions)


@pytest.fixture(scope="session")
def make() -> SimpleNamespace:
    return SimpleNamespace(file=source_file, export=export_document, fresh=fresh, decision=decision)


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., Path]:
    """Write text (UTF-8, line ends as they are) or bytes under a name in the test's own folder."""

    def write(content: str | bytes, name: str = "file.txt", *, zipped: bool = False) -> Path:
        data = content.encode("utf-8") if isinstance(content, str) else content
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress(data) if zipped else data)
        return path

    return write
