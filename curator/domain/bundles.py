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
    """A line of *Model > Bundles*. `metrics` holds the manifest's figures of the old and the new linker."""

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
    parent: str = ""  # the bundle it was made from; '' for an untrained one


class ActivationKind(StrEnum):
    """Who let a bundle serve."""

    JOB = "job"  # the job that made it, after its gate
    CURATOR = "curator"  # a curator's knowing choice
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True)
class Activation:
    """One entry of the history: from when on a bundle served, by whose doing, and why where that was said."""

    bundle_id: str
    at: datetime
    actor: str
    kind: ActivationKind
    reason: str = ""
