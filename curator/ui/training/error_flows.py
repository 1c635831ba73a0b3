"""Flows around the errors of an evaluation: the list, and going from one to the next in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer

from curator.domain.wording import tr
from curator.ui.bench import Workbench
from curator.ui.kit import place_of
from curator.ui.training.bundle_flows import BundleFlows

if TYPE_CHECKING:
    from curator.ui.training.errors_window import ErrorsWindow

QUIET_MS = 1000
"""So long after the last decision the list looks again what is decided differently: never between two keys."""


class ErrorFlows(QObject):
    """The window is made when it is asked for, and stays behind the text while its mentions are looked at."""

    def __init__(self, bench: Workbench, bundles: BundleFlows) -> None:
        """`bundles` opens mentions and shows windows that go with the project."""
        super().__init__(bench)
        self._bench, self._bundles = bench, bundles
        self._list: ErrorsWindow | None = None
        self._timer = QTimer(self, singleShot=True, interval=QUIET_MS)
        self._timer.timeout.connect(self._refresh)
        for told in (bench.bridge.stepped, bench.bridge.changed):
            told.connect(self._changed)

    def show_errors(self, evaluation: str = "") -> ErrorsWindow:
        """The list of an evaluation; '' leaves a list that is open as it is."""
        from curator.ui.training.errors_window import ErrorsWindow

        if self._list is None:
            evaluations = self._bench.project.evaluations
            self._list = ErrorsWindow(evaluations, evaluation=evaluation, parent=self._bench.window())
            self._list.mention_wanted.connect(self._bundles.open_mention)
            self._list.said.connect(self._bench.say)
            self._list.finished.connect(self._gone)
        elif evaluation:
            self._list.load(evaluation)
        self._bundles.show_beside(self._list)
        return self._list

    def step(self, by: int) -> None:
        """To the next error or the previous one of the list that is open."""
        if self._list is None:
            self._bench.say(tr("No list of errors is open: {place} opens one.", place=place_of("model.errors")))
        else:
            self._list.step(by)

    def _gone(self) -> None:
        self._list = None
        self._timer.stop()

    def _changed(self) -> None:
        if self._list is not None:
            self._timer.start()

    def _refresh(self) -> None:
        if self._list is not None:
            self._list.refresh()
