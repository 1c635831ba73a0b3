"""*Mention > NIL mentions and new entities*: clusters of NIL mentions, and the provisional entities."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QPushButton, QRadioButton, QStackedWidget, QTabWidget, QWidget

from curator.domain.decisions import NilReason
from curator.domain.entities import EntityDraft, ProvisionalEntity
from curator.domain.wording import localised, ntr, tr
from curator.services.knowledge.nil_clusters import NilCluster, merged, split
from curator.services.knowledge.provisional import NewEntity
from curator.services.ports.queue import MentionContext
from curator.ui.candidates.entity_card import Lookup
from curator.ui.candidates.search_panel import SearchPane
from curator.ui.candidates.search_rows import Search
from curator.ui.deciding.kwic_list import CheckMark, KwicList, KwicRow, TickList
from curator.ui.entities.entity_form import EntityForm, SameNamed
from curator.ui.kit.compose import button, column, splitter
from curator.ui.kit.foreign_text import PlainLabel
from curator.ui.kit.form import ShowDialog, sentence
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.record_tables import RecordColumn, RecordTable, number_column
from curator.ui.kit.sizing import FlowRow

Contexts = Callable[[Sequence[int]], list[MentionContext]]
MOST_STRINGS = 6


class NilPage(QWidget):
    """`show_clusters` fills it. Actions apply to the ticked lines of the ticked clusters, or of the current one.

    `wanted(decided)` requests mentions decided NIL, or suggested as NIL.
    """

    wanted = Signal(bool)
    make_wanted = Signal(object, object)  # NilCluster, mention ids
    link_wanted = Signal(object)  # mention ids
    mention_wanted = Signal(int, int)  # document, mention

    def __init__(self, contexts: Contexts, *, writable: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._contexts = contexts
        self._writable = writable
        self._shown: list[MentionContext] = []
        self.decided = QRadioButton(tr("Decided &NIL"), self)
        self.suggested = QRadioButton(tr("&Undecided, NIL suggested"), self)
        self.decided.setChecked(True)
        self.words = sentence("")
        self.table: RecordTable[NilCluster] = RecordTable(
            tr("Clusters of NIL mentions"),
            [
                RecordColumn(tr("Name"), lambda one: one.name),
                RecordColumn(tr("Type"), lambda one: one.type),
                number_column(tr("Mentions"), lambda one: len(one.mention_ids)),
                number_column(tr("Documents"), lambda one: one.documents),
                RecordColumn(tr("Strings"), strings_words),
            ],
            wide=4,
            tickable=lambda _: True,
            parent=self,
        )
        self.list = TickList(tr("Mentions of the cluster in context"), self)
        self.make = button(tr("&Create a new entity…"), self._make, parent=self)
        self.link = button(tr("&Link to an entity…"), lambda: self.link_wanted.emit(self.chosen_ids), parent=self)
        self.merge = button(tr("Mer&ge the ticked clusters"), self.merge_clusters, parent=self)
        self.split = button(tr("&Split off the ticked mentions"), self.split_off, parent=self)
        which = FlowRow(PlainLabel(tr("Show mentions:"), self), self.decided, self.suggested)
        parts = splitter(self.table, self.list, parent=self, sizes=(260, 260))
        buttons = FlowRow(self.make, self.link, self.merge, self.split)
        column(which, self.words, (parts, 1), buttons, of=self, margins=10, spacing=8)
        self.decided.toggled.connect(lambda on: self.wanted.emit(on))
        self.table.moved.connect(self._show_contexts)
        self.table.lines.ticked_changed.connect(self._show_contexts)
        self.table.chosen.connect(self._make)
        self.list.acted.connect(self._acted)
        self.list.ticks_changed.connect(self._enable)
        self.list.previewed.connect(self.mention_wanted)

    def show_clusters(self, clusters: Sequence[NilCluster]) -> None:
        self.table.show_rows(clusters)
        number = sum(len(one.mention_ids) for one in clusters)
        found = ntr("{n} mention", "{n} mentions", number)
        groups = ntr("{n} cluster", "{n} clusters", len(clusters))
        some = tr(
            "{mentions} in {clusters}. Enter creates one entity for the ticked mentions. Space ticks "
            "clusters that belong together, or unticks a mention that does not belong.",
            mentions=found,
            clusters=groups,
        )
        nothing = tr(
            "No mentions are decided as NIL. Press N at a mention that the knowledge base lacks, and it is listed here."
        )
        if not self.decided.isChecked():
            nothing = tr("NIL is not suggested for any undecided mention.")
        self.words.setText(some if clusters else nothing)
        self._show_contexts()

    @property
    def clusters(self) -> tuple[NilCluster, ...]:
        """The clusters that actions apply to."""
        current = self.table.current
        return self.table.ticked or ((current,) if current is not None else ())

    @property
    def chosen_ids(self) -> list[int]:
        return self.list.ticked_ids

    def _show_contexts(self) -> None:
        ids = [one for cluster in self.clusters for one in cluster.mention_ids]
        self._shown = self._contexts(ids) if ids else []
        self.list.show_rows([KwicRow(_about(one), one, CheckMark.TICKED) for one in self._shown])
        self._enable()

    def _enable(self) -> None:
        some = bool(self.chosen_ids) and self._writable
        self.make.setEnabled(some)
        self.link.setEnabled(some)
        self.merge.setEnabled(len(self.table.ticked) > 1)
        self.split.setEnabled(0 < len(self.chosen_ids) < len(self._shown) and len(self.clusters) == 1)

    def _acted(self, key: int) -> None:
        if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._make()
        elif key == Qt.Key.Key_Escape:
            self.table.setFocus(Qt.FocusReason.OtherFocusReason)

    def _make(self) -> None:
        ids = self.chosen_ids
        if not ids or not self._writable:
            return
        cluster = merged(self.clusters, self._shown)
        parts = split(cluster, self._shown, ids)
        self.make_wanted.emit(parts[0], ids)

    def merge_clusters(self) -> None:
        """Merge the ticked rows into one, at the position of the first."""
        ticked, rows = self.table.ticked, list(self.table.lines.rows)
        if len(ticked) < 2:
            return
        at = rows.index(ticked[0])
        one = merged(ticked, self._shown)
        rows = [one if row is ticked[0] else row for row in rows if row is ticked[0] or row not in ticked]
        self._renew(rows, at)

    def split_off(self) -> None:
        """Split the ticked mentions and the others into two rows."""
        rows, clusters = list(self.table.lines.rows), self.clusters
        if len(clusters) != 1:
            return
        at = rows.index(clusters[0])
        self._renew([*rows[:at], *split(clusters[0], self._shown, self.chosen_ids), *rows[at + 1 :]], at)

    def _renew(self, rows: Sequence[NilCluster], at: int) -> None:
        self.table.lines.show_rows(rows)
        self.table.setCurrentIndex(self.table.lines.index(at, 0))
        self.table.setFocus(Qt.FocusReason.OtherFocusReason)


def strings_words(cluster: NilCluster) -> str:
    """The most frequent strings with their numbers."""
    shown = [
        f"{text} ({localised(number, ',')})" if number > 1 else text for text, number in cluster.strings[:MOST_STRINGS]
    ]
    return " · ".join([*shown, "…"] if len(cluster.strings) > MOST_STRINGS else shown)


def _about(one: MentionContext) -> str:
    """The reason for NIL if it is not the default."""
    reason = one.verdict.reason if one.verdict is not None else None
    return reason.value.replace("-", " ") if reason is not None and reason is not NilReason.NOT_IN_KB else ""


class EntitiesPage(QWidget):
    """`show_entities` fills it; buttons request actions on the current entity."""

    edit_wanted = Signal(object)  # ProvisionalEntity
    delete_wanted = Signal(object)
    merge_wanted = Signal(object)
    make_wanted = Signal()
    mention_wanted = Signal(int, int)  # document, mention

    def __init__(
        self, contexts: Callable[[str], list[MentionContext]], *, writable: bool, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._contexts = contexts
        self._writable = writable
        self.words = sentence("")
        self.table: RecordTable[NewEntity] = RecordTable(
            tr("New entities"),
            [
                RecordColumn(tr("Identifier"), lambda one: one.found.id),
                RecordColumn(tr("Name"), lambda one: one.found.entity.name),
                RecordColumn(tr("Types"), lambda one: ", ".join(one.found.entity.types)),
                number_column(tr("Mentions"), lambda one: one.mentions),
                RecordColumn(tr("Created by"), lambda one: one.found.author),
                RecordColumn(tr("Created"), _made, by=lambda one: one.found.at.isoformat()),
            ],
            wide=1,
            parent=self,
        )
        self.list = KwicList(tr("Mentions linked to the entity"), self)
        self.make = button(tr("&New entity…"), self.make_wanted.emit, parent=self)
        self.edit = self._action(tr("&Edit…"), self.edit_wanted)
        self.merge = self._action(tr("Mer&ge with another entity…"), self.merge_wanted)
        self.delete = self._action(tr("&Delete"), self.delete_wanted)
        parts = splitter(self.table, self.list, parent=self, sizes=(260, 260))
        buttons = FlowRow(self.make, self.edit, self.merge, self.delete)
        column(self.words, (parts, 1), buttons, of=self, margins=10, spacing=8)
        self.table.chosen.connect(self.edit.click)
        self.table.selectionModel().currentRowChanged.connect(lambda: self._show_contexts())
        self.list.previewed.connect(self.mention_wanted)

    def _action(self, words: str, wanted: SignalInstance) -> QPushButton:
        """A button about the current entity."""
        return button(words, lambda: wanted.emit(self.current) if self.current is not None else None, parent=self)

    @property
    def current(self) -> ProvisionalEntity | None:
        row = self.table.current
        return row.found if row is not None else None

    def show_entities(self, entities: Sequence[NewEntity], *, at: str = "") -> None:
        """Show the entities; `at`: the id of the one to select."""
        self.table.show_rows(entities)
        if (place := self.table.lines.place(lambda one: one.found.id == at)) is not None:
            self.table.go_to(place)
        counted = ntr("{n} new entity.", "{n} new entities.", len(entities))
        some = tr("{counted} The linker suggests new entities, and search finds them.", counted=counted)
        none = tr("No new entities yet. Create one from NIL mentions, or press E at a mention.")
        self.words.setText(some if entities else none)
        self._show_contexts()

    def _show_contexts(self) -> None:
        current = self.current
        found = self._contexts(current.id) if current is not None else []
        self.list.show_rows([KwicRow(one.curator, one, CheckMark.RIGHT) for one in found])
        for one_of in (self.edit, self.merge, self.delete):
            one_of.setEnabled(current is not None and self._writable)
        self.make.setEnabled(self._writable)


def _made(one: NewEntity) -> str:
    return localised(one.found.at.astimezone(), "%d %b %Y %H:%M")


class EntitiesWindow(ShowDialog):
    """Two lists in tabs; a form or a search replaces them temporarily, and nothing else is modal.

    `ask_entity(heading, …, then)` and `ask_search(text, then)` call `then` with the input, and return to the lists.
    """

    def __init__(
        self,
        *,
        contexts: Contexts,
        linked: Callable[[str], list[MentionContext]],
        same_named: SameNamed,
        search: Search,
        lookup: Lookup,
        writable: bool,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("NIL mentions and new entities"), parent)
        self.setWindowModality(Qt.WindowModality.NonModal)
        self.nils = NilPage(contexts, writable=writable, parent=self)
        self.entities = EntitiesPage(linked, writable=writable, parent=self)
        self.form = EntityForm(same_named, self)
        self.search = SearchPane(search, lookup, self)
        self.note = NoteLabel(self)
        self.tabs = QTabWidget(self)
        self.tabs.addTab(self.nils, tr("NIL mentions"))
        self.tabs.addTab(self.entities, tr("New entities"))
        self.pages = QStackedWidget(self)
        for page in (self.tabs, self.form, self.search):
            self.pages.addWidget(page)
        self.body.addWidget(self.note)
        self.body.addWidget(self.pages, 1)
        self._then: Callable[[EntityDraft], bool] | None = None
        self._chosen: Callable[[str], bool] | None = None
        self.form.submitted.connect(self._submitted)
        self.form.link_wanted.connect(self._found)
        self.form.left.connect(self.back)
        self.search.linked.connect(self._found)
        self.search.left.connect(self.back)
        self.resize(900, 640)

    def say(self, words: str) -> None:
        """Show a sentence above the lists; '' hides it."""
        self.note.set_note(words)

    @property
    def listing(self) -> bool:
        """Whether the lists are shown."""
        return self.pages.currentWidget() is self.tabs

    def ask_entity(
        self,
        heading: str,
        draft: EntityDraft,
        *,
        types: Sequence[str],
        ok: str,
        then: Callable[[EntityDraft], bool],
        but: str = "",
        link: Callable[[str], bool] | None = None,
    ) -> None:
        """Show the form; `then` returns whether it may close, and so does `link`, which links to an existing entity
        instead."""
        self._then, self._chosen = then, link
        self.say("")
        self.pages.setCurrentWidget(self.form)
        self.form.ask(heading, draft, types=types, ok=ok, but=but, linkable=link is not None)

    def ask_search(self, text: str, *, then: Callable[[str], bool]) -> None:
        self._chosen = then
        self.say("")
        self.pages.setCurrentWidget(self.search)
        self.search.start(text)

    def back(self) -> None:
        """Return to the lists, with the keyboard focus in the current one."""
        self._then = self._chosen = None
        self.pages.setCurrentWidget(self.tabs)
        page = self.tabs.currentWidget()
        table = self.nils.table if page is self.nils else self.entities.table
        table.setFocus(Qt.FocusReason.OtherFocusReason)

    def reject(self) -> None:
        """Esc first returns to the lists."""
        if self.pages.currentWidget() is not self.tabs:
            self.back()
        else:
            super().reject()

    def done(self, result: int) -> None:
        self.search.panel.close_search()
        super().done(result)

    def _submitted(self, draft: EntityDraft) -> None:
        if self._then is not None and self._then(draft):
            self.back()

    def _found(self, entity_id: str) -> None:
        if self._chosen is not None and self._chosen(entity_id):
            self.back()
