"""The knowledge base as the project has it: search, records, entities that curators made, and decisions mapped to a
new version."""

from curator.services.knowledge.knowledge import HiddenEntities, KnowledgeService, add_missing, types_by_name
from curator.services.knowledge.nil_clusters import NilCluster, NilService, merged, split
from curator.services.knowledge.provisional import Made, NewEntity, ProvisionalService
from curator.services.knowledge.remap_plan import RemapKind, Remapping, RemapPlan, after_update, before_update, plan_of
from curator.services.knowledge.remapping import RemapService

__all__ = [
    "HiddenEntities",
    "KnowledgeService",
    "Made",
    "NewEntity",
    "NilCluster",
    "NilService",
    "ProvisionalService",
    "RemapKind",
    "RemapPlan",
    "RemapService",
    "Remapping",
    "add_missing",
    "after_update",
    "before_update",
    "merged",
    "plan_of",
    "split",
    "types_by_name",
]
