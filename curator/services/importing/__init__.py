"""Documents, gold and knowledge bases come in: looked at first, then stored in steps that can be taken up again."""

from curator.services.importing.fetching import FetchRequest, FetchService, FetchWish, Unfinished
from curator.services.importing.foreseeing import (
    Foreseen,
    foresee_documents,
    foresee_kb,
    seconds_to_import,
    seconds_to_index,
)
from curator.services.importing.import_comparing import Compared, fingerprint
from curator.services.importing.import_reading import ImportChoices
from curator.services.importing.import_report import ImportReport, counted
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
    "document_formats",
    "fingerprint",
    "foresee_documents",
    "foresee_kb",
    "has_source",
    "joined",
    "left_behind",
    "look",
    "restated_of",
    "seconds_to_import",
    "seconds_to_index",
    "sources_of",
    "verdict_words",
]
