"""What a new project will hold and how long that takes: files are read a little at a time, so nothing waits."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QLabel, QVBoxLayout, QWidget

from curator.domain.documents import Split
from curator.domain.wording import ntr, tr
from curator.services.foreseeing import Foreseen, foresee_documents, foresee_kb, seconds_to_import, seconds_to_index
from curator.services.ports import FormatRegistry
from curator.ui.dialogs.form import sentence
from curator.ui.dialogs.import_documents import ImportWish
from curator.ui.dialogs.table import FigureTable
from curator.ui.jobs import range_words

SLICE, MOST = 0.012, 2.0
"""Seconds of reading at a time, and for each file; what is left then is estimated."""
SPLIT_WORDS = {
    Split.TRAIN: "They are train documents: what you decide there teaches the linker.",
    Split.VALIDATION: "They are validation documents: what you decide there judges and calibrates the linker.",
    Split.TEST: "They are test documents: the linker never learns from them.",
}


class Outlook(QWidget):
    """API: `start`, `stop`, `words`, `found`."""

    def __init__(self, formats: FormatRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._formats = formats
        self._documents: ImportWish | None = None
        self._found: dict[Path, Foreseen] = {}
        self._work: Iterator[None] = iter(())
        self.table = FigureTable(
            tr("What the files hold"),
            [tr("File"), tr("Recognised as"), tr("Documents"), tr("Mentions"), tr("Entities")],
        )
        self.said: QLabel = sentence("", selectable=True)
        self.said.setAccessibleName(tr("What will happen"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.table, 1)
        column.addWidget(self.said)
        self._timer = QTimer(self, interval=0)
        self._timer.timeout.connect(self._read_on)

    @property
    def found(self) -> list[Foreseen]:
        return list(self._found.values())

    @property
    def reading(self) -> bool:
        return self._timer.isActive()

    def start(self, documents: ImportWish | None, knowledge_base: Path | None) -> None:
        self._documents, self._found = documents, {}
        works = [foresee_documents(one, self._formats) for one in (documents.paths if documents is not None else ())]
        if knowledge_base is not None:
            works.append(foresee_kb(knowledge_base, self._formats))
        self._work = (step for work in works for step in self._steps(work))
        self._show()
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def _steps(self, work: Generator[Foreseen, None, Foreseen]) -> Iterator[None]:
        """One file, to its end or for so many seconds of reading."""
        until = time.monotonic() + MOST
        while time.monotonic() < until:
            try:
                one = next(work)
            except StopIteration as end:
                self._found[end.value.path] = end.value
                return
            self._found[one.path] = one
            yield
        work.close()

    def _read_on(self) -> None:
        until = time.monotonic() + SLICE
        while time.monotonic() < until:
            if next(self._work, self) is self:
                self._timer.stop()
                break
        self._show()

    def _show(self) -> None:
        self.table.show_rows([_row(one) for one in self.found])
        self.table.setVisible(bool(self._found))
        self.said.setText("\n".join(self.words()))

    def words(self) -> list[str]:
        """What will happen, a sentence each, in the order in which it will."""
        found = self.found
        wrong = [one.problem for one in found if one.problem]
        if wrong:
            return wrong
        lines = [tr("The project's folder is made and opened.")]
        documents = sum(one.documents for one in found)
        if any(one.entities for one in found):
            entities = sum(one.entities for one in found)
            lines.append(tr("{entities:,} entities are loaded; spelling is compared at once.", entities=entities))
        if self._documents is not None and documents:
            lines.append(
                ntr("{n:,} document is imported.", "{n:,} documents are imported.", documents)
                + " "
                + self._split_words()
            )
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


def _row(one: Foreseen) -> tuple[str, ...]:
    about_words = "" if one.whole else "≈ "
    figures = (f"{about_words}{n:,}" if n else "–" for n in (one.documents, one.mentions, one.entities))
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
