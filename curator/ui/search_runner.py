"""Searches beside the window's thread, one at a time: of what is typed meanwhile only the last is asked next."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal, Slot

from curator.domain.entities import EntityMatch
from curator.domain.errors import UserError

Search = Callable[[str], Sequence[EntityMatch]]
BROKEN = "The search failed. The log says why; other searches go on working."
log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query found, or the sentence that says why it could not be asked."""

    query: str
    matches: tuple[EntityMatch, ...] = ()
    trouble: str = ""


class LatestSearch(QObject):
    """`answered` comes in the window's thread, for the query asked last only: older answers are dropped.

    `search` is called in a thread of its own and may raise UserError.
    """

    answered = Signal(object)  # Answer
    _ended = Signal(object)

    def __init__(self, search: Search, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.search = search
        self._thread: threading.Thread | None = None
        self._wanted: str | None = None  # asked last and not answered yet
        self._open = True
        self._ended.connect(self._end, Qt.ConnectionType.QueuedConnection)

    @property
    def waiting(self) -> bool:
        """Whether an answer is still to come."""
        return self._wanted is not None

    def ask(self, query: str) -> None:
        self._wanted = query
        if self._thread is None and self._open:
            self._start(query)

    def close(self) -> None:
        """Wait for a search that is under way; nothing is answered any more."""
        self._open, self._wanted = False, None
        if self._thread is not None:
            self._thread.join()

    def _start(self, query: str) -> None:
        self._thread = threading.Thread(target=self._run, args=(query,), name="search", daemon=True)
        self._thread.start()

    def _run(self, query: str) -> None:
        try:
            answer = Answer(query, tuple(self.search(query)))
        except UserError as error:
            answer = Answer(query, trouble=str(error))
        except Exception:  # thread boundary: the window says that it failed, the log keeps the traceback
            log.exception("A search failed.")
            answer = Answer(query, trouble=BROKEN)
        self._ended.emit(answer)

    @Slot(object)
    def _end(self, answer: Answer) -> None:
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._wanted is None or not self._open:
            return
        if answer.query == self._wanted:
            self._wanted = None
            self.answered.emit(answer)
        else:
            self._start(self._wanted)
