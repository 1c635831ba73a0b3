"""Flows of the search in all documents: from a hit to its place in the text, and from ticked hits to mentions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt, QTimer

from curator.domain.decisions import Change, ChangeKind, Verdict
from curator.domain.documents import Span
from curator.domain.jobs import JobOutcome
from curator.domain.wording import DamagedTextError, UserError, ntr, tr
from curator.services.queue.corpus_search import Hit
from curator.services.queue.hit_making import Made, left_out_words
from curator.ui.bench.workbench import Workbench
from curator.ui.corpus.corpus_window import CorpusWindow
from curator.ui.deciding.mention_listing import add_undo_key, bring_up
from curator.ui.kit.key_names import way_to

RENEW_MS = 500
"""Milliseconds after a change before the documents are searched again, together with later changes."""
RENEWING = {ChangeKind.DECIDED, ChangeKind.ENTITIES, ChangeKind.MENTIONS, ChangeKind.KNOWLEDGE_BASE}
JUDGING = "In a round you do not see what is decided in the project. Leave the round first."
MAKING_ONE, MAKING = "Making {n:,} mention…", "Making {n:,} mentions…"
GONE = "This document is no longer there. The documents are searched again."


class CorpusFlows(QObject):
    """*Edit > Search the documents*."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        self._window: CorpusWindow | None = None
        self._making = False
        self._later = QTimer(self, singleShot=True, interval=RENEW_MS)
        self._later.timeout.connect(self._renew)
        bench.bridge.changed.connect(self._changed)
        bench.bridge.stepped.connect(self._changed, Qt.ConnectionType.QueuedConnection)  # after the key's effect
        bench.state_changed.connect(self._state_changed)

    def show(self) -> CorpusWindow | None:
        """Show the window, searching for the selected text, if any. None while the curator judges in a round and must
        not see decisions."""
        bench = self._bench
        if bench.judging:
            bench.say(tr(JUDGING))
            return None
        selection, opened = bench.document.selection, bench.navigator.opened
        words = opened.document.text[selection.start : selection.end] if selection is not None and opened else ""
        window = self._opened()
        bring_up(window)
        window.start(words if "\n" not in words else "")
        return window

    def _opened(self) -> CorpusWindow:
        if self._window is not None:
            return self._window
        project = self._bench.project
        window = CorpusWindow(
            project.corpus.search,
            search=self._bench.search_everywhere(),
            lookup=project.knowledge.entity,
            types=self._bench.known_types,
            writable=not project.read_only,
            parent=self._bench.window(),
        )
        window.hit_wanted.connect(self._preview)
        window.open_wanted.connect(self._go)
        window.make_wanted.connect(self._make)
        window.finished.connect(lambda _: self._window_gone())
        add_undo_key(window, self._bench, window.say)
        self._window = window
        return window

    def _window_gone(self) -> None:
        self._window = None

    # --- making mentions ---

    def _make(self, hits: Sequence[Hit], mention_type: str, verdict: Verdict | None) -> None:
        """Make the mentions in a thread: a thousand take half a second. The window shows refusals and hits left out."""
        window, service = self._window, self._bench.project.hits
        if window is None or self._making:
            return
        window.back()
        if refusal := self._bench.many.refusal:
            window.say(refusal)
            return
        sought, self._making = window.page.form.query.text, True
        window.say(ntr(MAKING_ONE, MAKING, len(hits)))
        make = partial(service.make, hits, mention_type, verdict, sought=sought)
        self._bench.jobs.ask(lambda: {"made": make()}, then=self._made)

    def _made(self, outcome: JobOutcome) -> None:
        self._making = False
        made, words = outcome.result.get("made"), outcome.message
        if isinstance(made, Made):
            words = tr("{done}. {undo} undoes it.", done=made.change.text, undo=way_to("edit.undo"))
            if made.left_out:
                words += " " + tr("Left out: {reasons}.", reasons=left_out_words(made.left_out))
        if self._window is not None:
            self._window.say(words)
            self._renew()
        else:
            self._bench.say(words)

    # --- the hits ---

    def _preview(self, hit: Hit) -> None:
        """Show a hit in the main window; the focus stays."""
        mention = hit.mention.id if hit.exact and hit.mention is not None else None
        try:
            self._bench.navigator.open(hit.document_id, mention)
        except UserError as error:
            if self._window is not None:
                self._window.say(str(error) if isinstance(error, DamagedTextError) else tr(GONE))
            self._renew()
            return
        if mention is None:
            self._bench.document.select(Span(hit.start, hit.end))

    def _go(self, hit: Hit) -> None:
        self._preview(hit)
        self._bench.window().raise_()
        self._bench.window().activateWindow()
        self._bench.focus_document()

    # --- what changes meanwhile ---

    def _changed(self, change: Change) -> None:
        if self._window is not None and change.kind in RENEWING and not self._later.isActive():
            self._later.start()

    def _renew(self) -> None:
        if self._window is not None and self._window.worker.busy:
            self._later.start()  # a search that is not over would begin again at every change
        elif self._window is not None:
            self._window.reload()

    def _state_changed(self) -> None:
        """Close the window in a round, in which decisions must not be visible."""
        if self._bench.judging:
            self.close_windows()

    def close_windows(self) -> None:
        """Close the windows with the project."""
        self._later.stop()
        if self._window is not None:
            self._window.done(0)
