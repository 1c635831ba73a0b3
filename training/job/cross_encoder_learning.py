"""Training a cross-encoder within a job: the mentions it learns from, and its quality on its own."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from models.encoders.inputs import pair_tokens
from models.errors import say
from models.rankers.cross_encoder import CrossEncoderModule, check_length, new_head, score_pairs
from training.data.budget import CAUTION, FIXED_RESERVE, Budget
from training.data.examples import Example
from training.data.progress import Event, Phase, note
from training.job.assembly import TrainedPair, write_pair
from training.job.gate import ComponentQuality
from training.job.part_learning import Learnt, Writing, make_checkpoints, run
from training.job.part_quality import Recall, recall
from training.job.preparation import Loaded, Prepared
from training.job.recipes import Regularisation
from training.job.tasks import train_settings
from training.regularisers.fgsm_pairs import PairFGSM
from training.tasks.cross_encoder import CrossEncoderTask

LEARNT_AT_LEAST = 200
JUDGED = 120
"""Held-out mentions used to evaluate the ranker alone: more would take as long as training."""
JUDGED_AT_ONCE = 10
VALIDATED = 40
FITS = 4
"""Time for linking the held-out documents and three fits, in units of linking them once (as for towers)."""


def learn_pair(loaded: Loaded, prepared: Prepared, budget: Budget) -> Generator[Event, None, Learnt]:
    """Train a cross-encoder on the linked mentions whose candidates have the closest scores."""
    encoder, wanted = prepared.encoder, loaded.wanted
    tokens = check_length(encoder, loaded.inputs)
    module = CrossEncoderModule(encoder.module, new_head(encoder, seed=loaded.spec.seed))
    judged = doubtful(prepared, prepared.held_out, JUDGED)
    begun = budget.elapsed
    before = yield from _alone(loaded, prepared, module, judged, Phase.PREPARE)
    rate = len(judged) * wanted.candidates / max(1e-6, budget.elapsed - begun)
    linked = sum(bool(example.gold) for example in prepared.train)
    learnt_from = doubtful(prepared, prepared.train, max(LEARNT_AT_LEAST, round(wanted.learnt_share * linked)))
    yield note(Phase.PREPARE, _counts(prepared, learnt_from, judged, linked))
    task = CrossEncoderTask(
        module,
        encoder,
        learnt_from,
        texts=prepared.texts,
        ranked=[prepared.ranked.get(example.key, ()) for example in learnt_from],
        kinship=loaded.kinship,
        candidates=wanted.candidates,
        batch_size=wanted.batch_size,
        seed=loaded.spec.seed,
        regulariser=_regulariser(loaded),
    )
    left, some = budget.left(), judged[:VALIDATED]
    seconds = None if left is None else left - _reserve(loaded, prepared, judged=len(judged), rate=rate)
    overhead = len(some) * wanted.candidates / rate
    result = yield from run(
        task,
        train_settings(loaded, seconds=seconds, epoch_overhead=overhead),
        loaded,
        make_checkpoints(loaded),
        validate=lambda: _live(loaded, prepared, module, some),
    )
    after = yield from _alone(loaded, prepared, module, judged, Phase.JUDGE)
    pair = TrainedPair(replace(encoder, module=module.encoder, fingerprint=""), module.head, loaded.inputs, tokens)
    return Learnt(
        result=result,
        component=ComponentQuality(before[0], after[0], before[1], after[1]),
        write=lambda staging: _write(pair, loaded, staging),
        entity_tower="none",
    )


def _regulariser(loaded: Loaded) -> PairFGSM | None:
    if loaded.recipe.regulariser == Regularisation.FGSM:
        return PairFGSM(**loaded.recipe.group("regulariser", loaded.values))
    return None


def _write(pair: TrainedPair, loaded: Loaded, staging: Path) -> Writing:
    yield Event(Phase.INDEX, text=say("Writing the ranker"))
    return write_pair(pair, loaded.recipe, loaded.base, staging, wanted=loaded.wanted)


def _live(loaded: Loaded, prepared: Prepared, module: CrossEncoderModule, some: Sequence[Example]) -> dict[str, float]:
    """Figures for the curve: the ranker alone, on some of the mentions used for its evaluation."""
    found = recall(order_by_score(loaded, prepared, module, some), some, k=loaded.wanted.candidates)
    return {"recall_at_1": found[0], "recall_at_64": found[1]}


def doubtful(prepared: Prepared, examples: Sequence[Example], most: int) -> list[Example]:
    """At most the given number of linked examples with at least two candidates, the smallest lead first; ties by
    key."""
    known = [example for example in examples if example.gold and prepared.leads.get(example.key, np.inf) < np.inf]
    return sorted(known, key=lambda example: (prepared.leads[example.key], example.key))[:most]


def order_by_score(
    loaded: Loaded, prepared: Prepared, module: CrossEncoderModule, examples: Sequence[Example]
) -> list[list[int]]:
    """Each example's first candidate rows, best first by the cross-encoder; ties keep the linker's order."""
    rows = [list(prepared.ranked[example.key][: loaded.wanted.candidates]) for example in examples]
    pairs = [
        pair_tokens(example.tokens.ids, entity)
        for example, own in zip(examples, rows, strict=True)
        for entity in prepared.texts.of(own)
    ]
    scores = score_pairs(module, prepared.encoder, pairs)
    parts = np.split(scores, np.cumsum([len(own) for own in rows])[:-1])
    return [[own[at] for at in np.argsort(-part, kind="stable")] for own, part in zip(rows, parts, strict=True)]


def _alone(
    loaded: Loaded, prepared: Prepared, module: CrossEncoderModule, judged: Sequence[Example], phase: Phase
) -> Generator[Event, None, Recall]:
    """(recall@1, recall@k) of the ranker alone among the linker's first candidates, regardless of their order."""
    ordered: list[list[int]] = []
    for start in range(0, len(judged), JUDGED_AT_ONCE):
        ordered += order_by_score(loaded, prepared, module, judged[start : start + JUDGED_AT_ONCE])
        yield Event(phase, len(ordered), len(judged), text="" if start else say("Evaluating the ranker on its own"))
    return recall(ordered, judged, k=loaded.wanted.candidates)


def _counts(prepared: Prepared, learnt: Sequence[Example], judged: Sequence[Example], linked: int) -> str:
    own = recall([list(prepared.ranked[example.key]) for example in judged], judged, k=1)[0]
    return say(
        "The ranker learns from {number:,} of {linked:,} linked mentions and is evaluated on its own on "
        "{judged:,} held-out mentions, those with the closest candidates; the linker in use gets "
        "{own:.1f} % of these right.",
        number=len(learnt),
        linked=linked,
        judged=len(judged),
        own=100 * own,
    )


def _reserve(loaded: Loaded, prepared: Prepared, *, judged: int, rate: float) -> float:
    """Seconds to reserve for the steps after training: evaluating the ranker, linking with it, the fits, writing."""
    asked = loaded.wanted.asked_share * len(prepared.old)
    pairs = loaded.wanted.candidates * (judged + asked)
    linking = FITS * len(loaded.parts.held_out) * prepared.seconds_per_document
    return CAUTION * (pairs / rate + linking) + FIXED_RESERVE
