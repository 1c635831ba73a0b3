"""How good a trained bundle is on the evaluation documents: its part alone, and the whole linker with it inside."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from models.linker.linker import Linker
from models.types import DocumentInput, MentionInput
from tests.benchmarks.experiments.worlds import Line, World
from training.data.examples import decided_documents
from training.data.snapshot import Gold, SnapshotDocument, SnapshotMention, Split

K = 64
MISSED = 10_000
"""The rank of what was not found."""


@dataclass(frozen=True)
class Judged:
    """The judged mentions with their gold rows (none: NIL) and the number of their document."""

    documents: tuple[DocumentInput, ...]
    pairs: tuple[tuple[DocumentInput, MentionInput], ...]
    gold: tuple[frozenset[int], ...]
    document: tuple[int, ...]

    @classmethod
    def of(cls, world: World, linker: Linker) -> Judged:
        documents = tuple(_input(line) for line in world.judged)
        pairs = tuple((document, mention) for document in documents for mention in document.mentions)
        gold = {m["key"]: _rows(m["gold"]["ids"], linker) for line in world.judged for m in line["mentions"]}
        number = {document.key: at for at, document in enumerate(documents)}
        return cls(documents, pairs, tuple(gold[m.key] for _, m in pairs), tuple(number[d.key] for d, _ in pairs))


def remember(linker: Linker, world: World) -> None:
    """The decisions of the train mentions, for the whole linker."""
    documents = [
        SnapshotDocument(line["key"], Split.TRAIN, line["text"], tuple(_decided(m) for m in line["mentions"]))
        for line in world.train
    ]
    linker.remember(*decided_documents(documents, linker.stages.kb.resolved.get))


def retriever_alone(linker: Linker, judged: Judged) -> dict[str, Any]:
    """Of the trained retriever by itself: ranks, first scores, and the first rows for a re-ranker."""
    asked = linker.stages.trained[-1].ask(judged.pairs)
    scores = np.full((len(judged.pairs), K), -np.inf, dtype=np.float32)
    rows = np.full((len(judged.pairs), K), -1, dtype=np.int64)
    for types in dict.fromkeys(mention.types for _, mention in judged.pairs):
        places = [at for at, (_, mention) in enumerate(judged.pairs) if mention.types == types]
        scores[places], rows[places] = asked.search(places, K, ranges=linker.stages.kb.ranges(types))
    return {"ranks": _ranks(rows.tolist(), judged), "first": scores[:, 0].tolist(), "rows": rows[:, :16].tolist()}


def ranker_alone(linker: Linker, judged: Judged, candidates: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Of the trained re-ranker by itself, over the given candidates: what is not among them counts as an error."""
    ranker = linker.stages.ranker
    assert ranker is not None
    rows = [np.asarray([row for row in own if row >= 0], dtype=np.int64) for own in candidates]
    found = ranker.score(judged.pairs, rows)
    ordered = [own[np.argsort(-scores, kind="stable")].tolist() for own, scores in zip(rows, found, strict=True)]
    return {"ranks": _ranks(ordered, judged), "first": [float(max(one, default=-1e30)) for one in found]}


def whole(linker: Linker, judged: Judged) -> dict[str, Any]:
    """Of the whole linker."""
    linked = linker.link(judged.documents, k=K)
    answers = {(document.key, mention.key): mention for document in linked for mention in document.mentions}
    found = [answers[document.key, mention.key] for document, mention in judged.pairs]
    rows = [[linker.stages.kb.rows[one.entity_id] for one in answer.candidates] for answer in found]
    right = [
        answer.nil.is_nil == (not gold) and (not gold or bool(own and own[0] in gold))
        for answer, own, gold in zip(found, rows, judged.gold, strict=True)
    ]
    return {
        "ranks": _ranks(rows, judged),
        "nil": [answer.nil.score for answer in found],
        "right": right,
        "rows": [r[:64] for r in rows],
    }


def _ranks(rows: Sequence[Sequence[int]], judged: Judged) -> list[int]:
    """From 1, of the first gold entity; MISSED where there is none."""
    return [
        next((place for place, row in enumerate(own, start=1) if row in gold), MISSED)
        for own, gold in zip(rows, judged.gold, strict=True)
    ]


def _rows(ids: Sequence[str], linker: Linker) -> frozenset[int]:
    kb = linker.stages.kb
    return frozenset(kb.rows[kb.resolved[name]] for name in ids if name in kb.resolved)


def _input(line: Line) -> DocumentInput:
    mentions = tuple(
        MentionInput(m["key"], tuple((a, b) for a, b in m["spans"]), tuple(m["types"])) for m in line["mentions"]
    )
    return DocumentInput(line["key"], line["text"], mentions)


def _decided(mention: Line) -> SnapshotMention:
    gold = mention["gold"]
    return SnapshotMention(
        key=mention["key"],
        spans=tuple((a, b) for a, b in mention["spans"]),
        types=tuple(mention["types"]),
        gold=Gold(tuple(gold["ids"]), bool(gold["nil"])),
    )


def to_json(found: dict[str, Any]) -> str:
    """Infinite scores (nothing found) as large numbers."""
    return json.dumps(found).replace("-Infinity", "-1e30").replace("Infinity", "1e30")
