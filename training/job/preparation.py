"""The first half of a training job: reading, checking and measuring its input before anything is trained."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from models.core.device import choose_device
from models.core.kb import KnowledgeBase
from models.encoders.encoders import Encoder, normalized
from models.encoders.inputs import EntityStyle, InputSettings
from models.encoders.pooling import MentionVector
from models.errors import ModelError, nsay, say
from models.linker.answering import ScoredMention
from models.linker.bundle import Bundle, open_bundle
from models.linker.index_repair import load_intact
from models.linker.linker import Linker
from models.names.candidates import NAMES
from models.names.names import NamesRetriever
from models.retrievers.biencoder import means_of
from models.types import LinkedMention
from resources.recipe_files import JUDGED_MENTIONS, Network, Recipe, Role, Value, WrongValueError
from training.data.budget import Budget, Rates, Workload
from training.data.document_splits import Parts, divide, in_turn
from training.data.examples import (
    EntityTexts,
    Example,
    decided_documents,
    make_examples,
    shuffled_labels,
    worth_learning,
)
from training.data.progress import Event, Phase, note
from training.data.snapshot import Snapshot, SnapshotDocument, read_snapshot
from training.data.spec import TrainingSpec
from training.job.assembly import base_encoder_folder, load_tower
from training.job.fitting import CalibrationSet, Folds, by_fold, has_trained_stage, sample
from training.job.part_quality import Figures, Judge
from training.job.ranker_rule import without_ranker, without_time_limit
from training.job.recipes import Hyperparameters, load_recipe, make_loss
from training.loop.towers import FloatArray, Towers
from training.losses.base import Similarity
from training.losses.proxy import ProxyLoss
from training.negatives.kinship import Kinship
from training.tasks.vectors import cache_path, mention_vectors, untrained_vectors

# The entities' vectors that towers start from: the untrained encoder's, or the means of their names' vectors.

RATE_SAMPLE = 256
AT_ONCE = 4096


def untrained_entities(
    loaded: Loaded, encoder: Encoder, texts: EntityTexts, budget: Budget
) -> Generator[Event, None, tuple[FloatArray | None, float]]:
    """Untrained entity vectors [E, d] (None for SOM), entities per second; ModelError if time is too short."""
    if loaded.inputs.style is EntityStyle.MEAN_OF_NAMES:
        return _means_of_names(loaded), float("inf")
    total, kb_hash, cache = len(loaded.kb.entities), loaded.base.manifest.kb_hash, loaded.spec.cache
    rate = _entity_rate(encoder, texts, budget)
    if loaded.recipe.similarity == Similarity.SOM:
        return None, rate
    yield Event(Phase.PREPARE, text=say("Encoding the entities with the untrained encoder"))
    left = budget.left()
    kept = cache_path(encoder, texts, kb_hash=kb_hash, cache=cache).exists()
    if left is not None and not kept and total / rate > left:
        raise ModelError(
            say(
                "The time budget is too short: encoding {total:,} entities takes about {minutes:.1f} "
                "minutes the first time, but only {left:.1f} are left. Allow more minutes.",
                total=total,
                minutes=total / rate / 60,
                left=max(0.0, left) / 60,
            )
        )
    vectors, _ = yield from untrained_vectors(encoder, texts, kb_hash=kb_hash, cache=cache)
    return vectors, rate


def _means_of_names(loaded: Loaded) -> FloatArray:
    """(entities, d) from the index over names of the linker in use; ModelError if it has none."""
    stage = loaded.linker.stages.names.stages.get(NAMES)
    if not isinstance(stage, NamesRetriever):
        raise ModelError(
            say(
                "This recipe starts from the vectors of names, which the linker in use does not have "
                "yet. Build the index, then train."
            )
        )
    starts = loaded.kb.name_starts
    rows = np.arange(int(starts[-1]), dtype=np.int64)
    parts = [
        means_of(normalized(stage.index.vectors(rows[starts[at] : starts[stop]])), np.diff(starts[at : stop + 1]))
        for at, stop in _spans(len(loaded.kb.entities), AT_ONCE)
    ]
    return np.concatenate(parts)


def _spans(total: int, size: int) -> list[tuple[int, int]]:
    return [(start, min(start + size, total)) for start in range(0, total, size)]


def _entity_rate(encoder: Encoder, texts: EntityTexts, budget: Budget) -> float:
    """Entities encoded per second, from a sample of the knowledge base."""
    total = len(texts.kb.entities)
    tokens = texts.of(range(0, total, max(1, total // RATE_SAMPLE)))
    begun = budget.elapsed
    encoder.encode_ids(tokens, normalize=False)
    return len(tokens) / max(1e-6, budget.elapsed - begun)


K = 64
BATCH_DOCUMENTS = 4
"""Documents scored between two events, at which a job can be cancelled."""


@dataclass(frozen=True, slots=True, eq=False)
class Loaded:
    """The job's input: recipe and parameters in effect, the split decisions, the linker in use."""

    spec: TrainingSpec
    recipe: Recipe
    values: Mapping[str, Value]
    wanted: Hyperparameters
    snapshot: Snapshot
    parts: Parts
    linker: Linker
    kinship: Kinship

    @property
    def base(self) -> Bundle:
        return self.linker.bundle

    @property
    def kb(self) -> KnowledgeBase:
        return self.linker.stages.kb

    @property
    def inputs(self) -> InputSettings:
        return self.wanted.inputs

    @property
    def similarity(self) -> Similarity:
        return Similarity(self.recipe.similarity)

    @property
    def decided(self) -> tuple[SnapshotDocument, ...]:
        """Training and held-out documents."""
        return (*self.parts.train, *self.parts.held_out)

    @property
    def needs_candidates(self) -> bool:
        """Whether the linker's candidates of the training mentions are used in training."""
        return self.recipe.role in (Role.RANKER, Role.NAMES) or self.wanted.negatives != "random"


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """What training starts from. By mention key: `ranked` are the candidate rows of the linker in use (without its
    ranker if a new one is trained), `leads` by how much the first leads the second. `old` are its answers on the
    held-out documents, which took `seconds_per_document`; `calibration` holds their scores and those of train documents
    that no stage in use was trained on. `train_scored` are the training mentions, if the names' encoder is trained on
    them."""

    encoder: Encoder
    texts: EntityTexts
    train: tuple[Example, ...]
    held_out: tuple[Example, ...]
    ranked: Mapping[str, Sequence[int]]
    leads: Mapping[str, float]
    old: tuple[LinkedMention, ...]
    calibration: CalibrationSet
    train_scored: tuple[ScoredMention, ...]
    seconds_per_document: float


