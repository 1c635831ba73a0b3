"""Commands of the queue: opening documents, their states, notes on them, facets and orders."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu, WindowState

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
        "Mark document as done",
        Menu.QUEUE,
        "Marks the document as done and opens the next one; asks first if mentions are undecided. "
        "Reopens a document that is done.",
        lambda bench: bench.decider.mark_done(anyway=False),
        ("Ctrl+Return", "Ctrl+Enter"),
        when=_noting,
        group=1,
        in_rounds=True,
    ),
    Command(
        "queue.done_anyway",
        "Mark document as done, rest undecided",
        Menu.QUEUE,
        "Marks the document as done without asking; undecided mentions stay undecided.",
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
        "Marks the document as needing discussion, so that it is not done. Use it again to set it back to in progress.",
        lambda bench: bench.noter.discuss(),
        ("D",),
        when=_noting,
        group=1,
    ),
    Command(
        "queue.flag",
        "Flag document",
        Menu.QUEUE,
        "Flags the document or removes its flag.",
        lambda bench: bench.noter.flag_document(),
        ("Shift+F",),
        when=_noting,
        group=1,
    ),
    Command(
        "queue.comment",
        "Comment on document…",
        Menu.QUEUE,
        "Adds a comment on the document for others, with your name and the time.",
        lambda bench: bench.ask_comment(on_document=True),
        ("Shift+C",),
        when=_noting,
        group=1,
    ),
    Command(
        "queue.facets",
        "Facets",
        Menu.QUEUE,
        "Moves to the facets. Space turns one on; you then step only through mentions that match. Use "
        "it again to fold the facets.",
        lambda bench: bench.queue.focus_facets(),
        ("Q",),
        when=_project,
        group=2,
    ),
    Command(
        "queue.clear",
        "Show everything",
        Menu.QUEUE,
        "Clears all filters of the queue.",
        lambda bench: bench.queue.clear(),
        ("Shift+Q",),
        when=_project,
        group=2,
    ),
    Command(
        "queue.order",
        "Next queue order",
        Menu.QUEUE,
        "Orders the queue by document, by expected value per second of work, or by the least certain suggestion.",
        lambda bench: bench.queue.step_order(),
        ("O",),
        when=_project,
        group=2,
    ),
    Command(
        "queue.bulk",
        "Accept in bulk…",
        Menu.QUEUE,
        "Accepts the most confident suggestions in the queue after you check a sample that bounds their error rate.",
        lambda bench: bench.many.accept_in_bulk(),
        ("Ctrl+B",),
        when=lambda s: s.writable and s.knowledge_base,
        group=3,
    ),
)
