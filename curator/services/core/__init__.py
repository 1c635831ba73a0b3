"""Shared by services: the event bus, answers cached until a write, project-wide values, times, reading relations."""

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
    from curator.services.core.relation_reading import (
        READ_TOGETHER,
        DocumentRelations,
        RelationReader,
        end_words,
        entity_names,
    )
    from curator.services.core.standing import CachedAnswer
    from curator.services.core.synchronised_folders import WARNED, place_warning, sync_service

__all__ = [
    "READ_TOGETHER",
    "WARNED",
    "CachedAnswer",
    "DocumentRelations",
    "EventBus",
    "Pace",
    "RelationReader",
    "activations",
    "active_bundle",
    "append_activation",
    "branches_for",
    "branches_of",
    "bundle_history",
    "end_words",
    "entity_names",
    "place_warning",
    "set_active_bundle",
    "store_branches",
    "sync_service",
]

__getattr__ = opened_late(
    __name__,
    events="EventBus",
    keys=(
        "activations active_bundle append_activation branches_for branches_of bundle_history set_active_bundle "
        "store_branches"
    ),
    pace="Pace",
    synchronised_folders="WARNED place_warning sync_service",
    relation_reading="DocumentRelations READ_TOGETHER RelationReader end_words entity_names",
    standing="CachedAnswer",
)
