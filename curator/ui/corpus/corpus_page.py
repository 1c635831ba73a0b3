"""The query, its scope, and the list of hits in their contexts."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import Split
from curator.domain.wording import ntr, tr
from curator.services.ports.queue import MentionContext
from curator.services.queue.corpus_search import MOST, Bar, CorpusQuery, Found, Hit, HitChoice, PassageChoice
from curator.ui.deciding.kwic_columns import ColumnHeader, KwicColumn, KwicColumns, RecordRow
from curator.ui.deciding.kwic_list import CheckMark, KwicRow, TickList
from curator.ui.jobs.jobs_bar import KeyHints
from curator.ui.kit.compose import choice, column, labelled
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.sight import Glance
from curator.ui.kit.sizing import FlowRow
from curator.ui.queue.queue_model import SPLIT_WORDS

TYPING_MS = 250
"""Milliseconds after the last letter until the search begins."""
START = "Type words above. Every document of the project is searched."
NO_HITS = "No hits. Check the spelling and the choices above."
ONLY_EMPTY = "The pattern matches only empty strings. Change it so that it matches at least one character."
NONE_MAKEABLE = "No mention can be made of it: a mention is there already, or it crosses the end of a passage."
HINTS = (("Space", "tick"), ("A", "all"), ("↵", "go to it"), ("⇧↵", "link"), ("N", "NIL"), ("M", "undecided"))
PASSAGES = {PassageChoice.ALL: "all passages", PassageChoice.TITLE: "titles", PassageChoice.BODY: "all but titles"}
HITS = {
    HitChoice.ALL: "all hits",
    HitChoice.NEW: "without a mention",
    HitChoice.OVERLAPPING: "overlapping a mention",
    HitChoice.MENTIONS: "mentions",
}
STATES = {
    Outcome.LINK: MentionState.LINKED,
    Outcome.NIL: MentionState.NIL,
    Outcome.REJECTED: MentionState.REJECTED,
    Outcome.SKIPPED: MentionState.SKIPPED,
}
BAR_WORDS = {Bar.BORDER: "in two passages", Bar.BLANK: "white space alone"}


COLUMNS: KwicColumns[Hit] = KwicColumns(
    "Hit in its context",
    (
        KwicColumn(
            "Mention here",
            "undecided: Cardiomyopath",
            lambda hit: mention_words(hit),
            strong=lambda hit: hit.exact,
        ),
        KwicColumn("Document", "PMC12345678", lambda hit: hit.external_id),
        KwicColumn("Passage", "DISCUSSION", lambda hit: hit.passage or "–"),
    ),
)


class QueryForm(QWidget):
    """`changed`: the query changed. `entered`: Enter or ↓ in the field."""

    changed = Signal()
    entered = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = QLineEdit(self)
        self.line.setPlaceholderText(tr("Words or a pattern"))
        self.line.setAccessibleName(tr("Text to search for"))
        self.line.setClearButtonEnabled(True)
        self.case = QCheckBox(tr("Match &case"), self)
        self.words = QCheckBox(tr("&Whole words"), self)
        self.pattern = QCheckBox(tr("&Pattern"), self)
        self.pattern.setToolTip(tr("The text is a regular expression"))
        splits = [(tr("all splits"), ""), *((tr(words), split.value) for split, words in SPLIT_WORDS.items())]
        self.splits = choice("", splits, parent=self)
        self.passages = choice("", [(tr(words), one.value) for one, words in PASSAGES.items()], parent=self)
        self.hits = choice("", [(tr(words), one.value) for one, words in HITS.items()], parent=self)
        self._later = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._later.timeout.connect(self.changed)
        self._compose()
        self.line.textChanged.connect(lambda: self._later.start())
        self.line.installEventFilter(self)
        for box in (self.case, self.words, self.pattern):
            box.toggled.connect(self.changed)
        for chosen in (self.splits, self.passages, self.hits):
            chosen.currentIndexChanged.connect(self.changed)

    def _compose(self) -> None:
        parts = ((tr("&Split:"), self.splits), (tr("P&assages:"), self.passages), (tr("&Hits:"), self.hits))
        boxes = (self.case, self.words, self.pattern)
        fields = (labelled(words, box, margins=(12, 0, 0, 0)) for words, box in parts)
        column(self.line, FlowRow(*boxes, *fields), of=self, spacing=8)

    @property
    def query(self) -> CorpusQuery:
        split = self.splits.currentData()
        return CorpusQuery(
            self.line.text(),
            pattern=self.pattern.isChecked(),
            case=self.case.isChecked(),
            words=self.words.isChecked(),
            split=Split(split) if split else None,
            passages=PassageChoice(self.passages.currentData()),
            hits=HitChoice(self.hits.currentData()),
        )

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            enters = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
            if event.key() in enters and self._later.isActive():
                self._later.stop()
                self.changed.emit()
                return True
            if event.key() in (*enters, Qt.Key.Key_Down):
                self.entered.emit()
                return True
        return super().eventFilter(watched, event)


class HitList(TickList):
    """The hits; most are not mentions."""

    def key_of(self, row: KwicRow) -> Hashable:
        return "hit", row.record.place if isinstance(row, RecordRow) else ()


class CorpusPage(QWidget):
    """API: `begin`, `add`, `show_hits`, `tell`, `makeable`, `current`.
    `listed`: other lines or other ticks."""

    listed = Signal()
    said = Signal(str)

    def __init__(self, glance: Glance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.found: Found | None = None
        self._rows = 0
        self.form = QueryForm(self)
        self.list = HitList(tr("Hits in their contexts"), self, glance=glance)
        self.list.set_empty_words(tr(START))
        self.count = ElidedLabel(muted=True, parent=self)
        self.count.setMinimumWidth(40 * self.fontMetrics().horizontalAdvance("0"))
        self.hints = KeyHints(self, gives_way=True)
        self.hints.set_hints(HINTS)
        lines = column(ColumnHeader(COLUMNS, self.list, self), (self.list, 1), spacing=0)
        column(self.form, (lines, 1), FlowRow(self.count, self.hints), of=self, spacing=8)
        self.form.entered.connect(lambda: self._enter())
        self.list.ticks_changed.connect(self._ticked)
        self.list.unable.connect(lambda: self.said.emit(tr(NONE_MAKEABLE)))

    def _enter(self) -> None:
        if self._rows:
            self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- what is shown ---

    def begin(self, words: str = "") -> None:
        """Clear the hits, showing `words` until some are added."""
        self.found = None
        self.list.set_empty_words(words)
        self._rows = 0
        self.list.show_rows([])
        self._say_count()

    def add(self, hits: Sequence[Hit]) -> None:
        """Append lines."""
        if hits:
            self.list.add_rows([row_of(one, self._rows + at) for at, one in enumerate(hits)])
            self._rows += len(hits)

    def show_hits(self, hits: Sequence[Hit]) -> None:
        """Replace the hits; ticks and highlight are kept if possible."""
        ticked, current = {row.record.place for row in self.list.ticked if isinstance(row, RecordRow)}, self.current
        places = [one.place for one in hits]
        at = places.index(current.place) if current is not None and current.place in places else None
        self.list.set_empty_words(tr(NO_HITS))
        self._rows = len(hits)
        moved_in = self.list.moved_in
        rows = [row_of(one, at, ticked=one.place in ticked) for at, one in enumerate(hits)]
        self.list.show_rows(list(rows), at=at)
        self.list.moved_in = moved_in and at is not None

    def tell(self, found: Found, *, ended: bool) -> None:
        """Show the progress of the search."""
        self.found = found
        if ended and not found.number:
            self.list.set_empty_words(tr(ONLY_EMPTY) if found.empty else tr(NO_HITS))
        self._say_count(ended=ended)

    def _say_count(self, *, ended: bool = True) -> None:
        words = [count_words(self.found, ended=ended)] if self.found is not None else []
        if ticked := len(self.list.ticked_ids):
            words.append(tr("{ticked:,} ticked", ticked=ticked))
        self.count.set_words(", ".join(words))
        self.listed.emit()

    # --- the lines ---

    @property
    def current(self) -> Hit | None:
        row = self.list.current
        return row.record if isinstance(row, RecordRow) else None

    @property
    def makeable(self) -> bool:
        """Whether any hit of the list can become a mention."""
        return bool(self.list.lines.marked(CheckMark.TICKED) or self.list.lines.marked(CheckMark.UNTICKED))

    def _ticked(self) -> None:
        self.said.emit("")
        self._say_count()


def count_words(found: Found, *, ended: bool) -> str:
    """The number of hits, their scope, and the number listed."""
    hits = ntr("{n:,} hit", "{n:,} hits", found.number)
    documents = ntr("{n:,} document", "{n:,} documents", found.documents)
    words = tr("{hits} in {documents}", hits=hits, documents=documents)
    if found.number > MOST:
        words += tr("; the first {most:,} are listed", most=MOST)
    if not ended:
        words += tr("; {searched:,} of {total:,} documents searched", searched=found.searched, total=found.total)
    return words


def mention_words(hit: Hit) -> str:
    """The mention at the hit, with its state and entity, or why there cannot be one; empty if there is none."""
    if hit.bar is not None:
        return tr(BAR_WORDS[hit.bar])
    if hit.mention is None:
        return "–"
    state = _state_words(hit.mention.verdict, hit.mention.names)
    return state if hit.exact else tr("in “{text}”: {state}", text=hit.mention.text, state=state)


def _state_words(verdict: Verdict | None, names: Sequence[str]) -> str:
    if verdict is None:
        return MentionState.UNDECIDED.word
    return " + ".join(names) if names else STATES[verdict.outcome].word


def makeable(hit: Hit) -> bool:
    """Whether a mention can be made from it."""
    return hit.bar is None and not hit.exact


def row_of(hit: Hit, number: int, *, ticked: bool = False) -> RecordRow:
    """A line; `number` is used as the mention's id, since most hits are not mentions."""
    context = MentionContext(
        number, hit.document_id, hit.external_id, hit.start, hit.left, hit.text, hit.right, "", None, "", None
    )
    mark = CheckMark.TICKED if ticked else CheckMark.UNTICKED
    return RecordRow("", context, mark if makeable(hit) else CheckMark.NONE, hit, COLUMNS)
