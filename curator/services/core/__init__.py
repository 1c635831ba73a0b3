"""What all services share: the event bus, answers cached until a write, names of project-wide values, times."""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.services.core.events import EventBus
    from curator.services.core.keys import (
        activations,
        active_bundle,
        append_activation,
        branches_for,
        branches_of,
        bundle_history,
        set_active_bundle,
        store_branches,
    )
    from curator.services.core.pace import Pace
    from curator.services.core.standing import CachedAnswer

__all__ = [
    "CachedAnswer",
    "EventBus",
    "Pace",
    "activations",
    "active_bundle",
    "append_activation",
    "branches_for",
    "branches_of",
    "bundle_history",
    "set_active_bundle",
    "store_branches",
]

__getattr__ = opened_late(
    __name__,
    events="EventBus",
    keys=(
        "activations active_bundle append_activation branches_for branches_of bundle_history set_active_bundle "
        "store_branches"
    ),
    pace="Pace",
    standing="CachedAnswer",
)
