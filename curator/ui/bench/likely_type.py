"""The type that a mention of some text probably has: it comes first where a type is asked for."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from curator.domain.documents import slice_spans
from curator.domain.same_string import string_key
from curator.ui.kit.worker import Worker

if TYPE_CHECKING:
    from curator.services.linking.reconciliation import ReconciliationService
    from curator.ui.bench.workbench import Workbench

PAUSE_MS = 150
"""How long a selection must stay as it is before the linker is asked about it."""


class LikelyType(QObject):
    """The linker is asked when text is selected, not when its type is asked for: a late answer would move the rows."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        self.worker = Worker(self)
        self._overtaken = threading.Event()
        self._known: tuple[str, Collection[str]] = "", ()  # a text, and the types of the linker's first candidate
        self._late = bench.later(self._ask, ms=PAUSE_MS)
        bench.document.selection_changed.connect(self._late.start)

    def of(self, text: str, types: Mapping[str, int], *, but: str = "") -> str:
        """The one of these types, with their numbers of mentions, that is that of the same string in the open document,
        of the entities with this name, or of the linker's first candidate for the selected text; '' if none says."""
        key, opened, project = string_key(text), self._bench.navigator.opened, self._bench.project
        here = [one.mention for one in opened.mentions] if opened is not None else []
        likely = [one.type for one in here if one.type != but and string_key(one.text) == key]
        if not likely:
            mapping = project.knowledge.mapping()
            named = {one for entity in project.provisional.same_named(text) for one in entity.types}
            if not named and self._known[0] == text:
                named = set(self._known[1])
            likely = [one for one in types if one in named or not named.isdisjoint(mapping.types_for(one))]
        return max((one for one in likely if one in types), key=lambda one: types[one], default="")

    def settle(self) -> None:
        """Ask now what would be asked after the pause."""
        self._late.settle()

    def close(self) -> None:
        self._overtaken.set()
        self.worker.close()

    def _ask(self) -> None:
        self._overtaken.set()
        self.worker.drop()
        selection, opened = self._bench.document.selection, self._bench.navigator.opened
        if selection is not None and opened is not None and self._bench.aided:
            text = slice_spans(opened.document.text, [selection])
            self._overtaken = overtaken = threading.Event()
            work = partial(_first, self._bench.project.reconciliation, text, overtaken, self._bench.decider.enter_least)
            self.worker.ask(work, self._answered, failed=_no_answer)

    @Slot(object)
    def _answered(self, found: tuple[str, Collection[str]]) -> None:
        self._known = found


def _first(
    linker: ReconciliationService, text: str, overtaken: threading.Event, least: float
) -> tuple[str, Collection[str]]:
    found = linker.meant(text, wanted=lambda: not overtaken.is_set())[:1]
    return text, [kind for one in found if (one.probability or 0) >= least for kind in one.entity.types]


def _no_answer() -> None:
    """The names decide then."""
