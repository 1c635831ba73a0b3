"""The project's knowledge base: search, records, the hierarchy, entities created by curators, all uses of an entity,
and remapping decisions to a new version.

* **A provisional entity is an entity everywhere but in training.** The repository of the knowledge base includes them
  in look-up, search and `resolve`; `info`, `iterate`, the content hash and bundles cover only the imported version. In
  snapshots a link to one is NIL, and it is not a shown candidate: no bundle was built with it, so none could find it.
  The linker process gets them through `change_entities` for every bundle (`curator/services/linking/remembering.py`).
  Ids are never used again; undo marks the row deleted.
* **An import of a knowledge base keeps old data that decisions refer to**: the old records of linked entities that the
  new version lacks (`retired_entities`), and the NIL strings that were names before (meta `kb.update`), so that only
  newly resolvable ones are listed. Only ticked decisions are moved, in one operation, with a note added to each
  decision's note.
"""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.services.knowledge.branches import BranchService
    from curator.services.knowledge.hierarchy import PAGE, HierarchyService, TreeWay
    from curator.services.knowledge.knowledge import HiddenEntities, KnowledgeService, add_missing, types_by_name
    from curator.services.knowledge.nil_clusters import NilCluster, NilService, merged, split
    from curator.services.knowledge.provisional import Made, NewEntity, ProvisionalService, joined_note
    from curator.services.knowledge.remap_plan import (
        RemapKind,
        Remapping,
        RemapPlan,
        after_update,
        before_update,
        lost,
        plan_of,
    )
    from curator.services.knowledge.remapping import RemapService
    from curator.services.knowledge.uses import UsedString, UseFilter, UseOrder, Uses, UseService, uses_csv

__all__ = [
    "PAGE",
    "BranchService",
    "HiddenEntities",
    "HierarchyService",
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
    "TreeWay",
    "UseFilter",
    "UseOrder",
    "UseService",
    "UsedString",
    "Uses",
    "add_missing",
    "after_update",
    "before_update",
    "joined_note",
    "lost",
    "merged",
    "plan_of",
    "split",
    "types_by_name",
    "uses_csv",
]

__getattr__ = opened_late(
    __name__,
    branches="BranchService",
    hierarchy="HierarchyService PAGE TreeWay",
    knowledge="HiddenEntities KnowledgeService add_missing types_by_name",
    nil_clusters="NilCluster NilService merged split",
    provisional="Made NewEntity ProvisionalService joined_note",
    remap_plan="RemapKind RemapPlan Remapping after_update before_update lost plan_of",
    remapping="RemapService",
    uses="UseFilter UseOrder UseService UsedString Uses uses_csv",
)
