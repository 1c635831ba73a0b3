"""Files and folders dropped onto the window: recognises each one and opens or imports it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent, QWindow
from PySide6.QtWidgets import QApplication

from curator.domain.wording import UserError, ntr, tr
from curator.services.importing.import_sources import Counted, FileRecogniser, has_source
from curator.services.ports.files import FormatRegistry
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.messages import tell
from curator.ui.kit.worker import FileScan

if TYPE_CHECKING:
    from curator.ui.shell.main_window import MainWindow


KB_SUFFIXES = (".json", ".gz", ".RRF")
"""Suffixes of files in a folder that may be a knowledge base; others are not opened, since folders may be large."""

MARGIN = 12  # pixels around the note


@dataclass(frozen=True, slots=True)
class Dropped:
    """Dropped paths by kind; `wrong` has a sentence for each unrecognised one."""

    projects: tuple[Path, ...] = ()
    knowledge_bases: tuple[Path, ...] = ()
    documents: tuple[Path, ...] = ()
    wrong: tuple[str, ...] = ()

    def refusal(self, *, open_project: bool, writable: bool) -> str:
        """The reason why they cannot be accepted, as a sentence; '' if they can.

        Projects can always be opened; documents and a knowledge base need a writable project.
        """
        if self.wrong:
            return "\n".join(self.wrong)
        if len(self.knowledge_bases) > 1:
            return tr("A project has one knowledge base at a time. Drop only one of these files.")
        content = self.knowledge_bases or self.documents
        if self.projects and content:
            return tr("Drop projects and files separately: a project is opened, files are imported into a project.")
        if content and open_project and not writable:
            return tr("This project is open read-only, so nothing was imported.")
        return ""


def local_paths(data: QMimeData) -> list[Path]:
    """The local files and folders being dragged."""
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile() and url.toLocalFile()]


def sorted_out(
    paths: Sequence[Path], formats: FormatRegistry, *, count: Counted | None = None, stop: Event | None = None
) -> Dropped:
    """Classify every path by content. Raises CancelledError once `stop` is set."""
    looker = FileRecogniser(formats, count=count, stop=stop)
    found: dict[str, list[Path]] = {"project": [], "knowledge base": [], "documents": []}
    wrong = []
    for path in paths:
        kind, words = _kind_of(path, formats, looker)
        if kind:
            found[kind].append(path)
        else:
            wrong.append(words)
    return Dropped(
        tuple(found["project"]), tuple(found["knowledge base"]), tuple(found["documents"]), wrong=tuple(wrong)
    )


def _kind_of(path: Path, formats: FormatRegistry, looker: FileRecogniser) -> tuple[str, str]:
    """("project", "knowledge base" or "documents", ''), or ('', error)."""
    from curator.bootstrap import project_folder  # not needed for the first paint

    try:
        project_folder(path)
    except UserError:
        pass
    else:
        return "project", ""
    if path.is_dir() and _is_kb(path, formats):
        return "knowledge base", ""
    if has_source(path, looker):
        return "documents", ""
    if path.is_dir():
        return "", tr("{path} is neither a project nor a folder with documents or a knowledge base.", path=path)
    return ("knowledge base", "") if _is_kb(path, formats) else ("", looker.look(path).problem)


def _is_kb(path: Path, formats: FormatRegistry) -> bool:
    try:
        if path.is_dir() and not any(one.suffix in KB_SUFFIXES or one.name == "META" for one in path.iterdir()):
            return False
        formats.open_kb(path)
    except (UserError, OSError):
        return False
    return True


def words_for(paths: Sequence[Path]) -> str:
    """The hint while files are dragged over the window."""
    if len(paths) == 1:
        return tr("Drop {name} to open or import it.", name=paths[0].name)
    return ntr("Drop {n} file to open or import it.", "Drop {n} files to open or import them.", len(paths))


# Handles files dragged over the window and dropped.


def accept_copy(event: QDropEvent) -> bool:
    """Accept the drag only as a copy: after a move, the file manager deletes the file. False if no copy is offered."""
    if not event.possibleActions() & Qt.DropAction.CopyAction:
        return False
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()
    return True


class FileDrops(QObject):
    """Passes files dragged over any part of a `MainWindow` to the window, and drops those over dialogs, where a field
    would insert their paths as text, and possibly as a move."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        app.focusWindowChanged.connect(self._listen)
        self._listen(QApplication.focusWindow())

    def _listen(self, window: QWindow | None) -> None:
        if window is not None:
            window.installEventFilter(self)  # repeated calls have no effect

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.DragLeave:
            if (flow := _flow_of(watched)) is not None:
                flow.leave()
            return False
        if not (isinstance(event, QDropEvent) and local_paths(event.mimeData())):
            return False
        flow = _flow_of(watched)
        if flow is None:
            event.ignore()
        elif isinstance(event, QDragEnterEvent):
            flow.enter(event)
        elif isinstance(event, QDragMoveEvent):
            flow.move(event)
        else:
            flow.drop(event)
        return True


