"""What the commands of the text ask for, each in a line or two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt

if TYPE_CHECKING:
    from curator.ui.preferences import Preferences
    from curator.ui.session import Session
    from curator.ui.workbench import Workbench


class TextActions:
    """Part of the window's actions, which have a session and the preferences."""

    _session: Session
    _preferences: Preferences

    @property
    def _bench(self) -> Workbench:
        assert self._session.bench is not None, "commands that need a project are disabled without one"
        return self._session.bench

    def find_in_document(self) -> None:
        self._bench.text.find()

    def find_beside(self, direction: int) -> None:
        self._bench.text.find_beside(direction)

    def toggle_caret(self) -> None:
        view = self._bench.document
        self._bench.focus_document()
        view.set_caret_mode(not view.caret_mode)

    def retype_mention(self) -> None:
        self._bench.text.retype(self._bench.known_types())

    def add_part(self) -> None:
        self._bench.text.editor.add_part()

    def take_out(self) -> None:
        self._bench.text.editor.take_out()

    def join_parts(self) -> None:
        self._bench.text.editor.join_parts()

    def join_next(self) -> None:
        self._bench.text.editor.join_next()

    def nudge(self, edge: str, direction: int, unit: str) -> None:
        from curator.ui.mention_editor import Edge  # loaded with the project, after the first paint

        self._bench.text.editor.nudge(Edge(edge), forward=direction > 0, by_word=unit == "word")

    def toggle_focus_mode(self) -> None:
        """The whole screen for text and candidates, or everything as it was, a maximised window too."""
        text, window = self._bench.text, self._session.window
        text.set_focused(not text.focused)
        window.menuBar().setVisible(not text.focused)
        window.setWindowState(window.windowState() ^ Qt.WindowState.WindowFullScreen)

    def space_lines(self, percent: int) -> None:
        self._preferences.step("line_spacing", percent)

    def widen_text(self, characters: int) -> None:
        self._preferences.step("text_width", characters)
