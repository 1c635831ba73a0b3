"""The command palette (Ctrl+K): a search field and its results. Esc and a click outside close it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPersistentModelIndex, QRectF, Qt, Signal
from PySide6.QtGui import QFont, QFontMetricsF, QKeyEvent, QKeySequence, QMouseEvent, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QFrame, QLineEdit, QWidget

from curator.commands.command import Command, Keymap, WindowState, match, why_disabled
from curator.domain.wording import tr
from curator.services.ports.documents import QueueRow
from curator.services.ports.queue import QueueFilter
from curator.settings.file import read_state, write_state
from curator.ui.kit.compose import column
from curator.ui.kit.record_tables import RecordColumn, RecordModel
from curator.ui.kit.row_list import PAD, RowDelegate, RowList, draw_words, row_height
from curator.ui.kit.sight import watch
from curator.ui.kit.theme import Theme
from curator.ui.shell.catalogue import COMMANDS

if TYPE_CHECKING:
    from curator.ui.shell.main_window import MainWindow


# What the command palette lists: commands by a few letters, recent ones first, and documents after an @.

Index = QModelIndex | QPersistentModelIndex
DOCUMENTS = "@"
MOST_DOCUMENTS = 50


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """One line. `why` is the reason why it cannot be chosen; '' if it can. Exactly one of the last two fields is
    set."""

    title: str
    place: str
    keys: str = ""
    why: str = ""
    command: Command[Any] | None = None
    document_id: int | None = None

    @property
    def spoken(self) -> str:
        """The text for a screen reader: everything in the line."""
        return ", ".join(part for part in (self.title, self.place, self.keys, self.why) if part)


def command_entries(query: str, state: WindowState, keymap: Keymap, recent: Sequence[str]) -> list[PaletteEntry]:
    """Commands that match, in English or in the window's language; on ties, recent ones, then usable ones first."""
    last = {command_id: -place for place, command_id in enumerate(recent)}
    found = []
    for place, command in enumerate(COMMANDS):
        score = _score(query, command)
        if score is None:
            continue
        why = why_disabled(command, state)
        rank = (score if query.strip() else 0, last.get(command.id, -len(recent) - 1), not why, -place)
        found.append((rank, _entry(command, why, keymap)))
    return [entry for _, entry in sorted(found, key=lambda one: one[0], reverse=True)]


def _score(query: str, command: Command[Any]) -> int | None:
    """The best score of title, `menu title` and the English title."""
    titles = {tr(command.title), f"{tr(command.menu.value)} {tr(command.title)}", command.title}
    hits = [hit.score for title in titles if (hit := match(query, title)) is not None]
    return max(hits, default=None)


def _entry(command: Command[Any], why: str, keymap: Keymap) -> PaletteEntry:
    return PaletteEntry(
        tr(command.title), tr(command.menu.value), shown_keys(keymap.keys(command)[:1]), why, command=command
    )


def shown_keys(keys: Sequence[str]) -> str:
    """The keys as this desktop writes them."""
    return "  ".join(QKeySequence(one).toString(QKeySequence.SequenceFormat.NativeText) for one in keys)


def document_entries(rows: Sequence[QueueRow]) -> list[PaletteEntry]:
    return [
        PaletteEntry(
            row.title or row.external_id,
            row.external_id,
            tr("{decided} of {mentions} decided", decided=row.decided, mentions=row.mentions),
            document_id=row.document_id,
        )
        for row in rows
    ]


def _tip(entry: PaletteEntry) -> str:
    return entry.why or (tr(entry.command.help) if entry.command is not None else entry.title)


WIDTH_IN_LETTERS, ROWS = 88, 12
PLACEHOLDER = "Command, or @ and a document's id or title"
NOTHING = "No command has these letters in this order."
NO_DOCUMENT = "No document with this id or title."
NO_PROJECT = "Documents are found when a project is open."


class PaletteDelegate(RowDelegate[PaletteEntry]):
    """Paints title and menu at the left; keys, or the reason why it is disabled, at the right."""

    lines = 1.0

    def draw(self, painter: QPainter, rect: QRectF, row: PaletteEntry, font: QFont, theme: Theme) -> None:
        inner = rect.adjusted(PAD + 4, 0, -PAD, 0)
        text = theme.palette.color(QPalette.ColorRole.Text)
        width = draw_words(painter, inner, row.title, font=font, colour=theme.muted if row.why else text)
        rest = inner.adjusted(width + 12, 0, 0, 0)
        used = draw_words(painter, rest, row.why or row.keys, font=font, colour=theme.muted, right=True)
        place = rest.adjusted(0, 0, -used - 16, 0)
        if place.width() > QFontMetricsF(font).horizontalAdvance("mmm"):
            draw_words(painter, place, row.place, font=font, colour=theme.muted)


