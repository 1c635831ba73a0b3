"""Gaps and changes of the knowledge base: NIL mentions in clusters, new entities, links to remap; and views of one
entity in the whole project: all its uses, and its page at its source."""

from typing import TYPE_CHECKING

from curator import opened_late
from curator.ui.entities.entity_commands import ENTITIES
from curator.ui.entities.use_commands import USES

if TYPE_CHECKING:
    from curator.ui.entities.entity_flows import EntityFlows, add_undo_key, bring_up
    from curator.ui.entities.use_flows import UseFlows

__all__ = [
    "ENTITIES",
    "USES",
    "EntityFlows",
    "UseFlows",
    "add_undo_key",
    "bring_up",
]

__getattr__ = opened_late(
    __name__,
    entity_flows="EntityFlows add_undo_key bring_up",
    use_flows="UseFlows",
)
