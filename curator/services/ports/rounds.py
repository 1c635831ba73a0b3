"""Ports of rounds, and of the records that are read back: the audit trail, counts and statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from curator.domain.audit import AuditEntry
from curator.domain.decisions import Outcome, Shown, Verdict
from curator.domain.rounds import Judgement, Round, RoundKind, RoundMention, RoundProgress
from curator.domain.statistics import DecidedCell, DocumentCell, EffortCell, TakenDecision


class RoundRepository(Protocol):
    """Rounds; their judgements are only ever appended."""

    def create(self, name: str, kind: RoundKind, document_ids: Sequence[int], *, at: datetime) -> int:
        """Raises UserError where there is a round of that name."""
        ...

    def all(self) -> list[Round]:
        """Oldest first."""
        ...

    def get(self, round_id: int) -> Round:
        """Raises UserError for an unknown round."""
        ...

    def set_closed(self, round_id: int, closed: bool) -> None:
        """Close the round, or open it again; nothing happens for an unknown round."""
        ...

    def add_documents(self, round_id: int, document_ids: Sequence[int]) -> None:
        """Those that belong to it already are left as they are."""
        ...

    def document_ids(self, round_id: int) -> list[int]:
        """In queue order."""
        ...

    def judge(
        self,
        round_id: int,
        mention_ids: Sequence[int],
        verdicts: Sequence[Verdict],
        *,
        curator: str,
        at: datetime,
        note: str = "",
        shown: Sequence[Shown | None] = (),
    ) -> list[Judgement]:
        """Append a judgement for each mention; `shown` is parallel to the ids, or empty."""
        ...

    def current(self, round_id: int, *, curator: str | None = None, document_id: int | None = None) -> list[Judgement]:
        """The last judgement of each curator on each mention, those that were taken back left out."""
        ...

    def log(self, round_id: int, curator: str, *, after: int = 0) -> list[Judgement]:
        """Everything that a curator judged behind the judgement of that id, oldest first, with what was taken back."""
        ...

    def mentions(self, round_id: int, document_id: int) -> list[RoundMention]:
        """Living mentions of the document and those that were made in the round, in text order."""
        ...

    def add_mention(self, round_id: int, mention_id: int, curator: str) -> None:
        """Let a mention that is no living one be seen by a curator in the round; twice is harmless."""
        ...

    def outcomes(self, round_id: int, curator: str) -> dict[Outcome, int]:
        """How many of the curator's judgements in force have each outcome."""
        ...

    def progress(self, round_id: int) -> list[RoundProgress]:
        """A line for each curator who judged, by name."""
        ...

    def judged_in(self, round_id: int, curator: str, *, document_id: int | None = None) -> dict[int, tuple[int, int]]:
        """Document id -> (mentions judged by the curator, mentions that he or she sees), for the whole round or one
        document of it."""
        ...


class RecordRepository(Protocol):
    """Read-only views over everything that was recorded. The counts are one query each, without deleted mentions and
    documents that are not visible."""

    def audit(self) -> Iterator[AuditEntry]:
        """Every decision, judgement, and operation without decisions, in order of time."""
        ...

    def curators(self) -> list[str]:
        """Names of the people who decided or judged, imports left out."""
        ...

    def noted(self, beginning: str) -> list[int]:
        """Mentions, deleted ones left out, whose current decision's note begins so."""
        ...

    def document_with(self, external_id: str, occurrence: int, sha256: str) -> int | None:
        """The document with this text; of several the one of that id, then of that occurrence."""
        ...

    def decided_names(self) -> Iterator[tuple[str, str, int, int]]:
        """(entity id, mention text, decisions, documents) of current links to one entity outside the split test."""
        ...

    def decided_by(self, curator: str) -> list[tuple[int, int, datetime]]:
        """(document id, mention id, when) of the links and NILs that are in force and are this curator's."""
        ...

    # --- counts ---

    def documents(self) -> list[DocumentCell]:
        """Documents and their mentions, grouped by split and state."""
        ...

    def decided(self) -> list[DecidedCell]:
        """Current decisions; a decision that was undone or replaced is not among them."""
        ...

    def efforts(self) -> list[EffortCell]:
        """Of operations whose cost was measured."""
        ...

    def taken(
        self, *, limit: int, before: int | None = None, curator: str = "", words: str = "", imported: bool = False
    ) -> list[TakenDecision]:
        """The project's decisions, newest first, at most `limit` with smaller ids than `before`; of one curator, of
        mentions or documents with these words in them, and those that came with files only where they are asked for."""
        ...
