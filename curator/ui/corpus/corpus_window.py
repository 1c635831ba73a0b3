"""*Edit > Search the documents*: hits in all documents as they are found, and mentions made from ticked ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QWidget

from curator.domain.decisions import Verdict
from curator.domain.wording import CancelledError, UserError, ntr, tr
from curator.services.queue.corpus_search import CorpusQuery, Found, Hit
from curator.ui.bench.mention_editor import TypePicker
from curator.ui.candidates.entity_card import Lookup
from curator.ui.candidates.search_rows import Search
from curator.ui.corpus.corpus_page import NONE_MAKEABLE, START, CorpusPage
from curator.ui.deciding.kwic_columns import RecordRow
from curator.ui.deciding.mention_listing import NONE_TICKED, MentionListing
from curator.ui.deciding.reason_strip import StripAnswer
from curator.ui.kit.compose import button

ONE_UNSEEN = "{n} ticked hit was never on the screen. Look at it, or untick it; nothing was changed."
UNSEEN = "{n:,} ticked hits were never on the screen. Go through them, or untick them; nothing was changed."
SEARCHING = "Searching…"
ONE_TARGET = "Choose the entity that {n} new mention of type {type} is linked to. Esc goes back to the list."
TARGET = "Choose the entity that {n:,} new mentions of type {type} are linked to. Esc goes back to the list."
ONE_NIL, MANY_NIL = "{n} new mention is NIL, because it is:", "{n:,} new mentions are NIL, because they are:"
ONE_UNDECIDED = "Make {n} undecided mention of type {type}?"
MANY_UNDECIDED = "Make {n:,} undecided mentions of type {type}?"
FAILED = "The search failed; the log says why. Try it again."
OVERLAP = "{n:,} of them overlaps another mention, which stays."
OVERLAPS = "{n:,} of them overlap other mentions, which stay."
SearchIn: TypeAlias = Callable[[CorpusQuery], Iterable[Found]]


class CorpusWindow(MentionListing):
    """API: `start`. `make_wanted` carries the ticked and seen hits, the type of the new mentions and their verdict,
    None for undecided ones.

    `search_in` is called in its own thread; `types` returns the project's types with their numbers of mentions.
    """

    hit_wanted = Signal(object)  # Hit: to preview
    open_wanted = Signal(object)  # Hit: to open
    make_wanted = Signal(object, str, object)  # hits, type, Verdict | None
    unseen_words = ONE_UNSEEN, UNSEEN

    def __init__(
        self,
        search_in: SearchIn,
        *,
        search: Search,
        lookup: Lookup,
        types: Callable[[], Mapping[str, int]],
        writable: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Search the documents"), search=search, lookup=lookup, writable=writable, parent=parent)
        self._search_in, self._types = search_in, types
        self._stop = threading.Event()  # of the running search
        self._number = 0  # of the displayed search
        self._kept: list[Hit] | None = None  # found again after a change, until complete
        self._chosen_hits: list[Hit] = []
        self._then: Callable[[str], None] = self.ask_entity  # with the type that is chosen
        self._type = ""
        self.page = CorpusPage(self.glance, self)
        self.go = button(tr("&Go to the hit"), self._open, parent=self)
        self.link = button(tr("Make and &link…"), self.make_linked, parent=self)
        self.nil = button(tr("Make and mark &NIL…"), self.make_nil, parent=self)
        self.undecided = button(tr("Make &undecided…"), self.make_undecided, parent=self)
        self.picker = TypePicker(self)
        self.picker.setAccessibleName(tr("Type of the new mentions"))
        keys = {
            Qt.Key.Key_Return: self._open,
            Qt.Key.Key_Enter: self._open,
            Qt.Key.Key_N: self.make_nil,
            Qt.Key.Key_M: self.make_undecided,
        }
        self.lay_out(self.page, self.page.list, self.go, self.link, self.nil, self.undecided, keys=keys)
        self.page.form.changed.connect(lambda: self._begin())
        self.page.said.connect(self.say)
        self.page.listed.connect(self._enable)
        self.page.list.acted.connect(self.press)
        self.page.list.stepped.connect(self.make_linked)
        self.page.list.rested.connect(self._rest)
        self.picker.chosen.connect(self._type_chosen)
        self.finished.connect(self._stop_search)
        self._enable()
        self.resize(1240, 720)

    def _stop_search(self) -> None:
        self._stop.set()

    # --- searching ---

    def start(self, text: str = "") -> None:
        """Take the focus; search for `text` if given."""
        line = self.page.form.line
        if text and text != line.text():
            line.setText(text)
        line.selectAll()
        line.setFocus(Qt.FocusReason.OtherFocusReason)

    def reload(self) -> None:
        """Search again after a change; ticks and highlight are kept if possible."""
        if self._number and self.page.form.line.text().strip():
            self._ask(again=True)

    def _begin(self) -> None:
        self.say("")
        self._ask(again=False)

    def _ask(self, *, again: bool) -> None:
        query = self.page.form.query
        self._stop.set()
        self._number += 1
        number, self._stop, self._kept = self._number, threading.Event(), [] if again else None
        blank = not query.text.strip()
        if not again:
            self.page.begin(tr(START) if blank else tr(SEARCHING))
        if not blank:
            work = partial(_work, self._search_in, query, number, self._stop, self.worker.reporter(self._hear))
            self.worker.ask(work, lambda words: self._ended(number, words), failed=lambda: self.say(tr(FAILED)))

    def _hear(self, report: tuple[int, Found]) -> None:
        number, found = report
        if number != self._number:
            return
        if self._kept is None:
            self.page.add(found.hits)
            self.page.tell(found, ended=False)
        else:
            self._kept += found.hits
            self.page.found = found

    def _ended(self, number: int, words: str) -> None:
        """`words`: why it did not finish, or ''."""
        if number != self._number:
            return
        if words:
            self.say(words)
        if self._kept is not None:
            self.page.show_hits(self._kept)
            self._kept = None
        if self.page.found is not None:
            self.page.tell(self.page.found, ended=True)
        elif not self.page.list.lines.lines:
            self.page.begin(tr(START))

    def _enable(self) -> None:
        listed = bool(self.page.list.lines.rowCount())
        self.go.setEnabled(listed)
        for one in (self.link, self.nil, self.undecided):
            one.setEnabled(self.writable and listed)

    # --- keys and buttons ---

    def _rest(self) -> None:
        if (hit := self.page.current) is not None:
            self.hit_wanted.emit(hit)

    def _open(self) -> None:
        if (hit := self.page.current) is not None:
            self.open_wanted.emit(hit)

    # --- making mentions of what is ticked ---

    def none_ticked(self) -> str:
        return NONE_TICKED if self.page.makeable or not self.page.list.lines.lines else NONE_MAKEABLE

    def make_linked(self) -> None:
        """Ask for type and entity, and make mentions of the ticked hits that are linked to it."""
        self._ask_type(self.ask_entity)

    def make_nil(self) -> None:
        """Ask for type and reason, and make NIL mentions of the ticked hits."""
        self._ask_type(self.ask_reason)

    def make_undecided(self) -> None:
        """Ask for the type, and make undecided mentions of the ticked hits."""
        self._ask_type(self.ask_sure)

    def _ask_type(self, then: Callable[[str], None]) -> None:
        hits = [row.record for row in self.chosen() if isinstance(row, RecordRow)]
        if hits:
            self._chosen_hits, self._then = hits, then
            view = self.page.list.viewport()
            place = view.mapToGlobal(QPoint(int(view.width() * 0.4), int(view.height() * 0.3)))
            self.picker.ask(hits[0].text, self._types(), at=place, usual=self._type)

    def _type_chosen(self, mention_type: str) -> None:
        self._type = mention_type
        self._then(mention_type)

    def ask_entity(self, mention_type: str) -> None:
        """Search for the entity of the new mentions."""
        words = ntr(ONE_TARGET, TARGET, len(self._chosen_hits), type=mention_type)
        self.show_search(" ".join(one for one in (words, self._overlap_words()) if one))

    def ask_reason(self, mention_type: str) -> None:
        """Ask why the new mentions are NIL."""
        question = ntr(ONE_NIL, MANY_NIL, len(self._chosen_hits))
        self.ask_nil_reason(question, partial(self._want, mention_type), note=self._overlap_words())

    def ask_sure(self, mention_type: str) -> None:
        """Ask whether to make this many undecided mentions."""
        answer = StripAnswer(
            Qt.Key.Key_Return, "", tr("Make them"), partial(self._want, mention_type, None), enter=True
        )
        self.strip.put(
            ntr(ONE_UNDECIDED, MANY_UNDECIDED, len(self._chosen_hits), type=mention_type),
            [answer],
            note=self._overlap_words(),
        )

    def _overlap_words(self) -> str:
        number = sum(one.mention is not None for one in self._chosen_hits)
        return ntr(OVERLAP, OVERLAPS, number) if number else ""

    def found(self, entity_id: str) -> None:
        self._want(self._type, Verdict.link(entity_id))

    def _want(self, mention_type: str, verdict: Verdict | None) -> None:
        hits, self._chosen_hits = self._chosen_hits, []
        if hits:
            self.make_wanted.emit(hits, mention_type, verdict)


def _work(
    search_in: SearchIn,
    query: CorpusQuery,
    number: int,
    stop: threading.Event,
    report: Callable[[tuple[int, Found]], None],
) -> str:
    """Search in the other thread. Returns why the search did not finish, or ''."""
    try:
        for found in search_in(query):
            if stop.is_set():
                raise CancelledError
            report((number, found))
    except UserError as error:
        return str(error)
    return ""
