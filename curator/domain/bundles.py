"""Bundles as the project sees them: immutable model folders and which of them is active."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class GateVerdict(StrEnum):
    PROMOTE = "promote"
    NO_GAIN = "no_gain"
    REFUSED = "refused"
    NOT_GATED = "not_gated"  # untrained bundles need no gate


@dataclass(frozen=True, slots=True)
class BundleInfo:
    """A line of *Model > History*. `metrics` holds the manifest's figures of the old and the new linker."""

    id: str
    recipe: str  # "untrained-lexical", "untrained", or a recipe's id
    created_at: datetime
    path: str
    active: bool
    verdict: GateVerdict
    summary: str
    stages: tuple[str, ...] = ()
    kb_hash: str = ""
    calibrated: bool = False  # NIL fitted on this project's validation decisions
    metrics: Mapping[str, Any] = field(default_factory=dict)
