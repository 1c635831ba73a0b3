"""Commands that keep a project safe."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from curator.ui.safety.safety_flows import SafetyFlows


SAFETY: tuple[Command[SafetyFlows], ...] = (
    Command(
        "project.backups",
        "Backups…",
        Menu.PROJECT,
        "Lists the backups of the project, makes one now, and restores one; the present state is kept.",
        lambda safety: safety.show_backups(),
        when=lambda s: s.project,
        group=2,
    ),
    Command(
        "project.check",
        "Check project",
        Menu.PROJECT,
        "Checks in the background whether the project is damaged: pages, indexes, texts, steps, counters and linkers. "
        "Nothing is changed.",
        lambda safety: safety.check(),
        when=lambda s: s.project and not s.importing,
        group=2,
    ),
)
