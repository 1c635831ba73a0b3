"""The program, unchanged, with a log of what its widgets painted, of its input events and of the changes it made.

Run as `python -m tests.careless.painted_window LOG PROJECT [--without-rule] [--beside FILE]`. Each line of the log is a
JSON list: what, when (seconds of the monotonic clock), and more. The log is written by wrappers around `paintEvent`,
not by what enforces the rule; without the rule, the window is as it would be if nothing enforced it. With `--beside` a
training, an index and imports of copies of FILE run all the while, as often as they end.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TextIO

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QKeyEvent, QMouseEvent, QPaintEvent, QRegion, QWindow
from PySide6.QtWidgets import QApplication, QWidget

from curator.bootstrap import Project
from curator.domain.decisions import Change
from curator.domain.documents import Split
from curator.domain.wording import UserError
from curator.services.core.events import EventBus
from curator.ui.deciding.kwic_list import KwicList
from curator.ui.deciding.reason_strip import QuestionStrip
from curator.ui.document.document_view import DocumentView
from curator.ui.files.import_documents import ImportWish
from curator.ui.jobs.jobs import JobKind
from curator.ui.kit.row_list import RowList
from curator.ui.shell import app as program
from curator.ui.shell.main_window import MainWindow


class Log:
    """Appends lines; what repeats the line before of its kind is left out."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._last: dict[str, Any] = {}

    def state(self, what: str, value: Any) -> None:
        """What is painted now."""
        if self._last.get(what, ...) != value:
            self._last[what] = value
            self.write(what, value)

    def write(self, what: str, *more: Any) -> None:
        self._stream.write(json.dumps([what, time.monotonic(), *more]) + "\n")
        self._stream.flush()


class Inputs(QObject):
    """Every key and button that reaches a window, with the time that the display gave it."""

    def __init__(self, log: Log, parent: QObject) -> None:
        super().__init__(parent)
        self._log = log

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(watched, QWindow):
            if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
                if not event.isAutoRepeat():
                    self._log.write("input", event.timestamp() / 1000, event.key())
            elif event.type() == QEvent.Type.MouseButtonPress and isinstance(event, QMouseEvent):
                self._log.write("input", event.timestamp() / 1000, "click")
        return False


def watch(kind: type[QWidget], what: Callable[[Any], tuple[str, Any] | None], log: Log) -> None:
    """After each painting of such a widget, log what it shows."""
    paint = kind.paintEvent

    def painted(self: QWidget, event: QPaintEvent) -> None:
        paint(self, event)
        if (state := what(self)) is not None:
            log.state(*state)

    kind.paintEvent = painted  # type: ignore[method-assign]


def text(area: DocumentView) -> tuple[str, Any]:
    """The open document, and the framed mention where its frame is inside the viewport."""
    page, frame = area.viewport().rect(), QRegion()
    for rect in area.painted_of(area.current):
        frame += rect
    document = area.document.id if area.document is not None else None
    return f"text {id(area)}", [document, area.current if frame.boundingRect().intersects(page) else None]


def lines(view: KwicList) -> tuple[str, Any]:
    rows = [view.lines.row(at) for at in range(view.lines.rowCount())]
    return f"lines {id(view)}", [row.context.mention_id for row in rows if row is not None and row.context is not None]


def strip(view: QuestionStrip) -> tuple[str, Any]:
    return f"strip {id(view)}", view.question.words


def rows(view: RowList) -> tuple[str, Any] | None:
    """Names of what a list of entities shows."""
    model = view.model()
    if isinstance(view, KwicList) or model is None or view.accessibleName() not in ("Candidates", "Entities found"):
        return None
    column = view.modelColumn()
    page = view.viewport().rect()
    index = [model.index(at, column) for at in range(min(model.rowCount(), 60))]
    return f"rows {view.accessibleName()}", [str(one.data()) for one in index if view.visualRect(one).intersects(page)]


class Beside(QObject):
    """Starts a training, an index and an import of a new copy of a file whenever none of its kind runs."""

    def __init__(self, window: MainWindow, file: Path, folder: Path) -> None:
        super().__init__(window)
        self._window, self._file, self._folder, self._copies = window, file, folder, 0
        self._timer = QTimer(self, interval=5000)
        self._timer.timeout.connect(self._start)
        self._timer.start()

    def _start(self) -> None:
        bench, features = self._window.bench, self._window.session.features
        if bench is None or features is None:
            return
        retraining = bench.project.retraining
        try:
            if not bench.jobs.runs(JobKind.INDEX):
                features.model.build_index(again=True)
            if not bench.jobs.runs(JobKind.TRAIN):
                launch = lambda progress, end: retraining.start("curator", on_progress=progress, on_end=end)  # noqa: E731
                bench.jobs.start(JobKind.TRAIN, "Retrain", launch, then=lambda outcome: None)
            if not bench.jobs.importing:
                self._copies += 1
                copy = self._folder / f"copy {self._copies}.txt"
                copy.write_text(self._file.read_text(encoding="utf-8"), encoding="utf-8")
                features.flows.import_as_wished(ImportWish((copy,), Split.TRAIN, gold=False))
        except UserError as error:
            sys.stderr.write(f"{error}\n")


def main() -> int:
    path, project = Path(sys.argv[1]), Path(sys.argv[2])
    with path.open("a", encoding="utf-8") as stream:
        log = Log(stream)
        for kind, what in ((DocumentView, text), (KwicList, lines), (QuestionStrip, strip), (RowList, rows)):
            watch(kind, what, log)  # type: ignore[type-abstract]
        emit, initialise, folders = EventBus.emit, Project.__init__, {}

        def emitted(self: EventBus, change: Change) -> None:
            mentions, documents = list(change.mention_ids), list(change.document_ids)
            folder = folders.get(id(self), "")
            log.write("change", change.kind.value, change.operation_id, mentions, documents, folder)
            emit(self, change)

        def initialised(self: Project, *given: Any, **named: Any) -> None:
            initialise(self, *given, **named)
            folders[id(self.events)] = str(self.folder)

        EventBus.emit = emitted  # type: ignore[method-assign]
        Project.__init__ = initialised  # type: ignore[method-assign]
        make = program.make_application

        def made(arguments: list[str]) -> QApplication:
            application = make(arguments)
            application.installEventFilter(Inputs(log, application))
            return application

        program.make_application = made  # type: ignore[assignment]
        if "--without-rule" in sys.argv:
            program.Sight = lambda _: None  # type: ignore[assignment,misc]
        if "--beside" in sys.argv:
            file = Path(sys.argv[sys.argv.index("--beside") + 1])
            make_window = program.make_window

            def windowed(application: QApplication) -> MainWindow:
                window = make_window(application)
                Beside(window, file, path.parent)
                return window

            program.make_window = windowed  # type: ignore[assignment]
        log.write("start")
        return program.run(project)


if __name__ == "__main__":
    sys.exit(main())
