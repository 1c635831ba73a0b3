"""What the knowledge base lacks and what changed in it: NIL mentions in clusters, new entities, links to be mapped
again."""

from typing import TYPE_CHECKING

from curator import opened_late
from curator.ui.entities.entity_commands import ENTITIES

if TYPE_CHECKING:
    from curator.ui.entities.entity_flows import EntityFlows

__all__ = [
    "ENTITIES",
    "EntityFlows",
]

__getattr__ = opened_late(
    __name__,
    entity_flows="EntityFlows",
)
