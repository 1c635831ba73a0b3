"""Relations of the open document: shown in a panel and as lines in the text, created with keys, deleted."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Qt, QTimer

from curator.domain.relations import Relation, RelationKind
from curator.domain.wording import tr
from curator.ui.bench.mention_editor import TypePicker
from curator.ui.bench.window_layout import MOVED
from curator.ui.document.relation_lines import RelationPair
from curator.ui.kit.key_names import way_to
from curator.ui.kit.worker import Worker
from curator.ui.panels.history_rows import HistoryRow, relation_rows
from curator.ui.panels.relations_panel import RelationRow, RelationsPanel

if TYPE_CHECKING:
    from curator.services.queue.queue import OpenDocument
    from curator.ui.bench.workbench import Workbench

STARTED = "Relation from “{text}”: go to the other mention and press {key}, or {other} to relate their entities."
CANCELLED = "No relation was added."
HEADLINE = "“{a}” → “{b}”: type of the relation"
ENTITIES_HEADLINE = "“{a}” → “{b}”: type of the relation between their entities"
EVENT = "{name} is an event with its own form: it is kept as the file has it."
NO_MENTION = "No mention of this document is linked to “{name}”."
MOST_OF_READING = 0.4
"""Initial share of the panel in the width of text and relations."""
LATE_MS = 40
"""Milliseconds until the panel and the history follow the framed mention, after it is painted."""


class RelationDesk(QObject):
    """Reads in the background, and only while the panel or the lines are visible."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        self._service = bench.project.relations
        self._worker, self._types_worker = Worker(self), Worker(self)
        self._found: list[Relation] = []
        self._types: dict[str, int] = {}
        self._start: int | None = None  # the mention where a relation begins
        self._pair: tuple[int, int, bool] | None = None  # the subject of the picker
        self.lines = False
        self.panel = RelationsPanel(bench)
        bench.reading.addWidget(self.panel)
        self.panel.hide()
        self.panel.set_writable(not bench.project.read_only)
        self.picker = TypePicker(bench.document)
        self.picker.setAccessibleName(tr("Type of the relation"))
        self._late = QTimer(self, singleShot=True, interval=LATE_MS)
        self._late.timeout.connect(self._show_rows)
        at = bench.navigator
        at.document_changed.connect(self._document_changed)
        at.content_changed.connect(self._read)
        at.mention_changed.connect(self._mention_changed)
        self.panel.closed.connect(self.hide_panel)
        self.panel.deleted.connect(self._delete)
        self.panel.wanted.connect(self._go_to)
        self.picker.chosen.connect(self._add)
        self.picker.left.connect(lambda: bench.say(tr(CANCELLED)))

    # --- what the curator asks for ---

    def start_or_end(self, *, entities: bool = False) -> None:
        """Begin a relation at the framed mention, or complete the begun relation; at the same mention, cancel it.
        `entities`: it is between the entities of the mentions."""
        bench, view = self._bench, self._bench.navigator.mention
        if view is None or not bench.decider.saw():
            return
        mention = view.mention
        if self._start is None:
            self._start = mention.id
            keys = {"key": way_to("annotate.relate"), "other": way_to("annotate.relate_entities")}
            bench.say(tr(STARTED, text=mention.text, **keys))
            self._types_worker.ask(self._service.types, self._take_types)
        elif self._start == mention.id:
            self._start = None
            bench.say(tr(CANCELLED))
        else:
            self._ask(self._start, mention.id, entities=entities)
        self._show_lines()

    def toggle_panel(self) -> None:
        """Show and focus the relations, or hide them."""
        if self.panel.isVisible():
            self.hide_panel()
        else:
            self.panel.show()
            self._fit_panel()
            self._read()
            self.panel.list.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def _fit_panel(self) -> None:
        """Fit the panel: in a narrow window the text keeps the larger part; a size set by the curator is kept."""
        reading, alone = self._bench.reading, self._bench.guidelines.isHidden()
        whole = reading.width()
        most = int(whole * MOST_OF_READING)
        if self.panel.sizeHint().width() > most and alone and not reading.property(MOVED):
            sizes = [0] * reading.count()
            sizes[0], sizes[reading.indexOf(self.panel)] = whole - most, most
            reading.setSizes(sizes)

    def hide_panel(self) -> None:
        self.panel.hide()
        self._bench.focus_document()

    def toggle_lines(self) -> None:
        """Show or hide lines between related mentions in the text."""
        self.lines = not self.lines
        self._read()
        self._show_lines()

    def close(self) -> None:
        """Stop reading; called before the project is closed."""
        self._late.stop()
        for worker in (self._worker, self._types_worker):
            worker.close()

    # --- the history of the framed mention ---

    def history(self) -> list[HistoryRow]:
        """When its relations were added and deleted. For a mention with many relations this takes as long as everything
        else for a key."""
        view = self._bench.navigator.mention
        if view is None or self._bench.judging:
            return []
        return relation_rows(self._service.history(view.mention.id))

    # --- reading ---

    def _document_changed(self) -> None:
        self._start, self._found = None, []
        self.picker.hide()
        self.panel.forget()
        self._show_lines()
        self._read()

    def _read(self) -> None:
        opened = self._bench.navigator.opened
        if opened is None:
            self._found = []
            self._show_rows()
        elif self.lines or self.panel.isVisible():
            self._worker.ask(partial(_read, self._service, opened.document.id), self._take)

    def _take(self, found: tuple[int, list[Relation]]) -> None:
        opened = self._bench.navigator.opened
        if opened is not None and opened.document.id == found[0]:
            self._found = found[1]
            self._show_rows()
            self._show_lines()

    def _take_types(self, found: dict[str, int]) -> None:
        self._types = found

    def _mention_changed(self) -> None:
        if self.panel.isVisible():
            self._late.start()
        if self._start is not None:
            self._show_lines()

    # --- showing ---

    def _show_rows(self) -> None:
        opened, view = self._bench.navigator.opened, self._bench.navigator.mention
        if not self.panel.isVisible():
            return
        linked = view.decision.verdict.entity_ids if view is not None and view.decision is not None else ()
        texts = _texts(opened)
        rows = [
            RelationRow(one, self._ends(one, texts), here=view is not None and one.touches(view.mention.id, linked))
            for one in self._found
        ]
        rows.sort(key=lambda row: not row.here)  # stable: keeps the order of the record
        self.panel.show_relations(rows, key=way_to("annotate.relate"))

    def _ends(self, one: Relation, texts: dict[int, str]) -> tuple[str, ...]:
        words = []
        for end in one.ends:
            entity = self._bench.project.knowledge.entity(end.entity_id) if end.entity_id else None
            name = entity.name if entity is not None else end.entity_id or end.name
            text = texts.get(end.mention_id, "") if end.mention_id is not None else name
            words.append(f"{end.role}: {text}" if end.role and one.kind is RelationKind.EVENT else text)
        return tuple(words)

    def _show_lines(self) -> None:
        """Draw lines between mentions, dashed ones between the nearest mentions of entities, and the line being
        created."""
        opened, view = self._bench.navigator.opened, self._bench.navigator.mention
        pairs: list[RelationPair] = []
        if opened is not None and self.lines:
            pairs = [pair for one in self._found if (pair := _pair(one, opened)) is not None]
        if self._start is not None and view is not None and view.mention.id != self._start:
            pairs.append(RelationPair(self._start, view.mention.id, "?"))
        self._bench.document.set_relations(pairs)

    # --- steps ---

    def _ask(self, first: int, second: int, *, entities: bool) -> None:
        bench = self._bench
        opened = bench.navigator.opened
        start = opened.view(first) if opened is not None else None
        view = bench.navigator.mention
        if start is None or view is None:
            self._start = None
            return
        self._pair = (first, second, entities)
        words = tr(ENTITIES_HEADLINE if entities else HEADLINE, a=start.mention.text, b=view.mention.text)
        known = self._types or {one.type: 1 for one in self._found if not one.fixed}
        self.picker.ask(words, known, at=bench.document.below(view.mention.spans[0]), headline=words)

    def _add(self, relation_type: str) -> None:
        bench, pair = self._bench, self._pair
        self._pair = self._start = None
        if pair is not None:
            add = self._service.add_between_entities if pair[2] else self._service.add
            bench.decider.act(lambda: add(pair[0], pair[1], relation_type))
        self._show_lines()
        bench.focus_document()

    def _delete(self, relation: Relation) -> None:
        bench = self._bench
        if relation.fixed:
            bench.say(tr(EVENT, name=relation.name))
        elif not bench.judging:
            bench.decider.act(lambda: self._service.delete(relation.document_id, relation.name))

    def _go_to(self, relation: Relation) -> None:
        """Frame its first mention; for a relation between entities, the first mention of either."""
        bench, opened = self._bench, self._bench.navigator.opened
        if opened is None:
            return
        ids = [one for one in relation.mention_ids if opened.view(one) is not None]
        ids += _linked_to(opened, relation.entity_ids)
        if ids:
            bench.navigator.select(ids[0])
        elif relation.entity_ids:
            name = self._ends(relation, {})[0]
            bench.say(tr(NO_MENTION, name=name))