def _flow_of(window: QObject) -> DropFlow | None:
    """The flow of the `MainWindow` with this native window."""
    shown = next((one for one in QApplication.topLevelWidgets() if one.windowHandle() is window), None)
    return shown.findChild(DropFlow, options=Qt.FindChildOption.FindDirectChildrenOnly) if shown is not None else None


class DropFlow(QObject):
    """Opens projects; passes documents and knowledge bases to the import dialogs, or to a new project if none is
    open."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.note = NoteLabel(window, framed=True)
        self.note.setAccessibleName(tr("What dropping does"))
        self.scan = FileScan(self)
        self.scan.changed.connect(lambda: self._say(self.scan.words))
        self.note.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)

    def enter(self, event: QDragEnterEvent) -> None:
        paths = local_paths(event.mimeData())
        if paths and accept_copy(event):
            self._say(words_for(paths))
        else:
            event.ignore()

    def move(self, event: QDragMoveEvent) -> None:
        """Check again, as a modifier key may now request a move."""
        if not (local_paths(event.mimeData()) and accept_copy(event)):
            event.ignore()

    def leave(self) -> None:
        self._say(self.scan.words)

    def drop(self, event: QDropEvent) -> None:
        self.leave()
        paths = local_paths(event.mimeData())
        if paths and accept_copy(event):
            QTimer.singleShot(0, self, lambda: self.take(paths))  # answer the file manager first
        else:
            event.ignore()

    def take(self, paths: Sequence[Path]) -> None:
        """Recognise files in a background thread, then open or import them; if one is not recognised, only show a
        message."""
        from curator.bootstrap import document_formats  # storage and formats are not needed for the first paint

        formats, asked = document_formats(), tuple(paths)
        self.scan.ask(lambda count, stop: sorted_out(asked, formats, count=count, stop=stop), self._sorted)

    def close(self) -> None:
        """Stop checking files, as the window is closing."""
        self.scan.close()

    def _say(self, words: str) -> None:
        self.note.set_note(words)
        self.note.fit(self._window.width() - 2 * MARGIN)
        self.note.move((self._window.width() - self.note.width()) // 2, self._window.menuBar().height() + MARGIN)
        self.note.raise_()

    def _sorted(self, dropped: Dropped | None) -> None:
        if dropped is None:
            dropped = Dropped(wrong=(tr("These files could not be read. See the log for the reason."),))
        bench = self._window.bench
        writable = bench is not None and not bench.project.read_only
        refusal = dropped.refusal(open_project=bench is not None, writable=writable)
        if refusal:
            tell(self._window, tr("Drop"), refusal, wrong=True)
        elif dropped.projects:
            self._window.windows.open(list(dropped.projects), beside=self._window)
        elif bench is None:
            self._new_project(dropped)
        else:
            self._import(dropped)

    def _new_project(self, dropped: Dropped) -> None:
        kb = dropped.knowledge_bases[0] if dropped.knowledge_bases else None
        self._window.session.new_project(documents=dropped.documents, knowledge_base=kb)

    def _import(self, dropped: Dropped) -> None:
        """Import the knowledge base first, since gold is looked up in it."""
        features = self._window.session.features
        if features is None:
            return
        flows = features.flows
        if dropped.knowledge_bases:
            dialog = flows.import_knowledge_base(dropped.knowledge_bases[0])
            if dropped.documents:
                dialog.finished.connect(lambda _: flows.import_documents(dropped.documents))
        elif dropped.documents:
            flows.import_documents(dropped.documents)
