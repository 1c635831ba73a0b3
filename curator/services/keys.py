"""Names of the project-wide values kept in the store's meta table."""

from __future__ import annotations

import json

from curator.services.ports import MetaRepository

ACTIVE_BUNDLE = "active_bundle"
BUNDLE_HISTORY = "bundle_history"  # JSON list of bundle ids in the order they became active


def active_bundle(meta: MetaRepository) -> str:
    """The id of the bundle that serves; '' before the first."""
    return meta.get(ACTIVE_BUNDLE) or ""


def bundle_history(meta: MetaRepository) -> list[str]:
    return [str(one) for one in json.loads(meta.get(BUNDLE_HISTORY) or "[]")]


def set_active_bundle(meta: MetaRepository, bundle_id: str, history: list[str]) -> None:
    meta.set(ACTIVE_BUNDLE, bundle_id)
    meta.set(BUNDLE_HISTORY, json.dumps(history))
