"""Commands about what the knowledge base lacks: new entities, NIL mentions, and the next version of it."""

from __future__ import annotations

from curator.commands.command import Command, Menu

NEW_ENTITY = Command(
    "mention.new_entity",
    "New entity for this mention…",
    Menu.MENTION,
    "Makes an entity that the knowledge base lacks, named after the mention, and links the mention to it.",
    lambda w: w.make_entity(),
    ("E",),
    lambda s: s.writable and s.mention,
    group=1,
)
NIL_MENTIONS = Command(
    "mention.nils",
    "NIL mentions and new entities…",
    Menu.MENTION,
    "Lists NIL mentions that may mean the same, to make new entities of them; and the new entities there are.",
    lambda w: w.show_nils(),
    ("Ctrl+Shift+E",),
    lambda s: s.project,
    group=4,
)
UPDATE = Command(
    "tools.kb_update",
    "Knowledge-base update…",
    Menu.TOOLS,
    "Lists decisions that a new version of the knowledge base concerns, and moves those that you tick.",
    lambda w: w.show_kb_update(),
    (),
    lambda s: s.knowledge_base and not s.judging,
    group=2,
)
