"""Keys of project-wide values in the store's meta table."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

from curator.domain.entities import Branches
from curator.domain.jobs import Activation, ActivationKind
from curator.services.ports.storage import UnitOfWork

if TYPE_CHECKING:
    from curator.storage.db.meta import SqlMeta

ACTIVE_BUNDLE = "active_bundle"
BUNDLE_HISTORY = "bundle_history"  # JSON list of bundle ids in the order they became active
BRANCHES = "branches"  # JSON: mention type, or '' for all -> ids of entities
ACTIVATIONS = "bundle_activations"  # JSON list: which bundle was in use since when, by whom and why; only appended


def active_bundle(meta: SqlMeta) -> str:
    """The id of the bundle in use; '' before the first."""
    return meta.get(ACTIVE_BUNDLE) or ""


def bundle_history(meta: SqlMeta) -> list[str]:
    return [str(one) for one in json.loads(meta.get(BUNDLE_HISTORY) or "[]")]


def set_active_bundle(meta: SqlMeta, bundle_id: str, history: list[str]) -> None:
    meta.set(ACTIVE_BUNDLE, bundle_id)
    meta.set(BUNDLE_HISTORY, json.dumps(history))


def activations(meta: SqlMeta) -> list[Activation]:
    """The activations, oldest first."""
    return [
        Activation(
            one["bundle"], datetime.fromisoformat(one["at"]), one["actor"], ActivationKind(one["kind"]), one["reason"]
        )
        for one in json.loads(meta.get(ACTIVATIONS) or "[]")
    ]


def append_activation(meta: SqlMeta, activation: Activation) -> None:
    entries = json.loads(meta.get(ACTIVATIONS) or "[]")
    entry = {
        "bundle": activation.bundle_id,
        "at": activation.at.isoformat(timespec="seconds"),
        "actor": activation.actor,
        "kind": activation.kind.value,
        "reason": activation.reason,
    }
    meta.set(ACTIVATIONS, json.dumps([*entries, entry], ensure_ascii=False))


def branches_of(meta: SqlMeta) -> Branches:
    """The branches of the knowledge base that suggestions and the search are restricted to."""
    stored = meta.get(BRANCHES)
    return Branches({key: tuple(ids) for key, ids in json.loads(stored).items()} if stored else {})


def store_branches(meta: SqlMeta, branches: Branches) -> None:
    """Store the branches, replacing earlier ones."""
    kept = {key: list(ids) for key, ids in branches.of.items() if ids}
    meta.set(BRANCHES, json.dumps(kept, ensure_ascii=False))


def branches_for(unit: UnitOfWork, mention_type: str | None) -> tuple[str, ...]:
    """The branches of a mention type that exist in the knowledge base; none means no restriction. A version without any
    of them is not restricted."""
    wanted = branches_of(unit.meta).of_type(mention_type or "")
    return tuple(sorted(unit.kb.get_many(wanted))) if wanted else ()
