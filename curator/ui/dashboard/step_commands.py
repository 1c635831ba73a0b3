"""The command that lists the history of steps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from curator.ui.dashboard.step_flows import StepFlows


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
