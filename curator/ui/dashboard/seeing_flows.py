"""Flows of views: the dashboard, the background work of the session, and the way back to a list."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QApplication, QMainWindow, QWidget

from curator.domain.jobs import JobOutcome
from curator.domain.wording import tr
from curator.ui.bench.workbench import Workbench
from curator.ui.kit.form import OneWindow, bring_up
from curator.ui.training.bundle_flows import BundleFlows

if TYPE_CHECKING:
    from curator.services.queue.team import Collision
    from curator.ui.dashboard.conflicts_window import ConflictsWindow
    from curator.ui.dashboard.dashboard import Dashboard
    from curator.ui.dashboard.decisions_window import DecisionsWindow
    from curator.ui.jobs.jobs_dock import JobsDock


# The way back from a mention in the text to the last used window.


class WayBack(QObject):
    """Remembers which window other than the main one had the keyboard focus last."""

    def __init__(self, main: QWidget, parent: QObject | None = None) -> None:
        super().__init__(parent or main)
        self._main = main
        self._used: list[QWidget] = []
        app = QApplication.instance()
        assert isinstance(app, QApplication)
        app.focusChanged.connect(self._moved)

    @Slot(QWidget, QWidget)
    def _moved(self, old: QWidget | None, new: QWidget | None) -> None:  # noqa: ARG002 Qt's signature
        if new is not None:
            self.remember(new.window())

    def remember(self, window: QWidget) -> None:
        beside = window is not self._main and window.isWindow() and window.parentWidget() is not None
        if not beside or window.isModal() or window.windowType() not in (Qt.WindowType.Window, Qt.WindowType.Dialog):
            return
        parent = window.parentWidget()
        assert parent is not None
        if parent.window() is not self._main:
            return
        if window in self._used:
            self._used.remove(window)
        else:
            window.destroyed.connect(lambda: self._forget(window))
        self._used.append(window)

    def _forget(self, window: QWidget) -> None:
        if window in self._used:
            self._used.remove(window)

    def go_back(self) -> bool:
        """Bring the window forward, with the keyboard focus where it was; False if there is none."""
        window = next((one for one in reversed(self._used) if one.isVisible()), None)
        if window is None:
            return False
        bring_up(window)
        return True


QUIET_MS = 2500
"""Milliseconds after the curator's last step, or others' first, before figures are read again: never between two keys
during work."""
SHARE = 5
"""The least pause between two readings, in times of how long the last one took."""

NO_WAY = "No other window is open. View › Dashboard and Model › Linkers open one."


class SeeingFlows(QObject):
    """The windows are created on demand, so that they do not slow down the start."""

    def __init__(self, bench: Workbench, main: QMainWindow, bundles: BundleFlows) -> None:
        """`bundles` knows names and opens mentions."""
        super().__init__(bench)
        self._bundles = bundles
        self._bench, self._main = bench, main
        self._board, self._decisions = OneWindow(self._make_dashboard), OneWindow(self._make_decisions)
        self._conflicts = OneWindow(self._make_conflicts)
        self._reading = False
        self._again = False
        self._took = 0.0  # seconds, of the last reading
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(self.read)
        self._way = WayBack(main, self)
        self._jobs: JobsDock | None = None
        self._collision: Collision | None = None  # the newest one that a notice was shown for
        bench.bottom.job.list_wanted.connect(self.show_jobs)
        bundles.curve_wanted.connect(self.show_learning_curve)
        bench.bridge.stepped.connect(self._stepped)
        bench.bridge.changed.connect(self._changed)

    # --- the dashboard ---

    @property
    def dashboard(self) -> Dashboard | None:
        return self._board.window

    def show_dashboard(self) -> Dashboard:
        first = self.dashboard is None
        board = self._board.show()
        if first:
            self.read()
        return board

    def _make_dashboard(self) -> Dashboard:
        from curator.ui.dashboard.dashboard import Dashboard

        board = Dashboard(self._bench.project.name, self._main)
        board.wanted.connect(self.read)
        board.finished.connect(self._timer.stop)
        return board

    def show_learning_curve(self) -> Dashboard:
        from curator.services.records.plots import LEARNING

        board = self.show_dashboard()
        board.show_card(LEARNING)
        return board

    def _stepped(self) -> None:
        self._timer.stop()
        self._changed()

    def _changed(self) -> None:
        if self.dashboard is not None and not self._timer.isActive():  # a team never pauses
            self._timer.start(max(QUIET_MS, round(1000 * SHARE * self._took)))
        if self._conflicts.window is not None:
            self._conflicts.window.load()
        if (found := self._bench.project.team.collisions) and found[-1] != self._collision:
            self._collision = found[-1]
            if self._conflicts.window is None and not self._bench.judging:  # a round hides others' decisions
                self._bench.notices.add(self._collision.words, self.show_conflicts)

    def read(self) -> None:
        """Read in a worker thread; a request during a read causes another one afterwards."""
        if self.dashboard is None:
            return
        self._timer.stop()
        if self._reading:
            self._again = True
            return
        from curator.ui.dashboard.dashboard import draw

        self._reading, project, where = True, self._bench.project, self.dashboard.where
        self.dashboard.show_counting()

        begun = time.perf_counter()

        def work() -> dict[str, Any]:
            project.efforts.flush()
            found = project.statistics.read()
            return {"statistics": found, "drawn": draw(found, where), "took": time.perf_counter() - begun}

        self._bench.jobs.ask(work, then=self._read)

    def _read(self, outcome: JobOutcome) -> None:
        self._reading = False
        found = outcome.result.get("statistics")
        self._took = outcome.result.get("took", 0.0)
        if self.dashboard is None:
            return
        if found is not None:
            self.dashboard.show_statistics(found, at=time.strftime("%H:%M:%S"), drawn=outcome.result["drawn"])
        else:
            self.dashboard.state.set_words(outcome.message)
        if self._again:
            self._again = False
            self.read()

    # --- the project's decisions, and what others decided differently ---

    def show_decisions(self) -> DecisionsWindow:
        return self._decisions.show()

    def _make_decisions(self) -> DecisionsWindow:
        from curator.ui.dashboard.decisions_window import DecisionsWindow

        window = DecisionsWindow(self._bench.project.statistics, name_of=self._bundles.name_of, parent=self._main)
        window.mention_wanted.connect(self._bundles.open_mention)
        return window

    def show_conflicts(self) -> ConflictsWindow:
        return self._conflicts.show()

    def _make_conflicts(self) -> ConflictsWindow:
        from curator.ui.dashboard.conflicts_window import ConflictsWindow

        project = self._bench.project
        window = ConflictsWindow(
            project.team.collided,
            name_of=self._bundles.name_of,
            curator=lambda: project.curation.curator,
            parent=self._main,
        )
        window.mention_wanted.connect(self._bundles.open_mention)
        return window

    # --- background work ---

    def show_jobs(self) -> JobsDock:
        """Open it with the keyboard focus; if it has the focus, close it."""
        from curator.ui.jobs.jobs_dock import JobsDock

        if self._jobs is None:
            self._jobs = JobsDock(self._bench.jobs, self._main)
            self._jobs.left.connect(self._bench.focus_document)
            self._jobs.training_wanted.connect(self._bench.bottom.job.details_wanted)
            self._main.addDockWidget(Qt.DockWidgetArea.BottomDockWidgetArea, self._jobs)
        self._jobs.turn()
        return self._jobs

    # --- the way back ---

    def go_back(self) -> None:
        if not self._way.go_back():
            self._bench.say(tr(NO_WAY))

    def close_windows(self) -> None:
        """Close the windows, since nothing of a closed project is shown."""
        for one in (self._board, self._decisions, self._conflicts):
            one.close()
        if self._jobs is not None:
            self._main.removeDockWidget(self._jobs)
            self._jobs.deleteLater()
            self._jobs = None
