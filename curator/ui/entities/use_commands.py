"""Commands about one entity: all its uses, and its page at its source."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from curator.ui.entities.use_flows import UseFlows


USES: tuple[Command[UseFlows], ...] = (
    Command(
        "mention.uses",
        "All uses of the entity…",
        Menu.QUEUE,
        "Lists every mention of the project that is linked to the highlighted entity, the doubtful ones first, to "
        "check them, to move some to another entity or to mark them NIL.",
        lambda uses: uses.show_uses(),
        ("U",),
        when=lambda s: s.project,
        group=3,
    ),
    Command(
        "mention.find_uses",
        "All uses of another entity…",
        Menu.TOOLS,
        "Searches the knowledge base for an entity and lists every mention that is linked to it.",
        lambda uses: uses.find_uses(),
        ("Shift+U",),
        when=lambda s: s.project,
        group=2,
    ),
    Command(
        "mention.page",
        "Page of the entity at its source…",
        Menu.TOOLS,
        "Opens the page of the highlighted entity in the browser, such as its record in the MeSH Browser; asks before "
        "the first time.",
        lambda uses: uses.open_page(),
        ("P",),
        when=lambda s: s.mention,
        group=2,
        in_rounds=True,
    ),
)
