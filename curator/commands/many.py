"""Commands that decide many mentions at once."""

from __future__ import annotations

from curator.commands.command import Command, Menu, WindowActions, WindowState
from curator.domain.decisions import Outcome


def _deciding(state: WindowState) -> bool:
    return state.writable and state.mention


def _usual(outcome: Outcome, key: str, title: str, help_: str) -> Command:
    def run(window: WindowActions) -> None:
        window.decide_and_list(outcome)

    return Command(f"mention.others_{outcome.value}", title, Menu.MENTION, help_, run, (key,), _deciding, group=4)


IDENTICAL = (
    Command(
        "mention.others",
        "Other mentions of this string…",
        Menu.MENTION,
        "Lists the other mentions of the same string in their contexts; pressed again there, it decides the ticked "
        "ones in one step. An undecided mention gets its first suggestion before.",
        lambda w: w.list_others(),
        ("Shift+Return", "Shift+Enter"),
        lambda s: _deciding(s) and (s.decided or s.candidates > 0 or s.nil_suggested),
        group=4,
    ),
    _usual(
        Outcome.NIL,
        "Shift+N",
        "NIL, and list the others…",
        "Marks the mention NIL as not in the knowledge base and lists the other mentions of its string.",
    ),
    _usual(
        Outcome.REJECTED,
        "Shift+X",
        "Reject, and list the others…",
        "Rejects the mention as no entity and lists the other mentions of its string.",
    ),
    _usual(
        Outcome.SKIPPED,
        "Shift+S",
        "Skip, and list the others…",
        "Skips the mention as unsure and lists the other mentions of its string.",
    ),
)

BULK = (
    Command(
        "queue.bulk",
        "Accept in bulk…",
        Menu.QUEUE,
        "Accepts the surest suggestions of what the queue shows, once a sample that you check bounds their error.",
        lambda w: w.accept_in_bulk(),
        ("Ctrl+B",),
        lambda s: s.writable and s.knowledge_base,
        group=3,
    ),
)
