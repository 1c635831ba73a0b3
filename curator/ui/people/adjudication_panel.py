"""The current disagreement: each curator's verdict, numbered, below the text.

While the panel has the focus, 1 to 9 make that curator's verdict the project's decision and go to the next
disagreement; with the focus in the text, the usual keys decide it again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from textwrap import shorten

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QKeyEvent, QPainter, QPalette
from PySide6.QtWidgets import (
    QWidget,
)

from curator.domain.decisions import Outcome, Verdict
from curator.domain.rounds import same_answer
from curator.domain.wording import tr
from curator.services.rounds.adjudication import Adjudication, MentionVerdicts
from curator.ui.kit.compose import button, column
from curator.ui.kit.foreign_text import PlainLabel
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.mention_state import MentionState, verdict_words
from curator.ui.kit.record_tables import RecordColumn, RecordModel
from curator.ui.kit.row_list import (
    PAD,
    SMALL,
    RowDelegate,
    RowList,
    draw_key,
    draw_tag,
    draw_words,
    row_height,
    scaled,
)
from curator.ui.kit.sight import Glance, rows_in_sight
from curator.ui.kit.sizing import FlowRow
from curator.ui.kit.theme import Theme

NOT_MARKED = "did not mark it (choosing this rejects the mention)"
HINT = (
    "1–{last} adopt a curator's judgement · ↵ the highlighted one · Esc returns to the text, where the "
    "usual keys decide"
)
TOO_SOON = "Nothing was resolved: this judgement had only just appeared. Press the key again."
DONE = "All disagreements in “{name}” are resolved."
AGREED = "Adopt the {n:,} agreed"
LEFT = "“{mention}” · {left:,} of {all:,} disagreements left in “{name}”"
LONGEST = 40
TITLE = 20
"""Least visible letters of the title; the other columns need their width."""
MOST = 5
ROW_ROLE = int(Qt.ItemDataRole.UserRole)


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """One curator's verdict in words; `number` is its key."""

    number: int
    curator: str
    words: str
    state: MentionState
    verdict: Verdict | None


def verdict_rows(judged: MentionVerdicts, name_of: Callable[[str], str]) -> list[VerdictRow]:
    rows = []
    for number, (curator, verdict) in enumerate(judged.verdicts.items(), start=1):
        names = {one: name_of(one) for one in verdict.entity_ids} if verdict is not None else {}
        words = tr(NOT_MARKED) if verdict is None else verdict_words(verdict, names)
        given = [f"{one.name}: {value.name}" for one, value in judged.attributes.get(curator, ())]
        rows.append(VerdictRow(number, curator, " · ".join([words, *given]), _state(verdict), verdict))
    return rows


def majority(rows: list[VerdictRow]) -> int:
    """The first row with the verdict of most curators, which Enter accepts."""
    shared = [sum(_same(row.verdict, other.verdict) for other in rows) for row in rows]
    return shared.index(max(shared)) if rows else 0


