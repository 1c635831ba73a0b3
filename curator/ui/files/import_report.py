"""The result of an import: counts, and every problem with its file and line."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from curator.domain.documents import SourceDocument
from curator.domain.entities import Entity
from curator.domain.wording import localised, ntr, tr
from curator.services.importing.foreseeing import Foreseen
from curator.services.importing.import_report import FileProblem, ImportReport, counts_in_words, known_in_words
from curator.ui.kit.form import ShowDialog, sentence
from curator.ui.kit.record_tables import RecordColumn, RecordTable

MOST_NAMES = 4


class ImportReportDialog(ShowDialog):
    def __init__(self, report: ImportReport, parent: QWidget | None = None) -> None:
        super().__init__(tr("Import report"), parent)
        self.setMinimumWidth(480)
        self.summary = sentence(summary(report), selectable=True)
        self.body.addWidget(self.summary)
        if report.problems:
            columns: list[RecordColumn[FileProblem]] = [
                RecordColumn(tr("File"), lambda one: Path(one.file).name),
                RecordColumn(tr("Line"), lambda one: localised(one.problem.line, ",") if one.problem.line else "–"),
                RecordColumn("", lambda one: one.problem.severity),
                RecordColumn(tr("Problem"), lambda one: one.problem.text),
            ]
            table = RecordTable(tr("Problems"), columns, wide=3, sortable=False, parent=self)
            table.show_rows(report.problems)
            self.body.addWidget(table, 1)
            self.resize(820, 460)
        self.copy = self.add_button(tr("&Copy"), lambda: QGuiApplication.clipboard().setText(as_text(report)))


def in_short(report: ImportReport) -> str:
    """The imported counts and the number of problems, for one line."""
    imported = tr("Imported {files}: {counts}.", files=_files(report), counts=_counts(report))
    return _sentences(report, imported)


def _sentences(report: ImportReport, imported: str) -> str:
    """Sentences about imported data, known files, and the report's list."""
    notes = sum(one.problem.severity == "note" for one in report.problems)
    problems = len(report.problems) - notes
    said = (
        imported if report.files else tr("Nothing was imported."),
        known_in_words(report),
        ntr("{n:,} problem.", "{n:,} problems.", problems) if problems else "",
        ntr("{n:,} note.", "{n:,} notes.", notes) if notes else "",
        "" if report.problems else tr("No problems."),
    )
    return " ".join(one for one in said if one)


def _files(report: ImportReport) -> str:
    if len(report.files) > MOST_NAMES:
        return ntr("{n:,} file", "{n:,} files", len(report.files))
    return ", ".join(Path(one).name for one in report.files)


def _counts(report: ImportReport) -> str:
    return counts_in_words(report) or tr("nothing new")


def summary(report: ImportReport) -> str:
    """The same with the duration."""
    imported = tr(
        "Imported {files} in {seconds:.1f} s: {counts}.",
        files=_files(report),
        seconds=report.seconds,
        counts=_counts(report),
    )
    return _sentences(report, imported)


def as_text(report: ImportReport) -> str:
    """Everything, for pasting into a message: file:line, severity, problem."""
    lines = [summary(report)]
    for one in report.problems:
        line = f":{one.problem.line}" if one.problem.line else ""
        lines.append(f"{one.file}{line}: {one.problem.severity}: {one.problem.text}")
    return "\n".join(lines) + "\n"


# Previews of an import, in words and as a page, for the dialogs.

LENGTH = 360  # code points of a document's text that are shown
PROBLEMS = 12
SEVERITIES = {"repaired": "repaired", "set aside": "skipped", "note": "noted"}


def figures(found: Foreseen) -> tuple[str, str]:
    """Documents and mentions; estimates are marked."""
    documents, mentions = (figure(one, whole=found.whole) for one in (found.documents, found.mentions))
    return documents, mentions if found.mentions else "–"


def figure(number: int, *, whole: bool) -> str:
    """A count, or an estimate marked as such."""
    return localised(number, ",") if whole else tr("about {n:,}", n=number)


def happening(found: Foreseen) -> str:
    """The effect of the file, in a few words."""
    if found.problem:
        return tr("not readable")
    if found.known:
        return found.known.split(":", 1)[0] if ":" in found.known else found.known
    parts = []
    if found.here or found.changed:
        parts.append(ntr("{n:,} new", "{n:,} new", found.new))
    if found.here:
        parts.append(ntr("{n:,} already in the project", "{n:,} already in the project", found.here))
    if found.changed:
        parts.append(ntr("{n:,} changed", "{n:,} changed", len(found.changed)))
    told = found.severities()
    parts += [f"{localised(told[one], ',')} {tr(words)}" for one, words in SEVERITIES.items() if told[one]]
    return ", ".join(parts) or tr("all new")


