"""What a file of the program's own says of people: their decisions, comments and flags, put back as they were."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import SourceDocument, Split
from curator.domain.stated import FileDecision
from curator.services.ports import UnitOfWork

Stored = tuple[SourceDocument, tuple[int, list[int]]]


def restore_comments(unit: UnitOfWork, documents: Sequence[Stored]) -> None:
    """Comments with their authors and times, and flags."""
    for source, (document_id, mention_ids) in documents:
        for one in source.comments:
            unit.mentions.add_comment(document_id, None, author=one.author, at=one.at, text=one.text)
        if source.flagged:
            unit.documents.flag_documents([document_id], True)
        for mention_id, mention in zip(mention_ids, source.mentions, strict=True):
            for one in mention.comments:
                unit.mentions.add_comment(document_id, mention_id, author=one.author, at=one.at, text=one.text)
        if flagged := [at for at, one in zip(mention_ids, source.mentions, strict=True) if one.flagged]:
            unit.mentions.flag_mentions(flagged, True)


def restore_splits(unit: UnitOfWork, documents: Sequence[Stored], *, wished: Split) -> None:
    """The splits that the file says of its documents, unless another than the usual one is wished for all of them."""
    if wished is not Split.TRAIN:
        return
    splits: dict[Split, list[int]] = defaultdict(list)
    for source, (document_id, _) in documents:
        if source.split not in (None, wished):
            splits[source.split or wished].append(document_id)
    for split, ids in splits.items():
        unit.documents.set_split(ids, split)


def restore_decisions(unit: UnitOfWork, documents: Sequence[Stored], counts: Counter[str]) -> None:
    """Decisions with their curators, times and notes; the documents' states.

    A link keeps those of its entities that the knowledge base holds. One that keeps none is left out and counted: its
    mention stays undecided.
    """
    found = [
        (mention_id, mention.decision)
        for source, (_, mention_ids) in documents
        for mention_id, mention in zip(mention_ids, source.mentions, strict=True)
        if mention.decision is not None
    ]
    resolved = unit.kb.resolve({one for _, decision in found for one in decision.verdict.entity_ids})
    groups: dict[tuple[str, datetime], list[tuple[int, FileDecision, Verdict]]] = defaultdict(list)
    for mention_id, decision in found:
        verdict = _held(decision.verdict, resolved)
        if verdict is None:
            counts["decisions left out"] += 1
        else:
            groups[decision.curator, decision.at].append((mention_id, decision, verdict))
    for (curator, at), group in sorted(groups.items(), key=lambda one: one[0][1]):
        unit.decisions.append(
            [mention_id for mention_id, _, _ in group],
            [verdict for _, _, verdict in group],
            curator=curator,
            at=at,
            operation_id=0,
            shown=[None] * len(group),
            notes=[decision.note for _, decision, _ in group],
        )
    counts["decisions"] += sum(map(len, groups.values()))
    _restore_states(unit, documents)


def says_more(source: SourceDocument) -> bool:
    """Whether a document comes with its decisions and its state."""
    return source.state is not None or any(one.decision is not None for one in source.mentions)


def _held(verdict: Verdict, resolved: Mapping[str, str]) -> Verdict | None:
    if verdict.outcome is not Outcome.LINK:
        return verdict
    held = tuple(dict.fromkeys(resolved[one] for one in verdict.entity_ids if one in resolved))
    return Verdict.link(*held) if held else None


def _restore_states(unit: UnitOfWork, documents: Sequence[Stored]) -> None:
    states = {document_id: source.state for source, (document_id, _) in documents if source.state is not None}
    unit.documents.set_states(states)