@dataclass(frozen=True, slots=True, eq=False)
class PreparedTowers(Prepared):
    """The same for towers: `vectors` are those of all entities by the untrained tower (None for SOM), `towers` the
    untrained ones, `before` their quality alone, as measured by `judge` on the held-out examples."""

    vectors: FloatArray | None
    towers: Towers
    judge: Judge
    before: Figures
    rates: Rates
    work: Workload


def load(spec: TrainingSpec) -> Generator[Event, None, Loaded]:
    """Read and check everything; ModelError for every error that the user can correct."""
    yield Event(Phase.LOAD, 0, 3, text=say("Reading the decisions"))
    recipe = load_recipe(spec.recipe)
    try:
        values = recipe.values(spec.parameters)
    except WrongValueError as error:
        raise ModelError(str(error)) from error
    snapshot = read_snapshot(spec.snapshot)
    yield Event(Phase.LOAD, 1, 3, text=say("Opening the linker in use"))
    kb_hash = open_bundle(spec.base).manifest.kb_hash
    if snapshot.kb_hash and snapshot.kb_hash != kb_hash:
        raise ModelError(
            say(
                "The decisions were made with another knowledge base than that of the linker. Build the "
                "index of the current knowledge base first, then train."
            )
        )
    linker = without_time_limit(load_intact(spec.base, device=choose_device(spec.device), cache=spec.cache)[0])
    if recipe.role is Role.FIT and not has_trained_stage(linker):
        parts = in_turn(snapshot)
    else:
        parts = divide(snapshot, most=JUDGED_MENTIONS if recipe.quick else None)
    linker.remember(*decided_documents(parts.remembered, linker.stages.kb.resolved.get))
    yield Event(Phase.LOAD, 3, 3)
    for sentence in parts.notes:
        yield note(Phase.LOAD, sentence)
    return Loaded(
        spec=spec,
        recipe=recipe,
        values=values,
        wanted=Hyperparameters.of(recipe, values),
        snapshot=snapshot,
        parts=parts,
        linker=linker,
        kinship=Kinship(linker.stages.kb.entities),
    )


