"""What a new project will hold and how long that takes: files are read beside the window, so nothing waits."""

from __future__ import annotations

import math
from pathlib import Path

from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from curator.domain.documents import Split
from curator.domain.wording import ntr, tr
from curator.services.importing.foreseeing import Foreseen, foresee_kb, seconds_to_import, seconds_to_index
from curator.services.ports import FormatRegistry
from curator.ui.files.document_files import DocumentFiles
from curator.ui.files.import_documents import ImportWish
from curator.ui.files.import_words import figure
from curator.ui.files.reading_ahead import FilePreviewer
from curator.ui.jobs.jobs import range_words
from curator.ui.kit.form import sentence
from curator.ui.kit.table import FigureTable

SPLIT_WORDS = {
    Split.TRAIN: "They are train documents: what you decide there teaches the linker.",
    Split.VALIDATION: "They are validation documents: what you decide there judges and calibrates the linker.",
    Split.TEST: "They are test documents: the linker never learns from them.",
}


class Outlook(QWidget):
    """API: `start`, `close_reading`, `words`, `found`.

    Of documents it shows what the list of files knows, so that both pages have the same numbers; the knowledge base
    is read beside the window's thread. Estimates are called so, and give way to the true numbers.
    """

    def __init__(self, formats: FormatRegistry, files: DocumentFiles, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._formats, self._files = formats, files
        self._documents: ImportWish | None = None
        self._kb: Foreseen | None = None
        self._ahead: FilePreviewer | None = None
        self.table = FigureTable(
            tr("What the files hold"),
            [tr("File"), tr("Recognised as"), tr("Documents"), tr("Mentions"), tr("Entities")],
            words=2,
        )
        self.said: QLabel = sentence("", selectable=True)
        self.said.setAccessibleName(tr("What will happen"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.table, 1)
        column.addWidget(self.said)
        files.known.connect(self._show)

    @property
    def found(self) -> list[Foreseen]:
        documents = self._files.found if self._documents is not None else []
        return [*documents, *([self._kb] if self._kb is not None else [])]

    @property
    def reading(self) -> bool:
        """Whether a number is an estimate yet."""
        return self._files.reading or (self._ahead is not None and self._ahead.reading)

    def start(self, documents: ImportWish | None, knowledge_base: Path | None) -> None:
        """Show what these bring. What was read already is not read again."""
        self._documents = documents
        if knowledge_base != (self._kb.path if self._kb is not None else None):
            self.close_reading()
            self._kb = Foreseen(knowledge_base, whole=False) if knowledge_base is not None else None
            if knowledge_base is not None:
                self._ahead = FilePreviewer(lambda path: foresee_kb(path, self._formats), self, most=math.inf)
                self._ahead.found.connect(self._take)
                self._ahead.add(knowledge_base)
        self._show()

    def close_reading(self) -> None:
        if self._ahead is not None:
            self._ahead.close()
            self._ahead = None

    def _take(self, found: Foreseen) -> None:
        if self._kb is not None and self._kb.path == found.path:
            self._kb = found
            self._show()

    def _show(self) -> None:
        self.table.show_rows([_row(one) for one in self.found])
        self.table.setVisible(bool(self.found))
        self.said.setText("\n".join(self.words()))

    def words(self) -> list[str]:
        """What will happen, a sentence each, in the order in which it will."""
        found = self.found
        wrong = [one.problem for one in found if one.problem]
        if wrong:
            return wrong
        lines = [tr("The project's folder is made and opened.")]
        documents, entities = sum(one.documents for one in found), sum(one.entities for one in found)
        exact = all(one.whole for one in found)
        if entities:
            lines.append(_entities_words(entities, exact=self._kb is not None and self._kb.whole))
        if self._documents is not None and documents:
            whole = all(one.whole for one in found if one is not self._kb)
            lines.append(f"{_documents_words(documents, exact=whole)} {self._split_words()}")
        if not exact:
            lines.append(tr("The files are still being read; the numbers become exact."))
        if seconds_to_import(found) > 0:
            lines.append(tr("This takes {time}; you can begin when it is done.", time=about(seconds_to_import(found))))
        if seconds_to_index(found)[1] > 0:
            lines.append(
                tr(
                    "Then names are encoded in the background, {time}; meanings are compared from then on.",
                    time=range_words(*seconds_to_index(found)),
                )
            )
        if not found:
            lines.append(tr("Nothing is imported yet; the window says how to go on."))
        return lines

    def _split_words(self) -> str:
        assert self._documents is not None
        words = tr(SPLIT_WORDS[self._documents.split])
        if self._documents.hold_out:
            words += " " + ntr(
                "Of each file {n} document is held out for validation.",
                "Of each file {n} documents are held out for validation.",
                self._documents.hold_out,
            )
        if self._documents.gold:
            words += " " + tr("What the files say becomes decisions.")
        return words


def _entities_words(number: int, *, exact: bool) -> str:
    if exact:
        return tr("{entities:,} entities are loaded; spelling is compared at once.", entities=number)
    return tr("About {entities:,} entities are loaded; spelling is compared at once.", entities=number)


def _documents_words(number: int, *, exact: bool) -> str:
    if exact:
        return ntr("{n:,} document is imported.", "{n:,} documents are imported.", number)
    return ntr("About {n:,} document is imported.", "About {n:,} documents are imported.", number)


def _row(one: Foreseen) -> tuple[str, ...]:
    figures = (figure(n, whole=one.whole) if n else "–" for n in (one.documents, one.mentions, one.entities))
    return (one.path.name, tr("not readable") if one.problem else one.title or tr("knowledge base"), *figures)


def about(seconds: float) -> str:
    """`a few seconds`, `about 2 minutes`, `about 3 hours`: no more exact than it is known."""
    if seconds < 10:
        return tr("a few seconds")
    if seconds < 90:
        return tr("about a minute")
    if seconds < 5400:
        return ntr("about {n} minute", "about {n} minutes", round(seconds / 60))
    return ntr("about {n} hour", "about {n} hours", round(seconds / 3600))
