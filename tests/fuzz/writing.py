"""Writes back the contents of an input, unchanged and as changed by curators. The records that the writers edit are a
stranger's, so that they fail here and nowhere in the reading."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from curator.domain.decisions import Decision, Verdict
from curator.domain.documents import SourceDocument
from curator.domain.relations import Relation, RelationEnd
from curator.domain.wording import UserError
from curator.services.ports.files import (
    DocumentFormat,
    DocumentReader,
    ExportDocument,
    ExportMention,
)
from tests.fuzz.limits import again
from tests.rewriting import AT, source_file, unchanged

ADDED = 10_000
"""Above the ids of mentions that were read."""
VERDICTS = (
    Verdict.link("MESH:D000001"),
    Verdict.nil(),
    Verdict.link("a b|c", "X:1"),
    Verdict.reject(),
    Verdict.link("D1"),
)


def write_back(form: DocumentFormat, path: Path, reader: DocumentReader, found: Sequence[SourceDocument]) -> None:
    """Raises UserError where it is refused, and AssertionError where what was written is refused by the reader."""
    file = source_file(path, reader)
    again()
    for name, documents in (("written", list(unchanged(found))), ("edited", list(edited(form, file.extra, found)))):
        out = path.parent / (name + (form.endings[0] if form.endings else ""))
        try:
            again()
            form.write([(file, documents)], out)
            again()
            if out.is_file() or (out.is_dir() and form.takes_folders):
                _read_again(form, out)
        finally:
            if out.is_dir():
                shutil.rmtree(out, ignore_errors=True)


def _read_again(form: DocumentFormat, path: Path) -> None:
    try:
        reader = form.open(path)
    except UserError:
        return  # of a file that was hardly of this format, what was left of it may be of none
    try:
        for _ in reader:
            pass
    except UserError as error:
        raise AssertionError(f"what was written is refused: {error}") from error


def edited(form: DocumentFormat, extra: str, found: Sequence[SourceDocument]) -> Iterator[ExportDocument]:
    """Each mention in turn: linked, NIL, linked to several entities, rejected, moved, left alone, deleted; one is added
    to each document, with a relation and an attribute."""
    for item in unchanged(found):
        raw = item.raw
        known = form.relations(raw, extra) if raw else ()
        if raw:
            form.attributes_in(raw)
            form.fields_in(raw)
            form.holds_more(raw)
        golds = [_edited(at, one) for at, one in enumerate(item.mentions) if at % 7 != 6]
        if item.mentions:
            golds.append(_added(item.mentions[0]))
        gone = tuple(one.mention.record for one in item.mentions[6::7])
        ends = tuple(RelationEnd("", one.mention.id) for one in (*golds[:1], *golds[-1:]))
        related = (Relation(1, item.document.id, "Binds to", ends, author="x", at=AT),) if len(golds) > 1 else ()
        removed = tuple(one.key for one in known[:1] if not one.fixed)
        yield replace(item, mentions=tuple(golds), removed_records=gone, relations=related, removed_relations=removed)


def _edited(at: int, one: ExportMention) -> ExportMention:
    if at % 7 == 5:
        return one
    decision = Decision(1, one.mention.id, VERDICTS[at % 7], "a curator", AT)
    set_ = (("certainty", "high"), ("negated", None)) if at % 2 else ()
    return replace(one, decision=decision, unchanged=False, reshaped=at % 7 == 4, attributes=set_)


def _added(beside: ExportMention) -> ExportMention:
    mention = replace(beside.mention, id=ADDED, record=-1, raw_ids="", type="Gene product")
    return ExportMention(mention, Decision(1, ADDED, VERDICTS[0], "a curator", AT), False, attributes=(("a b", "c"),))