def prepare(loaded: Loaded, budget: Budget, *, shuffle_labels: bool) -> Generator[Event, None, Prepared]:
    """Examples and the linker's candidates for them."""
    folder = base_encoder_folder(loaded.base)
    encoder = load_tower(folder, loaded.recipe, loaded.inputs, device=loaded.spec.device)
    texts = EntityTexts(loaded.kb, tokenizer=encoder.tokenizer, settings=loaded.inputs)
    train = _train_examples(loaded, encoder, shuffle_labels=shuffle_labels)
    if loaded.wanted.learnt_mentions:
        train = worth_learning(train, loaded.wanted.learnt_mentions, seed=loaded.spec.seed)
    held_out = make_examples(loaded.parts.held_out, loaded.kb, tokenizer=encoder.tokenizer, settings=loaded.inputs)
    yield note(Phase.PREPARE, _counts(loaded, train))
    begun = budget.elapsed
    folds = yield from score_folds(loaded)
    old = [loaded.linker.finish(mention, k=K) for fold in folds for mention in fold]
    per_document = (budget.elapsed - begun) / max(1, len(loaded.parts.held_out))
    source, found, text = loaded.linker, list(old), say("Looking for candidates of the training mentions")
    if loaded.recipe.role is Role.RANKER and source.stages.ranker is not None:
        source = without_ranker(source)
        found = yield from _link(
            source, loaded.parts.held_out, say("Linking them without the ranker that is being replaced")
        )
    beside: list[ScoredMention] = []
    none_trained = not has_trained_stage(loaded.linker) and not shuffle_labels
    if not none_trained and loaded.recipe.role is not Role.NAMES:
        found += yield from _link(source, loaded.parts.train if loaded.needs_candidates else (), text)
    else:
        beside = yield from score(
            source, loaded.parts.train if loaded.needs_candidates else sample(loaded.parts.train), text
        )
        found += [source.finish(mention, k=K) for mention in beside]
    return Prepared(
        encoder=encoder,
        texts=texts,
        train=train,
        held_out=held_out,
        ranked={m.key: [loaded.kb.rows[c.entity_id] for c in m.candidates] for m in found},
        leads={m.key: _lead(m) for m in found},
        old=tuple(old),
        calibration=CalibrationSet(tuple(beside) if none_trained else (), folds),
        train_scored=tuple(beside) if loaded.recipe.role is Role.NAMES else (),
        seconds_per_document=per_document,
    )


def prepare_towers(loaded: Loaded, prepared: Prepared, budget: Budget) -> Generator[Event, None, PreparedTowers]:
    """The untrained towers' vectors and recall, and how fast this machine is."""
    encoder, texts, held_out = prepared.encoder, prepared.texts, prepared.held_out
    vectors, entity_rate = yield from untrained_entities(loaded, encoder, texts, budget)
    towers = untrained_towers(loaded, encoder, texts, vectors=vectors)
    begun = budget.elapsed
    mention_vectors(towers, held_out)
    mention_rate = len(held_out) / max(1e-6, budget.elapsed - begun)
    judge = _judge(loaded, prepared)
    return PreparedTowers(
        **{field.name: getattr(prepared, field.name) for field in fields(prepared)},
        vectors=vectors,
        towers=towers,
        judge=judge,
        before=judge.figures(towers, vectors),
        rates=Rates(mention_rate, entity_rate, prepared.seconds_per_document),
        work=_workload(loaded, len(prepared.train)),
    )


def _judge(loaded: Loaded, prepared: Prepared) -> Judge:
    return Judge(
        prepared.held_out,
        [prepared.ranked.get(example.key, ()) for example in prepared.held_out],
        loaded.kb,
        loaded.similarity,
        ranks=loaded.recipe.role is Role.RANKER,
        first=loaded.wanted.candidates,
        k=K,
    )


def _lead(mention: LinkedMention) -> float:
    """The lead of the first candidate; infinite without a second candidate."""
    first_two = [candidate.score for candidate in mention.candidates[:2]]
    return first_two[0] - first_two[1] if len(first_two) == 2 else float("inf")


