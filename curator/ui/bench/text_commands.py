"""Commands of the text: find, move the caret, and change the spans and types of mentions.

No key holds Alt and Shift together, which switches keyboards or moves windows on many desktops.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu, WindowState
from curator.domain.documents import slice_spans

if TYPE_CHECKING:
    from curator.ui.bench.workbench import Workbench


def _document(state: WindowState) -> bool:
    return state.document


def _editing(state: WindowState) -> bool:
    return state.writable and state.mention and not state.judging


def _selecting(state: WindowState) -> bool:
    return _editing(state) and state.selection


def _toggle_caret(bench: Workbench) -> None:
    bench.focus_document()
    bench.document.set_caret_mode(not bench.document.caret_mode)


def _create(bench: Workbench) -> None:
    selection, opened = bench.document.selection, bench.navigator.opened
    if selection is not None and opened is not None:
        words, place = slice_spans(opened.document.text, [selection]), bench.document.below(selection)
        types = bench.known_types()
        bench.types.ask(words, types, at=place, guess=bench.likely_type.of(words, types), usual=bench.usual_type)


def _nudge(name: str, title: str, key: str, edge: str, direction: int, unit: str) -> Command[Workbench]:
    def run(bench: Workbench) -> None:
        from curator.ui.bench.mention_editor import Edge  # imported with the project, after the first paint

        bench.text.editor.nudge(Edge(edge), forward=direction > 0, by_word=unit == "word")

    words = f"Moves the {edge} of the mention one {unit} {'later' if direction > 0 else 'earlier'}."
    hidden = unit == "character"  # the menu has the word-wise commands; the character-wise ones have only keys
    return Command(
        f"edit.{name}", title, Menu.EDIT, words, run, (key,), when=_editing, group=4, hidden=hidden, repeats=True
    )


TEXT: tuple[Command[Workbench], ...] = (
    Command(
        "edit.find",
        "Find in the document…",
        Menu.EDIT,
        "Highlights every match of the words you type. Enter and Shift+Enter go to the next and the "
        "previous match; Esc returns to the text with the match selected.",
        lambda bench: bench.text.find(),
        ("Ctrl+F",),
        when=_document,
        group=2,
        in_rounds=True,
    ),
    Command(
        "edit.find_next",
        "Find next",
        Menu.EDIT,
        "Goes to the next match.",
        lambda bench: bench.text.find_beside(1),
        ("F3",),
        when=_document,
        group=2,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "edit.find_previous",
        "Find previous",
        Menu.EDIT,
        "Goes to the previous match.",
        lambda bench: bench.text.find_beside(-1),
        ("Shift+F3",),
        when=_document,
        group=2,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "edit.caret",
        "Caret in the text",
        Menu.EDIT,
        "Puts a caret at the mention; arrows, Home and End move it, Shift selects, Esc leaves.",
        _toggle_caret,
        ("F7",),
        when=_document,
        group=2,
        in_rounds=True,
    ),
    Command(
        "edit.retype",
        "Change the type…",
        Menu.EDIT,
        "Asks for a new type for the mention and keeps its decision.",
        lambda bench: bench.text.retype(bench.known_types(), bench.likely_type.of),
        ("T",),
        when=_editing,
        group=3,
    ),
    Command(
        "edit.add_part",
        "Add the selection to the mention",
        Menu.EDIT,
        "Adds the selected text to the mention as a further part, which need not be adjacent to it.",
        lambda bench: bench.text.editor.add_part(),
        ("A",),
        when=_selecting,
        group=3,
    ),
    Command(
        "edit.take_out",
        "Remove the selection from the mention",
        Menu.EDIT,
        "Removes the selected words from the mention, which may split it; without a selection, removes "
        "the part with the caret.",
        lambda bench: bench.text.editor.take_out(),
        ("Shift+A",),
        when=_editing,
        group=3,
    ),
    Command(
        "edit.join_parts",
        "Join the parts",
        Menu.EDIT,
        "Joins the mention's parts into one, including the words between them.",
        lambda bench: bench.text.editor.join_parts(),
        ("Ctrl+J",),
        when=_editing,
        group=3,
    ),
    Command(
        "edit.join_next",
        "Join with the next mention",
        Menu.EDIT,
        "Joins this mention and the next one; undo separates them again.",
        lambda bench: bench.text.editor.join_next(),
        ("Ctrl+Shift+J",),
        when=_editing,
        group=3,
    ),
    _nudge("end_later", "End a word later", "Alt+Right", "end", 1, "word"),
    _nudge("end_earlier", "End a word earlier", "Alt+Left", "end", -1, "word"),
    _nudge("start_earlier", "Start a word earlier", "Alt+Up", "start", -1, "word"),
    _nudge("start_later", "Start a word later", "Alt+Down", "start", 1, "word"),
    _nudge("end_right", "End a character later", "Alt+.", "end", 1, "character"),
    _nudge("end_left", "End a character earlier", "Alt+,", "end", -1, "character"),
    _nudge("start_left", "Start a character earlier", ",", "start", -1, "character"),
    _nudge("start_right", "Start a character later", ".", "start", 1, "character"),
    Command(
        "mention.create",
        "Add mention",
        Menu.MENTION,
        "Marks the selected text as a mention and asks for its type.",
        _create,
        ("M",),
        when=lambda s: s.writable and s.selection,
        group=3,
        in_rounds=True,
    ),
    Command(
        "mention.delete",
        "Delete mention",
        Menu.MENTION,
        "Deletes the mention; undo brings it back with its decisions.",
        lambda bench: bench.decider.delete_mention(),
        ("Del",),
        when=lambda s: s.writable and s.mention,
        group=3,
    ),
    Command(
        "annotate.relate",
        "Start or end a relation",
        Menu.ANNOTATE,
        "Starts a relation at the mention; used again at another mention, asks for its type and adds it. At the same "
        "mention, it cancels.",
        lambda bench: bench.relations.start_or_end(),
        ("R",),
        when=_editing,
        group=2,
    ),
    Command(
        "annotate.relate_entities",
        "End the relation between entities",
        Menu.ANNOTATE,
        "Like the command before, but the relation is between the entities that the two mentions are linked to.",
        lambda bench: bench.relations.start_or_end(entities=True),
        ("Shift+R",),
        when=_editing,
        group=2,
    ),
    Command(
        "annotate.relations",
        "Relations of the document…",
        Menu.ANNOTATE,
        "Shows the relations of the document next to the text, those of the mention first. Enter goes to a mention, "
        "Del deletes a relation. Use it again to hide them.",
        lambda bench: bench.relations.toggle_panel(),
        ("W",),
        when=lambda s: s.document,
        group=2,
    ),
    Command(
        "view.relations",
        "Relations in the text",
        Menu.VIEW,
        "Draws lines between related mentions, dashed between entities. Use it again to hide them.",
        lambda bench: bench.relations.toggle_lines(),
        ("Shift+W",),
        when=lambda s: s.document,
        group=2,
    ),
)