class AdjudicationPanel(QWidget):
    """API: `show_adjudication`. `settled(mention id, curator)` asks to accept a verdict; `keyboard` is the number of
    verdicts with a digit key."""

    settled = Signal(int, str)
    adopt_wanted = Signal()
    step_wanted = Signal(int)
    left = Signal()
    text_wanted = Signal()
    keyboard = Signal(int)

    said = Signal(str)

    def __init__(
        self, name_of: Callable[[str], str], parent: QWidget | None = None, *, glance: Glance | None = None
    ) -> None:
        super().__init__(parent)
        self._glance = glance or Glance(None)
        self.setAccessibleName(tr("Adjudication"))
        self._name_of = name_of
        self._judged: MentionVerdicts | None = None
        columns = [RecordColumn[VerdictRow]("Curator", lambda row: f"{row.number}. {row.curator}: {row.words}")]
        self.model: RecordModel[VerdictRow] = RecordModel(columns, self)
        self.list = RowList(tr("Judgements of the curators"), self)
        self.list.setModel(self.model)
        self.list.setItemDelegate(_Delegate(self.list))
        self.list.installEventFilter(self)
        self.title = ElidedLabel(parent=self)
        self.title.setMinimumWidth(TITLE * self.fontMetrics().horizontalAdvance("0"))
        self.hint = PlainLabel(parent=self)
        self.hint.setWordWrap(True)
        self.suggested = PlainLabel(parent=self)
        self.suggested.setWordWrap(True)
        self.adopt = button("", self.adopt_wanted.emit, parent=self)
        self.back = button(tr("Previous"), lambda: self.step_wanted.emit(-1), parent=self)
        self.forward = button(tr("Next"), lambda: self.step_wanted.emit(1), parent=self)
        self.leave = button(tr("End adjudication"), self.left.emit, parent=self)
        self._compose()
        self.list.chosen.connect(self._chosen)
        self._glance.log(self.list.viewport(), lambda: [self._key(one) for one in rows_in_sight(self.list)])
        self.setFocusProxy(self.list)

    def _compose(self) -> None:
        self.setAutoFillBackground(True)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        line = FlowRow(self.title, self.adopt, self.back, self.forward, self.leave)
        line.setContentsMargins(12, 0, 12, 0)
        for label in (self.suggested, self.hint):
            label.setContentsMargins(12, 0, 12, 0)
        column(line, self.list, self.suggested, self.hint, of=self, margins=(0, 8, 0, 8), spacing=6)

    def show_adjudication(self, found: Adjudication, judged: MentionVerdicts | None) -> None:
        """Show the current disagreement (None: nothing is left) and the progress."""
        self._judged = judged
        rows = verdict_rows(judged, self._name_of) if judged is not None else []
        self.model.show_rows(rows)
        self.list.go_to(majority(rows))
        counts = {"left": len(found.left), "all": len(found.contested), "name": found.round.name}
        self.title.set_words(
            tr(LEFT, mention=shorten(judged.mention.text, LONGEST, placeholder="…"), **counts)
            if judged is not None and found.left
            else tr(DONE, name=found.round.name)
        )
        self.hint.setText(tr(HINT, last=len(rows)) if rows else "")
        self.adopt.setText(tr(AGREED, n=found.agreed))
        self.adopt.setVisible(found.agreed > 0)
        for step in (self.back, self.forward):
            step.setEnabled(len(found.left) > 1)
        self.list.setVisible(bool(rows))
        self._fit()
        self.updateGeometry()
        self.keyboard.emit(len(rows) if self.list.hasFocus() else 0)

    def _fit(self) -> None:
        """Make the list as high as its verdicts, as the text needs the space."""
        rows = min(self.model.rowCount(), MOST)
        self.list.setFixedHeight(rows * row_height(self.font(), 1.0) + 2 * self.list.frameWidth())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange and self.isVisible():
            self._fit()

    def show_suggestion(self, words: str) -> None:
        """Show the linker's suggestion for the current mention."""
        self.suggested.setText(words if self._judged is not None else "")
        self.suggested.setVisible(bool(self.suggested.text()))

    @property
    def judged(self) -> MentionVerdicts | None:
        return self._judged

    def eventFilter(self, watched: object, event: QEvent) -> bool:
        """Give digits to the list before any shortcut of the window; Esc goes to the text."""
        if watched is self.list and event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self.keyboard.emit(self.model.rowCount() if event.type() == QEvent.Type.FocusIn else 0)
        if watched is self.list and isinstance(event, QKeyEvent):
            number = event.key() - Qt.Key.Key_0
            own = 1 <= number <= self.model.rowCount() and not event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier
            escape = event.key() == Qt.Key.Key_Escape
            if event.type() == QEvent.Type.ShortcutOverride and (own or escape):
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress and own:
                self._chosen(number - 1)
                return True
            if event.type() == QEvent.Type.KeyPress and escape:
                self.text_wanted.emit()
                return True
        return super().eventFilter(watched, event)  # type: ignore[arg-type]

    def _chosen(self, at: int) -> None:
        row = self.model.index(at, 0).data(ROW_ROLE)
        if not isinstance(row, VerdictRow) or self._judged is None:
            return
        if self._glance.saw(self._key(at)):
            self.settled.emit(self._judged.mention.id, row.curator)
        else:
            self.list.go_to(at)
            self.said.emit(tr(TOO_SOON))

    def _key(self, at: int) -> Hashable:
        """A curator's verdict on the current mention, for `Glance`."""
        return "verdict", self._judged.mention.id if self._judged is not None else 0, at


class _Delegate(RowDelegate[VerdictRow]):
    """Paints the key, the curator, a tag with the kind of verdict, and the verdict."""

    lines = 1.0

    def draw(self, painter: QPainter, rect: QRectF, row: VerdictRow, font: QFont, theme: Theme) -> None:
        line = QFontMetricsF(font).height()
        cap = QRectF(rect.left() + PAD, rect.center().y() - line / 2 - 1, line + 4, line + 2)
        draw_key(painter, cap, str(row.number), font=scaled(font, 0.9), theme=theme)
        colour = theme.palette.color(QPalette.ColorRole.Text)
        name = QRectF(cap.right() + 10, rect.top(), rect.width() * 0.22, rect.height())
        draw_words(painter, name, row.curator, font=scaled(font, 1.0, bold=True), colour=colour)
        tag = QPointF(name.right() + 90, rect.center().y())
        draw_tag(painter, tag, row.state.word, font=scaled(font, SMALL), theme=theme, state=row.state)
        words = QRectF(tag.x() + 10, rect.top(), rect.right() - tag.x() - 20, rect.height())
        draw_words(painter, words, row.words, font=font, colour=colour)


def _same(one: Verdict | None, other: Verdict | None) -> bool:
    return one is other if one is None or other is None else same_answer(one, other)


def _state(verdict: Verdict | None) -> MentionState:
    if verdict is None:
        return MentionState.UNDECIDED
    return _STATES[verdict.outcome]


_STATES = {
    Outcome.LINK: MentionState.LINKED,
    Outcome.NIL: MentionState.NIL,
    Outcome.REJECTED: MentionState.REJECTED,
    Outcome.SKIPPED: MentionState.SKIPPED,
    Outcome.CLEARED: MentionState.UNDECIDED,
}
