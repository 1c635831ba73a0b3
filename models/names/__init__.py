"""Finding by name: lexical lists, names as vectors, and mentions found in a text by the dictionary."""

from models.names.candidates import (
    DEFINITION,
    LEXICAL,
    NAMES,
    PREFERRED,
    CandidateTable,
    NameCandidates,
    NameStage,
    PreparedLookup,
    regroup,
)
from models.names.detection import Detector
from models.names.lexical import LexicalRetriever, TfIdf
from models.names.lexical_merged import LexicalList, WordRetriever, build_lists, load_words, parse_list
from models.names.names import NamesRetriever

__all__ = [
    "DEFINITION",
    "LEXICAL",
    "NAMES",
    "PREFERRED",
    "CandidateTable",
    "Detector",
    "LexicalList",
    "LexicalRetriever",
    "NameCandidates",
    "NameStage",
    "NamesRetriever",
    "PreparedLookup",
    "TfIdf",
    "WordRetriever",
    "build_lists",
    "load_words",
    "parse_list",
    "regroup",
]
