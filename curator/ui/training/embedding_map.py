"""A plane of the embedding map: positions of mentions and entities before or after a training."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPalette,
    QPen,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from curator.domain.wording import tr
from curator.services.training.embedding_map import MapPoint, Place
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.row_list import scaled
from curator.ui.kit.theme import Theme, theme_of

REACH = 9.0  # mouse distance to a point in pixels
STEP = 1.25
MOST_ZOOM, LEAST_ZOOM = 64.0, 0.5
PAN = 40.0
ARROWS = {
    Qt.Key.Key_Left: (-1, 0),
    Qt.Key.Key_Right: (1, 0),
    Qt.Key.Key_Up: (0, -1),
    Qt.Key.Key_Down: (0, 1),
}


class When(StrEnum):
    BEFORE = "before"
    AFTER = "after"


class MapView(QWidget):
    """One plane. `view_changed` carries zoom and centre, so that a second plane can follow; `hovered` the number of the
    point under the mouse or chosen by key, -1 for none; `clicked` the point to open."""

    view_changed = Signal(float, QPointF)
    hovered = Signal(int)
    clicked = Signal(int)

    def __init__(self, points: Sequence[MapPoint], when: When, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._points = list(points)
        self._when = when
        both = unit_places([*(one.before for one in points), *(one.after for one in points)])  # one plane, two moments
        self._before, self._after = both[: len(points)], both[len(points) :]
        self._unit = self._before if when is When.BEFORE else self._after
        self._groups = {group: number for number, group in enumerate(dict.fromkeys(one.group for one in points))}
        self._zoom, self._centre = 1.0, QPointF(0.5, 0.5)
        self._hover = -1
        self._current = -1
        self._pressed: QPointF | None = None
        self._dragged = False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Embedding map {value} training", value=when.value))
        self._said = tr("{points:,} points in {groups:,} groups", points=len(self._points), groups=len(self._groups))
        self.setAccessibleDescription(self._said)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(240, 240)

    def sizeHint(self) -> QSize:
        return QSize(480, 480)

    # --- the view ---

    def set_view(self, zoom: float, centre: QPointF) -> None:
        """Zoom 1 shows everything; `centre` is in units of the whole plane."""
        self._zoom = min(max(zoom, LEAST_ZOOM), MOST_ZOOM)
        self._centre = QPointF(min(max(centre.x(), 0.0), 1.0), min(max(centre.y(), 0.0), 1.0))
        self.update()

    def set_hover(self, number: int) -> None:
        if number != self._hover:
            self._hover = number
            self.update()

    def set_current(self, number: int) -> None:
        """Mark the point of the current mention; -1 for none."""
        if number != self._current:
            self._current = number
            self.update()

    @property
    def current(self) -> int:
        return self._current

    @property
    def chosen(self) -> int:
        """The point under the mouse or chosen by key; -1 for none."""
        return self._hover

    def choose(self, number: int) -> None:
        """Choose a point as if hovered, and scroll to it. -1 chooses none."""
        self._tell_hover(number)
        if number >= 0 and not QRectF(self.rect()).adjusted(20, 20, -20, -20).contains(self.place_of(number)):
            self._change(self._zoom, QPointF(*self._unit[number]))

    def place_of(self, number: int) -> QPointF:
        """The painting position of a point."""
        x, y = self._unit[number]
        return self._to_screen(QPointF(x, y))

    @property
    def zoom(self) -> float:
        return self._zoom

    def _scale(self) -> float:
        return max(min(self.width(), self.height()) - 56.0, 10.0) * self._zoom

    def _to_screen(self, unit: QPointF) -> QPointF:
        middle = QPointF(self.width() / 2, self.height() / 2)
        return middle + (unit - self._centre) * self._scale()

    def _to_unit(self, screen: QPointF) -> QPointF:
        middle = QPointF(self.width() / 2, self.height() / 2)
        return self._centre + (screen - middle) / self._scale()

    def _change(self, zoom: float, centre: QPointF) -> None:
        self.set_view(zoom, centre)
        self.view_changed.emit(self._zoom, self._centre)

    def point_at(self, place: QPointF) -> int:
        """The number of the nearest point within reach; -1 if there is none. Mentions have priority over entities."""
        best, found = (True, REACH**2), -1
        for number, one in enumerate(self._points):
            apart = self.place_of(number) - place
            far = apart.x() ** 2 + apart.y() ** 2
            if far <= REACH**2 and (not one.is_mention, far) < best:
                best, found = (not one.is_mention, far), number
        return found

    # --- mouse and keys ---

    def wheelEvent(self, event: QWheelEvent) -> None:
        steps = event.angleDelta().y() / 120
        before = self._to_unit(event.position())
        zoom = min(max(self._zoom * STEP**steps, LEAST_ZOOM), MOST_ZOOM)
        shift = before - self._centre
        self._change(zoom, before - shift * (self._zoom / zoom))
        event.accept()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._pressed, self._dragged = event.position(), False

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        if self._pressed is None:
            self._tell_hover(self.point_at(event.position()))
            return
        moved = event.position() - self._pressed
        if self._dragged or moved.manhattanLength() > 4:
            self._dragged = True
            self._pressed = event.position()
            self._change(self._zoom, self._centre - moved / self._scale())

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        found = self.point_at(event.position())
        if self._pressed is not None and not self._dragged and found >= 0:
            self.clicked.emit(found)
        self._pressed = None

    def leaveEvent(self, event: QEvent) -> None:
        self._tell_hover(-1)
        super().leaveEvent(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows go from point to point, Enter opens one; with Ctrl they move the plane. + and − zoom, 0 shows all."""
        key = event.key()
        zooms = {Qt.Key.Key_Plus: STEP, Qt.Key.Key_Equal: STEP, Qt.Key.Key_Minus: 1 / STEP}
        if key in ARROWS:
            x, y = ARROWS[Qt.Key(key)]
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self._change(self._zoom, self._centre + QPointF(x, y) * (PAN / self._scale()))
            else:
                self._step(QPointF(x, y))
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self._hover >= 0:
            self.clicked.emit(self._hover)
        elif key in zooms:
            self._change(self._zoom * zooms[Qt.Key(key)], self._centre)
        elif key == Qt.Key.Key_0:
            self._change(1.0, QPointF(0.5, 0.5))
        else:
            super().keyPressEvent(event)

    def _step(self, way: QPointF) -> None:
        """Go to the nearest point in a direction; if none is chosen, to the current or the central one."""
        if not self._points:
            return
        if self._hover < 0:
            self.choose(self._current if self._current >= 0 else self._middlemost())
            return
        best, found = float("inf"), -1
        here = self.place_of(self._hover)
        for number in range(len(self._points)):
            apart = self.place_of(number) - here
            along, aside = QPointF.dotProduct(apart, way), abs(apart.x() * way.y() - apart.y() * way.x())
            if along > 0.5 and along + 2 * aside < best:
                best, found = along + 2 * aside, number
        if found >= 0:
            self.choose(found)

    def _middlemost(self) -> int:
        middle = QPointF(self.width() / 2, self.height() / 2)
        return min(range(len(self._points)), key=lambda one: (self.place_of(one) - middle).manhattanLength())

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()

    def _tell_hover(self, number: int) -> None:
        if number != self._hover:
            self.set_hover(number)
            self.hovered.emit(number)
            words = self._points[number].label or self._points[number].key if number >= 0 else self._said
            self.setAccessibleDescription(words)

    # --- painting ---

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_of(self.palette())
        box = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        painter.setPen(QPen(theme.accent, 2) if self.hasFocus() else QPen(theme.border, 1))
        painter.setBrush(self.palette().color(QPalette.ColorRole.Base))
        painter.drawRoundedRect(box, 6, 6)
        painter.setClipRect(box.adjusted(2, 2, -2, -2))
        order = sorted(range(len(self._points)), key=lambda number: self._points[number].is_mention)
        chosen = self._points[self._hover].group if self._hover >= 0 else None
        for number in order:
            faded = chosen is not None and self._points[number].group != chosen
            self._paint_point(painter, number, theme, faded=faded)
        if self._current >= 0:
            self._paint_current(painter, theme)
        if self._hover >= 0:
            self._paint_way(painter, theme)
            self._paint_label(painter, theme)
        painter.setPen(theme.muted)
        painter.setFont(scaled(self.font(), 0.9, bold=True))
        painter.drawText(box.adjusted(12, 8, -12, -8), Qt.AlignmentFlag.AlignTop, self._when.value.capitalize())
        painter.end()

    def _paint_point(self, painter: QPainter, number: int, theme: Theme, *, faded: bool) -> None:
        one = self._points[number]
        colour = group_colour(theme, self._groups[one.group])
        colour.setAlphaF(0.18 if faded else 0.9)
        place = self.place_of(number)
        if one.is_mention:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colour)
            painter.drawEllipse(place, 4.5, 4.5)
        else:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(colour, 2))
            painter.drawEllipse(place, 6.5, 6.5)

    def _paint_current(self, painter: QPainter, theme: Theme) -> None:
        """Two rings and a cross: the current mention."""
        place = self.place_of(self._current)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for colour, radius in ((self.palette().color(QPalette.ColorRole.Base), 9.0), (theme.accent, 11.0)):
            painter.setPen(QPen(colour, 2))
            painter.drawEllipse(place, radius, radius)
        for x, y in ARROWS.values():
            painter.drawLine(place + QPointF(x, y) * 11, place + QPointF(x, y) * 17)

    def _paint_way(self, painter: QPainter, theme: Theme) -> None:
        """Paint a line from the old to the new position of a point."""
        ends = (QPointF(*places[self._hover]) for places in (self._before, self._after))
        painter.setPen(QPen(theme.muted, 1.5, Qt.PenStyle.DashLine))
        painter.drawLine(*(self._to_screen(end) for end in ends))

    def _paint_label(self, painter: QPainter, theme: Theme) -> None:
        """Paint the label next to the point, inside the plane."""
        one, place = self._points[self._hover], self.place_of(self._hover)
        words = one.label or one.key
        painter.setFont(scaled(self.font(), 0.9))
        metrics = painter.fontMetrics()
        words = metrics.elidedText(words, Qt.TextElideMode.ElideRight, max(self.width() - 40, 40))
        size = QSize(metrics.horizontalAdvance(words) + 14, metrics.height() + 8)
        left = min(max(place.x() + 12, 4.0), max(self.width() - size.width() - 4.0, 4.0))
        top = min(max(place.y() - size.height() - 8, 4.0), max(self.height() - size.height() - 4.0, 4.0))
        box = QRectF(left, top, size.width(), size.height())
        painter.setPen(QPen(theme.border, 1))
        painter.setBrush(self.palette().color(QPalette.ColorRole.Window))
        painter.drawRoundedRect(box, 4, 4)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, words)


def unit_places(places: Sequence[Place]) -> list[Place]:
    """Scale points into a unit square, keeping proportions, y upwards; all at its centre if they coincide."""
    if not places:
        return []
    xs, ys = [x for x, _ in places], [y for _, y in places]
    span = max(max(xs) - min(xs), max(ys) - min(ys))
    middle = ((max(xs) + min(xs)) / 2, (max(ys) + min(ys)) / 2)
    if span <= 0:
        return [(0.5, 0.5)] * len(places)
    return [(0.5 + (x - middle[0]) / span, 0.5 - (y - middle[1]) / span) for x, y in places]


def group_colour(theme: Theme, number: int) -> QColor:
    """The colour of a group: colours distinguishable for colour-blind people first, then hues by the golden angle."""
    known = [theme.accent, *(theme.states[state].line for state in MentionState)]
    if number < len(known):
        return QColor(known[number])
    return QColor.fromHsvF((number * 0.381966) % 1.0, 0.65, 0.85 if theme.dark else 0.6)
