"""A list of document files and folders: the recognised format of each, its contents, and problems."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QAbstractItemView, QFileDialog, QWidget

from curator.domain.wording import tr
from curator.services.importing.foreseeing import Foreseen, foresee_documents
from curator.services.importing.import_comparing import Compared
from curator.services.importing.import_sources import Left, Recognised, look
from curator.services.ports.files import FormatRegistry
from curator.ui.files.document_columns import ColumnsButton
from curator.ui.files.import_report import figures, happening, page
from curator.ui.files.reading_ahead import FilePreviewer, Look
from curator.ui.kit.compose import button, column, row, splitter
from curator.ui.kit.foreign_text import StillBrowser
from curator.ui.kit.form import file_dialog
from curator.ui.kit.record_tables import RecordColumn, RecordTable
from curator.ui.kit.worker import FileScan

LEFT = "{path}: {words}."
UNKNOWN = "{path} could not be read. See the log for the reason."
NO_FILES = "No files yet. Click “Add files…” or “Add folder…” below."


@dataclass(slots=True, eq=False)
class _File:
    """A row: a file, what it was recognised as, and what is known so far."""

    path: Path
    title: str
    wrong: str = ""
    found: Foreseen | None = None
    changed: Sequence[Compared] = ()

    @property
    def tip(self) -> str:
        return self.wrong or str(self.path)

    @property
    def figures(self) -> tuple[str, str]:
        return figures(self.found) if self.found is not None and not self.wrong else ("", "")

    @property
    def happens(self) -> str:
        return happening(self.found) if self.found is not None else ""

    def spoken(self, words: str) -> str:
        return f"{words}. {self.wrong}" if self.wrong else words


class FileTable(RecordTable[_File]):
    """A table with a message in the middle while it has no rows."""

    def __init__(self, parent: QWidget) -> None:
        def column(heading: str, words: Callable[[_File], str], *, figure: bool = False) -> RecordColumn[_File]:
            spoken = lambda one: one.spoken(words(one))  # noqa: E731
            return RecordColumn(heading, words, figure=figure, tip=lambda one: one.tip, spoken=spoken)

        columns = [
            column(tr("File"), lambda one: one.path.name),
            column(tr("Recognised as"), lambda one: one.title),
            column(tr("Documents"), lambda one: one.figures[0], figure=True),
            column(tr("Mentions"), lambda one: one.figures[1], figure=True),
            column(tr("What happens"), lambda one: one.happens),
        ]
        super().__init__(tr("Files to import"), columns, sortable=False, parent=parent)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.horizontalHeader().setResizeContentsPrecision(0)  # of the visible rows: with 1,000, a file took 0.2 s

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            event.ignore()  # it is the dialog's: a row has nothing to open
        else:
            super().keyPressEvent(event)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.lines.rowCount():
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
        self._places: dict[Path, int] = {}  # the rows of the files
        self._asked: dict[Path, None] = {}  # added paths, including folders
        self._gone: set[Path] = set()  # removed paths
        self._left: list[Left] = []
        self.ahead = FilePreviewer(look or (lambda path: foresee_documents(path, formats)), self)
        self.ahead.found.connect(self._tell)
        self._scan = FileScan(self)
        self._scan.changed.connect(self.changed)
        self.table = FileTable(self)
        self.preview = StillBrowser(self)
        self.preview.setAccessibleName(tr("Preview of the file"))
        self.preview.setPlaceholderText(tr("The content of a file is shown here before anything is imported."))
        self.preview.setTabChangesFocus(True)
        self.add = button(tr("&Add files…"), lambda: self._browse(QFileDialog.FileMode.ExistingFiles), parent=self)
        self.add_folder = button(tr("Add f&older…"), lambda: self._browse(QFileDialog.FileMode.Directory), parent=self)
        self.remove = button(tr("&Remove"), lambda: self._drop({one.path for one in self._selected}), parent=self)
        self.remove.setEnabled(False)
        self.columns = ColumnsButton(formats, self)
        self.row = row(self.add, self.add_folder, self.remove, self.columns, 1)  # other buttons may be added
        parts = splitter(self.table, self.preview, parent=self, sizes=(140, 220))
        column((parts, 1), self.row, of=self)
        self.columns.chosen.connect(self._again)
        self.table.selectionModel().selectionChanged.connect(self._show)
        self.changed.connect(self._say_empty)
        self._say_empty()

    @property
    def paths(self) -> tuple[Path, ...]:
        return tuple(one.path for one in self.table.lines.rows)

    @property
    def problem(self) -> str:
        return next((one.wrong for one in self.table.lines.rows if one.wrong), "")

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
        return [changed for one in self.table.lines.rows for changed in one.changed]

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
        self._drop({*self.paths})
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
        if self._places and not self._selected:
            self.table.selectRow(0)

    def _add(self, path: Path, words: str, wrong: str) -> None:
        if path in self._places:
            return
        self._places[path] = len(self._places)
        self.table.lines.add_rows([_File(path, words, wrong, Foreseen(path, problem=wrong) if wrong else None)])
        if not wrong:
            self.ahead.add(path)

    def _tell(self, found: Foreseen) -> None:
        """Update the facts of a file."""
        at = self._places.get(found.path)
        if at is None:
            return
        one = self.table.lines.rows[at]
        one.found = found
        if found.changed:
            one.changed = found.changed
        if found.problem and not one.wrong:
            one.wrong = found.problem
            self.changed.emit()
        self.table.lines.replace_row(at, one)
        if one in self._selected[:1]:
            self._show()
        self.known.emit()

    @property
    def _selected(self) -> list[_File]:
        rows = sorted(index.row() for index in self.table.selectionModel().selectedRows())
        return [self.table.lines.rows[row] for row in rows]

    def _say_empty(self) -> None:
        """Set the message of the empty table; empty while files are being checked."""
        words = tr(NO_FILES) if not self._places and not self.looking else ""
        if words != self.table.accessibleDescription():
            self.table.setAccessibleDescription(words)
            self.table.viewport().update()

    def _show(self) -> None:
        shown = next(iter(self._selected), None)
        self.remove.setEnabled(shown is not None)
        bar = self.preview.verticalScrollBar()
        at = bar.value()
        self.preview.setHtml(page(shown.found) if shown is not None and shown.found is not None else "")
        bar.setValue(at)
        self.columns.show_for(shown.path if shown is not None else None)

    def _again(self, path: Path) -> None:
        """Read a table again after other columns were chosen."""
        if path in self._places:
            self._drop({path})
        self.add_paths([path], then=lambda: self._show_path(path))

    def _show_path(self, path: Path) -> None:
        if path in self._places:
            self.table.selectRow(self._places[path])
            self._show()

    def _browse(self, mode: QFileDialog.FileMode) -> None:
        dialog = file_dialog(self, tr("Documents to import"), mode=mode)
        dialog.filesSelected.connect(lambda names: self.add_paths([Path(name) for name in names]))
        dialog.open()

    def _drop(self, gone: set[Path]) -> None:
        left = [one for one in self.table.lines.rows if one.path not in gone]
        self._gone |= gone
        self._places = {one.path: row for row, one in enumerate(left)}
        self.table.show_rows(left)
        self.ahead.drop(gone)
        self._show()
        self.changed.emit()
