"""Commands that show how the work goes: the dashboard, background work, and the way back to a list."""

from __future__ import annotations

from curator.commands.command import Command, Menu

SEEING = (
    Command(
        "view.dashboard",
        "Dashboard…",
        Menu.VIEW,
        "Shows progress, speed, keys, accepted suggestions, NIL, bundles and agreement as plots that can be saved.",
        lambda w: w.show_dashboard(),
        ("Ctrl+Shift+D",),
        lambda s: s.project,
        group=4,
    ),
    Command(
        "view.decisions",
        "Decisions of the project…",
        Menu.VIEW,
        "Lists who decided what and when, the newest first; a row opens its mention.",
        lambda w: w.show_decisions(),
        ("Ctrl+Shift+H",),
        lambda s: s.project and not s.judging,
        group=4,
    ),
    Command(
        "view.jobs",
        "Background work…",
        Menu.VIEW,
        "Lists what runs and what ended since the project was opened, with progress, log and a training's curves.",
        lambda w: w.show_jobs(),
        ("F8",),
        lambda s: s.project,
        group=4,
    ),
    Command(
        "view.back",
        "Back to the list",
        Menu.VIEW,
        "Goes back to the window from which a mention was opened: what changed, the dashboard, a map.",
        lambda w: w.go_back(),
        ("F4",),
        lambda s: s.project,
        group=4,
    ),
)
