"""The old linker beside the new one: tests and intervals on the held-out documents, and what the queue would see."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import Any

from models.linker.linker import Linker
from models.types import DocumentInput, LinkedMention
from models.wording import say
from training.data.document_splits import place
from training.data.gold import GoldSet
from training.data.progress import Event, Phase
from training.data.snapshot import SnapshotDocument
from training.evaluation.headline import compare
from training.evaluation.outcomes import outcomes
from training.evaluation.resampling import DocumentBootstrap

QUEUE_DOCUMENTS = 50
"""Documents with undecided mentions that are linked by both: more would hold up the end of a short training."""


def comparison(old: Sequence[LinkedMention], new: Sequence[LinkedMention], gold: GoldSet, *, k: int) -> dict[str, Any]:
    """Differences new − old with paired intervals over documents, and exact tests: of the decisions with their NIL
    flags, and of the first candidates of linked mentions."""
    this, other = outcomes(new, gold), outcomes(old, gold)
    return compare(this, other, DocumentBootstrap(this.document), k=k).to_json()


def undecided(documents: Sequence[SnapshotDocument]) -> list[DocumentInput]:
    """At most QUEUE_DOCUMENTS documents, chosen by their keys, with their undecided mentions alone."""
    found: list[DocumentInput] = []
    for document in sorted(documents, key=lambda one: place(one.key, salt="queue")):
        open_keys = {mention.key for mention in document.mentions if mention.gold is None}
        if open_keys and len(found) < QUEUE_DOCUMENTS:
            whole = document.to_input(decided_only=False)
            left = tuple(mention for mention in whole.mentions if mention.key in open_keys)
            found.append(DocumentInput(whole.key, whole.text, left))
    return found


def queue_changes(
    old: Linker, new: Linker, documents: Sequence[DocumentInput]
) -> Generator[Event, None, dict[str, Any]]:
    """How the first suggestions for undecided mentions change: how many were asked, and those that change.

    A change holds document, mention, surface, and the answers before and after: an entity id or "NIL".
    """
    total, asked, changes = len(documents), 0, []
    for number, document in enumerate(documents, start=1):
        (before,), (after,) = (list(linker.link([document], own=True)) for linker in (old, new))
        asked += len(after.mentions)
        for was, now in zip(before.mentions, after.mentions, strict=True):
            if _answer(was) != _answer(now):
                changes.append(
                    {
                        "document": document.key,
                        "mention": now.key,
                        "surface": now.surface,
                        "before": _answer(was),
                        "after": _answer(now),
                    }
                )
        text = say("Comparing the suggestions for undecided mentions") if number == 1 else ""
        yield Event(Phase.EVALUATE, number, total, text=text)
    return {"documents": total, "mentions": asked, "changes": changes}


def _answer(mention: LinkedMention) -> str:
    return "NIL" if mention.nil.is_nil or not mention.candidates else mention.candidates[0].entity_id
