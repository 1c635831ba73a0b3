"""What the keys for flags, comments and discussion do: one short action each, on the disk moments later."""

from __future__ import annotations

from PySide6.QtCore import QObject

from curator.domain.documents import DocumentState
from curator.domain.wording import tr
from curator.services.curating.curation import CurationService
from curator.services.curating.notes import NoteService
from curator.ui.bench.comment_strip import CommentStrip
from curator.ui.bench.comments_panel import CommentsPanel
from curator.ui.deciding.decider import Decider
from curator.ui.deciding.navigator import Navigator


class Noter(QObject):
    """Flags and comments the current mention or document."""

    def __init__(
        self,
        notes: NoteService,
        curation: CurationService,
        navigator: Navigator,
        decider: Decider,
        parent: QObject | None = None,
    ) -> None:
        """What it does are steps of the `decider`, which knows what was on the screen before the key was pressed."""
        super().__init__(parent)
        self._notes = notes
        self._curation = curation
        self._at = navigator
        self._decider = decider
        self._about: tuple[int, int | None] | None = None

    def flag_mention(self) -> None:
        view = self._at.mention
        if view is not None and self._decider.saw():
            self._decider.act(lambda: self._notes.flag_mention(view.mention.id))

    def flag_document(self) -> None:
        opened = self._at.opened
        if opened is not None and self._decider.saw_document():
            self._decider.act(lambda: self._notes.flag_document(opened.document.id))

    def discuss(self) -> None:
        """The document needs discussion; where it does already, it is in progress again."""
        opened = self._at.opened
        if opened is not None and self._decider.saw_document():
            there = opened.document.state is DocumentState.DISCUSS
            state = DocumentState.IN_PROGRESS if there else DocumentState.DISCUSS
            self._decider.act(lambda: self._curation.set_state(opened.document.id, state))

    def ask_comment(self, strip: CommentStrip, *, on_document: bool) -> bool:
        """Ask for a comment on the mention, or on the document; False where there is none."""
        opened, view = self._at.opened, self._at.mention
        if opened is None or (view is None and not on_document):
            return False
        if not (self._decider.saw_document() if on_document else self._decider.saw()):
            return False
        if on_document or view is None:
            self._about = (opened.document.id, None)
            strip.ask(tr("document {external_id}", external_id=opened.document.external_id))
        else:
            self._about = (opened.document.id, view.mention.id)
            strip.ask(f"“{view.mention.text}”")
        return True

    def write_comment(self, words: str) -> None:
        """Save what was asked for, on what it was asked about."""
        if self._about is not None:
            document_id, mention_id = self._about
            self._decider.act(lambda: self._notes.comment(document_id, words, mention_id=mention_id))

    def delete_comment(self, comment_id: int) -> None:
        self._decider.act(lambda: self._notes.delete_comment(comment_id))

    def show_in(self, panel: CommentsPanel) -> None:
        """The comments on what is at hand."""
        opened, view = self._at.opened, self._at.mention
        panel.show_comments(view.comments if view is not None else (), opened.comments if opened is not None else ())
