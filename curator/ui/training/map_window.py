"""*Model > Embedding map*: both planes side by side, and how faithful they are."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QWidget

from curator.domain.wording import percent, tr
from curator.services.training.embedding_map import EmbeddingMap, MapPoint
from curator.ui.kit.form import ShowDialog, sentence
from curator.ui.kit.labels import FindLine
from curator.ui.training.embedding_map import MapView, When

NO_MAP = "This linker has no map. Training writes one when it finishes."
WELL = 0.2
"""Above this stress, a layout shows distances poorly (Kruskal's rule of thumb)."""
HELP = (
    "Filled circles are mentions, rings are entities. Points of the same entity have the same colour, "
    "and a cross marks the mention that is open in the text. A click or Enter opens a mention in the "
    "text or looks up an entity. The arrow keys go from point to point, + and − or the wheel zoom, "
    "dragging moves the map. The dashed line shows how a point moved."
)
NOT_FOUND = "No point matches."


class MapDialog(ShowDialog):
    """Both planes side by side; hovered points are marked in both, and they move together. `mention_wanted` carries a
    mention's id, `entity_wanted` an entity's."""

    mention_wanted = Signal(int)
    entity_wanted = Signal(str)

    def __init__(self, title: str, drawn: EmbeddingMap, parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        points = self._points = list(drawn.points)
        self.body.addWidget(sentence(f"{tr(HELP)} {map_words(drawn)}".rstrip() if points else tr(NO_MAP)))
        self.views = [MapView(points, when, self) for when in When]
        self.words = self._find_line()
        self.words.setVisible(bool(points))
        self.body.addWidget(self.words)
        if points:
            planes = QHBoxLayout()
            for view in self.views:
                planes.addWidget(view, 1)
            self.body.addLayout(planes, 1)
        self.told = sentence(" ")
        self.told.setAccessibleName(tr("Selected point"))
        self.body.addWidget(self.told)
        self._connect()
        self.resize(1080, 680)
        self.views[-1].setFocus()  # arrow keys work at once

    def _find_line(self) -> FindLine:
        hint = tr("Find a point by its text or identifier; Enter goes to the next match")
        line = FindLine(tr("Find a point"), hint, self)
        line.textEdited.connect(lambda: self.find_point(again=False))
        line.returnPressed.connect(lambda: self.find_point(again=True))
        return line

    def show_current(self, mention_id: int | None) -> None:
        """Mark the current mention if the map has it."""
        known = {one.mention: at for at, one in enumerate(self._points) if one.mention is not None}
        for view in self.views:
            view.set_current(-1 if mention_id is None else known.get(mention_id, -1))

    def find_point(self, *, again: bool) -> None:
        """Search for a point with these words, starting at the chosen one; `again`: excluding that one."""
        words = self.words.text().strip().casefold()
        after = self.views[-1]
        hits = [at for at, one in enumerate(self._points) if words and words in f"{one.label} {one.key}".casefold()]
        if not hits:
            after.choose(-1)
            self.told.setText(tr(NOT_FOUND) if words else " ")
            return
        start = after.chosen + int(again)
        after.choose(next((at for at in hits if at >= start), hits[0]))

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
        point = self._points[number]
        if point.mention is not None:
            self.mention_wanted.emit(point.mention)
        elif not point.is_mention:
            self.entity_wanted.emit(point.key)


def map_words(drawn: EmbeddingMap) -> str:
    """How faithful the map is, and the facts of the full space."""
    words = []
    if drawn.nearest is not None:
        before, after = (percent(one) for one in drawn.nearest)
        words.append(
            tr(
                "In all dimensions, {before} of the mentions were nearest to their own entity before "
                "training; {after} are now.",
                before=before,
                after=after,
            )
        )
    if drawn.stress is not None:
        fit = "well" if drawn.stress <= WELL else "poorly"
        words.append(tr("Two dimensions show the distances {fit} (stress {stress:.2f}).", fit=fit, stress=drawn.stress))
    return " ".join(words)


def point_words(point: MapPoint) -> str:
    kind = "mention" if point.is_mention else "entity"
    group = f" · {point.group}" if point.group else ""
    return f"{point.label or point.key} ({kind} {point.key}){group}"
