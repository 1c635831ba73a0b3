"""Decisions as a network sees them: token ids, gold rows of the knowledge base, clusters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from models.core.kb import KnowledgeBase
from models.encoders.inputs import InputSettings, MentionTokens, entity_tokens, mention_tokens
from models.types import DecidedDocument
from training.data.gold import Resolve, fold, resolve_gold
from training.data.snapshot import SnapshotDocument


@dataclass(frozen=True, slots=True)
class Example:
    """One decided mention. `gold` are rows of the knowledge base, empty for NIL; `types` restrict candidates.

    `shown` are rows that the curator saw, best first. `cluster` is equal for mentions of one entity in one document.
    `named`: the text is a name of a gold entity, so that context has little to decide.
    """

    key: str
    tokens: MentionTokens
    gold: tuple[int, ...]
    types: tuple[str, ...]
    cluster: int
    shown: tuple[int, ...] = ()
    named: bool = False


def make_examples(
    documents: Sequence[SnapshotDocument], kb: KnowledgeBase, *, tokenizer: Any, settings: InputSettings
) -> tuple[Example, ...]:
    """All decided mentions of `documents`, including NIL (no id in the knowledge base), in document order."""
    gold = {mention.key: mention for mention in resolve_gold(documents, kb.resolved.get).mentions}
    clusters: dict[tuple[str, tuple[str, ...], str], int] = {}
    examples = []
    names_of = cache(lambda row: frozenset(map(fold, kb.entities[row].names)))
    for document in documents:
        text = document.to_input()
        shown = {mention.key: mention.shown for mention in document.mentions}
        for mention in text.mentions:
            ids = gold[mention.key].ids
            together = (document.key, ids, "" if ids else mention.key)
            rows = tuple(kb.rows[name] for name in ids)
            examples.append(
                Example(
                    key=mention.key,
                    tokens=mention_tokens(tokenizer, text, mention, settings=settings),
                    gold=rows,
                    types=mention.types,
                    cluster=clusters.setdefault(together, len(clusters)),
                    shown=_rows(shown[mention.key], kb),
                    named=any(gold[mention.key].surface in names_of(row) for row in rows),
                )
            )
    return tuple(examples)


def worth_learning(examples: Sequence[Example], most: int, *, seed: int) -> tuple[Example, ...]:
    """At most so many examples, drawn at random and in their order: links of a text that is no name of its entity
    first, up to half; then any of the others."""
    if len(examples) <= most:
        return tuple(examples)
    order = np.random.default_rng(seed).permutation(len(examples)).tolist()
    first = [number for number in order if examples[number].gold and not examples[number].named][: most // 2]
    chosen = list(dict.fromkeys([*first, *order]))[:most]
    return tuple(examples[number] for number in sorted(chosen))


def shuffled_labels(examples: Sequence[Example], *, seed: int) -> tuple[Example, ...]:
    """The same mentions with their decisions shuffled at random: a useless training set, for experiments."""
    order = np.random.default_rng(seed).permutation(len(examples))
    return tuple(
        replace(example, gold=examples[other].gold, cluster=number, shown=())
        for number, (example, other) in enumerate(zip(examples, order.tolist(), strict=True))
    )


class EntityTexts:
    """Token ids of entities, computed once, when first needed."""

    def __init__(self, kb: KnowledgeBase, *, tokenizer: Any, settings: InputSettings) -> None:
        self.kb, self.tokenizer, self.settings = kb, tokenizer, settings
        self._made: dict[int, tuple[int, ...]] = {}

    def of(self, rows: Iterable[int]) -> list[tuple[int, ...]]:
        """Token ids, including special tokens, in the order of `rows`."""
        return [self._one(int(row)) for row in rows]

    def _one(self, row: int) -> tuple[int, ...]:
        if row not in self._made:
            self._made[row] = entity_tokens(self.tokenizer, self.kb.entities[row], settings=self.settings)
        return self._made[row]


def _rows(ids: Sequence[str], kb: KnowledgeBase) -> tuple[int, ...]:
    return tuple(kb.rows[kb.resolved[name]] for name in ids if name in kb.resolved)


# Decisions of a snapshot in the form that the memory of a linker takes.


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
