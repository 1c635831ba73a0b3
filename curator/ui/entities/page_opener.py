"""Opens an entity's page at its source in the browser; asks the first time, and remembers the answer."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QWidget

from curator.domain.entity_pages import address_of
from curator.domain.wording import UserError, tr
from curator.settings.file import load
from curator.settings.schema import PageOpening
from curator.ui.kit.messages import choose

QUESTION = (
    "The page of {id} is at\n\n{address}\n\nThe site learns which entity you look up. Your answer "
    "is remembered for all entities; Edit › Settings changes it."
)
OPENED = "Opened {address} in the browser."
COPIED = "{address} is on the clipboard."
NO_BROWSER = "No browser could be started. {address} is on the clipboard instead."


class PageOpener(QObject):
    """`remember` saves an answer. `said` carries a message about the result."""

    said = Signal(str)

    def __init__(self, remember: Callable[[PageOpening], None], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._remember = remember
        self.open_url: Callable[[QUrl], bool] = QDesktopServices.openUrl

    def open(self, entity_id: str, over: QWidget) -> None:
        """Open the page; `over`: the parent window of a question."""
        settings = load().settings
        try:
            address = address_of(entity_id, settings.entity_pages)
        except UserError as error:
            self.said.emit(str(error))
            return
        acts = {PageOpening.OPEN: self._open, PageOpening.COPY: self._copy}
        if settings.page_opening is PageOpening.ASK:
            self._ask(entity_id, address, over)
        else:
            acts[settings.page_opening](address)

    def _ask(self, entity_id: str, address: str, over: QWidget) -> None:
        words = tr(QUESTION, id=entity_id, address=address)
        answers = {
            tr("&Open the browser"): lambda: self._answered(PageOpening.OPEN, self._open, address),
            tr("&Copy the address"): lambda: self._answered(PageOpening.COPY, self._copy, address),
            tr("Cancel"): _nothing,
        }
        choose(over, tr("Page of the entity"), words, answers)

    def _answered(self, answer: PageOpening, act: Callable[[str], None], address: str) -> None:
        self._remember(answer)
        act(address)

    def _open(self, address: str) -> None:
        if self.open_url(QUrl(address)):
            self.said.emit(tr(OPENED, address=address))
        else:
            QGuiApplication.clipboard().setText(address)
            self.said.emit(tr(NO_BROWSER, address=address))

    def _copy(self, address: str) -> None:
        QGuiApplication.clipboard().setText(address)
        self.said.emit(tr(COPIED, address=address))


def _nothing() -> None:
    return
