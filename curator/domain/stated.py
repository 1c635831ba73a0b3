"""What a file of the program's own says beside texts and mentions: who decided and commented, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from curator.domain.decisions import Verdict


@dataclass(frozen=True, slots=True)
class FileDecision:
    verdict: Verdict
    curator: str
    at: datetime
    note: str = ""


@dataclass(frozen=True, slots=True)
class FileComment:
    author: str
    at: datetime
    text: str
