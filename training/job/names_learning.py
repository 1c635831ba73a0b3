"""The encoder of names, retrained on the decisions. It either replaces the linker's encoder of names or is not used.

It learns from strings that are not equal to a name of their entity, each against the candidates that the linker in use
found for it. A repeated string counts once. Pairs of synonyms of these candidates can be added as if one of two names
were a decided string and the other the only right name.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from models.encoders.encoders import Encoder, load_encoder
from models.encoders.lower_states import LowerStates, halves
from models.errors import ModelError, nsay, say
from models.linker.answering import ScoredMention
from models.linker.build import NAMES_TOKENS, build_names
from models.linker.bundle import Manifest, RankerSpec, RetrieverSpec, reuse, store_encoder
from models.names.candidates import NAMES
from models.names.names import NamesRetriever
from models.retrievers.biencoder import index_source
from training.data.budget import Budget
from training.data.document_splits import place
from training.data.progress import Event, Phase, note
from training.job.assembly import base_encoder_folder
from training.job.fitting import TRAINED
from training.job.gate import ComponentQuality
from training.job.part_learning import Learnt, make_checkpoints, run
from training.job.preparation import Loaded, Prepared
from training.job.recipes import UPPER_HALF, make_loss
from training.job.tasks import CALIBRATED, train_settings
from training.loop.towers import FloatArray
from training.negatives.kinship import NameKinship
from training.tasks.names_task import NamedMention, NamesTask, train_layers

RIVALS, NEAREST_GOLD, JUDGED, LEAST = 24, 4, 300, 10
LEAST_ALIKE, MOST_ALIKE, AROUND = 0.35, 0.92, 64
"""Least and greatest cosine of two synonyms for a useful pair, and the number of neighbours searched for its wrong
names."""
SECONDS_A_NAME = 0.0018
"""Encoding time per name on two cores; reserved in a time budget."""


@dataclass(frozen=True, slots=True, eq=False)
class Strings:
    """Mentions in their search form, with their `gold` rows and the name rows of wrong and right `candidates`."""

    texts: Sequence[str]
    gold: Sequence[tuple[int, ...]]
    candidates: Sequence[Sequence[int]]


def learn_names(loaded: Loaded, prepared: Prepared, budget: Budget) -> Generator[Event, None, Learnt]:
    """Train the upper half of the encoder. Raises ModelError if the linker has no vectors of names, or if there is
    nothing to learn."""
    stage = loaded.linker.stages.names.stages.get(NAMES)
    if not isinstance(stage, NamesRetriever):
        raise ModelError(
            say(
                "This recipe starts from the vectors of names, which the linker in use does not have "
                "yet. Build the index, then train."
            )
        )
    encoder = load_encoder(base_encoder_folder(loaded.base), device=loaded.spec.device, max_tokens=NAMES_TOKENS)
    kinship = NameKinship(loaded.kb)
    mentions = named_mentions(loaded, prepared, stage, encoder, kinship)
    yield note(Phase.PREPARE, _counts(len(mentions)))
    pairs = synonym_pairs(
        loaded, prepared, stage, encoder, kinship, number=round(loaded.wanted.synonyms * len(mentions))
    )
    if loaded.wanted.synonyms:
        yield note(Phase.PREPARE, _pair_counts(len(pairs)))
    judged = _strings(prepared, [one for fold in prepared.calibration.folds for one in fold])
    before = recall(judged, loaded, stage.encode, stage.index.vectors)  # the index holds what the encoder gives now
    train_layers(encoder.module, every=loaded.wanted.layers != UPPER_HALF)
    loss = make_loss(loaded.recipe, loaded.values)
    task = NamesTask(
        encoder.module,
        [*mentions, *pairs],
        loss,
        names=lambda rows: encoder.token_ids([loaded.kb.names[row] for row in rows]),
        entity=lambda rows: loaded.kb.name_entity[list(rows)].tolist(),
        kinship=kinship,
        negatives=loaded.wanted.negative_count,
        batch_size=loaded.wanted.batch_size,
        seed=loaded.spec.seed,
        pad_id=int(encoder.tokenizer.pad_token_id or 0),
        device=encoder.device.torch,
    )
    if isinstance(loss, CALIBRATED) and loss.calibrated:
        loss.calibrate(task.inputs(task.batches(0)[0]))
    left, encoding = budget.left(), SECONDS_A_NAME * len(loaded.kb.names)
    seconds = None if left is None else left - encoding
    if left is not None and left <= encoding:
        raise ModelError(
            say(
                "The time budget is too short: after training, encoding {total:,} names takes about {minutes:.1f} "
                "minutes, but only {left:.1f} are left. Allow more minutes.",
                total=len(loaded.kb.names),
                minutes=encoding / 60,
                left=max(0.0, left) / 60,
            )
        )
    some = _some(judged)

    def found(strings: Strings) -> tuple[float, float]:
        return recall(strings, loaded, encoder.encode, lambda rows: encoder.encode([loaded.kb.names[n] for n in rows]))

    result = yield from run(
        task,
        train_settings(loaded, seconds=seconds),
        loaded,
        make_checkpoints(loaded),
        untrained=recall(some, loaded, stage.encode, stage.index.vectors)[0],
        validate=lambda: {"recall_at_1": found(some)[0], "recall_at_64": before[1]},
    )
    after = found(judged)
    return Learnt(
        result=result,
        component=ComponentQuality(before[0], after[0], before[1], after[1]),
        write=lambda staging: write_names(encoder, loaded, staging),
        entity_tower=TRAINED,
    )


def named_mentions(
    loaded: Loaded, prepared: Prepared, stage: NamesRetriever, encoder: Encoder, kinship: NameKinship
) -> list[NamedMention]:
    """The useful training mentions: each pair of string and entity once, or, for prototypes, once per document.

    Raises ModelError if there are fewer than ten, since most decided strings are already names.
    """
    examples = {example.key: example for example in prepared.train if example.gold}
    scored = [one for one in prepared.train_scored if one.query.key in examples and one.query.variants]
    vectors = stage.encode([string_of(one) for one in scored])
    tokens = encoder.token_ids([string_of(one) for one in scored])
    found: dict[tuple[str, tuple[int, ...]], NamedMention] = {}
    clustered = loaded.recipe.loss == "prototype-triplet"
    for mention, vector, ids in zip(scored, vectors, tokens, strict=True):
        example = examples[mention.query.key]
        own = _names_of(loaded, example.gold)
        nearness = stage.score(vector[None], own)[0]
        order = np.argsort(-nearness, kind="stable")[:NEAREST_GOLD]
        wrong = _rivals(mention, kinship.of(example.gold))
        text = string_of(mention).casefold()
        if wrong and text not in {loaded.kb.names[int(row)].casefold() for row in own}:
            once = (text, (example.cluster,) if clustered else example.gold)
            found[once] = NamedMention(ids, example.gold, tuple(own[order].tolist()), wrong, example.cluster)
    if len(found) < LEAST:
        raise ModelError(
            nsay(
                "Too little to learn from: only {n:,} string linked in training documents is not yet a "
                "name of its entity, and at least {least} are needed. Link some more.",
                "Too little to learn from: only {n:,} strings linked in training documents are not yet "
                "names of their entities, and at least {least} are needed. Link some more.",
                len(found),
                least=LEAST,
            )
        )
    return list(found.values())


def synonym_pairs(
    loaded: Loaded, prepared: Prepared, stage: NamesRetriever, encoder: Encoder, kinship: NameKinship, *, number: int
) -> list[NamedMention]:
    """At most `number` pairs of names of one candidate of the training mentions, each with the nearest names in the
    index of unrelated entities; one pair for each entity, with a cosine from `LEAST_ALIKE` to `MOST_ALIKE`, drawn by
    the seed. Each pair is its own cluster."""
    random = np.random.default_rng([loaded.spec.seed, 4])
    candidates = np.unique([row for one in prepared.train_scored for row in one.table.rows.tolist()])
    pairs: list[tuple[int, int, int]] = []
    for entity in random.permutation(candidates).tolist():
        if len(pairs) == number:
            break
        own = _names_of(loaded, (entity,))
        alike = stage.score(stage.index.vectors(own), own)
        fitting = np.argwhere(np.triu((alike > LEAST_ALIKE) & (alike < MOST_ALIKE), 1))
        if len(fitting):
            one, other = own[random.permutation(fitting[random.integers(len(fitting))])].tolist()
            pairs.append((entity, one, other))
    if not pairs:
        return []
    anchors = np.asarray([one for _, one, _ in pairs])
    _, nearest = stage.search(stage.index.vectors(anchors), AROUND, ranges=loaded.kb.name_ranges(()))
    tokens = encoder.token_ids([loaded.kb.names[row] for row in anchors.tolist()])
    free = 1 + max(one.cluster for one in prepared.train)
    found: list[NamedMention] = []
    for at, (entity, _, other) in enumerate(pairs):
        kin = kinship.of((entity,))
        rows = [row for row in nearest[at].tolist() if row >= 0 and int(loaded.kb.name_entity[row]) not in kin]
        if rows:
            found.append(NamedMention(tokens[at], (entity,), (other,), tuple(rows[:RIVALS]), free + at))
    return found


def string_of(mention: ScoredMention) -> str:
    """The first string that is searched for: the mention with its abbreviation expanded, otherwise unchanged."""
    return mention.query.variants[0].text


def _names_of(loaded: Loaded, rows: Sequence[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    starts = loaded.kb.name_starts
    return np.concatenate([np.arange(starts[row], starts[row + 1], dtype=np.int64) for row in rows])


def _rivals(mention: ScoredMention, kin: frozenset[int]) -> tuple[int, ...]:
    """The matched names of wrong candidates, the nearest first."""
    table = mention.table
    order = np.argsort(-table.scores[NAMES], kind="stable")
    return tuple(int(table.matched[at]) for at in order if int(table.rows[at]) not in kin)[:RIVALS]


def _strings(prepared: Prepared, scored: Sequence[ScoredMention]) -> Strings:
    """Held-out links with the nearest names of their first candidates."""
    gold: Mapping[str, tuple[int, ...]] = {one.key: one.gold for one in prepared.held_out if one.gold}
    known = [one for one in scored if one.query.key in gold and one.query.variants]
    orders = [np.argsort(-one.table.scores[NAMES], kind="stable")[:RIVALS] for one in known]
    return Strings(
        [string_of(one) for one in known],
        [gold[one.query.key] for one in known],
        [one.table.matched[order].tolist() for one, order in zip(known, orders, strict=True)],
    )


def _some(strings: Strings) -> Strings:
    """At most the given number of them, chosen by a hash of their text."""
    keep = sorted(range(len(strings.texts)), key=lambda n: (place(strings.texts[n], salt="validated"), n))[:JUDGED]
    texts, gold, candidates = strings.texts, strings.gold, strings.candidates
    return Strings([texts[n] for n in keep], [gold[n] for n in keep], [candidates[n] for n in keep])


def recall(
    strings: Strings,
    loaded: Loaded,
    encode: Callable[[Sequence[str]], FloatArray],
    vectors: Callable[[NDArray[np.int64]], FloatArray],
) -> tuple[float, float]:
    """(recall@1, share with a gold entity among the candidates) of names alone: `encode` gives the vectors [n, d] of
    strings, `vectors` those of names by their rows."""
    if not strings.texts:
        return 0.0, 0.0
    rows = sorted({row for own in strings.candidates for row in own})
    names = vectors(np.asarray(rows, dtype=np.int64))
    column = {row: number for number, row in enumerate(rows)}
    first = there = 0
    for vector, gold, own in zip(encode(strings.texts), strings.gold, strings.candidates, strict=True):
        entities = loaded.kb.name_entity[own].tolist()
        there += bool(set(entities) & set(gold))
        if own:
            first += entities[int(np.argmax(names[[column[row] for row in own]] @ vector))] in gold
    return first / len(strings.texts), there / len(strings.texts)


def write_names(encoder: Encoder, loaded: Loaded, staging: Path) -> Generator[Event, None, Manifest]:
    """Write the base's bundle with this encoder and an index of names made with it; all other parts are shared."""
    base = loaded.base
    old = base.manifest.retriever(NAMES)
    assert old is not None
    others = tuple(spec for spec in base.manifest.retrievers if spec.name != NAMES)
    for relative in _shared(base.manifest, others):
        reuse(base, relative, staging)
    ref = store_encoder(encoder, staging)
    written = replace(encoder, fingerprint=ref.fingerprint, folder=staging / ref.path)
    source = index_source(base.manifest.kb_hash, ref.fingerprint)
    split = halves(written) if loaded.wanted.layers == UPPER_HALF else None
    lower = None if split is None else LowerStates(split, root=loaded.spec.cache)
    text = say("Encoding all names with the trained encoder")
    steps = build_names(loaded.kb, staging, written, loaded.spec.work, source=source, lower=lower)
    for number, step in enumerate(steps):
        yield Event(Phase.ENCODE, step.done, step.total, text=text if number == 0 else "")
    spec = RetrieverSpec(NAMES, NAMES, old.folder, (ref,), settings={**old.settings, TRAINED: loaded.recipe.id})
    retrievers = tuple(spec if one.name == NAMES else one for one in base.manifest.retrievers)
    return base.manifest.replace(retrievers=retrievers)


def _shared(manifest: Manifest, others: Sequence[RetrieverSpec]) -> list[str]:
    """Paths that the other parts of the base are read from."""
    specs: list[RetrieverSpec | RankerSpec] = [*others, *([manifest.ranker] if manifest.ranker else [])]
    encoders = [ref.path for spec in specs for ref in spec.encoders if ref.source == "bundle"]
    return list(dict.fromkeys(["kb.jsonl", *(spec.folder for spec in specs), *encoders]))


def _pair_counts(number: int) -> str:
    return nsay(
        "It also learns from {n:,} pair of synonyms of one entity.",
        "It also learns from {n:,} pairs of synonyms of one entity.",
        number,
    )


def _counts(number: int) -> str:
    return nsay(
        "The name encoder learns from {n:,} linked string that matches no name of its entity.",
        "The name encoder learns from {n:,} linked strings that match no name of their entities.",
        number,
    )
