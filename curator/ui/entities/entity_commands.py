"""Commands about gaps of the knowledge base: new entities, NIL mentions, and remapping after an update."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from curator.ui.entities.entity_flows import EntityFlows


ENTITIES: tuple[Command[EntityFlows], ...] = (
    Command(
        "mention.new_entity",
        "New entity for this mention…",
        Menu.MENTION,
        "Creates an entity that the knowledge base lacks, named after the mention, and links the mention to it.",
        lambda entities: entities.make_for_mention(),
        ("E",),
        when=lambda s: s.writable and s.mention,
        group=1,
        after="mention.nil",
    ),
    Command(
        "mention.nils",
        "NIL mentions and new entities…",
        Menu.MENTION,
        "Lists new entities, and NIL mentions that may mean the same, so that you can create new entities from them.",
        lambda entities: entities.show_nils(),
        ("Ctrl+Shift+E",),
        when=lambda s: s.project,
        group=4,
        after="mention.others_skipped",
    ),
    Command(
        "tools.kb_update",
        "Knowledge-base update…",
        Menu.TOOLS,
        "Lists the decisions affected by a new version of the knowledge base and moves those that you tick.",
        lambda entities: entities.show_update(),
        when=lambda s: s.knowledge_base and not s.judging,
        group=2,
    ),
)
