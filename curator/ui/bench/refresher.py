"""Keeps the workbench up to date: each change refreshes only the parts that it affects."""

from __future__ import annotations

from contextlib import suppress

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtWidgets import QAbstractItemView

from curator.domain.decisions import STEPS, Change, ChangeKind, Saving
from curator.domain.jobs import LinkerState, LinkerStatus
from curator.domain.wording import AwayError, percent, tr
from curator.services.queue.holdout import REASON as HELD_OUT
from curator.services.queue.queue import MentionView
from curator.tracing import span
from curator.ui.bench.decision_guard import named
from curator.ui.bench.workbench import Workbench
from curator.ui.jobs.jobs import JobKind
from curator.ui.kit.key_names import place_of, way_to
from curator.ui.kit.mention_state import names_in
from curator.ui.panels.history_rows import attribute_rows
from curator.ui.panels.status_line import StatusLine

PATCHED = {ChangeKind.DECIDED, ChangeKind.ENTITIES}
"""Steps that change only decisions in the open document."""
NEWER = "Newer suggestions are ready; they appear at the next mention."
NO_INDEX = (
    "No index yet. Build one with Model › Rebuild index. Until then only spelling is compared, and / "
    "searches the knowledge base."
)
READ_ONLY = "This project is read-only. Stored suggestions are shown, and no new ones are calculated."
NO_KB = "No knowledge base yet. Import one with {way}."
LEXICAL = "Only spelling is compared so far: the semantic index is {state}."
EMPTY_PROJECT = ("No documents yet", "Import some with {way}.", "project.import")
EMPTY_KB = (
    "Begin with a knowledge base",
    "{way} loads the entities to link to.",
    "project.import_kb",
)
IMPORTING = (
    "An import is running",
    "Documents appear here when it is finished. The line at the bottom shows its progress.",
    "project.import",
)
KB_PHASE = "knowledge base"
KB_COMES = "The knowledge base is being imported. Candidates appear when it is complete."
STILL_NO_KB = "An import is running. Candidates appear once there is a knowledge base."
BACK = "The server is back. Everything that you decided meanwhile is shared."
NO_DOCUMENT = ("No document is open", "Choose one from the queue, or press {key}.", "queue.next")
"""Headline, hint, and the command that the hint names."""
NO_MENTIONS = "This document has no mentions. Select text and press {key}, or mark mentions with {way}."
NO_MENTION = "No mention is selected. Click one in the text, or press ↓."


def no_mentions() -> str:
    return tr(NO_MENTIONS, key=way_to("mention.create"), way=place_of("tools.detect"))


