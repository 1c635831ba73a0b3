"""*Model > Embedding map*: both planes side by side, and how true the picture is."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from curator.domain.wording import tr
from curator.services.embedding_map import EmbeddingMap, MapPoint
from curator.ui.dialogs.figures import percent
from curator.ui.dialogs.form import ShowDialog, sentence
from curator.ui.embedding_map import MapView, When

NO_MAP = "This bundle has no map. A training writes one when it ends."
WELL = 0.2
"""Above this stress a layout shows the distances poorly, by Kruskal's rule of thumb."""
HELP = (
    "Filled circles are mentions, rings are entities; what belongs to one entity has one colour. The wheel zooms, "
    "dragging moves, a click on a mention opens it; the dashed line is the way a point went."
)


class MapDialog(ShowDialog):
    """Both planes side by side; what is pointed at in the one is marked in the other, and they move together.
    `mention_wanted` carries a mention's id."""

    mention_wanted = Signal(int)

    def __init__(self, title: str, drawn: EmbeddingMap, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        points = self._points = list(drawn.points)
        self.body.addWidget(sentence(f"{HELP} {map_words(drawn)}".rstrip() if points else tr(NO_MAP)))
        self.views = [MapView(points, when, self) for when in When]
        if points:
            planes = QHBoxLayout()
            for view in self.views:
                planes.addWidget(view, 1)
            self.body.addLayout(planes, 1)
        self.told = sentence(" ")
        self.told.setAccessibleName(tr("The point under the mouse"))
        self.body.addWidget(self.told)
        self._connect()
        self.resize(1080, 680)

    def _connect(self) -> None:
        for view, other in (self.views, self.views[::-1]):
            view.view_changed.connect(other.set_view)
            view.hovered.connect(other.set_hover)
            view.hovered.connect(self._tell)
            view.clicked.connect(self._open)
        for view in self.views if not self._points else ():
            view.hide()

    def _tell(self, number: int) -> None:
        self.told.setText(point_words(self._points[number]) if number >= 0 else " ")

    def _open(self, number: int) -> None:
        mention = self._points[number].mention
        if mention is not None:
            self.mention_wanted.emit(mention)


def map_words(drawn: EmbeddingMap) -> str:
    """How true the picture is, and what is true in the full space."""
    words = []
    if drawn.nearest is not None:
        before, after = (percent(one) for one in drawn.nearest)
        words.append(
            f"In all dimensions, {before} of the mentions were nearest to their own entity before; {after} are now."
        )
    if drawn.stress is not None:
        fit = "well" if drawn.stress <= WELL else "poorly"
        words.append(f"Two dimensions show the distances {fit} (stress {drawn.stress:.2f}).")
    return " ".join(words)


def point_words(point: MapPoint) -> str:
    kind = "mention" if point.is_mention else "entity"
    group = f" · {point.group}" if point.group else ""
    return f"{point.label or point.key} ({kind} {point.key}){group}"