class Palette(QWidget):
    """Covers the window. `entries` gives the commands for the typed text, `documents` the rows of the queue, None
    without a project. `chosen` is emitted after it has closed and restored the focus."""

    chosen = Signal(object)  # PaletteEntry

    def __init__(
        self,
        over: QWidget,
        *,
        entries: Callable[[str], Sequence[PaletteEntry]],
        documents: Callable[[str], Sequence[QueueRow] | None],
        text: str = "",
    ) -> None:
        super().__init__(over)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setAccessibleName(tr("Command palette"))
        self._find, self._documents = entries, documents
        self._before = over.window().focusWidget()
        self._compose()
        self.line.textChanged.connect(self._typed)
        self.list.chosen.connect(self._choose)
        self.line.installEventFilter(self)
        over.installEventFilter(self)
        self.line.setText(text)
        self._typed(text)
        self._fit()
        watch(self)
        self.show()
        self.raise_()
        self.line.setFocus(Qt.FocusReason.PopupFocusReason)

    def _compose(self) -> None:
        self.sheet = QFrame(self)
        self.sheet.setFrameShape(QFrame.Shape.StyledPanel)
        self.sheet.setAutoFillBackground(True)
        self.line = QLineEdit(self.sheet)
        self.line.setAccessibleName(tr("Command or document"))
        self.line.setPlaceholderText(tr(PLACEHOLDER))
        self.line.setClearButtonEnabled(True)
        words = RecordColumn[PaletteEntry]("", lambda one: one.title, tip=_tip, spoken=lambda one: one.spoken)
        self.model = RecordModel([words], self)
        self.list = RowList(tr("Results"), self.sheet)
        self.list.setItemDelegate(PaletteDelegate(self.list))
        self.list.setModel(self.model)
        self.list.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # the field keeps the focus; arrows move in the list
        column(self.line, (self.list, 1), of=self.sheet, margins=10)

    def _fit(self) -> None:
        over = self.parentWidget()
        if over is None:
            return
        self.setGeometry(over.rect())
        metrics = QFontMetricsF(self.font())
        wide = min(int(metrics.averageCharWidth() * WIDTH_IN_LETTERS), self.width() - 24)
        high = self.line.sizeHint().height() + row_height(self.font(), 1.0) * ROWS + 40
        top = max(12, self.height() // 9)
        self.sheet.setGeometry((self.width() - wide) // 2, top, wide, min(high, self.height() - top - 12))

    # --- what is typed ---

    def _typed(self, text: str) -> None:
        if text.startswith(DOCUMENTS):
            rows = self._documents(text[1:].strip())
            self.list.set_empty_words(tr(NO_PROJECT if rows is None else NO_DOCUMENT))
            self.model.show_rows(document_entries(rows or ()))
        else:
            self.list.set_empty_words(tr(NOTHING))
            self.model.show_rows(self._find(text))
        self.list.go_to(0)

    def _choose(self, row: int) -> None:
        """Choose an entry; a disabled one shows its reason and the palette stays open."""
        entry = self.model.row(row)
        if entry is not None and not entry.why:
            self.leave()
            self.chosen.emit(entry)

    # --- keys ---

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and watched is self.parentWidget():
            self._fit()
        if watched is self.line and isinstance(event, QKeyEvent):
            if event.type() == QEvent.Type.ShortcutOverride:
                event.accept()  # while the palette is open, no key goes to the window
                return True
            if event.type() == QEvent.Type.KeyPress:
                return self._key(event)
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        row, last = self.list.currentIndex().row(), self.model.rowCount() - 1
        steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: ROWS - 1, Qt.Key.Key_PageUp: 1 - ROWS}
        key = Qt.Key(event.key())
        if key in steps:
            self.list.go_to(min(max(row + steps[key], 0), last))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._choose(row)
        elif key == Qt.Key.Key_Escape:
            self.leave()
        else:
            return key in (Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        return True

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if not self.sheet.geometry().contains(event.position().toPoint()):
            self.leave()

    def leave(self) -> None:
        if self._before is not None:
            self._before.setFocus(Qt.FocusReason.OtherFocusReason)
        self.close()

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        shade = self.palette().color(QPalette.ColorRole.Shadow)
        shade.setAlpha(70)
        painter.fillRect(event.rect(), shade)
        painter.end()


# Opens the palette over a window, remembers the choice and carries it out.

FILE = "palette.json"
MOST = 20


class PaletteFlow(QObject):
    """API: `open`."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window

    def open(self, text: str = "") -> Palette:
        palette = Palette(self._window, entries=self._entries, documents=self._documents, text=text)
        palette.chosen.connect(self._do)
        return palette

    def _entries(self, query: str) -> list[PaletteEntry]:
        window = self._window
        state = window.bench.state if window.bench is not None else WindowState()
        return command_entries(query, state, window.menus.keymap, recent_commands())

    def _documents(self, query: str) -> Sequence[QueueRow] | None:
        bench = self._window.bench
        return bench.project.queue.rows(QueueFilter(text=query), limit=MOST_DOCUMENTS) if bench is not None else None

    def _do(self, entry: PaletteEntry) -> None:
        if entry.command is not None:
            write_state(FILE, [entry.command.id, *(one for one in recent_commands() if one != entry.command.id)][:MOST])
            self._window.menus.action(entry.command.id).trigger()
        elif entry.document_id is not None and self._window.bench is not None:
            self._window.bench.navigator.open(entry.document_id)
            self._window.bench.focus_document()


def recent_commands() -> list[str]:
    """Ids of entries chosen in the palette, most recent first."""
    raw = read_state(FILE)
    return [one for one in raw if isinstance(one, str)] if isinstance(raw, list) else []