def _read(service: Any, document_id: int) -> tuple[int, list[Relation]]:
    """Called in the background."""
    return document_id, service.of_document(document_id)


def _texts(opened: OpenDocument | None) -> dict[int, str]:
    return {view.mention.id: view.mention.text for view in opened.mentions} if opened is not None else {}


def _linked_to(opened: OpenDocument, entity_ids: tuple[str, ...]) -> list[int]:
    """Mentions linked to one of the entities, in text order."""
    return [
        view.mention.id
        for view in opened.mentions
        if view.decision is not None and set(entity_ids).intersection(view.decision.verdict.entity_ids)
    ]


def _pair(relation: Relation, opened: OpenDocument) -> RelationPair | None:
    """The mentions joined by its line; None if it has no line."""
    if relation.kind is RelationKind.MENTIONS:
        first, second = relation.mention_ids
        return RelationPair(first, second, relation.type)
    if relation.kind is RelationKind.EVENT:
        return None
    starts = {view.mention.id: view.mention.spans[0].start for view in opened.mentions}
    sides = [_linked_to(opened, (one,)) for one in relation.entity_ids]
    pairs = [(abs(starts[a] - starts[b]), a, b) for a in sides[0] for b in sides[1] if a != b]
    if not pairs:
        return None
    _, first, second = min(pairs)
    return RelationPair(first, second, relation.type, dashed=True)
