"""Tables of documents and of mentions: the names of their columns, and the columns of each table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from curator.domain.wording import UserError, tr
from curator.io.files.field_meanings import keeps_books, says_state
from curator.io.files.opening import own_file
from curator.io.tables import kb_table
from curator.io.tables.columns import place, sniffed
from curator.io.tables.tables import Table, is_workbook
from curator.services.ports.files import DOCUMENT_FIELDS, DocumentOptions

_WORDS = {
    "document": "document documentid docid doc pmid articleid article recordid filename file id identifier",
    "title": "title articletitle documenttitle headline",
    "text": "text abstract body passage fulltext documenttext sentence context content",
    "mention": "mention mentiontext quote surface surfaceform mentionstring entitytext",
    "start": "start begin startoffset spanstart startchar offset",
    "end": "end stop endoffset spanend endchar",
    "type": "type entitytype mentiontype semantictype category label",
    "ids": "ids identifiers conceptid conceptids entityid entityids entity curie normid normalizedid normalisedid dbid "
    "meshid cui mesh umls concept",
}
MEANINGS: Mapping[str, tuple[str, ...]] = {field: tuple(words.split()) for field, words in _WORDS.items()}
"""Field -> headings that mean it, letters and digits only, in lower case."""
OUTCOME = "outcome"
ATTRIBUTES = "attributes"
DOCUMENTS = "documents"
DOCUMENT_HEADINGS = ("document", "title", "text")
MENTION_HEADINGS = (
    "document",
    "start",
    "end",
    "mention",
    "type",
    "ids",
    OUTCOME,
    "reason",
    "curator",
    "at",
    "note",
    ATTRIBUTES,
)
"""Headings of the tables that Curator writes."""


@dataclass(frozen=True, slots=True)
class Sheet:
    """One table with the positions of its fields. `labelled` is the heading of the text, `ids_heading` that of the
    identifiers, `own` are the positions of columns of Curator's own tables, `states` those of columns that may cancel a
    mention (`status`), `unread` those of all others: of the mentions' identifiers under other headings, or of nothing
    that is read. `ours` is a table that Curator wrote; in `guarded` ones, cells that look like formulas have an
    apostrophe."""

    table: Table
    places: Mapping[str, int]
    width: int
    own: Mapping[str, int]
    states: Mapping[str, int]
    unread: Mapping[int, str]
    labelled: str
    ids_heading: str
    ours: bool

    @property
    def guarded(self) -> bool:
        return self.ours and not is_workbook(self.table.path)

    @property
    def holds_texts(self) -> bool:
        return "text" in self.places

    @property
    def holds_mentions(self) -> bool:
        return "mention" in self.places or "start" in self.places


@dataclass(frozen=True, slots=True)
class TableLayout:
    """`documents` has the texts, and `mentions` the mentions in them; one of them may be missing, and both are the same
    table if every row of mentions repeats its text."""

    documents: Sheet | None
    mentions: Sheet | None


def layout_of(path: Path, options: DocumentOptions) -> TableLayout:
    """The layout. Raises UserError for missing columns, and if there is neither a text nor a mention."""
    chosen = _sheet(path, options.sheet, options.columns)
    if not (chosen.holds_texts or chosen.holds_mentions):
        named = ", ".join(one for one in next(iter(chosen.table.first(1)), []) if one.strip()) or "none"
        raise UserError(
            tr(
                "{path}: no column was chosen for the text or the mention. Its columns are {named}: "
                "choose one (--column text=HEADING, or in the dialog)",
                path=path,
                named=named,
            )
        )
    if chosen.holds_texts and chosen.holds_mentions:
        return TableLayout(chosen, chosen)
    other = None if options.sheet and chosen.holds_texts else _other(path, chosen)
    found = TableLayout(chosen, other) if chosen.holds_texts else TableLayout(other, chosen)
    if found.documents is None and "start" in chosen.places:
        raise UserError(
            tr(
                "{path} has the positions of mentions, but not the texts: put the texts into a column, "
                "into a sheet {documents} of the workbook, or into {name} next to the file",
                path=path,
                documents=DOCUMENTS,
                name=companion(path).name,
            )
        )
    return found


def _other(path: Path, chosen: Sheet) -> Sheet | None:
    """The table of texts of a table of mentions, or, in a workbook, the reverse."""
    if is_workbook(path):
        for name in chosen.table.sheets():
            if name != (chosen.table.sheet or chosen.table.sheets()[0]):
                other = _sheet(path, name, {})
                if "document" in other.places and other.holds_texts != chosen.holds_texts:
                    return other if other.holds_texts or other.holds_mentions else None
        return None
    beside = companion(path)
    if chosen.holds_texts or "document" not in chosen.places or beside == path or not beside.is_file():
        return None
    other = _sheet(own_file(beside, path.parent), "", {})
    return other if other.holds_texts else None


def companion(path: Path) -> Path:
    """The texts' table of a mentions' table: `a.csv` -> `a.documents.csv`."""
    stem, dot, ending = path.name.removesuffix(".gz").rpartition(".")
    name = f"{stem}.{DOCUMENTS}.{ending}" if dot else f"{ending}.{DOCUMENTS}"
    whole = path.with_name(name)
    return whole if whole.exists() or not path.name.endswith(".gz") else path.with_name(name + ".gz")


def _sheet(path: Path, sheet: str, columns: Mapping[str, str]) -> Sheet:
    unknown = [one for one in columns if one not in DOCUMENT_FIELDS]
    if unknown:
        raise UserError(
            tr(
                "a document has no field {unknown!r}: choose one of {document_fields}",
                unknown=unknown[0],
                document_fields=", ".join(DOCUMENT_FIELDS),
            )
        )
    table = Table(path, sheet=sheet)
    headings = next(iter(table.first(1)), [])
    wanted = chosen_columns(headings, columns)
    places = {field: place(path, headings, one) for field, one in wanted.items() if one}
    own = {one.strip().lower(): at for at, one in reversed(list(enumerate(headings)))}
    own = {name: own[name] for name in (OUTCOME, ATTRIBUTES) if name in own and own[name] not in places.values()}
    labelled = headings[places["text"]].strip().lower() if "text" in places else ""
    ids_heading = headings[places["ids"]].strip() if "ids" in places else ""
    ours = tuple(headings) in (DOCUMENT_HEADINGS, MENTION_HEADINGS)
    used = {*places.values(), *own.values()}
    rest = {at: one.strip() or str(at + 1) for at, one in enumerate(headings) if at not in used}
    states = {name: at for at, name in rest.items() if says_state(name)}
    unread = {at: name for at, name in rest.items() if name not in states and not keeps_books(name)}
    return Sheet(table, places, len(headings), own, states, unread, labelled, ids_heading, ours)


def chosen_columns(headings: Sequence[str], columns: Mapping[str, str]) -> dict[str, str]:
    """The given columns, and for other fields the columns recognised by headings."""
    return {**sniffed(headings, MEANINGS), **columns}


def are_documents(headings: Sequence[str]) -> bool:
    """Whether the headings alone show that a table holds documents or mentions, not a knowledge base."""
    found = sniffed(headings, MEANINGS)
    if len(headings) < 2 or kb_table.is_kb(headings):
        return False
    if "text" in found:
        return "document" in found or "title" in found or "mention" in found or ("start" in found and "end" in found)
    placed = all(field in found for field in ("document", "start", "end"))
    return placed or ("mention" in found and ("document" in found or "ids" in found))
