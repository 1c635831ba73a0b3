"""Commands about people: rounds, agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands.command import Command, Menu

if TYPE_CHECKING:
    from curator.ui.people.people_flows import PeopleFlows


PEOPLE: tuple[Command[PeopleFlows], ...] = (
    Command(
        "people.rounds",
        "Rounds…",
        Menu.PEOPLE,
        "Creates, enters, closes, exports and imports rounds, in which curators decide the same "
        "documents independently.",
        lambda people: people.show_rounds(),
        ("Ctrl+Shift+R",),
        when=lambda s: s.project,
        group=1,
    ),
    Command(
        "people.leave",
        "Leave the round",
        Menu.PEOPLE,
        "Returns to the project's own decisions. Decisions made in the round are kept.",
        lambda people: people.leave_round(),
        when=lambda s: s.judging,
        group=1,
    ),
    Command(
        "people.agreement",
        "Agreement…",
        Menu.PEOPLE,
        "Shows how well the curators of a round agree, by pair, type and document, and how consistent each curator is.",
        lambda people: people.show_agreement(),
        when=lambda s: s.project,
        group=2,
    ),
    Command(
        "people.adjudicate",
        "Adjudicate…",
        Menu.PEOPLE,
        "Steps through the disagreements between the curators of a closed round. Press 1 to 9 to adopt "
        "a curator's decision.",
        lambda people: people.adjudicate(),
        when=lambda s: s.writable,
        group=2,
    ),
)
