"""Names of the project-wide values kept in the store's meta table."""

from __future__ import annotations

import json
from datetime import datetime

from curator.domain.jobs import Activation, ActivationKind
from curator.services.ports import MetaRepository

ACTIVE_BUNDLE = "active_bundle"
BUNDLE_HISTORY = "bundle_history"  # JSON list of bundle ids in the order they became active
ACTIVATIONS = "bundle_activations"  # JSON list: which bundle served from when on, by whom and why; only appended


def active_bundle(meta: MetaRepository) -> str:
    """The id of the bundle that serves; '' before the first."""
    return meta.get(ACTIVE_BUNDLE) or ""


def bundle_history(meta: MetaRepository) -> list[str]:
    return [str(one) for one in json.loads(meta.get(BUNDLE_HISTORY) or "[]")]


def set_active_bundle(meta: MetaRepository, bundle_id: str, history: list[str]) -> None:
    meta.set(ACTIVE_BUNDLE, bundle_id)
    meta.set(BUNDLE_HISTORY, json.dumps(history))


def activations(meta: MetaRepository) -> list[Activation]:
    """Oldest first."""
    return [
        Activation(
            one["bundle"], datetime.fromisoformat(one["at"]), one["actor"], ActivationKind(one["kind"]), one["reason"]
        )
        for one in json.loads(meta.get(ACTIVATIONS) or "[]")
    ]


def append_activation(meta: MetaRepository, activation: Activation) -> None:
    entries = json.loads(meta.get(ACTIVATIONS) or "[]")
    entry = {
        "bundle": activation.bundle_id,
        "at": activation.at.isoformat(timespec="seconds"),
        "actor": activation.actor,
        "kind": activation.kind.value,
        "reason": activation.reason,
    }
    meta.set(ACTIVATIONS, json.dumps([*entries, entry], ensure_ascii=False))
