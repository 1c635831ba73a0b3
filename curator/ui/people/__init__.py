"""Several curators: rounds, adjudication, agreement, and the name under which decisions are stored."""

from typing import TYPE_CHECKING

from curator import opened_late
from curator.ui.people.people_commands import PEOPLE

if TYPE_CHECKING:
    from curator.ui.people.people_flows import PeopleFlows

__all__ = [
    "PEOPLE",
    "PeopleFlows",
]

__getattr__ = opened_late(
    __name__,
    people_flows="PeopleFlows",
)
