"""Preview and result of an import, and differences of changed documents, as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from curator.cli.console import Result, counted
from curator.domain.documents import as_line, differences, shortened
from curator.services.importing.import_report import counts_in_words, known_in_words
from curator.services.importing.text_taking import TextChange, verdict_words

if TYPE_CHECKING:
    from curator.services.importing.foreseeing import Foreseen
    from curator.services.importing.import_report import ImportReport
    from curator.services.importing.import_sources import Left

SHOWN_PROBLEMS = 20
SHOWN = 10
"""The number of shown problems per file, and of shown annotations found only in a file."""


def previewed(
    found: Sequence[Foreseen], changes: Sequence[TextChange], left: Sequence[Left], *, listed: bool
) -> Result:
    """The preview; with `listed`, every changed document with its differences."""
    facts = {
        "files": [_facts(one) for one in found],
        "left_out": [{"path": str(one.path), "names": one.names, "reasons": dict(one.reasons)} for one in left],
        "changed": [_change_facts(one) for one in changes],
    }
    lines = [line for one in found for line in _lines(one)]
    lines += [f"{one.file}: {one.problem.text}" for files in left for one in files.problems()]
    if listed:
        lines += [line for one in changes for line in _change_lines(one)]
        lines += [] if changes else ["No document differs from the project's version."]
    return Result(facts, [*lines, "Nothing was written."])


def _facts(one: Foreseen) -> dict[str, Any]:
    return {
        "path": str(one.path),
        "format": one.title,
        "documents": one.documents,
        "mentions": one.mentions,
        "new": one.new if not one.known else 0,
        "here": one.here,
        "changed": len(one.changed),
        "known": one.known,
        "problem": one.problem,
        "problems": [asdict(problem) for problem in one.problems],
        "first": [
            {"id": document.external_id, "title": document.title, "mentions": len(document.mentions)}
            for document in one.first
        ],
    }


def _lines(one: Foreseen) -> Iterator[str]:
    if one.problem:
        yield f"{one.path}: {one.problem}"
        return
    documents = counted(one.documents, "document", "documents")
    mentions = counted(one.mentions, "mention", "mentions")
    yield f"{one.path}: {one.title}, {documents}, {mentions}."
    if one.known:
        yield f"  {one.known}"
    elif one.here or one.changed:
        changed = f"{len(one.changed):,} in the project with another text or other annotations"
        yield f"  {one.new:,} new, {one.here:,} already in the project, {changed}."
    for document in one.first:
        title = document.title or document.text[:80].replace("\n", " ")
        yield f"  {document.external_id}  {title}  ({counted(len(document.mentions), 'mention', 'mentions')})"
    severities = one.severities()
    if severities:
        yield "  " + ", ".join(f"{number:,} {word}" for word, number in severities.items()) + ":"
    for problem in one.problems[:SHOWN]:
        line = f"line {problem.line}: " if problem.line else ""
        yield f"    {line}{problem.severity}: {problem.text}"
    if len(one.problems) > SHOWN:
        yield f"    … and {len(one.problems) - SHOWN:,} more; --json shows all."


def _change_facts(one: TextChange) -> dict[str, Any]:
    return {
        "id": one.document.external_id,
        "title": one.document.title,
        "same_text": one.same_text,
        "difference": as_line(shortened(differences(one.document.text, one.source.text))),
        "moved": [_mention_facts(found.mention.text, found) for found in one.moved],
        "lost": [_mention_facts(found.mention.text, found) for found in one.lost],
        "added": [{"text": found.text, "type": found.type, "ids": found.ids} for found in one.added],
    }


def _mention_facts(text: str, found: Any) -> dict[str, Any]:
    decision = found.decision
    return {
        "mention": found.mention.id,
        "text": text,
        "type": found.mention.type,
        "decision": verdict_words(decision.verdict) if decision is not None else "",
        "curator": decision.curator if decision is not None else "",
    }


def _change_lines(one: TextChange) -> Iterator[str]:
    yield f"{one.document.external_id}  {one.document.title}"
    if one.same_text:
        yield "  The text is the same; the annotations differ."
    else:
        yield "  " + as_line(shortened(differences(one.document.text, one.source.text)))
    for words, mentions in (("would be moved", one.moved), ("was not found in the new text", one.lost)):
        for found in mentions:
            decided = f", decided {verdict_words(found.decision.verdict)}" if found.decision is not None else ""
            yield f"  {found.mention.text} ({found.mention.type}{decided}) {words}"
    if one.added:
        listed = ", ".join(f"{found.text} ({found.type})" for found in one.added[:SHOWN])
        yield f"  only in the file: {listed}" + (", …" if len(one.added) > SHOWN else "")


def imported(report: ImportReport) -> Result:
    counts, known = counts_in_words(report), known_in_words(report)
    first = f"Imported in {report.seconds:.1f} s: {counts}." if counts else "Nothing was imported."
    lines = [f"{first} {known}".rstrip()]
    shown = report.problems[:SHOWN_PROBLEMS]
    lines += [f"{one.file}{_at_line(one.problem.line)}: {one.problem.severity}: {one.problem.text}" for one in shown]
    if (left := len(report.problems) - SHOWN_PROBLEMS) > 0:
        lines.append(f"… and {left:,} more; --json shows all.")
    return Result(asdict(report), lines)


def _at_line(number: int) -> str:
    return f", line {number}" if number else ""
