"""Import of documents, gold and knowledge bases: previewed first, then stored in steps that can be resumed.

`ImportService` and `FetchService` are generators of `Progress` that return an `ImportReport`. `foreseeing.py` says
what an import would bring, `text_changes.py` what a changed text would move, `look` what paths are, one file at a
time. `FetchService` asks PubMed by name, keeps the records as they come and imports them as a file. `gold.py` also
restores what our own JSON lines say of people: decisions, comments, flags, splits. `document_formats` says what each
format can carry (`Carries`): for `curator formats`, the manual, and what an export leaves behind.

* **Imports become visible through a flag.** Rows are written in short transactions and become visible when the last
  one sets the file (or the version of the knowledge base) to complete. What an interrupted import left is removed when
  the project is opened next. A curator's decision never waits for a long transaction.
* **An import is undone by hiding it.** Decisions are append-only, so a flag of the source file hides its documents:
  every query already asks only for files that are visible, and the audit trail alone asks for all that ever were. The
  list of imports is append-only, and it empties the undo stack, because no step before it could be undone without
  harm.
* **A document keeps its id when its text changes.** The text before goes to `former_texts`, mentions move through
  `mention_edits` (`curator/io/files/moving.py`: what is the same in both texts moves with it, the rest by quotation
  and context, or it has no place), and one operation holds the way back. The document then belongs to the newer file,
  whose record is what is written back. For files of other names identity by file holds: there only the same id with
  the same text, or nearly the same long text, is the same document.
* **A stopped import keeps what was requested** (`unfinished_import.py`). The record (`import.unfinished`) holds files,
  split, gold and choices, with a fingerprint of each text that was chosen on; the number of files that are in has a
  key of its own. Of a knowledge base only the file is kept (`kb.unfinished`): it is read from its beginning.
* **Gold comes in as decisions of done documents.** An annotation whose identifiers the knowledge base does not know is
  NIL; its identifiers stay with the mention, so that the export writes them back.
"""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.services.importing.fetching import FetchRequest, FetchService, FetchWish, Unfinished
    from curator.services.importing.file_attributes import FileAttribute, FileAttributes
    from curator.services.importing.foreseeing import (
        Foreseen,
        foresee_documents,
        foresee_kb,
        seconds_to_import,
        seconds_to_index,
    )
    from curator.services.importing.import_comparing import Compared, fingerprint
    from curator.services.importing.import_reading import ImportChoices
    from curator.services.importing.import_report import ImportReport, counted, counts_in_words, known_in_words
    from curator.services.importing.import_sources import (
        COLUMNS,
        Counted,
        FileRecogniser,
        Left,
        Recognised,
        document_formats,
        has_source,
        left_behind,
        look,
        sources_of,
    )
    from curator.services.importing.importing import ImportService, joined
    from curator.services.importing.imports import FileImport, ImportList, UndoPlan
    from curator.services.importing.kb_importing import KbWish
    from curator.services.importing.text_changes import MovedMention, TextChange, verdict_words
    from curator.services.importing.text_taking import restated_of
    from curator.services.importing.unfinished_import import UnfinishedImport

__all__ = [
    "COLUMNS",
    "Compared",
    "Counted",
    "FetchRequest",
    "FetchService",
    "FetchWish",
    "FileAttribute",
    "FileAttributes",
    "FileImport",
    "FileRecogniser",
    "Foreseen",
    "ImportChoices",
    "ImportList",
    "ImportReport",
    "ImportService",
    "KbWish",
    "Left",
    "MovedMention",
    "Recognised",
    "TextChange",
    "UndoPlan",
    "Unfinished",
    "UnfinishedImport",
    "counted",
    "counts_in_words",
    "document_formats",
    "fingerprint",
    "foresee_documents",
    "foresee_kb",
    "has_source",
    "joined",
    "known_in_words",
    "left_behind",
    "look",
    "restated_of",
    "seconds_to_import",
    "seconds_to_index",
    "sources_of",
    "verdict_words",
]

__getattr__ = opened_late(
    __name__,
    fetching="FetchRequest FetchService FetchWish Unfinished",
    file_attributes="FileAttribute FileAttributes",
    foreseeing="Foreseen foresee_documents foresee_kb seconds_to_import seconds_to_index",
    import_comparing="Compared fingerprint",
    import_reading="ImportChoices",
    import_report="ImportReport counted counts_in_words known_in_words",
    import_sources=(
        "COLUMNS Counted FileRecogniser Left Recognised document_formats has_source left_behind look sources_of"
    ),
    importing="ImportService joined",
    imports="FileImport ImportList UndoPlan",
    kb_importing="KbWish",
    text_changes="MovedMention TextChange verdict_words",
    text_taking="restated_of",
    unfinished_import="UnfinishedImport",
)
