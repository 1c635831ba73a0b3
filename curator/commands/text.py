"""Commands of the text: finding in it, moving about in it, how it is set, and the places and types of its mentions.

No key holds Alt and Shift together, which switches keyboards or moves windows on many desktops.
"""

from __future__ import annotations

from curator.commands.command import Command, Menu, WindowActions, WindowState


def _document(state: WindowState) -> bool:
    return state.document


def _editing(state: WindowState) -> bool:
    return state.writable and state.mention and not state.judging


def _selecting(state: WindowState) -> bool:
    return _editing(state) and state.selection


FINDING = (
    Command(
        "edit.find",
        "Find in the document…",
        Menu.EDIT,
        "Marks every place of the words you type; Enter and Shift+Enter step, Esc goes back with the place selected.",
        lambda w: w.find_in_document(),
        ("Ctrl+F",),
        _document,
        group=2,
    ),
    Command(
        "edit.find_next",
        "Find next",
        Menu.EDIT,
        "Goes to the next place of what was sought.",
        lambda w: w.find_beside(1),
        ("F3",),
        _document,
        group=2,
    ),
    Command(
        "edit.find_previous",
        "Find previous",
        Menu.EDIT,
        "Goes to the previous place of what was sought.",
        lambda w: w.find_beside(-1),
        ("Shift+F3",),
        _document,
        group=2,
    ),
    Command(
        "edit.caret",
        "Caret in the text",
        Menu.EDIT,
        "Puts a caret at the mention; arrows, Home and End move it, Shift selects, Esc leaves.",
        lambda w: w.toggle_caret(),
        ("F7",),
        _document,
        group=2,
    ),
)


def _nudge(name: str, title: str, key: str, edge: str, direction: int, unit: str) -> Command:
    def run(window: WindowActions) -> None:
        window.nudge(edge, direction, unit)

    words = f"Moves the {edge} of the mention one {unit} {'later' if direction > 0 else 'earlier'}."
    hidden = unit == "character"  # the menu has the words; who corrects letters has the keys at hand
    return Command(f"edit.{name}", title, Menu.EDIT, words, run, (key,), _editing, group=4, hidden=hidden)


RESHAPING = (
    Command(
        "edit.retype",
        "Change the type…",
        Menu.EDIT,
        "Asks for another type of the mention; its decision stays.",
        lambda w: w.retype_mention(),
        ("T",),
        _editing,
        group=3,
    ),
    Command(
        "edit.add_part",
        "Add the selection to the mention",
        Menu.EDIT,
        "Makes the selected text a further part of the mention, which may stand apart from it.",
        lambda w: w.add_part(),
        ("A",),
        _selecting,
        group=3,
    ),
    Command(
        "edit.take_out",
        "Take the selection out of the mention",
        Menu.EDIT,
        "Leaves the selected words out, which may part the mention; without a selection, the part with the caret.",
        lambda w: w.take_out(),
        ("Shift+A",),
        _editing,
        group=3,
    ),
    Command(
        "edit.join_parts",
        "Join the parts",
        Menu.EDIT,
        "Makes one of the mention's parts, with the words between them.",
        lambda w: w.join_parts(),
        ("Ctrl+J",),
        _editing,
        group=3,
    ),
    Command(
        "edit.join_next",
        "Join with the next mention",
        Menu.EDIT,
        "Makes one mention of this one and the next; undo parts them again.",
        lambda w: w.join_next(),
        ("Ctrl+Shift+J",),
        _editing,
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
)

SETTING = (
    Command(
        "view.focus",
        "Only text and candidates",
        Menu.VIEW,
        "Hides everything else and fills the screen; again, brings it back.",
        lambda w: w.toggle_focus_mode(),
        ("F11",),
        lambda s: s.project,
        group=1,
    ),
    Command(
        "view.looser",
        "More space between lines",
        Menu.VIEW,
        "Moves the lines of the text apart.",
        lambda w: w.space_lines(10),
        ("Alt+L",),
        group=1,
    ),
    Command(
        "view.tighter",
        "Less space between lines",
        Menu.VIEW,
        "Moves the lines of the text together.",
        lambda w: w.space_lines(-10),
        ("Alt+K",),
        group=1,
    ),
    Command(
        "view.wider",
        "Longer lines",
        Menu.VIEW,
        "Widens the column of the text.",
        lambda w: w.widen_text(4),
        ("Alt+W",),
        group=1,
    ),
    Command(
        "view.narrower",
        "Shorter lines",
        Menu.VIEW,
        "Narrows the column of the text.",
        lambda w: w.widen_text(-4),
        ("Alt+N",),
        group=1,
    ),
)
