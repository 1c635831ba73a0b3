"""What the window does with what is dragged over it and dropped."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent

from curator.domain.wording import tr
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.looking import FileScan
from curator.ui.kit.messages import tell
from curator.ui.shell.dropping import Dropped, local_paths, sorted_out, words_for

if TYPE_CHECKING:
    from curator.ui.shell.main_window import MainWindow


def accept_copy(event: QDropEvent) -> bool:
    """Take what is dragged as a copy and as nothing else: after a move the file manager deletes the file. False where
    it offers no copy."""
    if not event.possibleActions() & Qt.DropAction.CopyAction:
        return False
    event.setDropAction(Qt.DropAction.CopyAction)
    event.accept()
    return True


class DropFlow(QObject):
    """Projects open, a knowledge base and documents go to the import dialogs; without a project, to a new one."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.note = NoteLabel(window)
        self.note.setAccessibleName(tr("What a drop would do"))
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
        """A modifier key may ask for a move meanwhile."""
        if not (local_paths(event.mimeData()) and accept_copy(event)):
            event.ignore()

    def leave(self) -> None:
        self._say(self.scan.words)

    def drop(self, event: QDropEvent) -> None:
        self.leave()
        paths = local_paths(event.mimeData())
        if paths and accept_copy(event):
            QTimer.singleShot(0, self, lambda: self.take(paths))  # the file manager gets its answer first
        else:
            event.ignore()

    def take(self, paths: Sequence[Path]) -> None:
        """Sort out beside the window's thread and do; what is nothing of ours is said, and then nothing is done."""
        from curator.bootstrap import document_formats  # storage and formats are not needed for the first paint

        formats, asked = document_formats(), tuple(paths)
        self.scan.ask(lambda count, stop: sorted_out(asked, formats, count=count, stop=stop), self._sorted)

    def close(self) -> None:
        """The window goes: nothing is looked at any more."""
        self.scan.close()

    def _say(self, words: str) -> None:
        self.note.set_note(words)
        self.note.adjustSize()
        self.note.move((self._window.width() - self.note.width()) // 2, self._window.menuBar().height() + 12)
        self.note.raise_()

    def _sorted(self, dropped: Dropped | None) -> None:
        if dropped is None:
            dropped = Dropped(wrong=(tr("These files could not be looked at; the log says why."),))
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
        """The knowledge base first, since gold is looked up in it."""
        flows = self._window.session.flows
        if flows is None:
            return
        if dropped.knowledge_bases:
            dialog = flows.import_knowledge_base(dropped.knowledge_bases[0])
            if dropped.documents:
                dialog.finished.connect(lambda _: flows.import_documents(dropped.documents))
        elif dropped.documents:
            flows.import_documents(dropped.documents)
