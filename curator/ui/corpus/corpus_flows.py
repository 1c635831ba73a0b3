"""Flows of the search in all documents: from a hit to its place in the text, and from ticked hits to mentions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from curator.domain.decisions import Verdict
from curator.domain.documents import Span
from curator.domain.jobs import JobOutcome
from curator.domain.wording import ntr, tr
from curator.services.queue.corpus_search import Hit
from curator.services.queue.hit_making import Made, left_out_words
from curator.ui.bench.workbench import Workbench
from curator.ui.corpus.corpus_window import CorpusWindow
from curator.ui.deciding.mention_listing import ListingFlow, done_words

GONE = "This document is no longer there. The documents are searched again."
MAKING_ONE, MAKING = "Making {n:,} mention…", "Making {n:,} mentions…"


class CorpusFlows(ListingFlow[CorpusWindow]):
    """*Edit > Search the documents*."""

    gone = GONE

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._making = False

    def show(self) -> CorpusWindow | None:
        """Show the window, searching for the selected text, if any."""
        selection, opened = self._bench.document.selection, self._bench.navigator.opened
        words = opened.document.text[selection.start : selection.end] if selection is not None and opened else ""
        window = self.open(lambda _: None)
        if window is not None:
            window.start(words if "\n" not in words else "")
        return window

    def make(self) -> CorpusWindow:
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
        return window

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
            words = done_words(made.change.text)
            if made.left_out:
                words += " " + tr("Left out: {reasons}.", reasons=left_out_words(made.left_out))
        if self._window is not None:
            self._window.say(words)
            self.renew()
        else:
            self._bench.say(words)

    # --- the hits ---

    def _preview(self, hit: Hit) -> None:
        """Show a hit in the main window; the focus stays."""
        mention = hit.mention.id if hit.exact and hit.mention is not None else None
        if self.preview(hit.document_id, mention) and mention is None:
            self._bench.document.select(Span(hit.start, hit.end))

    def _go(self, hit: Hit) -> None:
        self._preview(hit)
        self.to_text()
