"""A list of document files and folders: the recognised format of each, its contents, and problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFileDialog,
    QHBoxLayout,
    QHeaderView,
    QPushButton,
    QSplitter,
    QTableWidget,
    QTableWidgetItem,
    QVBoxLayout,
    QWidget,
)

from curator.domain.wording import tr
from curator.services.importing.foreseeing import Foreseen, foresee_documents
from curator.services.importing.import_comparing import Compared
from curator.services.importing.import_sources import Left, Recognised, look
from curator.services.ports.files import FormatRegistry
from curator.ui.files.document_columns import ColumnsButton
from curator.ui.files.import_report import figures, happening, page
from curator.ui.files.reading_ahead import FilePreviewer, Look
from curator.ui.kit.foreign_text import StillBrowser, tip
from curator.ui.kit.form import file_dialog
from curator.ui.kit.record_tables import RoomyHeader
from curator.ui.kit.worker import FileScan

RECOGNISED, DOCUMENTS, MENTIONS, HAPPENS = 1, 2, 3, 4
"""Columns after the name."""
RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


LEFT = "{path}: {words}."
UNKNOWN = "{path} could not be read. See the log for the reason."
NO_FILES = "No files yet. Click “Add files…” or “Add folder…” below."


class FileTable(QTableWidget):
    """A table with a message in the middle while it has no rows."""

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.rowCount():
            return
        painter = QPainter(self.viewport())
        painter.setPen(self.palette().color(QPalette.ColorRole.PlaceholderText))
        flags = Qt.AlignmentFlag.AlignCenter | Qt.TextFlag.TextWordWrap
        painter.drawText(self.viewport().rect().adjusted(8, 4, -8, -4), flags, self.accessibleDescription())
        painter.end()


class DocumentFiles(QWidget):
    """`paths` are the files, `problem` the first error.

    Files are recognised in a background thread, and then added to the list; `looking` describes the progress. `look`
    previews a file, for example its import; without it only its contents are shown.
    """

    changed = Signal()
    known = Signal()  # more is known of a file

    def __init__(
        self,
        formats: FormatRegistry,
        parent: QWidget | None = None,
        *,
        look: Look | None = None,
    ) -> None:
        super().__init__(parent)
        self._formats = formats
        self._paths: list[Path] = []
        self._rows: dict[Path, int] = {}
        self._wrong: dict[Path, str] = {}
        self._asked: dict[Path, None] = {}  # added paths, including folders
        self._gone: set[Path] = set()  # removed paths
        self._left: list[Left] = []
        self._found: dict[Path, Foreseen] = {}
        self._changed: dict[Path, Sequence[Compared]] = {}  # separate, since it is needed for each file that is read
        self.ahead = FilePreviewer(look or (lambda path: foresee_documents(path, formats)), self)
        self.ahead.found.connect(self._tell)
        self._scan = FileScan(self)
        self._scan.changed.connect(self.changed)
        self.table = self._make_table()
        self.preview = StillBrowser(self)
        self.preview.setAccessibleName(tr("Preview of the file"))
        self.preview.setPlaceholderText(tr("The content of a file is shown here before anything is imported."))
        self.preview.setTabChangesFocus(True)
        self.add = QPushButton(tr("&Add files…"), self)
        self.add_folder = QPushButton(tr("Add f&older…"), self)
        self.remove = QPushButton(tr("&Remove"), self)
        self.remove.setEnabled(False)
        self.row = QHBoxLayout()  # other buttons may be added
        self.columns = ColumnsButton(formats, self)
        for button in (self.add, self.add_folder, self.remove, self.columns):
            button.setAutoDefault(False)
            self.row.addWidget(button)
        self.row.addStretch(1)
        parts = QSplitter(Qt.Orientation.Vertical, self)
        parts.addWidget(self.table)
        parts.addWidget(self.preview)
        parts.setChildrenCollapsible(False)
        parts.setSizes([140, 220])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(parts, 1)
        column.addLayout(self.row)
        self.add.clicked.connect(lambda: self._browse(QFileDialog.FileMode.ExistingFiles))
        self.add_folder.clicked.connect(lambda: self._browse(QFileDialog.FileMode.Directory))
        self.remove.clicked.connect(self._remove)
        self.columns.chosen.connect(self._again)
        self.table.itemSelectionChanged.connect(self._show)
        self.changed.connect(self._say_empty)
        self._say_empty()

    def _make_table(self) -> FileTable:
        headings = [tr("File"), tr("Recognised as"), tr("Documents"), tr("Mentions"), tr("What happens")]
        table = FileTable(0, len(headings), self)
        table.setHorizontalHeaderLabels(headings)
        table.setAccessibleName(tr("Files to import"))
        table.setHorizontalHeader(RoomyHeader(table))
        table.verticalHeader().hide()
        table.horizontalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
        table.horizontalHeader().setResizeContentsPrecision(0)  # of the visible rows: with 1,000, a file took 0.2 s
        table.horizontalHeader().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        table.setTabKeyNavigation(False)
        table.setWordWrap(False)
        return table

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(self._paths)

    @property
    def found(self) -> list[Foreseen]:
        """The facts known so far about the files, in order."""
        return [self._found.get(one, Foreseen(one, whole=False)) for one in self._paths]

    @property
    def problem(self) -> str:
        return next(iter(self._wrong.values()), "")

    @property
    def said(self) -> str:
        """The message: that files are being checked, else the problem, else the files left out; '' for nothing."""
        words = (tr(LEFT, path=one.path.name, words=one.words) for one in self._left)
        return self.looking or self.problem or "\n".join(words)

    @property
    def left(self) -> tuple[Left, ...]:
        """Files of folders and archives left out."""
        return tuple(self._left)

    @property
    def looking(self) -> str:
        """The message that added files are being checked, before they are listed; '' if none are."""
        return self._scan.words

    @property
    def reading(self) -> bool:
        """Whether more will be known."""
        return self._scan.busy or self.ahead.reading

    @property
    def changed_documents(self) -> list[Compared]:
        """Documents of the files that the project has with another text or other annotations, in the files' order."""
        return [one for path in sorted(self._changed, key=self._rows.__getitem__) for one in self._changed[path]]

    def close_reading(self) -> None:
        """Stop reading; call it before the dialog is closed."""
        self._scan.close()
        self.ahead.close()

    def add_paths(self, paths: Sequence[Path], *, then: Callable[[], None] | None = None) -> None:
        """Add files and the files of folders, with the recognised format or an error; `then` is called when they are
        listed."""
        if not paths:
            return
        formats, asked = self._formats, tuple(paths)
        self._asked |= dict.fromkeys(asked)
        self._gone -= {*asked}

        def done(found: tuple[Recognised, ...] | None) -> None:
            if formats is not self._formats:
                return  # they are checked again
            unknown = (Recognised(one, problem=tr(UNKNOWN, path=one)) for one in asked)
            self._take(unknown if found is None else found)
            if then is not None:
                then()

        self._scan.ask(lambda count, stop: look(asked, formats, count=count, stop=stop), done)

    def read_as(self, formats: FormatRegistry, look: Look) -> None:
        """Recognise by these formats from now on, and check everything again."""
        self._formats = formats
        gone = set(self._gone)
        self._drop({*self._paths})
        self._left.clear()
        self.ahead.use(look)
        self._gone = gone
        asked = [one for one in self._asked if one not in gone]
        self.add_paths(asked)

    def _take(self, found: Iterable[Recognised]) -> None:
        for one in found:
            if one.problem:
                self._add(one.path, tr("not readable"), one.problem)
            self._left += one.left
            for path, title in one.sources:
                if path not in self._gone:
                    self._add(path, title, "")
        if self._paths and not self.table.selectedItems():
            self.table.selectRow(0)

    def _add(self, path: Path, words: str, wrong: str) -> None:
        if path in self._rows:
            return
        self._rows[path] = len(self._paths)
        self._paths.append(path)
        if wrong:
            self._wrong[path] = wrong
            self._found[path] = Foreseen(path, problem=wrong)
        self._add_row(path, words, wrong)
        if not wrong:
            self.ahead.add(path)

    def _add_row(self, path: Path, words: str, wrong: str) -> None:
        at, why = self.table.rowCount(), wrong or str(path)
        self.table.insertRow(at)
        for column, text in enumerate((path.name, words, "", "", "")):
            item = QTableWidgetItem(text)
            item.setToolTip(tip(why))
            if wrong:
                item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{text}. {wrong}")
            if column in (DOCUMENTS, MENTIONS):
                item.setTextAlignment(RIGHT)
            self.table.setItem(at, column, item)

    def _tell(self, found: Foreseen) -> None:
        """Update the facts of a file."""
        row = self._rows.get(found.path)
        if row is None:
            return
        self._found[found.path] = found
        if found.changed:
            self._changed[found.path] = found.changed
        for column, words in zip((DOCUMENTS, MENTIONS, HAPPENS), (*figures(found), happening(found)), strict=True):
            item = self.table.item(row, column)
            assert item is not None
            item.setText(words)
        if found.problem and found.path not in self._wrong:
            self._wrong[found.path] = found.problem
            self.changed.emit()
        if row == self._row():
            self._show()
        self.known.emit()

    def _row(self) -> int:
        rows = sorted({index.row() for index in self.table.selectedIndexes()})
        return rows[0] if rows else -1

    def _say_empty(self) -> None:
        """Set the message of the empty table; empty while files are being checked."""
        words = tr(NO_FILES) if not self._paths and not self.looking else ""
        if words != self.table.accessibleDescription():
            self.table.setAccessibleDescription(words)
            self.table.viewport().update()

    def _show(self) -> None:
        self.remove.setEnabled(bool(self.table.selectedIndexes()))
        row = self._row()
        found = self._found.get(self._paths[row]) if 0 <= row < len(self._paths) else None
        bar = self.preview.verticalScrollBar()
        at = bar.value()
        self.preview.setHtml(page(found) if found is not None else "")
        bar.setValue(at)
        self.columns.show_for(self._paths[row] if 0 <= row < len(self._paths) else None)

    def _again(self, path: Path) -> None:
        """Read a table again after other columns were chosen."""
        if path in self._rows:
            self._drop({path})
        self.add_paths([path], then=lambda: self._show_path(path))

    def _show_path(self, path: Path) -> None:
        if path in self._rows:
            self.table.selectRow(self._rows[path])
            self._show()

    def _browse(self, mode: QFileDialog.FileMode) -> None:
        dialog = file_dialog(self, tr("Documents to import"), mode=mode)
        dialog.filesSelected.connect(lambda names: self.add_paths([Path(name) for name in names]))
        dialog.open()

    def _remove(self) -> None:
        self._drop({self._paths[index.row()] for index in self.table.selectedIndexes()})

    def _drop(self, gone: set[Path]) -> None:
        for row in sorted((self._rows[path] for path in gone), reverse=True):
            self.table.removeRow(row)
        self._gone |= gone
        self._paths = [one for one in self._paths if one not in gone]
        self._rows = {one: row for row, one in enumerate(self._paths)}
        for path in gone:
            for known in (self._wrong, self._found, self._changed):
                known.pop(path, None)
        self.ahead.drop(gone)
        self._show()
        self.changed.emit()
