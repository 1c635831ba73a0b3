"""The project's guidelines next to the text: Markdown, edited in place and saved automatically."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPalette, QTextCursor
from PySide6.QtWidgets import (
    QComboBox,
    QCompleter,
    QPlainTextEdit,
    QSizePolicy,
    QStackedWidget,
    QTextBrowser,
    QWidget,
)

from curator.domain.wording import UserError, tr
from curator.services.curating.notes import GuidelineService
from curator.ui.kit.compose import column, row, tool
from curator.ui.kit.foreign_text import PlainEdit, PlainLabel, StillBrowser

SAVE_MS = 800
HEADING = re.compile(r"^ {0,3}#{1,6}[ \t]+(?P<words>.+?)[ \t#]*$", re.MULTILINE)
EMPTY = (
    "*This project has no guidelines yet.*\n\nPress **Edit** to describe, in Markdown, how to decide hard "
    "cases: what counts as an entity, how specific a link should be, when to choose NIL. The guidelines "
    "are stored in the project."
)


def headings(text: str) -> list[str]:
    """The Markdown headings in order, without those in fenced code."""
    outside = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    return [one["words"] for one in HEADING.finditer(outside)]


class GuidelinesPanel(QWidget):
    """API: `show_panel`, `flush` (save unsaved text), `closed` when the curator closes it."""

    closed = Signal()
    said = Signal(str)

    def __init__(
        self, service: GuidelineService, *, writable: bool, images: Path | None = None, parent: QWidget | None = None
    ) -> None:
        """`images`: the folder of the guidelines' images; without it, none are shown."""
        super().__init__(parent)
        self._service = service
        self._text = ""
        self.headings = QComboBox(self)
        why = tr("Edit the guidelines; changes are saved automatically.")
        self.edit = tool(tr("Edit"), tr("Edit"), hint=why, parent=self)
        self.edit.setCheckable(True)
        self.edit.setEnabled(writable)
        hint = tr("Hide the guidelines (G)")
        self.close_button = tool("✕", tr("Hide the guidelines"), self.put_away, hint=hint, parent=self)
        self.reader = StillBrowser(self, images=images)
        self.editor = PlainEdit(self)
        self.state = PlainLabel(parent=self)
        self._pages = QStackedWidget(self)
        self._timer = QTimer(self, singleShot=True, interval=SAVE_MS)
        self._set_up()
        self._timer.timeout.connect(self.flush)
        self.editor.textChanged.connect(self._typed)
        self.edit.toggled.connect(self._edit)
        self.headings.activated.connect(lambda: self._go_to(self.headings.currentText()))
        for one in (self.reader, self.editor):
            one.installEventFilter(self)

    def _set_up(self) -> None:
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self.headings.setEditable(True)
        self.headings.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.headings.setAccessibleName(tr("Go to a heading of the guidelines"))
        self.headings.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        line, completer = self.headings.lineEdit(), self.headings.completer()
        assert line is not None
        assert completer is not None
        line.setPlaceholderText(tr("Go to a heading"))
        line.setAccessibleName(tr("Part of a heading"))
        completer.setFilterMode(Qt.MatchFlag.MatchContains)
        completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        for page in (self.reader, self.editor):
            page.document().setDocumentMargin(12)
        self.reader.setAccessibleName(tr("Guidelines"))
        self.reader.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.editor.setAccessibleName(tr("Guidelines in Markdown"))
        self.editor.setFrameShape(QPlainTextEdit.Shape.NoFrame)
        self.editor.setTabChangesFocus(True)
        self._pages.addWidget(self.reader)
        self._pages.addWidget(self.editor)
        self.state.setContentsMargins(12, 3, 12, 5)
        head = row((self.headings, 1), self.edit, self.close_button, margins=(10, 8, 8, 6))
        column(head, (self._pages, 1), self.state, of=self, spacing=0)

    def show_panel(self) -> None:
        """Show the project's guidelines for reading and focus them."""
        if not self.edit.isChecked():
            self._load()
        self.show()
        self._page.setFocus(Qt.FocusReason.ShortcutFocusReason)

    @property
    def _page(self) -> QWidget:
        return self.editor if self.edit.isChecked() else self.reader

    def _load(self) -> None:
        self._text = self._service.text()
        self._show_text()

    def _show_text(self) -> None:
        self.reader.setMarkdown(self._text or tr(EMPTY))
        self.headings.clear()
        self.headings.addItems(headings(self._text))
        self.headings.setCurrentIndex(-1)
        self.headings.setEditText("")

    def _edit(self, editing: bool) -> None:
        if editing:
            self._without_saving(lambda: self.editor.setPlainText(self._text))
            self.state.setText(tr("Markdown; saved automatically. Esc returns to reading."))
        else:
            self.flush()
            self._show_text()
            self.state.setText("")
        self._pages.setCurrentWidget(self._page)
        self._page.setFocus(Qt.FocusReason.OtherFocusReason)

    def _without_saving(self, change: Callable[[], None]) -> None:
        self.editor.blockSignals(True)
        change()
        self.editor.blockSignals(False)

    def _typed(self) -> None:
        self.state.setText("…")
        self._timer.start()

    def flush(self) -> None:
        """Save unsaved text now; on failure it stays in the editor, with an error message."""
        self._timer.stop()
        text = self.editor.toPlainText()
        if self._pages.currentWidget() is not self.editor or text == self._text:
            return
        try:
            self._service.set_text(text)
        except UserError as error:
            self.state.setText(tr("Not saved."))
            self.said.emit(str(error))
            return
        self._text = text
        self.state.setText(tr("Saved."))

    def toggle(self) -> None:
        """Show and focus the guidelines, or close them."""
        if self.isVisible():
            self.put_away()
        else:
            self.show_panel()

    def put_away(self) -> None:
        self.flush()
        self.edit.setChecked(False)
        self.hide()
        self.closed.emit()

    def _go_to(self, words: str) -> None:
        found = next((one for one in headings(self._text) if words.casefold() in one.casefold()), None)
        if found is None:
            self.said.emit(tr("No heading in the guidelines contains “{words}”.", words=words))
        elif self.edit.isChecked():
            _find_line(self.editor, found)
        else:
            _find_heading(self.reader, found)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Esc ends editing, then closes the guidelines."""
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() == Qt.Key.Key_Escape:
            if watched is self.editor:
                self.edit.setChecked(False)
            else:
                self.put_away()
            return True
        return super().eventFilter(watched, event)


def _find_heading(reader: QTextBrowser, words: str) -> None:
    block = reader.document().begin()
    plain = re.sub(r"[*_`]", "", words)
    while block.isValid():
        if block.blockFormat().headingLevel() and block.text().strip() == plain.strip():
            _bring_up(reader, QTextCursor(block))
            return
        block = block.next()


def _bring_up(reader: QTextBrowser, cursor: QTextCursor) -> None:
    reader.setTextCursor(cursor)
    bar = reader.verticalScrollBar()
    bar.setValue(bar.value() + reader.cursorRect(cursor).top())


def _find_line(editor: QPlainTextEdit, words: str) -> None:
    at = next((one.start() for one in HEADING.finditer(editor.toPlainText()) if one["words"] == words), None)
    if at is not None:
        cursor = editor.textCursor()
        text = editor.toPlainText()[:at]
        cursor.setPosition(len(text.encode("utf-16-le")) // 2)
        editor.setTextCursor(cursor)
        editor.centerCursor()
