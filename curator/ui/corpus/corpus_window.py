"""*Edit > Search the documents*: hits in all documents as they are found, and mentions made from ticked ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QPushButton, QStackedWidget, QVBoxLayout, QWidget

from curator.domain.decisions import Outcome, Verdict
from curator.domain.wording import CancelledError, UserError, ntr, tr
from curator.services.queue.corpus_search import CorpusQuery, Found, Hit
from curator.ui.bench.mention_editor import TypePicker
from curator.ui.candidates.entity_card import Lookup
from curator.ui.candidates.search_panel import SearchPane
from curator.ui.candidates.search_rows import Search
from curator.ui.corpus.corpus_page import NONE_MAKEABLE, START, CorpusPage
from curator.ui.deciding.reason_strip import QuestionStrip, StripAnswer
from curator.ui.kit.form import ShowDialog
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.mention_state import REASON_WORDS, REASONS
from curator.ui.kit.sight import Glance, Sight, watch
from curator.ui.kit.sizing import FlowRow
from curator.ui.kit.worker import Worker

NONE_TICKED = "Nothing is ticked. Space ticks a line, A all lines that are listed."
TOO_SOON = "Nothing was done: the list had only just appeared. Press the key again."
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


class CorpusWindow(ShowDialog):
    """API: `start`, `reload`, `say`, `back`. It changes nothing itself: `make_wanted` carries the ticked and seen hits,
    the type of the new mentions and their verdict, None for undecided ones.

    `search_in` is called in its own thread; `types` returns the project's types with their numbers of mentions.
    """

    hit_wanted = Signal(object)  # Hit: to preview
    open_wanted = Signal(object)  # Hit: to open
    make_wanted = Signal(object, str, object)  # hits, type, Verdict | None

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
        super().__init__(tr("Search the documents"), parent)
        self.setWindowFlags(Qt.WindowType.Window)
        self._search_in, self._types, self._writable = search_in, types, writable
        glance = Glance(Sight.of_process())
        self.worker = Worker(self)
        self._stop = threading.Event()  # of the running search
        self._number = 0  # of the displayed search
        self._kept: list[Hit] | None = None  # found again after a change, until complete
        self._chosen_hits: list[Hit] = []
        self._then: Callable[[str], None] = self.ask_entity  # with the type that is chosen
        self._type = ""
        self.note = NoteLabel(self)
        self.page = CorpusPage(glance, self)
        self.go = self._button(tr("&Go to the hit"), self._open)
        self.link = self._button(tr("Make and &link…"), self.make_linked)
        self.nil = self._button(tr("Make and mark &NIL…"), self.make_nil)
        self.undecided = self._button(tr("Make &undecided…"), self.make_undecided)
        self.strip = QuestionStrip(self)
        self.picker = TypePicker(self)
        self.picker.setAccessibleName(tr("Type of the new mentions"))
        self._make_search = partial(SearchPane, search, lookup, glance=glance)
        self._search: SearchPane | None = None
        self._compose()
        self._connect()
        self.resize(1240, 720)

    def _button(self, words: str, then: Callable[[], None]) -> QPushButton:
        button = QPushButton(words, self)
        button.setAutoDefault(False)
        button.clicked.connect(then)
        return button

    def _compose(self) -> None:
        self.listing = QWidget(self)
        whole = QVBoxLayout(self.listing)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(8)
        whole.addWidget(self.page, 1)
        whole.addWidget(self.strip)
        whole.addLayout(FlowRow(self.go, self.link, self.nil, self.undecided))
        self.pages = QStackedWidget(self)
        self.pages.addWidget(self.listing)
        self.body.addWidget(self.note)
        self.body.addWidget(self.pages, 1)

    def _connect(self) -> None:
        self.page.form.changed.connect(lambda: self._begin())
        self.page.pressed.connect(self._pressed)
        self.page.said.connect(self.say)
        self.page.listed.connect(self._enable)
        self.page.list.stepped.connect(self.make_linked)
        self.page.list.too_soon.connect(lambda: self.say(tr(TOO_SOON)))
        self.page.list.rested.connect(self._rest)
        self.picker.chosen.connect(self._type_chosen)
        self.finished.connect(self._end)
        self._enable()

    def _end(self) -> None:
        self._stop.set()
        if self._search is not None:
            self._search.panel.close_search()
        self.worker.close()

    @property
    def search(self) -> SearchPane:
        """The search in the knowledge base; created on demand."""
        if self._search is None:
            self._search = self._make_search(self)
            self._search.linked.connect(self._entity_chosen)
            self._search.left.connect(self.back)
            self.pages.addWidget(self._search)
            watch(self._search)
        return self._search

    # --- searching ---

    def say(self, words: str) -> None:
        """Show a sentence above everything; '' hides it."""
        self.note.set_note(words)

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
        for button in (self.link, self.nil, self.undecided):
            button.setEnabled(self._writable and listed)

    # --- keys and buttons ---

    def _pressed(self, key: int) -> None:
        acts = {
            Qt.Key.Key_Return: self._open,
            Qt.Key.Key_Enter: self._open,
            Qt.Key.Key_Escape: self.reject,
            Qt.Key.Key_N: self.make_nil,
            Qt.Key.Key_M: self.make_undecided,
        }
        if (act := acts.get(Qt.Key(key))) is not None:
            act()

    def _rest(self) -> None:
        if (hit := self.page.current) is not None:
            self.hit_wanted.emit(hit)

    def _open(self) -> None:
        if (hit := self.page.current) is not None:
            self.open_wanted.emit(hit)

    # --- making mentions of what is ticked ---

    def _chosen(self) -> list[Hit]:
        """The ticked hits, if all were seen; else none, with a message."""
        if not self._writable or not self.page.list.saw():
            return []
        ticked, unseen = self.page.ticked, self.page.unseen
        if not ticked:
            self.say(tr(NONE_TICKED if self.page.makeable or not self.page.list.lines.lines else NONE_MAKEABLE))
        elif unseen:
            self.say(ntr(ONE_UNSEEN, UNSEEN, len(unseen)))
            self.page.go_to(unseen[0])
            return []
        else:
            self.say("")
        return ticked

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
        hits = self._chosen()
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
        self.say(" ".join(one for one in (words, self._overlap_words()) if one))
        self.pages.setCurrentWidget(self.search)
        self.search.start()

    def ask_reason(self, mention_type: str) -> None:
        """Ask why the new mentions are NIL."""
        answers = []
        for number, reason in enumerate(REASONS[Outcome.NIL], start=1):
            act = partial(self._want, mention_type, Verdict(Outcome.NIL, reason=reason))
            key = Qt.Key(Qt.Key.Key_0 + number)
            answers.append(StripAnswer(key, str(number), tr(REASON_WORDS[reason]), act, enter=number == 1))
        self.strip.put(ntr(ONE_NIL, MANY_NIL, len(self._chosen_hits)), answers, note=self._overlap_words())

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

    def _entity_chosen(self, entity_id: str) -> None:
        self._want(self._type, Verdict.link(entity_id))

    def _want(self, mention_type: str, verdict: Verdict | None) -> None:
        hits, self._chosen_hits = self._chosen_hits, []
        if hits:
            self.make_wanted.emit(hits, mention_type, verdict)

    # --- leaving ---

    def back(self) -> None:
        """Return to the list, with the keyboard focus."""
        self.say("")
        self.pages.setCurrentWidget(self.listing)
        self.page.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def reject(self) -> None:
        """Esc first returns to the list."""
        if self.pages.currentWidget() is not self.listing:
            self.back()
        else:
            super().reject()


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
