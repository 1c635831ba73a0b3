"""Commands of the queue: opening documents, what state they are in, notes on them, facets and orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands import Command, Menu, WindowState

if TYPE_CHECKING:
    from curator.ui.bench.workbench import Workbench


def _project(state: WindowState) -> bool:
    return state.project


def _noting(state: WindowState) -> bool:
    return state.writable and state.document


QUEUE: tuple[Command[Workbench], ...] = (
    Command(
        "queue.next",
        "Next document",
        Menu.QUEUE,
        "Opens the next document of the queue.",
        lambda bench: bench.navigator.step_document(1),
        ("PgDown",),
        when=_project,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "queue.previous",
        "Previous document",
        Menu.QUEUE,
        "Opens the previous document of the queue.",
        lambda bench: bench.navigator.step_document(-1),
        ("PgUp",),
        when=_project,
        repeats=True,
        in_rounds=True,
    ),
    Command(
        "queue.done",
        "Document done",
        Menu.QUEUE,
        "Marks the document done and opens the next; asks first where mentions are undecided. A done document is "
        "reopened.",
        lambda bench: bench.decider.mark_done(anyway=False),
        ("Ctrl+Return", "Ctrl+Enter"),
        when=_noting,
        group=1,
        in_rounds=True,
    ),
    Command(
        "queue.done_anyway",
        "Document done, rest undecided",
        Menu.QUEUE,
        "Marks the document done without asking; mentions without a decision stay undecided.",
        lambda bench: bench.decider.mark_done(anyway=True),
        ("Ctrl+Shift+Return", "Ctrl+Shift+Enter"),
        when=_noting,
        group=1,
    ),
    Command(
        "queue.filter",
        "Filter queue",
        Menu.QUEUE,
        "Puts the cursor into the queue's filter.",
        lambda bench: bench.queue.focus_filter(),
        ("Ctrl+L",),
        when=_project,
        group=1,
    ),
    Command(
        "queue.discuss",
        "Needs discussion",
        Menu.QUEUE,
        "Marks that the document needs discussion, so that it is not done; pressed again, it is in progress.",
        lambda bench: bench.noter.discuss(),
        ("D",),
        when=_noting,
        group=1,
    ),
    Command(
        "queue.flag",
        "Flag document",
        Menu.QUEUE,
        "Puts a flag on the document, or takes it off.",
        lambda bench: bench.noter.flag_document(),
        ("Shift+F",),
        when=_noting,
        group=1,
    ),
    Command(
        "queue.comment",
        "Comment on document…",
        Menu.QUEUE,
        "Writes a comment on the document for others, with your name and the time.",
        lambda bench: bench.ask_comment(on_document=True),
        ("Shift+C",),
        when=_noting,
        group=1,
    ),
    Command(
        "queue.facets",
        "Facets",
        Menu.QUEUE,
        "Goes to the facets: Space sets one, and every step then goes to mentions that they hold; again folds them.",
        lambda bench: bench.queue.focus_facets(),
        ("Q",),
        when=_project,
        group=2,
    ),
    Command(
        "queue.clear",
        "Show everything",
        Menu.QUEUE,
        "Lifts every filter of the queue.",
        lambda bench: bench.queue.clear(),
        ("Shift+Q",),
        when=_project,
        group=2,
    ),
    Command(
        "queue.order",
        "Next order",
        Menu.QUEUE,
        "Works the queue off by document, by what is worth most for a second of work, or by the least sure suggestion.",
        lambda bench: bench.queue.step_order(),
        ("O",),
        when=_project,
        group=2,
    ),
    Command(
        "queue.bulk",
        "Accept in bulk…",
        Menu.QUEUE,
        "Accepts the surest suggestions of what the queue shows, once a sample that you check bounds their error.",
        lambda bench: bench.many.accept_in_bulk(),
        ("Ctrl+B",),
        when=lambda s: s.writable and s.knowledge_base,
        group=3,
    ),
)
