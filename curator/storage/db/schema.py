"""The tables of curation, each declared once: a database is created from these mappings (`migrations`, and for shared
projects `team.schema`). The tables of a knowledge-base version are created and dropped with it, see `kb_tables`.
"""

from __future__ import annotations

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from curator.domain.decisions import OperationKind, Outcome
from curator.domain.documents import DocumentState, ImportKind, MentionOrigin, Split
from curator.domain.rounds import RoundKind
from curator.storage.db.columns import (
    TEXTS,
    Json,
    Natural,
    OneOf,
    StoredInteger,
    StoredText,
    Time,
    counts_of,
    ends_of,
    entity_of,
    passages_of,
    payload_of,
    spans_of,
)


class Base(DeclarativeBase):
    """Base of all mappings."""

    type_annotation_map = {str: StoredText(), int: StoredInteger()}  # noqa: RUF012 - as SQLAlchemy declares it


WITHOUT_ROWID = {"sqlite_with_rowid": False}


class MetaRow(Base):
    __tablename__ = "meta"

    key: Mapped[str] = mapped_column(primary_key=True)
    value: Mapped[str]


class SourceFileRow(Base):
    __tablename__ = "source_files"

    id: Mapped[int] = mapped_column(primary_key=True)
    path: Mapped[str]
    name: Mapped[str]
    format: Mapped[str]
    sha256: Mapped[str] = mapped_column(index=True)
    head: Mapped[str]
    tail: Mapped[str]
    extra: Mapped[str]
    imported_at: Mapped[str | None] = mapped_column(Time())
    complete: Mapped[bool]
    withdrawn: Mapped[bool] = mapped_column(default=False)


class ImportRow(Base):
    """An entry of the imports' list, append-only; `counts` is JSON, by word. `batch` joins the files of one import."""

    __tablename__ = "imports"

    id: Mapped[int] = mapped_column(primary_key=True)
    file_id: Mapped[int] = mapped_column(ForeignKey("source_files.id"), index=True)
    batch: Mapped[int]
    kind: Mapped[str] = mapped_column(OneOf(ImportKind))
    curator: Mapped[str]
    at: Mapped[str] = mapped_column(Time())
    counts: Mapped[str] = mapped_column(Json(counts_of))