class Refresher(QObject):
    """Listens to the navigator and the bridge; one slot for each kind of change."""

    def __init__(self, bench: Workbench, status: StatusLine) -> None:
        super().__init__(bench)
        self._bench = bench
        self._status = status
        self._shown: int | None = None
        self._held_out = False
        self._awaited = 0  # the last commit of the curator's: see `Saving`
        self._unsaved = False
        self._away = ""
        self._stale: set[int] = set()  # documents whose rows are read again
        self._rows = bench.later(self._show_rows)
        self._saving = bench.later(self._show_saving)
        self._has_kb = False
        at, bridge = bench.navigator, bench.bridge
        at.document_changed.connect(self._document)
        at.content_changed.connect(self._content)
        at.mention_changed.connect(self._mention)
        bridge.stepped.connect(self._stepped)
        bridge.changed.connect(self._changed)
        bridge.linker.connect(self._linker)
        bridge.saved.connect(self._saved)
        bench.document.selection_changed.connect(bench.state_changed)
        bench.jobs.changed.connect(self._jobs)
        bench.jobs.progressed.connect(self._note)

    def start(self) -> None:
        """Show everything for the first time and open the first unfinished document."""
        bench = self._bench
        project = bench.project
        lists = project.queue.under
        bench.queue.set_source(lists, facets=project.facets, ordering=project.ordering, filters=project.filters)
        self._counts()
        if bench.project.read_only:
            self._status.show_read_only()
            self._note()
        else:
            self._linker(bench.project.suggestions.status())
        bench.bridge.listen(bench.project.events, bench.project.suggestions)
        bench.bridge.follow(bench.project.disk)
        bench.navigator.open_first()
        if bench.navigator.opened is None:
            self._document()
            self._mention()
        QTimer.singleShot(0, bench, self._bring_into_sight)  # rows have no positions before the first layout

    def _bring_into_sight(self) -> None:
        opened = self._bench.navigator.opened
        if opened is not None:
            rows = self._bench.queue.list
            rows.scrollTo(rows.currentIndex(), QAbstractItemView.ScrollHint.PositionAtCenter)

    # --- what the curator does ---

    @Slot()
    def _document(self) -> None:
        bench, opened = self._bench, self._bench.navigator.opened
        if opened is None:
            headline, hint, command = self._empty()
            hint = tr(hint, way=place_of(command), key=way_to(command))
            bench.document.clear(headline=tr(headline), hint=hint)
            bench.header.show_row(None)
        else:
            bench.document.set_included(bench.navigator.included_here)
            bench.document.show_document(opened)
            bench.header.show_row(bench.navigator.queue.row(opened.document.id))
        bench.queue.set_current(opened.document.id if opened is not None else None)

    @Slot()
    def _content(self) -> None:
        opened = self._bench.navigator.opened
        if opened is not None:
            self._bench.document.set_included(self._bench.navigator.included_here)
            self._bench.document.show_document(opened, current=self._bench.document.current)
            if not self._stale:  # else it follows with the queue's row
                self._bench.header.show_row(self._bench.navigator.queue.row(opened.document.id))

    @Slot()
    def _mention(self) -> None:
        bench, view = self._bench, self._bench.navigator.mention
        another = view is None or view.mention.id != self._shown
        if another:
            bench.reasons.dismiss()  # a reason requested for one mention never applies to another
        self._shown = view.mention.id if view is not None else None
        bench.document.set_current(view.mention.id if view is not None else None)
        bench.candidates.nothing = self._nothing()
        with span("show candidates"):
            bench.candidates.show_mention(view)
        self._hold_out(view is not None and view.held_out)
        bench.queue.set_current_mention(view.mention.id if view is not None else None)
        bench.history.show_later(self._history)
        self._note()
        bench.state_later.start()

    def _history(self) -> None:
        """Show the history of the current mention; no key waits for it."""
        with span("show history"):
            self._show_history()

    def _show_history(self) -> None:
        bench, view = self._bench, self._bench.navigator.mention
        if view is None:
            bench.history.show_history([])
            return
        history = bench.decider.curation.history(view.mention.id)
        edits = bench.project.curation.edits(view.mention.id)
        text = bench.navigator.opened.document.text if edits and bench.navigator.opened is not None else ""
        attributes, more = bench.project.attributes, bench.relations.history()
        if not bench.judging and attributes.scheme().attributes:
            more += attribute_rows(attributes.history(view.mention.id), attributes.scheme())
        bench.history.show_history(history, names=self._names(view, history), edits=edits, text=text, more=more)

    def _nothing(self) -> str:
        """The message in the candidates' area while no mention is selected. Without a document it is in the text
        area."""
        opened = self._bench.navigator.opened
        if opened is None:
            return ""
        return tr(NO_MENTION) if opened.mentions else no_mentions()

    def _hold_out(self, held_out: bool) -> None:
        """Hide suggestions of a held-out mention until it is decided."""
        if held_out or self._held_out:
            self._bench.candidates.show_without_suggestions(
                tr(HELD_OUT, key=way_to("mention.hidden")) if held_out else ""
            )
        self._held_out = held_out

    @Slot(object)
    def _stepped(self, change: Change) -> None:
        saving = self._bench.project.disk.saving
        self._awaited = saving.asked
        self._saved(saving)
        if change.kind in PATCHED and change.document_ids and self._bench.queue.model.ids is None:
            self._stale.update(change.document_ids)
            self._rows.start()
        else:
            self._bench.queue.refresh(change.document_ids)
        self._has_kb = self._has_kb and change.kind in PATCHED
        self._bench.queue.mark_decided(change.mention_ids, self._bench.project.queue)
        if change.kind in PATCHED and change.document_ids:
            self._bench.decider.patch(change)
        elif self._touches(change):
            self._bench.navigator.reload()

    @Slot(object)
    def _saved(self, saving: Saving) -> None:
        """Show whether data are saved, and a warning while the disk fails."""
        if saving.why:
            self._status.show_unsaved(saving.why)
            if not self._unsaved:
                self._bench.say(saving.why)
        elif saving.away or saving.kept:
            self._status.show_kept(saving.kept, saving.away)
        elif self._unsaved or self._awaited or self._away:
            self._saving.start()
        if saving.away != self._away:
            self._bench.say(saving.away or tr(BACK))
        if bool(saving.away) != bool(self._away):
            with suppress(AwayError):
                self._bench.queue.set_away(bool(saving.away))
                self._bring_into_sight()  # with the documents after it: the list is another one
        self._unsaved, self._away = bool(saving.why), saving.away

    def _show_saving(self) -> None:
        """Show since when everything is on disk, or that saving is in progress."""
        saving = self._bench.project.disk.saving
        if saving.why or saving.away or saving.kept:
            return
        if saving.at is not None and saving.holds(self._awaited):
            self._status.show_saved(saving.at)
        else:
            self._status.show_saving()

    def _show_rows(self) -> None:
        """Update the progress of the documents in the queue and above the text."""
        bench, opened = self._bench, self._bench.navigator.opened
        stale, self._stale = self._stale, set()
        if stale:
            bench.queue.refresh(tuple(stale))
        bench.header.show_row(bench.navigator.queue.row(opened.document.id) if opened is not None else None)

    # --- what happens elsewhere ---

    @Slot(object)
    def _changed(self, change: Change) -> None:
        bench = self._bench
        opened = bench.navigator.opened
        touches = self._touches(change)
        self._has_kb = False
        if change.kind in STEPS or change.kind is ChangeKind.IMPORTED:
            bench.queue.refresh(() if change.kind is ChangeKind.IMPORTED else change.document_ids)
            if change.kind is ChangeKind.IMPORTED:
                self._counts()
        elif change.kind in (ChangeKind.SUGGESTIONS, ChangeKind.OPINIONS):
            bench.queue.suggestions_changed(change.document_ids)
        gone = opened is not None and touches and not bench.project.imports.shows(opened.document.id)
        if change.kind is ChangeKind.IMPORTED and gone:
            bench.navigator.close()
        if change.kind is ChangeKind.IMPORTED and (opened is None or gone):
            bench.navigator.open_first()
        elif touches and change.kind not in (ChangeKind.IMPORTED, ChangeKind.OPINIONS):
            bench.navigator.reload()
        elif opened is None:
            self._document()
        if change.kind in STEPS and change.actor != bench.project.curation.curator:
            bench.say(bench.project.team.words(change))
        bench.state_changed.emit()

    @Slot(object)
    def _linker(self, status: LinkerStatus) -> None:
        self._status.show_linker(status, trouble=self._bench.project.suggestions.trouble())
        self._note()
        self._bench.state_changed.emit()

    @Slot()
    def _jobs(self) -> None:
        bench = self._bench
        bench.queue.set_importing(bench.jobs.importing)
        if bench.navigator.opened is None:
            self._document()
        self._note()
        bench.state_changed.emit()

    @Slot()
    def _note(self) -> None:
        """The sentence above the candidates that applies to all of them."""
        self._bench.candidates.set_note(self._note_words())

    def _note_words(self) -> str:
        bench = self._bench
        status = bench.project.suggestions.status()
        self._has_kb = self._has_kb or bench.project.knowledge.info() is not None
        if not self._has_kb:
            if (job := bench.jobs.job(JobKind.IMPORT)) is not None:
                return tr(KB_COMES if job.progress.phase == KB_PHASE else STILL_NO_KB)
            return tr(NO_KB, way=place_of("project.import_kb"))
        if bench.project.read_only:
            return tr(READ_ONLY)
        building = bench.jobs.job(JobKind.INDEX)
        if status.state in (LinkerState.FAILED, LinkerState.RESTARTING):
            return status.message
        if status.state is LinkerState.OFF and building is None:
            return tr(NO_INDEX)
        if status.stages == ("lexical",) or (building is not None and not status.stages):
            share = building.progress.fraction if building is not None else None
            built = tr("being built") if building is not None else tr("not built; use Model › Rebuild index")
            return tr(
                LEXICAL,
                state=built + (tr(" ({share} of this step)", share=percent(share, 0)) if share is not None else ""),
            )
        return tr(NEWER) if bench.navigator.newer_waits else ""

    # --- inside ---

    def _touches(self, change: Change) -> bool:
        opened = self._bench.navigator.opened
        return opened is not None and (not change.document_ids or opened.document.id in change.document_ids)

    def _counts(self) -> None:
        self._bench.queue.set_counts(self._bench.navigator.queue.counts())

    def _empty(self) -> tuple[str, str, str]:
        project = self._bench.project
        if sum(project.queue.counts().documents.values()):
            return NO_DOCUMENT
        if self._bench.jobs.importing:
            return IMPORTING
        return EMPTY_KB if project.knowledge.info() is None else EMPTY_PROJECT

    def _names(self, view: MentionView | None, history: list) -> dict[str, str]:  # type: ignore[type-arg]
        names = names_in(view) if view is not None else {}
        wanted = {one for decision in history for one in decision.verdict.entity_ids}
        wanted |= {
            decision.shown.candidates[0].entity_id
            for decision in history
            if decision.shown and decision.shown.candidates
        }
        return names | named(self._bench.project, wanted - names.keys())
