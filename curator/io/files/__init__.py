"""Shared by all formats: streams, archives, atomic writing, anchoring of offsets, ids in a file's style.

* **A folder or a zip archive is one source** (`archives.py`, listed safely, never unpacked). A format that supports
  them has `sniff_files`, reads by name, and keeps data that belong to no document in the file's `extra`. Each
  document's `raw` is its own annotation file; a mention's `record` counts within it.
* **A file in an archive is a path** (`corpus.zip/a/1.txt`): `source.py` and `open_files` in `archives.py` open it, so
  that every reader supports it, and nothing is unpacked.
"""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.io.files.anchoring import (
        GAP,
        NORMALISED,
        Anchor,
        Anchors,
        Range,
        Stated,
        broken,
        find_place,
        learn,
        quote_parts,
        quoted,
        same_text,
    )
    from curator.io.files.archive_writing import safe_name, write_files
    from curator.io.files.archives import (
        MOST_BYTES,
        Files,
        TakesFolders,
        chosen_files,
        digest,
        holds_many,
        member_of,
        never_read,
        open_files,
    )
    from curator.io.files.atomic import AtomicFiles, AtomicWriter
    from curator.io.files.attributes import (
        BINARY,
        AttributeNames,
        any_of,
        held_name,
        json_text,
        said_value,
    )
    from curator.io.files.export import (
        Action,
        FreeNames,
        ReadOnly,
        WrittenSource,
        action_for,
        entity_ids,
        export_name,
        is_gold,
        left_out,
        unique,
        write_streams,
    )
    from curator.io.files.field_meanings import (
        Unread,
        cancelling,
        identifier_field,
        identifier_name,
        identifiers_in,
        is_empty,
        keeps_books,
        kind_in,
        other_texts,
        says_state,
        stated_vocabulary,
        unfinished,
        unread_fields,
    )
    from curator.io.files.identifiers import (
        NIL,
        NIL_WORDS,
        is_nil,
        read_id,
        written_address,
        written_id,
    )
    from curator.io.files.idstyle import (
        Besides,
        IdStyle,
        detect_style,
        is_variant,
        read_ids,
        typed_entity,
        vocabulary_of,
    )
    from curator.io.files.json_layout import rewritten
    from curator.io.files.json_stream import JsonStream
    from curator.io.files.moving import moved_text
    from curator.io.files.opening import (
        FREE_BYTES,
        MOST_SWELLING,
        failure_behind,
        first_bytes,
        is_own,
        open_plain,
        own_file,
        unreadable,
    )
    from curator.io.files.reading import (
        NOT_AVAILABLE,
        DocumentSourceReader,
        RecordReader,
        SourceReader,
        first_of,
        mention_place,
    )
    from curator.io.files.relations import relations_for, roles_of, unique_keys, unwritten
    from curator.io.files.source import (
        BOM,
        GZIP_MAGIC,
        Source,
        join_lines,
        line_end,
        plain_text,
        split_lines,
        without_line_end,
    )
    from curator.io.files.text_encoding import TextLines, is_utf16
    from curator.io.files.xml_stream import ENTITIES, records, xml_attributes

__all__ = [
    "BINARY",
    "BOM",
    "ENTITIES",
    "FREE_BYTES",
    "GAP",
    "GZIP_MAGIC",
    "MOST_BYTES",
    "MOST_SWELLING",
    "NIL",
    "NIL_WORDS",
    "NORMALISED",
    "NOT_AVAILABLE",
    "Action",
    "Anchor",
    "Anchors",
    "AtomicFiles",
    "AtomicWriter",
    "AttributeNames",
    "Besides",
    "DocumentSourceReader",
    "Files",
    "FreeNames",
    "IdStyle",
    "JsonStream",
    "Range",
    "ReadOnly",
    "RecordReader",
    "Source",
    "SourceReader",
    "Stated",
    "TakesFolders",
    "TextLines",
    "Unread",
    "WrittenSource",
    "action_for",
    "any_of",
    "broken",
    "cancelling",
    "chosen_files",
    "detect_style",
    "digest",
    "entity_ids",
    "export_name",
    "failure_behind",
    "find_place",
    "first_bytes",
    "first_of",
    "held_name",
    "holds_many",
    "identifier_field",
    "identifier_name",
    "identifiers_in",
    "is_empty",
    "is_gold",
    "is_nil",
    "is_own",
    "is_utf16",
    "is_variant",
    "join_lines",
    "json_text",
    "keeps_books",
    "kind_in",
    "learn",
    "left_out",
    "line_end",
    "member_of",
    "mention_place",
    "moved_text",
    "never_read",
    "open_files",
    "open_plain",
    "other_texts",
    "own_file",
    "plain_text",
    "quote_parts",
    "quoted",
    "read_id",
    "read_ids",
    "records",
    "relations_for",
    "rewritten",
    "roles_of",
    "safe_name",
    "said_value",
    "same_text",
    "says_state",
    "split_lines",
    "stated_vocabulary",
    "typed_entity",
    "unfinished",
    "unique",
    "unique_keys",
    "unread_fields",
    "unreadable",
    "unwritten",
    "vocabulary_of",
    "without_line_end",
    "write_files",
    "write_streams",
    "written_address",
    "written_id",
    "xml_attributes",
]

__getattr__ = opened_late(
    __name__,
    anchoring="GAP NORMALISED Anchor Anchors Range Stated broken find_place learn quote_parts quoted same_text",
    archive_writing="safe_name write_files",
    archives=("MOST_BYTES Files TakesFolders chosen_files digest holds_many member_of never_read open_files"),
    atomic="AtomicFiles AtomicWriter",
    attributes="BINARY AttributeNames any_of held_name json_text said_value",
    export=(
        "Action FreeNames ReadOnly WrittenSource action_for entity_ids export_name is_gold left_out "
        "unique write_streams"
    ),
    field_meanings=(
        "Unread cancelling identifier_field identifier_name identifiers_in is_empty keeps_books "
        "kind_in other_texts says_state stated_vocabulary unfinished unread_fields"
    ),
    identifiers="NIL NIL_WORDS is_nil read_id written_address written_id",
    idstyle="IdStyle detect_style is_variant typed_entity read_ids Besides vocabulary_of",
    json_layout="rewritten",
    json_stream="JsonStream",
    moving="moved_text",
    opening=("FREE_BYTES MOST_SWELLING failure_behind first_bytes is_own open_plain own_file unreadable"),
    reading="NOT_AVAILABLE DocumentSourceReader RecordReader SourceReader first_of mention_place",
    relations="relations_for roles_of unique_keys unwritten",
    source="BOM GZIP_MAGIC Source join_lines line_end plain_text split_lines without_line_end",
    text_encoding="TextLines is_utf16",
    xml_stream="ENTITIES records xml_attributes",
)
