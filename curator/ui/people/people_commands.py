"""Commands about people: rounds, agreement."""

from __future__ import annotations

from typing import TYPE_CHECKING

from curator.commands import Command, Menu

if TYPE_CHECKING:
    from curator.ui.people.people_flows import PeopleFlows


PEOPLE: tuple[Command[PeopleFlows], ...] = (
    Command(
        "people.rounds",
        "Rounds…",
        Menu.PEOPLE,
        "Makes, enters, closes, exports and imports rounds, in which curators judge the same documents apart.",
        lambda people: people.show_rounds(),
        ("Ctrl+Shift+R",),
        when=lambda s: s.project,
        group=1,
    ),
    Command(
        "people.leave",
        "Leave the round",
        Menu.PEOPLE,
        "Goes back to the project's own decisions; what was judged is kept.",
        lambda people: people.leave_round(),
        when=lambda s: s.judging,
        group=1,
    ),
    Command(
        "people.agreement",
        "Agreement…",
        Menu.PEOPLE,
        "Shows how far the curators of a round agree, by pair, type and document, and how far each with himself.",
        lambda people: people.show_agreement(),
        when=lambda s: s.project,
        group=2,
    ),
    Command(
        "people.adjudicate",
        "Adjudicate…",
        Menu.PEOPLE,
        "Goes through what the curators of a closed round disagree about; 1 to 9 take a curator's verdict.",
        lambda people: people.adjudicate(),
        when=lambda s: s.writable,
        group=2,
    ),
)
