"""Actions on mentions: decide, undo, edit, comment, and decide many at once, each as one step of the history.

`CurationService` decides, adds and deletes mentions, sets document states, undoes and redoes; each action returns a
`Change`. `PropagationService` finds the other mentions of a string in their contexts, grouped and with outliers
unticked, and decides the ticked ones as one step. `BulkService` determines which suggestions may be accepted unseen,
which sample to check first, and the bound. Notes are flags and comments, attributes are named values of mentions, both
undoable; relations are read from the documents' records, and curators' additions and deletions are stored; guidelines
belong to the project; efforts are seconds and keys of decisions. `StepService` lists the history of steps, and undoes
or redoes up to a step.

* **An exported bulk step contains its plan** (`bulk_sheet.py`). The sample is exported as JSON lines, followed by the
  plan (sets, samples, every suggestion), and imported again with marks. Nothing is drawn or chosen after the sample was
  seen, and mentions decided meanwhile do not change.
"""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.services.curating.attributes import (
        AttributeService,
        checked_attribute,
        given_of,
        said,
        save_in,
        scheme_of,
    )
    from curator.services.curating.bulk import BulkOffer, BulkReport, BulkService
    from curator.services.curating.bulk_plan import MOST_CHECKS, Audit, AuditState, percent_up, tally
    from curator.services.curating.bulk_sheet import SampleSheet, read_sheet, sheet_of
    from curator.services.curating.curation import CurationService, Related
    from curator.services.curating.deciding import decide_in, mentions_words, shown_of, unpacked
    from curator.services.curating.efforts import EffortService
    from curator.services.curating.entity_steps import Edit, entity_step
    from curator.services.curating.mention_edits import checked, retype_many_in
    from curator.services.curating.notes import (
        GUIDELINES_KEY,
        GuidelineService,
        NoteService,
        entity_scope,
        intend,
        intended_in,
        is_intended,
        string_scope,
    )
    from curator.services.curating.propagation import (
        Others,
        PropagationScope,
        PropagationService,
        SameString,
        ValueOthers,
    )
    from curator.services.curating.propagation_groups import Group, GroupKind, Line, is_other_word
    from curator.services.curating.relations import RelationService
    from curator.services.curating.repeating import RepeatService, not_one
    from curator.services.curating.steps import Step, StepKind, StepPage, StepService, StepState, Training
    from curator.services.curating.undo import Journey, Walked, changes_of

__all__ = [
    "GUIDELINES_KEY",
    "MOST_CHECKS",
    "AttributeService",
    "Audit",
    "AuditState",
    "BulkOffer",
    "BulkReport",
    "BulkService",
    "CurationService",
    "Edit",
    "EffortService",
    "Group",
    "GroupKind",
    "GuidelineService",
    "Journey",
    "Line",
    "NoteService",
    "Others",
    "PropagationScope",
    "PropagationService",
    "Related",
    "RelationService",
    "RepeatService",
    "SameString",
    "SampleSheet",
    "Step",
    "StepKind",
    "StepPage",
    "StepService",
    "StepState",
    "Training",
    "ValueOthers",
    "Walked",
    "changes_of",
    "checked",
    "checked_attribute",
    "decide_in",
    "entity_scope",
    "entity_step",
    "given_of",
    "intend",
    "intended_in",
    "is_intended",
    "is_other_word",
    "mentions_words",
    "not_one",
    "percent_up",
    "read_sheet",
    "retype_many_in",
    "said",
    "save_in",
    "scheme_of",
    "sheet_of",
    "shown_of",
    "string_scope",
    "tally",
    "unpacked",
]

__getattr__ = opened_late(
    __name__,
    attributes="AttributeService checked_attribute given_of said save_in scheme_of",
    bulk="BulkOffer BulkReport BulkService",
    bulk_plan="Audit AuditState MOST_CHECKS percent_up tally",
    bulk_sheet="SampleSheet read_sheet sheet_of",
    curation="CurationService Related",
    deciding="decide_in mentions_words shown_of unpacked",
    efforts="EffortService",
    entity_steps="Edit entity_step",
    mention_edits="checked retype_many_in",
    notes="GUIDELINES_KEY GuidelineService NoteService entity_scope intend intended_in is_intended string_scope",
    propagation="Others PropagationScope PropagationService SameString ValueOthers",
    propagation_groups="Group GroupKind Line is_other_word",
    repeating="RepeatService not_one",
    steps="Step StepKind StepPage StepService StepState Training",
    undo="Journey Walked changes_of",
    relations="RelationService",
)
