"""Decisions of a snapshot as the memory of a linker takes them."""

from __future__ import annotations

from collections.abc import Iterable

from models.types import DecidedDocument
from training.data.gold import Resolve, resolve_gold
from training.data.snapshot import SnapshotDocument


def decided_documents(
    documents: Iterable[SnapshotDocument], resolve: Resolve, *, nil: bool = True
) -> list[DecidedDocument]:
    """The documents with their link and NIL decisions; without ``nil`` the NIL decisions are left out."""
    found = []
    for document in documents:
        ids = {mention.key: mention.ids for mention in resolve_gold([document], resolve).mentions}
        taken = document.to_input()
        mentions = tuple(mention for mention in taken.mentions if ids[mention.key] or nil)
        outcomes = tuple(ids[mention.key] for mention in mentions)
        found.append(DecidedDocument(type(taken)(taken.key, taken.text, mentions), outcomes))
    return found
