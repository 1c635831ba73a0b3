"""What a knowledge base would bring, read ahead beside the window and shown before anything is written."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QTextBrowser, QWidget

from curator.domain.wording import tr
from curator.services.importing.foreseeing import Foreseen, foresee_kb
from curator.services.ports import FormatRegistry
from curator.services.ports.files import KbOptions
from curator.ui.files.import_words import kb_page
from curator.ui.files.reading_ahead import FilePreviewer


class KbPreview(QTextBrowser):
    """`look` shows a file; `found` is what is known of it so far."""

    known = Signal()

    def __init__(self, formats: FormatRegistry, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._formats = formats
        self._ahead: FilePreviewer | None = None
        self._looked: tuple[Path, KbOptions] | None = None
        self.found: Foreseen | None = None
        self.setAccessibleName(tr("What the knowledge base would bring"))
        self.setPlaceholderText(tr("What a file would bring is shown here before anything is written."))
        self.setTabChangesFocus(True)
        self.setMinimumHeight(self.fontMetrics().lineSpacing() * 5)

    @property
    def reading(self) -> bool:
        return self._ahead is not None and self._ahead.reading

    def look(self, path: Path, options: KbOptions) -> None:
        """Begin anew where the file or what is read of it is another."""
        if self._looked == (path, options):
            return
        self.close_reading()
        self._looked, self.found = (path, options), None
        self.setPlainText(tr("Looking at the file…"))
        self._ahead = FilePreviewer(lambda one: foresee_kb(one, self._formats, options), self)
        self._ahead.found.connect(self._tell)
        self._ahead.add(path)

    def forget(self) -> None:
        """There is no file to look at."""
        self.close_reading()
        self._looked, self.found = None, None
        self.clear()

    def close_reading(self) -> None:
        """A step can take long (a large RDF file is parsed as a whole), and holds nothing but the file."""
        if self._ahead is not None:
            self._ahead.close(wait=False)
            self._ahead.deleteLater()
            self._ahead = None

    def _tell(self, found: Foreseen) -> None:
        self.found = found
        self.setHtml(kb_page(found))
        self.known.emit()
