"""Flows around the errors of an evaluation: the list, and navigation between them in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from curator.domain.wording import tr
from curator.ui.bench.workbench import Workbench
from curator.ui.kit.form import OneWindow
from curator.ui.kit.key_names import place_of
from curator.ui.training.bundle_flows import BundleFlows

if TYPE_CHECKING:
    from curator.ui.training.errors_window import ErrorsWindow

QUIET_MS = 1000
"""Delay after the last decision before the list is updated, so that it never happens between two key presses."""


class ErrorFlows(QObject):
    """The window is created on request, and stays behind the main window while its mentions are viewed."""

    def __init__(self, bench: Workbench, bundles: BundleFlows) -> None:
        """`bundles` opens mentions and shows windows that close with the project."""
        super().__init__(bench)
        self._bench, self._bundles, self._wanted = bench, bundles, ""
        self._errors = OneWindow(self._make)
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(self._refresh)
        bench.bridge.stepped.connect(self._stepped)
        bench.bridge.changed.connect(self._changed)

    def show_errors(self, evaluation: str = "") -> ErrorsWindow:
        """The list of an evaluation; '' keeps an open list."""
        open_before, self._wanted = self._errors.window is not None, evaluation
        window = self._errors.show()
        if open_before and evaluation:
            window.load(evaluation)
        return window

    def _make(self) -> ErrorsWindow:
        from curator.ui.training.errors_window import ErrorsWindow

        window = ErrorsWindow(self._bench.project.evaluations, evaluation=self._wanted, parent=self._bench.window())
        window.mention_wanted.connect(self._bundles.open_mention)
        window.said.connect(self._bench.say)
        window.finished.connect(self._timer.stop)
        return window

    def step(self, by: int) -> None:
        """Go to the next or previous error of the open list."""
        if self._errors.window is None:
            self._bench.say(tr("No list of errors is open: {place} opens one.", place=place_of("model.errors")))
        else:
            self._errors.window.step(by)

    def _stepped(self) -> None:
        if self._errors.window is not None:
            self._timer.start()

    def _changed(self) -> None:
        if not self._timer.isActive():  # a team never pauses
            self._stepped()

    def _refresh(self) -> None:
        if self._errors.window is not None:
            self._errors.window.refresh()

    def close_windows(self) -> None:
        self._errors.close()
