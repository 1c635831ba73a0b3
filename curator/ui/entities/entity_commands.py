"""Commands about entities: new ones, NIL mentions, remapping after an update, all uses of one, and its page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from curator.ui.entities.entity_flows import EntityFlows
    from curator.ui.entities.use_flows import UseFlows


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
