"""Icons drawn in `currentColor`, painted in the palette's text colour at every size and pixel ratio."""

from __future__ import annotations

from importlib.resources import files

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QIconEngine, QPainter, QPalette, QPixmap
from PySide6.QtSvg import QSvgRenderer


def icon_names() -> list[str]:
    """Names of all icons."""
    return sorted(one.name.removesuffix(".svg") for one in files("resources").joinpath("icons").iterdir())


def icon(name: str) -> QIcon:
    """An icon that follows the palette. Raises FileNotFoundError for a name that is not there."""
    return QIcon(SvgIconEngine(read_svg(name)))


def read_svg(name: str) -> str:
    return files("resources").joinpath("icons", f"{name}.svg").read_text(encoding="utf-8")


class SvgIconEngine(QIconEngine):
    """Paints one SVG; `currentColor` becomes the application's text colour when it is painted."""

    def __init__(self, svg: str) -> None:
        super().__init__()
        self._svg = svg

    def clone(self) -> QIconEngine:
        return SvgIconEngine(self._svg)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:  # noqa: ARG002
        group = QPalette.ColorGroup.Disabled if mode is QIcon.Mode.Disabled else QPalette.ColorGroup.Active
        role = QPalette.ColorRole.HighlightedText if mode is QIcon.Mode.Selected else QPalette.ColorRole.ButtonText
        colour: QColor = QGuiApplication.palette().color(group, role)
        data = QByteArray(self._svg.replace("currentColor", colour.name()).encode())
        QSvgRenderer(data).render(painter, QRectF(rect))

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap
