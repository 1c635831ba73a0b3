"""Ports of rounds, and of read-only records: the audit trail, counts and statistics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Protocol

from curator.domain.audit import AuditEntry
from curator.domain.decisions import Outcome, Shown, Verdict
from curator.domain.rounds import Judged, Judgement, Round, RoundKind, RoundMention, RoundProgress
from curator.domain.statistics import DecidedCell, DocumentCell, EffortCell, Holdings, TakenDecision


class RoundRepository(Protocol):
    """Rounds; their judgements are only ever appended."""

    def create(self, name: str, kind: RoundKind, document_ids: Sequence[int], *, at: datetime) -> int:
        """Create a round. Raises UserError if there is a round with this name."""
        ...

    def all(self) -> list[Round]:
        """All rounds, oldest first."""
        ...

    def get(self, round_id: int) -> Round:
        """The round. Raises UserError if it is unknown."""
        ...

    def set_closed(self, round_id: int, closed: bool) -> None:
        """Close the round, or open it again; an unknown round is ignored."""
        ...

    def add_documents(self, round_id: int, document_ids: Sequence[int]) -> None:
        """Add documents; those already in the round are ignored."""
        ...

    def document_ids(self, round_id: int) -> list[int]:
        """Ids of the round's documents, in queue order."""
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
        """The last judgement of each curator on each mention, without withdrawn ones."""
        ...

    def log(self, round_id: int, curator: str, *, after: int = 0) -> list[Judgement]:
        """All judgements of a curator after the judgement with this id, oldest first, including withdrawn ones."""
        ...

    def mentions(self, round_id: int, document_id: int) -> list[RoundMention]:
        """Mentions of the document that are not deleted, and those created in the round, in text order."""
        ...

    def add_mention(self, round_id: int, mention_id: int, curator: str) -> None:
        """Make a mention that is deleted in the project visible to a curator in the round; repeating it is harmless."""
        ...

    def outcomes(self, round_id: int, curator: str) -> dict[Outcome, int]:
        """The number of the curator's current judgements by outcome."""
        ...

    def progress(self, round_id: int) -> list[RoundProgress]:
        """A line for each curator who judged, by name."""
        ...

    def judged_in(self, round_id: int, curator: str, *, document_id: int | None = None) -> dict[int, Judged]:
        """The curator's numbers by document id, for the whole round or one document of it."""
        ...


class RecordRepository(Protocol):
    """Read-only views of all records. The counts are one query each, without deleted mentions and invisible
    documents."""

    def audit(self) -> Iterator[AuditEntry]:
        """Every decision, judgement, and operation without decisions, in order of time."""
        ...

    def curators(self) -> list[str]:
        """Names of the people who decided or judged, without imports."""
        ...

    def noted(self, beginning: str) -> list[int]:
        """Mentions, without deleted ones, whose current decision's note begins with this text."""
        ...

    def document_with(self, external_id: str, occurrence: int, sha256: str) -> int | None:
        """The document with this text; of several, the one with this id, then with this occurrence."""
        ...

    def decided_names(self) -> Iterator[tuple[str, str, int, int]]:
        """(entity id, mention text, decisions, documents) of current links to one entity outside the split test."""
        ...

    def decided_by(self, curator: str) -> list[tuple[int, int, datetime]]:
        """(document id, mention id, when) of this curator's current links and NILs."""
        ...

    # --- counts ---

    def holdings(self, *, done: bool = False, noted: str = "") -> Holdings:
        """What the project has to export; only of documents that are `done`, or only mentions whose current decision's
        note begins with `noted`."""
        ...

    def documents(self) -> list[DocumentCell]:
        """Documents and their mentions, grouped by split and state."""
        ...

    def decided(self) -> list[DecidedCell]:
        """Current decisions, without undone and replaced ones."""
        ...

    def efforts(self) -> list[EffortCell]:
        """Efforts of operations whose effort was measured."""
        ...

    def taken(
        self, *, limit: int, before: int | None = None, curator: str = "", words: str = "", imported: bool = False
    ) -> list[TakenDecision]:
        """The project's decisions, newest first, at most `limit` with ids less than `before`; filtered by curator and
        by words in mentions or documents; imported ones only on request."""
        ...