def untrained_towers(
    loaded: Loaded, encoder: Encoder, texts: EntityTexts, *, vectors: FloatArray | None = None
) -> Towers:
    """Both towers as the same untrained network."""
    return Towers(
        mention=encoder.module,
        entity=encoder.module,
        texts=texts,
        pad_id=int(encoder.tokenizer.pad_token_id or 0),
        device=encoder.device.torch,
        entity_vectors=vectors,
        of_mention=MentionVector(loaded.recipe.mention),
    )


def _train_examples(loaded: Loaded, encoder: Encoder, *, shuffle_labels: bool) -> tuple[Example, ...]:
    """Training examples; NIL decisions are kept only if the loss uses them."""
    examples = make_examples(loaded.parts.train, loaded.kb, tokenizer=encoder.tokenizer, settings=loaded.inputs)
    if shuffle_labels:
        examples = shuffled_labels(examples, seed=loaded.spec.seed)
    if loaded.recipe.network is Network.TOWERS:
        loss = make_loss(loaded.recipe, loaded.values)
        if isinstance(loss, ProxyLoss) and loss.nil_negatives:
            return examples
    return tuple(example for example in examples if example.gold)


def _counts(loaded: Loaded, examples: Sequence[Example]) -> str:
    linked = sum(bool(example.gold) for example in examples)
    if not linked:
        raise ModelError(
            say(
                "None of the entities linked in the training documents is in the knowledge base. Import "
                "the knowledge base that the decisions were made with, then train."
            )
        )
    parts, nil = loaded.parts, len(examples) - linked
    counts = {"linked": linked, "nil": nil, "train": len(parts.train), "held_out": len(parts.held_out)}
    return nsay(
        "Learning from {linked:,} links and {nil:,} NIL decisions in {train:,} documents; {held_out:,} "
        "held-out documents tune and evaluate the result, without cross-validation ({n} fold).",
        "Learning from {linked:,} links and {nil:,} NIL decisions in {train:,} documents; {held_out:,} "
        "held-out documents tune and evaluate the result with {n}-fold cross-validation.",
        len(parts.folds),
        **counts,
    )


def _link(
    linker: Linker, documents: Sequence[SnapshotDocument], text: str
) -> Generator[Event, None, list[LinkedMention]]:
    found: list[LinkedMention] = []
    inputs = [document.to_input() for document in documents]
    for number, linked in enumerate(linker.link(inputs, k=K), start=1):
        found.extend(linked.mentions)
        yield Event(Phase.PREPARE, number, len(inputs), text=text if number == 1 else "")
    return found


def score_folds(loaded: Loaded) -> Generator[Event, None, Folds]:
    """The mentions of the held-out documents, by fold."""
    text = say("Linking the held-out documents with the linker in use")
    scored = yield from score(loaded.linker, loaded.parts.held_out, text)
    fold = {document.key: number for number, part in enumerate(loaded.parts.folds) for document in part}
    return by_fold(scored, fold, len(loaded.parts.folds))


def score(
    linker: Linker,
    documents: Sequence[SnapshotDocument],
    text: str,
    *,
    phase: Phase = Phase.PREPARE,
    weighted_only: bool = True,
) -> Generator[Event, None, list[ScoredMention]]:
    """Every mention with its scores; with `weighted_only`, scores of the stages with a weight only."""
    found: list[ScoredMention] = []
    for start in range(0, len(documents), BATCH_DOCUMENTS):
        batch = documents[start : start + BATCH_DOCUMENTS]
        found.extend(linker.score([document.to_input() for document in batch], k=K, weighted_only=weighted_only))
        yield Event(phase, start + len(batch), len(documents), text=text if start == 0 else "")
    return found


def _workload(loaded: Loaded, examples: int) -> Workload:
    """The remaining work: link held-out documents, encode them by the part alone, and fit three times."""
    return Workload(
        examples=examples,
        entities=len(loaded.kb.entities),
        documents=4 * len(loaded.parts.held_out),
        batch_size=loaded.wanted.batch_size,
        negatives=loaded.wanted.negative_count if loaded.recipe.role is Role.RETRIEVER else 1,
    )
