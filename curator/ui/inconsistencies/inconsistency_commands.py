"""Commands about decisions that contradict each other: the list, and navigation between places in the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from curator.ui.inconsistencies.inconsistency_flows import InconsistencyFlows


INCONSISTENCIES: tuple[Command[InconsistencyFlows], ...] = (
    Command(
        "tools.inconsistencies",
        "Inconsistencies…",
        Menu.TOOLS,
        "Lists decisions that contradict each other and links to obsolete entities, at the string of the current "
        "mention where its decisions differ.",
        lambda flows: flows.show(),
        ("I",),
        when=lambda s: s.project and not s.judging,
        group=2,
    ),
    Command(
        "tools.next_inconsistency",
        "Next inconsistency",
        Menu.TOOLS,
        "Opens the next place in the list of inconsistencies.",
        lambda flows: flows.step(1),
        ("F5",),
        when=lambda s: s.project and not s.judging,
        group=2,
    ),
    Command(
        "tools.previous_inconsistency",
        "Previous inconsistency",
        Menu.TOOLS,
        "Opens the previous place in the list of inconsistencies.",
        lambda flows: flows.step(-1),
        ("Shift+F5",),
        when=lambda s: s.project and not s.judging,
        group=2,
    ),
)
