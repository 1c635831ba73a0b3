"""Rounds: curators judge the same documents apart from each other and from the project's decisions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from curator.domain.decisions import Outcome, Shown, Verdict
from curator.domain.documents import Mention


class RoundKind(StrEnum):
    """BLIND: nobody sees another's judgements or the project's decisions. UNAIDED: the same without suggestions.
    CONSISTENCY: what a curator decided is asked once more, to learn how far one agrees with oneself."""

    BLIND = "blind"
    UNAIDED = "unaided"
    CONSISTENCY = "consistency"


@dataclass(frozen=True, slots=True)
class Round:
    """A round; nobody judges in a closed one. `documents` counts those that belong to it."""

    id: int
    name: str
    kind: RoundKind
    at: datetime
    closed: bool
    documents: int


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a curator said of a mention in a round. CLEARED takes back what was said before; `note` is `undo` or `redo`
    where going back and forth made it, else empty."""

    id: int
    round_id: int
    mention_id: int
    curator: str
    verdict: Verdict
    at: datetime
    note: str = ""
    shown: Shown | None = None

    @property
    def stands(self) -> bool:
        return self.verdict.outcome is not Outcome.CLEARED


@dataclass(frozen=True, slots=True)
class RoundMention:
    """A mention that is judged in a round. `made_by` names the curators who made it there; nobody for those that the
    documents had."""

    mention: Mention
    made_by: tuple[str, ...] = ()

    def is_for(self, curator: str) -> bool:
        """Whether this curator sees it."""
        return not self.made_by or curator in self.made_by


@dataclass(frozen=True, slots=True)
class RoundProgress:
    """How far a curator is: mentions judged of those that he or she sees."""

    curator: str
    judged: int
    mentions: int

    @property
    def done(self) -> bool:
        return self.judged >= self.mentions > 0


def same_answer(one: Verdict, other: Verdict) -> bool:
    """Whether two verdicts agree: the same outcome, and for links the same set of entities. Reasons may differ."""
    return one.outcome is other.outcome and set(one.entity_ids) == set(other.entity_ids)
