"""Commands about people: names, rounds, agreement; and what leaves the project as a record."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from curator.commands.command import Command, Menu, WindowState


def _writable(state: WindowState) -> bool:
    return state.writable


def _project(state: WindowState) -> bool:
    return state.project


PEOPLE = (
    Command(
        "people.i_am",
        "I am…",
        Menu.PEOPLE,
        "Says whose name the decisions bear from now on.",
        lambda w: w.say_who_i_am(),
        (),
    ),
    Command(
        "people.rounds",
        "Rounds…",
        Menu.PEOPLE,
        "Makes, enters, closes, exports and imports rounds, in which curators judge the same documents apart.",
        lambda w: w.show_rounds(),
        ("Ctrl+Shift+R",),
        _project,
        group=1,
    ),
    Command(
        "people.leave",
        "Leave the round",
        Menu.PEOPLE,
        "Goes back to the project's own decisions; what was judged is kept.",
        lambda w: w.leave_round(),
        (),
        lambda s: s.judging,
        group=1,
    ),
    Command(
        "people.agreement",
        "Agreement…",
        Menu.PEOPLE,
        "Shows how far the curators of a round agree, by pair, type and document, and how far each with himself.",
        lambda w: w.show_agreement(),
        (),
        _project,
        group=2,
    ),
    Command(
        "people.adjudicate",
        "Adjudicate…",
        Menu.PEOPLE,
        "Goes through what the curators of a closed round disagree about; 1 to 9 take a curator's verdict.",
        lambda w: w.adjudicate(),
        (),
        _writable,
        group=2,
    ),
)

RECORDS = (
    Command(
        "project.release",
        "Release…",
        Menu.PROJECT,
        "Writes decisions, hashes, guidelines and figures as a bundle; the same state gives the same bytes.",
        lambda w: w.release(),
        (),
        _project,
        group=2,
    ),
    Command(
        "project.audit",
        "Export audit trail…",
        Menu.PROJECT,
        "Writes every step: who, when, what was suggested and what it replaced, as CSV or JSON lines.",
        lambda w: w.export_audit(),
        (),
        _project,
        group=2,
    ),
    Command(
        "project.export_kb",
        "Export knowledge base…",
        Menu.PROJECT,
        "Writes the knowledge base with the names that decisions taught and the entities made here.",
        lambda w: w.export_knowledge_base(),
        (),
        lambda s: s.project and s.knowledge_base,
        group=2,
    ),
)

SUSPICIOUS = Command(
    "model.suspicious",
    "Suspicious gold…",
    Menu.MODEL,
    "Lists decisions that models fitted on other documents find unlikely, to be kept or decided again.",
    lambda w: w.show_suspicious(),
    (),
    lambda s: s.project and s.knowledge_base,
    group=1,
)

ALLOWED_IN_ROUNDS = frozenset(
    {
        "mention.next",
        "mention.previous",
        "mention.undecided",
        "mention.accept",
        "mention.nil",
        "mention.reject",
        "mention.skip",
        "mention.clear",
        "mention.search",
        "mention.search_text",
        "mention.search_also",
        "mention.create",
        "mention.contrast",
        "mention.tint",
        "mention.hidden",
        *(f"mention.{what}{rank}" for what in ("choose", "also") for rank in range(1, 10)),
        "queue.next",
        "queue.previous",
        "queue.done",
        "edit.undo",
        "edit.redo",
        "edit.settings",
        "edit.shortcuts",
        "edit.find",
        "edit.find_next",
        "edit.find_previous",
        "edit.caret",
    }
)
"""Of the menus Edit, Mention and Queue: all else there acts on the project, or shows what is decided in it."""
DETECTING = frozenset({"tools.detect", "tools.detect_all"})
"""Mentions that are marked for everybody."""


def apart_from_rounds(commands: Iterable[Command]) -> tuple[Command, ...]:
    """The commands, those that act on the project's mentions out of reach while decisions are judgements."""
    closed = {Menu.EDIT, Menu.MENTION, Menu.QUEUE}
    return tuple(
        replace(one, enabled=_not_judging(one.enabled))
        if (one.menu in closed and one.id not in ALLOWED_IN_ROUNDS) or one.id in DETECTING
        else one
        for one in commands
    )


def _not_judging(enabled: Callable[[WindowState], bool]) -> Callable[[WindowState], bool]:
    return lambda state: not state.judging and enabled(state)


def after(commands: Iterable[Command], place: str, new: Iterable[Command]) -> tuple[Command, ...]:
    """The commands with new ones behind the one of that id."""
    found: list[Command] = []
    for one in commands:
        found.append(one)
        if one.id == place:
            found.extend(new)
    return tuple(found)
