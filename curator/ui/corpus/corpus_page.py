"""The query, its scope, and the list of hits in their contexts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from curator.domain.documents import Split
from curator.domain.wording import ntr, tr
from curator.services.queue.corpus_search import MOST, CorpusQuery, Found, Hit, HitChoice, PassageChoice
from curator.ui.corpus.hit_list import HitDelegate, HitHeader, HitRow, row_of
from curator.ui.deciding.kwic_list import TickList
from curator.ui.deciding.kwic_rows import CheckMark
from curator.ui.jobs.jobs_bar import KeyHints
from curator.ui.kit.foreign_text import PlainLabel
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.sight import Glance, rows_in_sight
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
Place = tuple[int, int, int]


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
        self.splits, self.passages, self.hits = QComboBox(self), QComboBox(self), QComboBox(self)
        self.splits.addItem(tr("all splits"), "")
        for split in SPLIT_WORDS:
            self.splits.addItem(tr(SPLIT_WORDS[split]), split.value)
        for passages in PASSAGES:
            self.passages.addItem(tr(PASSAGES[passages]), passages.value)
        for hits in HITS:
            self.hits.addItem(tr(HITS[hits]), hits.value)
        self._later = QTimer(self, singleShot=True, interval=TYPING_MS)
        self._later.timeout.connect(self.changed)
        self._compose()
        self.line.textChanged.connect(lambda: self._later.start())
        self.line.installEventFilter(self)
        for box in (self.case, self.words, self.pattern):
            box.toggled.connect(self.changed)
        for choice in (self.splits, self.passages, self.hits):
            choice.currentIndexChanged.connect(self.changed)

    def _compose(self) -> None:
        parts = ((tr("&Split:"), self.splits), (tr("P&assages:"), self.passages), (tr("&Hits:"), self.hits))
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(8)
        whole.addWidget(self.line)
        boxes = (self.case, self.words, self.pattern)
        whole.addLayout(FlowRow(*boxes, *(self._with_label(words, box) for words, box in parts)))

    def _with_label(self, words: str, box: QComboBox) -> QWidget:
        both = QWidget(self)
        label = PlainLabel(words, both)
        label.setBuddy(box)
        box.setAccessibleName(words.replace("&", "").rstrip(":"))
        line = QHBoxLayout(both)
        line.setContentsMargins(12, 0, 0, 0)
        line.addWidget(label)
        line.addWidget(box)
        return both

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


class CorpusPage(QWidget):
    """API: `begin`, `add`, `show_hits`, `tell`, `ticked`, `makeable`, `unseen`, `current`.
    `listed`: other lines or other ticks."""

    listed = Signal()
    pressed = Signal(int)  # Qt.Key of keys that neither move nor tick
    said = Signal(str)

    def __init__(self, glance: Glance, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._glance = glance
        self.found: Found | None = None
        self._rows = 0
        self.form = QueryForm(self)
        self.header = HitHeader(self)
        self.list = TickList(tr("Hits in their contexts"), self, glance=glance)
        self.list.setItemDelegate(HitDelegate(self.list))
        self.list.set_empty_words(tr(START))
        self.count = ElidedLabel(muted=True, parent=self)
        self.count.setMinimumWidth(40 * self.fontMetrics().horizontalAdvance("0"))
        self.hints = KeyHints(self, gives_way=True)
        self.hints.set_hints(HINTS)
        self._compose()
        self.form.entered.connect(lambda: self._enter())
        self.list.verticalScrollBar().rangeChanged.connect(self._align_header)
        self.list.acted.connect(self.pressed)
        self.list.ticks_changed.connect(self._ticked)
        self.list.unable.connect(lambda: self.said.emit(tr(NONE_MAKEABLE)))
        glance.remember(self.list.viewport(), self._lines_shown)

    def _compose(self) -> None:
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 0, 0, 0)
        whole.setSpacing(8)
        whole.addWidget(self.form)
        lines = QVBoxLayout()
        lines.setSpacing(0)
        lines.addWidget(self.header)
        lines.addWidget(self.list, 1)
        whole.addLayout(lines, 1)
        whole.addLayout(FlowRow(self.count, self.hints))

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
        ticked, current = {one.place for one in self.ticked}, self.current
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
        if ticked := len(self.ticked):
            words.append(tr("{ticked:,} ticked", ticked=ticked))
        self.count.set_words(", ".join(words))
        self.listed.emit()

    def _align_header(self, low: int, high: int) -> None:
        self.header.set_inset(self.list.verticalScrollBar().sizeHint().width() if high > low else 0)

    # --- the lines ---

    @property
    def current(self) -> Hit | None:
        row = self.list.current
        return row.hit if isinstance(row, HitRow) else None

    @property
    def ticked(self) -> list[Hit]:
        """The ticked hits, in the order of the list."""
        return [hit for one in self.list.lines.marked(CheckMark.TICKED) if (hit := self._hit(one)) is not None]

    @property
    def makeable(self) -> bool:
        """Whether any hit of the list can become a mention."""
        return bool(self.list.lines.marked(CheckMark.TICKED) or self.list.lines.marked(CheckMark.UNTICKED))

    @property
    def unseen(self) -> list[Hit]:
        """Ticked hits that were never on the screen."""
        return [one for one in self.ticked if self._glance.unseen([_key(one)])]

    def go_to(self, hit: Hit) -> None:
        """Go to its line, with the keyboard focus."""
        at = next((row for row in self.list.lines.lines if self._hit(row) == hit), 0)
        self.list.go_to(at)
        self.list.setFocus(Qt.FocusReason.OtherFocusReason)

    def _hit(self, number: int) -> Hit | None:
        row = self.list.lines.row(number)
        return row.hit if isinstance(row, HitRow) else None

    def _lines_shown(self) -> Iterable[Hashable]:
        return [_key(hit) for one in rows_in_sight(self.list) if (hit := self._hit(one)) is not None]

    def _ticked(self) -> None:
        self.said.emit("")
        self._say_count()


def _key(hit: Hit) -> Hashable:
    return "hit", *hit.place


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
