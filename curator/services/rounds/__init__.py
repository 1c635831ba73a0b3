"""Curators apart from each other: rounds and the files that carry them, agreement, adjudication."""

from curator.services.rounds.adjudication import Adjudication, AdjudicationService
from curator.services.rounds.agreement import ALL, AgreementReport, AgreementRow, AgreementService, ConsistencyRow
from curator.services.rounds.consistency import repeating_seat
from curator.services.rounds.opinions import Opinions
from curator.services.rounds.round_file import RoundFiles
from curator.services.rounds.round_work import RoundSeat
from curator.services.rounds.rounds import ANY_ROUND, RoundService, adjudicated_by

__all__ = [
    "ALL",
    "ANY_ROUND",
    "Adjudication",
    "AdjudicationService",
    "AgreementReport",
    "AgreementRow",
    "AgreementService",
    "ConsistencyRow",
    "Opinions",
    "RoundFiles",
    "RoundSeat",
    "RoundService",
    "adjudicated_by",
    "repeating_seat",
]
