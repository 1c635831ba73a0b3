"""Hands for the demo without a display: they press the keys that a curator would press, and wait for what appears."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtCore import QEventLoop, Qt, QTimer, SignalInstance
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton, QWidget

from curator.domain.errors import UserError
from curator.domain.jobs import LinkerState
from curator.domain.wording import tr
from curator.ui.bench.workbench import Workbench
from curator.ui.files.export_gold import ExportDialog
from curator.ui.shell.main_window import MainWindow

PATIENCE_MS = 180_000
REST_MS = 1_000
Key = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
PLAIN = Qt.KeyboardModifier.NoModifier
FORMATS = {"pubmed": ("pubtator", "gold.pubtator"), "wikia": ("zeshel", "gold-zeshel")}


class Hands:
    def __init__(self, window: MainWindow) -> None:
        self._window = window
        window.activateWindow()
        QTest.qWaitForWindowActive(window)

    @property
    def _bench(self) -> Workbench:
        assert self._window.bench is not None
        return self._window.bench

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = PLAIN) -> None:
        """Press a key in whatever has the keyboard."""
        QTest.keyClick(QApplication.focusWidget() or self._window, key, modifiers)

    def wait(self, ready: Callable[[], bool], *signals: SignalInstance, what: str) -> None:
        """Run the event loop until `ready`, looked at whenever one of the signals comes. Raises UserError."""
        loop = QEventLoop()
        timer = QTimer(singleShot=True, interval=PATIENCE_MS)
        timer.timeout.connect(loop.quit)

        def look(*_: object) -> None:
            if ready():
                loop.quit()

        for signal in signals:
            signal.connect(look)
        timer.start()
        if not ready():
            loop.exec()
        for signal in signals:
            signal.disconnect(look)
        if not ready():
            minutes = PATIENCE_MS // 60_000
            raise UserError(tr("{what} did not appear within {n} minutes. See the log.", what=what, n=minutes))

    def wait_for_suggestions(self) -> None:
        """Until the linker has answered for the open document, whose held-out mentions show no suggestion. Raises
        UserError where the linker gave up."""
        bench = self._bench
        failed = bench.project.suggestions.status

        def ready() -> bool:
            opened = bench.navigator.opened
            answered = opened is not None and all(one.suggestion is not None or one.held_out for one in opened.mentions)
            return answered or failed().state is LinkerState.FAILED

        self.wait(ready, bench.state_changed, what=tr("Suggestions"))
        if failed().state is LinkerState.FAILED:
            raise UserError(tr("The linker does not serve: {message}", message=failed().message))

    def rest(self) -> None:
        """Until the window has looked up what it looks up for a curator who rests."""
        QTest.qWait(REST_MS)

    # --- a curator's minute ---

    def curate(self) -> Iterator[str]:
        """Decide with each of the deciding keys; yields what each did."""
        bench = self._bench
        for keys, act in (
            ("↵", self._accept),
            ("1", lambda: self.press(Key.Key_1)),
            ("Space ↵", self._search_and_link),
            ("N ↵", lambda: self._reason(Key.Key_N)),
            ("2", lambda: self.press(Key.Key_2)),
            ("X ↵", lambda: self._reason(Key.Key_X)),
            ("Ctrl+Z", lambda: self.press(Key.Key_Z, CTRL)),
        ):
            if bench.navigator.mention is None or bench.navigator.mention.decision is not None:
                self.press(Key.Key_Tab)  # this document is decided: the next one
                self.wait_for_suggestions()
            self._pass_held_out()
            view = bench.navigator.mention
            if view is None or view.decision is not None:
                yield tr("Everything is decided.")
                return
            before = view.mention.text
            act()
            yield tr("{keys:8} at “{mention}”: {words}", keys=keys, mention=before, words=bench.bottom.message.words)

    def _pass_held_out(self) -> None:
        """On to a mention that shows suggestions, which the next keys are about."""
        bench = self._bench
        opened = bench.navigator.opened
        for _ in opened.mentions if opened is not None else ():
            view = bench.navigator.mention
            if view is None or not view.held_out:
                return
            self.press(Key.Key_Down)

    def _accept(self) -> None:
        self.press(Key.Key_Return)

    def _reason(self, key: Qt.Key) -> None:
        self.press(key)
        self.press(Key.Key_Return)

    def _search_and_link(self) -> None:
        """Search the mention's text, where that finds nothing the first candidate's name; link to the first found."""
        view, panel = self._bench.navigator.mention, self._bench.search.panel
        found = lambda: not panel.worker.busy  # noqa: E731
        self.press(Key.Key_Space)
        self.wait(found, panel.model.modelReset, what=tr("The search"))
        if (
            not panel.model.rowCount()
            and view is not None
            and view.suggestion is not None
            and view.suggestion.candidates
        ):
            QTest.keyClicks(panel.line, view.suggestion.candidates[0].name)
            self.wait(found, panel.model.modelReset, what=tr("The search"))
        self.press(Key.Key_Return)
        if panel.isVisible():
            self.press(Key.Key_Escape)

    def export(self, out: Path) -> Path:
        """Through the dialog, into `out`."""
        bench = self._bench
        form, name = FORMATS[bench.project.name]
        path = out / name
        self.press(Key.Key_E, CTRL)
        dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, ExportDialog))
        dialog.formats.setCurrentIndex(dialog.formats.findData(form))
        dialog.path.set_path(path)
        dialog.accept()
        self.wait(lambda: len(bench.jobs) == 0, bench.jobs.ended, what=tr("The export"))
        self._leave_boxes()
        return path

    def _leave_boxes(self) -> None:
        boxes: list[QWidget] = [one for one in QApplication.topLevelWidgets() if isinstance(one, QMessageBox)]
        for box in boxes:
            button = box.findChild(QPushButton)
            if button is not None:
                QTest.mouseClick(button, Qt.MouseButton.LeftButton)
