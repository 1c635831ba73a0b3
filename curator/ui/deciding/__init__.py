"""From a key to a decision: navigation, checks of the key, and deciding many mentions at once by string or by
probability."""

from typing import TYPE_CHECKING

from curator import opened_late

if TYPE_CHECKING:
    from curator.ui.deciding.candidate_desk import CandidateDesk
    from curator.ui.deciding.decider import (
        Decider,
        Leftover,
        Revision,
        candidate_key,
        document_key,
        mention_key,
        nil_key,
        said_key,
    )
    from curator.ui.deciding.group_decider import GroupDecider
    from curator.ui.deciding.kwic_list import KwicDelegate, KwicList, TickList
    from curator.ui.deciding.kwic_rows import CheckMark, KwicRow
    from curator.ui.deciding.navigator import Navigator
    from curator.ui.deciding.propagation import RepeatPanel
    from curator.ui.deciding.reason_strip import QuestionStrip, ReasonStrip, StripAnswer

__all__ = [
    "CandidateDesk",
    "CheckMark",
    "Decider",
    "GroupDecider",
    "KwicDelegate",
    "KwicList",
    "KwicRow",
    "Leftover",
    "Navigator",
    "QuestionStrip",
    "ReasonStrip",
    "RepeatPanel",
    "Revision",
    "StripAnswer",
    "TickList",
    "candidate_key",
    "document_key",
    "mention_key",
    "nil_key",
    "said_key",
]

__getattr__ = opened_late(
    __name__,
    candidate_desk="CandidateDesk",
    decider="Decider Leftover Revision candidate_key document_key mention_key nil_key said_key",
    group_decider="GroupDecider",
    kwic_list="KwicDelegate KwicList TickList",
    kwic_rows="CheckMark KwicRow",
    navigator="Navigator",
    propagation="RepeatPanel",
    reason_strip="QuestionStrip ReasonStrip StripAnswer",
)