class DocumentRow(Base):
    """One row of the queue: narrow, with counters over its mentions that are not deleted, so that ten thousand are
    scanned in milliseconds. `stamp_*` is the common stamp of the suggestions of all undecided mentions; None if they
    differ or one is missing."""

    __tablename__ = "documents"
    __table_args__ = (
        Index("ix_documents_place", "file_id", "external_id", "occurrence", unique=True),
        Index("ix_documents_queue", "state", "split", "file_id", "mentions", "linked", "nil", "rejected", "skipped"),
        Index("ix_documents_external_id", "external_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    file_id: Mapped[int] = mapped_column(ForeignKey("source_files.id"))
    external_id: Mapped[str]
    occurrence: Mapped[int] = mapped_column(Natural())
    title: Mapped[str]
    search_text: Mapped[str]
    split: Mapped[str] = mapped_column(OneOf(Split))
    state: Mapped[str] = mapped_column(OneOf(DocumentState))
    revision: Mapped[int] = mapped_column(Natural())
    text_sha256: Mapped[str]
    mentions: Mapped[int]
    linked: Mapped[int]
    nil: Mapped[int]
    rejected: Mapped[int]
    skipped: Mapped[int]
    stamp_bundle: Mapped[str | None]
    stamp_revision: Mapped[int | None]
    flagged: Mapped[bool] = mapped_column(default=False)


class DocumentTextRow(Base):
    """A text is compared with its hash where it is read, which also finds one that is bytes."""

    __tablename__ = "document_texts"

    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id"), primary_key=True)
    text: Mapped[str] = mapped_column(String())
    raw: Mapped[str]


class FormerTextRow(Base):
    """A document's state before an update of its text, append-only; `passages` is a JSON list."""

    __tablename__ = "former_texts"
    __table_args__ = (Index("ix_former_texts_document_id", "document_id", "operation_id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id"))
    operation_id: Mapped[int] = mapped_column(ForeignKey("operations.id"))
    file_id: Mapped[int] = mapped_column(ForeignKey("source_files.id"))
    occurrence: Mapped[int] = mapped_column(Natural())
    title: Mapped[str]
    text: Mapped[str]
    raw: Mapped[str]
    passages: Mapped[str] = mapped_column(Json(passages_of))


class PassageRow(Base):
    __tablename__ = "passages"
    __table_args__ = WITHOUT_ROWID

    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id"), primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str]
    start_pos: Mapped[int] = mapped_column(Natural())
    end_pos: Mapped[int] = mapped_column(Natural())
    label: Mapped[str]


class MentionRow(Base):
    """`start_pos` and `end_pos` are the hull; a mention of several spans has them in `fragments` too. `outcome` and
    `decision_id` point to the current decision and are None while the mention is undecided. `string_key` is
    `domain.same_string.string_key` of the text: equal for variants of one string."""

    __tablename__ = "mentions"
    __table_args__ = (
        Index("ix_mentions_type", "type", "deleted", "document_id"),
        Index("ix_mentions_text", "string_key", "type", "deleted", "outcome", "document_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id"), index=True)
    start_pos: Mapped[int] = mapped_column(Natural())
    end_pos: Mapped[int] = mapped_column(Natural())
    fragmented: Mapped[bool]
    deleted: Mapped[bool]
    outcome: Mapped[str | None] = mapped_column(OneOf(Outcome, Outcome.CLEARED))
    decision_id: Mapped[int | None]
    record: Mapped[int]
    text: Mapped[str]
    type: Mapped[str]
    origin: Mapped[str] = mapped_column(OneOf(MentionOrigin))
    raw_ids: Mapped[str]
    flagged: Mapped[bool] = mapped_column(default=False)
    string_key: Mapped[str] = mapped_column(default="")


class FragmentRow(Base):
    __tablename__ = "fragments"
    __table_args__ = WITHOUT_ROWID

    mention_id: Mapped[int] = mapped_column(ForeignKey("mentions.id"), primary_key=True)
    ordinal: Mapped[int] = mapped_column(primary_key=True)
    start_pos: Mapped[int] = mapped_column(Natural())
    end_pos: Mapped[int] = mapped_column(Natural())


class MentionEditRow(Base):
    """One change of a mention's spans or type, append-only; spans are a JSON list of [start, end]."""

    __tablename__ = "mention_edits"

    id: Mapped[int] = mapped_column(primary_key=True)
    mention_id: Mapped[int] = mapped_column(ForeignKey("mentions.id"), index=True)
    operation_id: Mapped[int] = mapped_column(ForeignKey("operations.id"), index=True)
    spans_before: Mapped[str] = mapped_column(Json(spans_of))
    type_before: Mapped[str]
    spans_after: Mapped[str] = mapped_column(Json(spans_of))
    type_after: Mapped[str]


class OperationRow(Base):
    """`undo_after` is the operation on top of the undo stack after this one; `redo_after` is the UNDO entry on top of
    the redo stack. Every row has both, so the stacks need no tables. `hash`: see `chain`."""

    __tablename__ = "operations"

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(OneOf(OperationKind))
    actor: Mapped[str]
    at: Mapped[str] = mapped_column(Time())
    text: Mapped[str]
    target: Mapped[int | None] = mapped_column(ForeignKey("operations.id"))
    payload: Mapped[str] = mapped_column(Json(payload_of))
    undo_after: Mapped[int | None]
    redo_after: Mapped[int | None]
    hash: Mapped[bytes | None]


class DecisionRow(Base):
    """`entity_ids` is a JSON list; `shown` is compressed, see `packing`; `rank` is from `Shown.rank_of`. A covering
    index is used for statistics, which never read `shown`."""

    __tablename__ = "decisions"
    __table_args__ = (
        Index("ix_decisions_entities", "outcome", "entity_ids"),
        Index("ix_decisions_curator", "curator", "at", "outcome", "rank", "operation_id", "mention_id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    mention_id: Mapped[int] = mapped_column(ForeignKey("mentions.id"), index=True)
    operation_id: Mapped[int | None] = mapped_column(ForeignKey("operations.id"), index=True)
    outcome: Mapped[str] = mapped_column(OneOf(Outcome))
    entity_ids: Mapped[str] = mapped_column(TEXTS)
    reason: Mapped[str | None]
    curator: Mapped[str]
    at: Mapped[str] = mapped_column(Time())
    note: Mapped[str]
    shown: Mapped[bytes | None]
    rank: Mapped[int | None]
    hash: Mapped[bytes | None]


class SuggestionRow(Base):
    """`first` is the first candidate's entity id, `probability` its probability, `margin` this minus the second's; all
    None without candidates. The queue sorts and counts by them."""

    __tablename__ = "suggestions"
    __table_args__ = (Index("ix_suggestions_order", "probability", "margin", "is_nil", "first", "mention_id"),)

    mention_id: Mapped[int] = mapped_column(ForeignKey("mentions.id"), primary_key=True)
    bundle_id: Mapped[str]
    revision: Mapped[int] = mapped_column(Natural())
    payload: Mapped[bytes]
    first: Mapped[str | None]
    probability: Mapped[float | None]
    margin: Mapped[float | None]
    is_nil: Mapped[bool] = mapped_column(default=False)


class SuggestionFactsRow(Base):
    """Facts about a mention's suggestion: number of `candidates`; `probability` and `margin` of the first, `second` of
    the second (0 without one), `is_nil`; `matched`: whether the first has the mention's text as its name, as a synonym
    or not; `similarity` of its name. `decided_rank` is the rank of the entity that the mention was last linked to, 0 if
    it is not a candidate, None if it was never linked, or without candidates. `others` is the highest score of the
    candidates after the second, None without any. `exact_rank` is the rank of the first candidate that has the
    mention's text as a name, 0 if none has; `alike` is the highest similarity of a candidate after the first."""

    __tablename__ = "suggestion_facts"

    mention_id: Mapped[int] = mapped_column(ForeignKey("mentions.id"), primary_key=True)
    candidates: Mapped[int]
    probability: Mapped[float | None]
    margin: Mapped[float | None]
    is_nil: Mapped[bool]
    second: Mapped[float | None]
    matched: Mapped[str | None]
    similarity: Mapped[float | None]
    decided_rank: Mapped[int | None]
    others: Mapped[float | None]
    exact_rank: Mapped[int | None]
    alike: Mapped[float | None]


class OpinionRow(Base):
    """A language model's last answer for a mention: an entity, or NIL if `entity_id` is None. `prompt` is the SHA-256
    of the model's name and the prompt."""

    __tablename__ = "opinions"

    mention_id: Mapped[int] = mapped_column(ForeignKey("mentions.id"), primary_key=True)
    entity_id: Mapped[str | None]
    model: Mapped[str]
    prompt: Mapped[str]
    at: Mapped[str] = mapped_column(Time())
    reason: Mapped[str]


class CommentRow(Base):
    """A comment on a mention, or on the document if `mention_id` is None."""

    __tablename__ = "comments"

    id: Mapped[int] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id"), index=True)
    mention_id: Mapped[int | None] = mapped_column(ForeignKey("mentions.id"))
    author: Mapped[str]
    at: Mapped[str] = mapped_column(Time())
    text: Mapped[str]
    deleted: Mapped[bool]


class RelationRow(Base):
    """A relation that a curator added; with a `source`, it is the key of a relation in the document's record, which is
    hidden while the row is deleted. `ends` is a JSON list of {"role", "mention", "entity"}.

    Relations in records are read from there, since records are written back byte for byte; so earlier imports have
    theirs too.
    """

    __tablename__ = "relations"

    id: Mapped[int] = mapped_column(primary_key=True)
    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id"), index=True)
    source: Mapped[str]
    type: Mapped[str] = mapped_column(index=True)
    ends: Mapped[str] = mapped_column(Json(ends_of, "{0} = '[]'"))
    author: Mapped[str]
    at: Mapped[str] = mapped_column(Time())
    deleted: Mapped[bool]


class ProvisionalEntityRow(Base):
    """An entity that a curator made. `types` and `synonyms` are JSON lists; `successor` is the entity that took its
    place, provisional or of the knowledge base."""

    __tablename__ = "provisional_entities"

    id: Mapped[str] = mapped_column(primary_key=True)
    name: Mapped[str]
    types: Mapped[str] = mapped_column(TEXTS)
    definition: Mapped[str]
    synonyms: Mapped[str] = mapped_column(TEXTS)
    author: Mapped[str]
    at: Mapped[str] = mapped_column(Time())
    deleted: Mapped[bool]
    successor: Mapped[str | None]


class RetiredEntityRow(Base):
    """An earlier knowledge base's record of an entity that decisions use and the active one lacks; `data` is its
    canonical JSON."""

    __tablename__ = "retired_entities"

    id: Mapped[str] = mapped_column(primary_key=True)
    data: Mapped[str] = mapped_column(Json(entity_of))


class RoundRow(Base):
    """A round in which curators judge documents independently of the project's decisions; `kind` is its purpose."""

    __tablename__ = "rounds"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(unique=True)
    kind: Mapped[str] = mapped_column(OneOf(RoundKind))
    at: Mapped[str] = mapped_column(Time())
    closed: Mapped[bool]


class RoundDocumentRow(Base):
    __tablename__ = "round_documents"
    __table_args__ = WITHOUT_ROWID

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    document_id: Mapped[int] = mapped_column(ForeignKey("documents.id"), primary_key=True)


class RoundMentionRow(Base):
    """A mention that a curator made in a round. It is stored as a deleted mention, so that nobody else sees it, until
    adjudication adds it to the project."""

    __tablename__ = "round_mentions"
    __table_args__ = WITHOUT_ROWID

    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"), primary_key=True)
    mention_id: Mapped[int] = mapped_column(ForeignKey("mentions.id"), primary_key=True)
    curator: Mapped[str] = mapped_column(primary_key=True)


class JudgementRow(Base):
    """A verdict given in a round, append-only; a curator's last one of a mention counts."""

    __tablename__ = "judgements"
    __table_args__ = (Index("ix_judgements_round_id", "round_id", "mention_id", "curator"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    round_id: Mapped[int] = mapped_column(ForeignKey("rounds.id"))
    mention_id: Mapped[int] = mapped_column(ForeignKey("mentions.id"))
    curator: Mapped[str]
    outcome: Mapped[str] = mapped_column(OneOf(Outcome))
    entity_ids: Mapped[str] = mapped_column(TEXTS)
    reason: Mapped[str | None]
    at: Mapped[str] = mapped_column(Time())
    note: Mapped[str]
    shown: Mapped[bytes | None]


class MentionAttributeRow(Base):
    """One change of one attribute of a mention, append-only; the last one counts, in the project (`round_id` None) or
    for a curator in a round. `value_id` None: cleared. The ids are those of the project's list, see `AttributeEdit`."""

    __tablename__ = "mention_attributes"
    __table_args__ = (
        Index("ix_mention_attributes_mention_id", "mention_id", "round_id", "attribute_id"),
        Index("ix_mention_attributes_value_id", "value_id", "mention_id"),
        Index("ix_mention_attributes_operation_id", "operation_id"),
        Index("ix_mention_attributes_round_id", "round_id", "curator"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    mention_id: Mapped[int] = mapped_column(ForeignKey("mentions.id"))
    attribute_id: Mapped[int]
    value_id: Mapped[int | None]
    operation_id: Mapped[int | None] = mapped_column(ForeignKey("operations.id"))
    round_id: Mapped[int | None] = mapped_column(ForeignKey("rounds.id"))
    behind: Mapped[int]
    curator: Mapped[str]
    at: Mapped[str] = mapped_column(Time())
    note: Mapped[str]


class EffortRow(Base):
    """The effort of an operation since the previous one: events in the window, and time of work."""

    __tablename__ = "efforts"

    operation_id: Mapped[int] = mapped_column(ForeignKey("operations.id"), primary_key=True)
    keys: Mapped[int] = mapped_column(Natural())
    milliseconds: Mapped[int] = mapped_column(Natural())


class KbVersionRow(Base):
    """`types` is a JSON list. Only one version is active; the others are being loaded."""

    __tablename__ = "kb_versions"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str]
    active: Mapped[bool]
    content_hash: Mapped[str]
    entities: Mapped[int]
    names: Mapped[int]
    definitions: Mapped[int]
    types: Mapped[str] = mapped_column(TEXTS)


APPEND_ONLY = {
    "decisions": "decisions",
    "operations": "operations",
    "judgements": "judgements",
    "mention_edits": "mention edits",
    "mention_attributes": "attributes of mentions",
    "imports": "records of imports",
    "former_texts": "former texts",
}
"""The tables whose rows triggers protect from changes, with words for them."""
UNFINISHED = (
    "(SELECT f.complete FROM mentions m JOIN documents d ON d.id = m.document_id"
    " JOIN source_files f ON f.id = d.file_id WHERE m.id = OLD.mention_id)"
)
"""Of a decision: whether its import is complete. One of an import that never was may be removed."""
