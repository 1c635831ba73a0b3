"""Commands that show progress: the dashboard, background work, the history of steps, and the way back to a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from curator.ui.dashboard.seeing_flows import SeeingFlows
    from curator.ui.dashboard.step_flows import StepFlows


SEEING: tuple[Command[SeeingFlows], ...] = (
    Command(
        "view.dashboard",
        "Dashboard…",
        Menu.VIEW,
        "Shows progress, speed, key presses, accepted suggestions, NIL, linkers and agreement as plots "
        "that can be saved.",
        lambda seeing: seeing.show_dashboard(),
        ("Ctrl+Shift+D",),
        when=lambda s: s.project,
        group=4,
    ),
    Command(
        "view.decisions",
        "Decisions of the project…",
        Menu.VIEW,
        "Lists who decided what and when, the newest first; a row opens its mention.",
        lambda seeing: seeing.show_decisions(),
        ("Ctrl+Shift+H",),
        when=lambda s: s.project and not s.judging,
        group=4,
    ),
    Command(
        "people.conflicts",
        "Conflicting decisions…",
        Menu.PEOPLE,
        "Lists the mentions of a shared project that you and another curator decided differently since you opened it, "
        "with both decisions; a row opens its mention.",
        lambda seeing: seeing.show_conflicts(),
        when=lambda s: s.conflicts > 0 and not s.judging,
        group=2,
        after="people.adjudicate",
    ),
    Command(
        "view.jobs",
        "Background work…",
        Menu.VIEW,
        "Lists the jobs that are running or have ended since the project was opened, with progress, log "
        "and training curves.",
        lambda seeing: seeing.show_jobs(),
        ("F8",),
        when=lambda s: s.project,
        group=4,
    ),
    Command(
        "view.back",
        "Back to the list",
        Menu.VIEW,
        "Returns to the window from which a mention was opened, such as the list of changes, the dashboard or a map.",
        lambda seeing: seeing.go_back(),
        ("F4",),
        when=lambda s: s.project,
        group=4,
    ),
)


STEPS: tuple[Command[StepFlows], ...] = (
    Command(
        "edit.steps",
        "History of steps…",
        Menu.EDIT,
        "Lists what was done, by whom and when, and the mentions of each step; goes back to a step or forward again.",
        lambda steps: steps.show_steps(),
        ("Ctrl+Alt+Z",),
        when=lambda s: s.project and not s.judging,
    ),
)
