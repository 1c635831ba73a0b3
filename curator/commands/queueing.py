"""Commands of the queue beside opening documents: facets, orders, flags, comments, discussion, guidelines."""

from __future__ import annotations

from curator.commands.command import Command, Menu, WindowState


def _noting(state: WindowState) -> bool:
    return state.writable and state.document


NOTES = (
    Command(
        "mention.flag",
        "Flag mention",
        Menu.MENTION,
        "Puts a flag on the mention, or takes it off; the facets find it again.",
        lambda w: w.flag_mention(),
        ("F",),
        lambda s: s.writable and s.mention,
        group=4,
    ),
    Command(
        "mention.comment",
        "Comment on mention…",
        Menu.MENTION,
        "Writes a comment on the mention for others, with your name and the time.",
        lambda w: w.comment_mention(),
        ("C",),
        lambda s: s.writable and s.mention,
        group=4,
    ),
)

NARROWING = (
    Command(
        "queue.discuss",
        "Needs discussion",
        Menu.QUEUE,
        "Marks that the document needs discussion, so that it is not done; pressed again, it is in progress.",
        lambda w: w.discuss_document(),
        ("D",),
        _noting,
        group=1,
    ),
    Command(
        "queue.flag",
        "Flag document",
        Menu.QUEUE,
        "Puts a flag on the document, or takes it off.",
        lambda w: w.flag_document(),
        ("Shift+F",),
        _noting,
        group=1,
    ),
    Command(
        "queue.comment",
        "Comment on document…",
        Menu.QUEUE,
        "Writes a comment on the document for others, with your name and the time.",
        lambda w: w.comment_document(),
        ("Shift+C",),
        _noting,
        group=1,
    ),
    Command(
        "queue.facets",
        "Facets",
        Menu.QUEUE,
        "Goes to the facets: Space sets one, and every step then goes to mentions that they hold; again folds them.",
        lambda w: w.focus_facets(),
        ("Q",),
        lambda s: s.project,
        group=2,
    ),
    Command(
        "queue.clear",
        "Show everything",
        Menu.QUEUE,
        "Lifts every filter of the queue.",
        lambda w: w.clear_filter(),
        ("Shift+Q",),
        lambda s: s.project,
        group=2,
    ),
    Command(
        "queue.order",
        "Next order",
        Menu.QUEUE,
        "Works the queue off by document, by what is worth most for a second of work, or by the least sure suggestion.",
        lambda w: w.step_order(),
        ("O",),
        lambda s: s.project,
        group=2,
    ),
)

GUIDELINES = (
    Command(
        "view.guidelines",
        "Guidelines",
        Menu.VIEW,
        "Shows the project's guidelines beside the text, to read and to write; again puts them away.",
        lambda w: w.show_guidelines(),
        ("G",),
        lambda s: s.project,
        group=2,
    ),
)
