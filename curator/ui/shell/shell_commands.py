"""Commands of the window itself: projects and windows, settings, text size and spacing, colours, help."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from PySide6.QtWidgets import QInputDialog

    from curator.ui.shell.main_window import MainWindow


_THEMES = {
    "system": "Follows the desktop's light or dark setting.",
    "light": "Shows dark text on a light background.",
    "dark": "Shows light text on a dark background.",
}


def _theme(name: str, sentence: str) -> Command[MainWindow]:
    title = f"{name.capitalize()} colours"
    return Command(
        f"view.{name}", title, Menu.VIEW, sentence, lambda window: window.preferences.set_theme(name), group=1
    )


def _shuffle_candidates(window: MainWindow) -> None:
    window.preferences.shuffle_candidates()
    if window.bench is not None:
        window.say(window.bench.desk.order_words)


# Modules are loaded when a command needs them.


def _ask_address(window: MainWindow) -> QInputDialog:
    from curator.ui.shell.recent import ask_address

    return ask_address(window, window.session.open)


def _show_manual(window: MainWindow) -> None:
    from curator.ui.shell.manual import Manual

    Manual(window).show()


def _show_keys(window: MainWindow) -> None:
    from curator.ui.shell.keys_overlay import KeysOverlay

    KeysOverlay(window, keymap=window.preferences.keymap)


def _about(window: MainWindow) -> None:
    from curator.ui.shell.manual import AboutDialog

    AboutDialog(device=window.session.device(), parent=window).open()


SHELL: tuple[Command[MainWindow], ...] = (
    Command(
        "project.new",
        "New project…",
        Menu.PROJECT,
        "Creates a project folder and asks for a knowledge base and documents.",
        lambda window: window.session.new_project(),
        ("Ctrl+N",),
    ),
    Command(
        "project.open",
        "Open project…",
        Menu.PROJECT,
        "Opens a project folder, read-only if another process is writing to it.",
        lambda window: window.session.choose_project(),
        ("Ctrl+O",),
    ),
    Command(
        "project.open_shared",
        "Open shared project…",
        Menu.PROJECT,
        "Asks for the address of a shared project and opens it.",
        _ask_address,
    ),
    Command(
        "project.new_window",
        "New window",
        Menu.PROJECT,
        "Opens another window, in which another project can be open at the same time.",
        lambda window: window.session.new_window(),
        ("Ctrl+Shift+N",),
    ),
    Command(
        "project.open_in_window",
        "Open in new window…",
        Menu.PROJECT,
        "Opens a project in a new window and keeps the current one open.",
        lambda window: window.session.choose_project(beside=True),
        ("Ctrl+Shift+O",),
    ),
    Command(
        "project.close",
        "Close project",
        Menu.PROJECT,
        "Returns to the start page once all decisions are on disk.",
        lambda window: window.session.leave(window.session.close),
        ("Ctrl+W",),
        when=lambda s: s.project,
    ),
    Command(
        "project.quit",
        "Quit",
        Menu.PROJECT,
        "Closes all windows once all decisions are on disk.",
        lambda window: window.session.quit(),
        ("Ctrl+Q",),
        group=3,
    ),
    Command(
        "edit.settings",
        "Settings…",
        Menu.EDIT,
        "Changes the curator's name, language, colours, font size, device and encoder.",
        lambda window: window.preferences.edit(),
        ("Ctrl+,",),
        group=5,
        in_rounds=True,
    ),
    Command(
        "edit.shortcuts",
        "Shortcuts…",
        Menu.EDIT,
        "Lists and changes the keys of every command, and shows keys assigned to several commands.",
        lambda window: window.preferences.edit_shortcuts(),
        group=5,
        in_rounds=True,
    ),
    Command(
        "tools.shuffle",
        "Shuffle candidates",
        Menu.TOOLS,
        "For an evaluation: shows candidates in random order without scores. Use it again to show the best first.",
        _shuffle_candidates,
        when=lambda s: s.project,
        group=1,
    ),
    Command(
        "view.bigger",
        "Larger text",
        Menu.VIEW,
        "Enlarges the text.",
        lambda window: window.preferences.zoom(1),
        ("Ctrl++", "Ctrl+="),
    ),
    Command(
        "view.smaller",
        "Smaller text",
        Menu.VIEW,
        "Reduces the text.",
        lambda window: window.preferences.zoom(-1),
        ("Ctrl+-",),
    ),
    Command(
        "view.normal",
        "Normal text size",
        Menu.VIEW,
        "Resets the text to its normal size.",
        lambda window: window.preferences.zoom(0),
        ("Ctrl+0",),
    ),
    Command(
        "view.focus",
        "Only text and candidates",
        Menu.VIEW,
        "Hides everything else and fills the screen. Use it again to restore the window.",
        lambda window: window.toggle_focus_mode(),
        ("F11",),
        when=lambda s: s.project,
        group=1,
    ),
    Command(
        "view.looser",
        "More space between lines",
        Menu.VIEW,
        "Increases the line spacing of the text.",
        lambda window: window.preferences.step("line_spacing", 10),
        ("Alt+L",),
        group=1,
        repeats=True,
    ),
    Command(
        "view.tighter",
        "Less space between lines",
        Menu.VIEW,
        "Decreases the line spacing of the text.",
        lambda window: window.preferences.step("line_spacing", -10),
        ("Alt+K",),
        group=1,
        repeats=True,
    ),
    Command(
        "view.wider",
        "Longer lines",
        Menu.VIEW,
        "Widens the column of the text.",
        lambda window: window.preferences.step("text_width", 4),
        ("Alt+W",),
        group=1,
        repeats=True,
    ),
    Command(
        "view.narrower",
        "Shorter lines",
        Menu.VIEW,
        "Narrows the column of the text.",
        lambda window: window.preferences.step("text_width", -4),
        ("Alt+N",),
        group=1,
        repeats=True,
    ),
    *(_theme(name, sentence) for name, sentence in _THEMES.items()),
    Command(
        "view.palette",
        "Command palette…",
        Menu.VIEW,
        "Finds a command by a few of its letters and shows why a command is unavailable. Type @ to find documents.",
        lambda window: window.palette_flow.open(),
        ("Ctrl+K",),
        group=2,
        after="view.pane",
    ),
    Command(
        "view.reset_layout",
        "Reset layout",
        Menu.VIEW,
        "Restores the original layout of the window and its panes.",
        lambda window: window.layout_keeper.reset(),
        group=2,
        after="view.pane",
    ),
    Command(
        "help.manual",
        "Manual",
        Menu.HELP,
        "Opens the manual.",
        _show_manual,
        ("F1",),
    ),
    Command(
        "help.keys",
        "Keys",
        Menu.HELP,
        "Shows all keys over the window.",
        _show_keys,
        ("?",),
    ),
    Command(
        "help.diagnostics",
        "Copy diagnostics",
        Menu.HELP,
        "Copies versions, paths and recent log lines, without any document text.",
        lambda window: window.session.copy_diagnostics(),
        group=1,
    ),
    Command(
        "help.about",
        "About Curator",
        Menu.HELP,
        "Shows the version, the licences and the device in use.",
        _about,
        group=1,
    ),
)


def _say_who_i_am(window: MainWindow) -> None:
    features = window.session.features
    if features is not None:
        features.people.say_who_i_am()
    else:  # without a project, use the name from the settings
        window.preferences.edit()


NAME: tuple[Command[MainWindow], ...] = (
    Command(
        "people.i_am",
        "I am…",
        Menu.PEOPLE,
        "Sets the name under which your decisions are saved.",
        _say_who_i_am,
    ),
)
