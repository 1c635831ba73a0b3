"""Tools of the text of a workbench: the find line, the focus mode, the type picker, the context menu."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from PySide6.QtCore import QObject, QPoint, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from curator.domain.documents import slice_spans
from curator.domain.wording import tr
from curator.ui.bench.mention_editor import MentionEditor, TypePicker
from curator.ui.deciding.navigator import Navigator
from curator.ui.document.document_find import FindBar
from curator.ui.document.document_view import DocumentView

CARET = "Caret in the text: arrow keys move it, Shift selects, M adds a mention, A extends one, Esc removes the caret."
SELECTED = "M adds the selection as a mention, A adds it to “{text}” as another part, Shift+A removes it from there."
CONTEXT = (
    ("mention.create", "edit.add_part", "edit.take_out"),
    ("edit.retype", "edit.join_parts", "edit.join_next", "mention.delete"),
    ("mention.search_text", "edit.find"),
)
"""Commands of the text's menu, in groups."""


class TextTools(QObject):
    """`others` are the widgets that the focus mode hides. `say` shows a message in the bottom line."""

    def __init__(
        self,
        view: DocumentView,
        find: FindBar,
        navigator: Navigator,
        editor: MentionEditor,
        *,
        others: tuple[QWidget, ...],
        say: Callable[[str], None],
    ) -> None:
        super().__init__(view)
        self._view = view
        self._find = find
        self._at = navigator
        self._others = others
        self._say = say
        self._hidden: list[QWidget] | None = None
        self._sought = ""
        self.editor = editor
        self.types = TypePicker(view)
        self.types.setAccessibleName(tr("Change the type of the mention"))
        find.query_changed.connect(view.find_text)
        find.stepped.connect(view.find_beside)
        find.left.connect(self.leave_find)
        view.found_changed.connect(find.show_found)
        view.caret_mode_changed.connect(lambda on: say(tr(CARET) if on else ""))
        view.selection_changed.connect(self._selection_changed)
        self.types.chosen.connect(editor.retype)
        self.types.chosen.connect(lambda _: view.setFocus(Qt.FocusReason.OtherFocusReason))

    # --- finding ---

    def find(self) -> None:
        """Open the find line; text selected within one line is searched at once."""
        selection, opened = self._view.selection, self._at.opened
        words = slice_spans(opened.document.text, [selection]) if selection is not None and opened is not None else ""
        self._find.start(words if "\n" not in words else "")

    def find_beside(self, direction: int) -> None:
        """The next or previous match; if the line is closed, it opens with the last query."""
        if self._find.isVisible():
            self._view.find_beside(direction)
        else:
            self._find.start(self._sought)
            self._view.find_beside(direction) if self._sought else None

    def leave_find(self) -> None:
        """Close the line; the current match is selected."""
        self._sought = self._find.line.text()
        self._find.hide()
        self._view.end_find()
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)

    # --- mentions ---

    def retype(self, types: Mapping[str, int], guessed: Callable[..., str]) -> None:
        """Ask for another type of the current mention, next to it."""
        view = self._at.mention
        if view is None:
            return
        others = {one: count for one, count in types.items() if one != view.mention.type}
        guess = guessed(view.mention.text, others, but=view.mention.type)
        self.types.ask(view.mention.text, others, at=self._view.below(view.mention.spans[0]), guess=guess)

    def _selection_changed(self, selection: object) -> None:
        view = self._at.mention
        if selection is not None and view is not None:
            self._say(tr(SELECTED, text=view.mention.text))

    def show_menu(self, place: QPoint, action: Callable[[str], QAction]) -> QMenu:
        """Show the text's context menu at a position on the screen, with the enabled commands."""
        menu = QMenu(self._view)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for group in CONTEXT:
            menu.addSeparator()
            for command in group:
                if action(command).isEnabled():
                    menu.addAction(action(command))
        menu.popup(place)
        return menu

    # --- the focus mode ---

    @property
    def focused(self) -> bool:
        """Whether only the text and the candidates are shown."""
        return self._hidden is not None

    def set_focused(self, focused: bool) -> None:
        """Hide everything except the text, the candidates and the bottom line with its messages; or restore it."""
        if focused == self.focused:
            return
        if focused:
            self._hidden = [one for one in self._others if not one.isHidden()]
        for one in self._hidden or ():
            one.setHidden(focused)
        if not focused:
            self._hidden = None
        self._view.setFocus(Qt.FocusReason.OtherFocusReason)