def page(found: Foreseen) -> str:
    """Everything known about the file, as HTML without its own colours."""
    return "".join(_blocks(found))


def kb_page(found: Foreseen) -> str:
    """The preview of a knowledge base, as HTML without its own colours."""
    return "".join(_kb_blocks(found))


def _head(found: Foreseen) -> Iterator[str]:
    """The name and format of the file, and an error if it cannot be read."""
    yield f"<p><b>{escape(found.path.name)}</b> · {escape(found.title or tr('not readable'))}</p>"
    if found.problem:
        yield f"<p>{escape(found.problem)}</p>"


def _kb_blocks(found: Foreseen) -> Iterator[str]:
    yield from _head(found)
    if found.problem:
        return
    if found.whole:
        yield f"<p>{escape(ntr('{n:,} entity.', '{n:,} entities.', found.entities))}</p>"
    else:
        words = tr(
            "About {entities:,} entities, estimated from the first {n:,}.", entities=found.entities, n=found.looked_at
        )
        yield f"<p>{escape(words)}</p>"
    yield from _problems(found)
    for one in found.first_entities:
        yield _entity(one)


def _entity(entity: Entity) -> str:
    """The id, names, types and definition of an entity."""
    types = f" · {escape(', '.join(entity.types))}" if entity.types else ""
    lines = [f"<b>{escape(entity.id)}</b> {escape(entity.name)}{types}"]
    if entity.synonyms:
        lines.append(escape(_short(" | ".join(entity.synonyms))))
    if entity.definition:
        lines.append(escape(_short(entity.definition)))
    return f"<p>{'<br>'.join(lines)}</p>"


def _short(text: str) -> str:
    return text if len(text) <= LENGTH else f"{text[:LENGTH]}…"


def _blocks(found: Foreseen) -> Iterator[str]:
    yield from _head(found)
    if found.problem:
        return
    if found.known:
        yield f"<p>{escape(found.known)}</p>"
    elif found.here or found.changed:
        words = tr(
            "New: {new:,}. Already in the project: {here:,}. In the project with different text or "
            "annotations: {changed:,}; these stay unchanged unless you choose otherwise.",
            new=found.new,
            here=found.here,
            changed=len(found.changed),
        )
        yield f"<p>{escape(words)}</p>"
    if not found.whole:
        words = ntr(
            "Read from the first {n:,} document; the rest is estimated.",
            "Read from the first {n:,} documents; the rest is estimated.",
            found.looked_at,
        )
        yield f"<p>{escape(words)}</p>"
    yield from _problems(found)
    for document in found.first:
        yield _document(document)


def _problems(found: Foreseen) -> Iterator[str]:
    if not found.problems:
        return
    told = found.severities()
    counts = ", ".join(f"{localised(told[one], ',')} {tr(words)}" for one, words in SEVERITIES.items() if told[one])
    rows = []
    for one in found.problems[:PROBLEMS]:
        line = tr("line {n:,}", n=one.line) + ": " if one.line else ""
        rows.append(
            f"<li>{escape(line)}{escape(tr(SEVERITIES.get(one.severity, one.severity)))}: {escape(one.text)}</li>"
        )
    if len(found.problems) > PROBLEMS:
        rows.append(f"<li>{escape(tr('… and {n:,} more', n=len(found.problems) - PROBLEMS))}</li>")
    yield f"<p>{escape(counts)}:</p><ul>{''.join(rows)}</ul>"


def _document(document: SourceDocument) -> str:
    """The id, title and beginning of a document; mentions are underlined."""
    head = f"<b>{escape(document.external_id)}</b> {escape(document.title)}"
    count = ntr("{n:,} mention", "{n:,} mentions", len(document.mentions))
    body = marked(document)
    return f"<p>{head} · {escape(count)}<br>{body}</p>"


def marked(document: SourceDocument, length: int = LENGTH) -> str:
    """The beginning of the text with its mentions underlined, as HTML."""
    start = document.passages[1].start if len(document.passages) > 1 and document.title else 0
    end = min(start + length, len(document.text))
    inside = {at for one in document.mentions for span in one.spans for at in range(span.start, min(span.end, end))}
    pieces = []
    at = start
    while at < end:
        under = at in inside
        stop = at
        while stop < end and (stop in inside) == under:
            stop += 1
        words = escape(document.text[at:stop]).replace("\n", "<br>")
        pieces.append(f"<u>{words}</u>" if under else words)
        at = stop
    return "".join(pieces) + ("…" if end < len(document.text) else "")
