"""The cross-encoder's task and its place in the job, on the tiny world."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from models.core.kb import KnowledgeBase, order_entities
from models.encoders.encoders import Encoder, load_encoder
from models.encoders.inputs import EntityStyle, InputSettings, pair_tokens
from models.errors import ModelError
from models.linker.bundle import open_bundle, publish
from models.linker.linker import Linker
from models.linker.reranking import RANKER
from models.rankers.cross_encoder import CrossEncoder, CrossEncoderModule, new_head, score_pairs
from models.rankers.ranker import RerankRule
from models.types import EntityRecord
from tests.training.conftest import MakeSpec, document_lines, entities, write_lines
from training.data.examples import EntityTexts, Example, make_examples
from training.data.progress import Event, Phase
from training.data.snapshot import read_snapshot
from training.job.job import run_training
from training.loop.trainer import TrainSettings, train
from training.negatives.kinship import Kinship
from training.tasks.cross_encoder import CrossEncoderTask, spread

SETTINGS = InputSettings(mention_tokens=24, entity_tokens=20, style=EntityStyle.TITLE_TYPES)
SMALL = {
    "epochs": 4,
    "batch_size": 4,
    "learning_rate": 3e-3,
    "candidates": 6,
    "asked_share": 0.5,
    "seconds_per_document": 10.0,
}


@pytest.fixture(autouse=True)
def threads_as_before() -> Iterator[None]:
    before = torch.get_num_threads()
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def kb() -> KnowledgeBase:
    made = [{**entity, "synonyms": tuple(entity["synonyms"]), "types": tuple(entity["types"])} for entity in entities()]
    return order_entities(EntityRecord(**{**entity, "alt_ids": tuple(entity["alt_ids"])}) for entity in made)


@pytest.fixture
def encoder(tiny_encoder: Path) -> Encoder:
    return load_encoder(tiny_encoder, device="cpu")


@pytest.fixture
def examples(kb: KnowledgeBase, encoder: Encoder, tmp_path: Path) -> list[Example]:
    lines = document_lines("train", 6, seed=4)
    lines[0]["mentions"][0]["gold"]["ids"] = ["OLD:1", "X:7"]
    folder = write_lines(tmp_path / "snapshot", lines, kb_hash="")
    found = make_examples(read_snapshot(folder).documents, kb, tokenizer=encoder.tokenizer, settings=SETTINGS)
    return [example for example in found if example.gold]


def make_task(
    encoder: Encoder, kb: KnowledgeBase, examples: Sequence[Example], ranked: Sequence[Sequence[int]], **options: Any
) -> CrossEncoderTask:
    return CrossEncoderTask(
        CrossEncoderModule(encoder.module, new_head(encoder, seed=1)),
        encoder,
        examples,
        texts=EntityTexts(kb, tokenizer=encoder.tokenizer, settings=SETTINGS),
        ranked=ranked,
        kinship=options.get("kinship", Kinship(kb.entities)),
        candidates=options.get("candidates", 4),
        batch_size=4,
        seed=2,
    )


def everything(kb: KnowledgeBase, examples: Sequence[Example]) -> list[list[int]]:
    return [list(range(len(kb.entities)))] * len(examples)


def test_gold_and_its_aliases_are_never_wrong_ones(
    encoder: Encoder, kb: KnowledgeBase, examples: list[Example]
) -> None:
    twin = dataclasses.replace(kb.entities[examples[1].gold[0]], id="TWIN", alt_ids=(kb.entities[5].id,))
    kinship = Kinship([*kb.entities, twin])
    task = make_task(encoder, kb, examples, everything(kb, examples), kinship=kinship, candidates=40)
    for example, wrong in zip(task.examples, task.wrong, strict=True):
        assert not set(wrong) & kinship.of(example.gold)
        assert (
            len(wrong) == len(set(wrong)) == len(kb.entities) - len(set(kinship.of(example.gold)) - {len(kb.entities)})
        )
    assert len(task.examples[0].gold) == 2


def test_what_was_passed_over_comes_first_and_lone_mentions_are_left_out(
    encoder: Encoder, kb: KnowledgeBase, examples: list[Example]
) -> None:
    one, *_ = (example for example in examples if example.shown and not set(example.shown) <= set(example.gold))
    passed = [row for row in one.shown if row not in one.gold]
    task = make_task(encoder, kb, [one, one], [[*one.gold, 30, 31, 32, 33, 34], [*one.gold]], candidates=4)
    assert task.wrong[0][: len(passed)] == passed
    assert len(task.wrong[0]) == 3
    lone = dataclasses.replace(one, shown=())
    assert make_task(encoder, kb, [lone], [[*one.gold]]).examples == []


def test_the_loss_is_that_of_a_plain_loop(encoder: Encoder, kb: KnowledgeBase, examples: list[Example]) -> None:
    task = make_task(encoder, kb, [e for e in examples if len(e.gold) == 1], everything(kb, examples)[:-1])
    task.module.eval()
    batch = task.batches(0)[0]
    expected = []
    for number in batch:
        example = task.examples[number]
        rows = [example.gold[0], *task.wrong[number]]
        scores = [
            float(score_pairs(task.module, encoder, [pair_tokens(example.tokens.ids, task.texts.of([row])[0])])[0])
            for row in rows
        ]
        expected.append(np.log(np.exp(scores).sum()) - scores[0])
    assert task.loss(batch).item() == pytest.approx(float(np.mean(expected)), rel=1e-4)


def test_parts_of_a_batch_give_its_gradient(encoder: Encoder, kb: KnowledgeBase, examples: list[Example]) -> None:
    """Mentions do not touch each other: the graph of a few at a time is enough."""
    task = make_task(encoder, kb, examples, everything(kb, examples))
    assert task.at_once == 16  # of four candidates each
    weights = [one.weight for one in task.module.modules() if isinstance(one, torch.nn.Linear)]
    batch = range(6)
    task.module.eval()
    wanted = torch.autograd.grad(task.loss(batch), weights)
    found = [torch.zeros_like(one) for one in weights]
    task.random = np.random.default_rng([2, 1])
    for part in task.split(batch, 2):
        for total, own in zip(found, torch.autograd.grad(task.loss(part) * len(part) / 6, weights), strict=True):
            total += own
    for total, whole in zip(found, wanted, strict=True):
        torch.testing.assert_close(total, whole, atol=1e-6, rtol=1e-4)


def test_short_rows_are_filled_up() -> None:
    scores, given = spread(torch.tensor([1.0, 2, 3, 4]), [1, 3])
    assert scores.tolist() == [[1, 0, 0], [2, 3, 4]]
    assert given.tolist() == [[True, False, False], [True, True, True]]


def test_training_lowers_the_loss_and_changes_every_tensor(
    encoder: Encoder, kb: KnowledgeBase, examples: list[Example]
) -> None:
    few = examples[:8]
    ranked = [[(example.gold[0] + step) % 38 for step in range(8)] for example in few]
    task = make_task(encoder, kb, few, ranked, candidates=6)
    before = {name: tensor.clone() for name, tensor in task.module.state_dict().items()}
    steps = [event.data["loss"] for event in train(task, TrainSettings(epochs=20, learning_rate=5e-3, warmup=0.2))]
    assert np.mean(steps[-6:]) < 0.85 * np.mean(steps[:6])
    unchanged = [name for name, tensor in task.module.state_dict().items() if torch.equal(tensor, before[name])]
    assert unchanged == []


def run(spec: dict[str, Any], **options: Any) -> tuple[list[Event], dict[str, Any]]:
    events = list(run_training(spec, **options))
    return events, dict(events[-1].data["result"])


@pytest.mark.soak
def test_the_job_ends_in_a_bundle_that_knows_when_to_ask(make_spec: MakeSpec) -> None:
    spec = make_spec("cross-encoder", parameters=SMALL)
    events, _ = run(spec)
    manifest = open_bundle(spec["staging"], verify="full").manifest
    ranker = manifest.ranker
    assert ranker is not None
    assert (ranker.kind, ranker.name, ranker.top_k, len(ranker.encoders)) == ("cross", "cross-encoder", 6, 1)
    rule = RerankRule.from_json(ranker.top_k, ranker.settings)
    assert rule.margin is not None
    assert rule.margin > 0
    assert (rule.share, rule.seconds) == (0.5, 10.0)
    assert manifest.training["entity_tower"] == "none"
    notes = " ".join(manifest.training["notes"])
    assert "learns from" in notes
    assert "50 % of the 24 held-out mentions" in notes
    losses = [event.data["loss"] for event in events if event.phase is Phase.TRAIN and "loss" in event.data]
    assert np.mean(losses[-8:]) < np.mean(losses[:8])
    linker = Linker.load(publish(Path(spec["staging"])).path, device="cpu")
    assert isinstance(linker.stages.ranker, CrossEncoder)
    asked = linker.combiner.with_stage_weights(
        RANKER, (1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0)
    )  # a stage without a weight is not asked
    linker = linker.with_weights(combiner=asked)
    documents = [document.to_input() for document in read_snapshot(Path(spec["snapshot"])).documents]
    assert len(list(linker.link(documents))) == len(documents)
    assert linker.stages.tally.asked > 0
    assert linker.stages.rule == rule


def test_every_trained_tensor_is_in_the_bundle(make_spec: MakeSpec, tiny_encoder: Path) -> None:
    spec = make_spec("cross-encoder", parameters={**SMALL, "epochs": 1})
    run(spec)
    before = load_file(tiny_encoder / "model.safetensors")
    bundle = open_bundle(spec["staging"])
    assert bundle.manifest.ranker is not None
    after = load_file(bundle.encoder_folder(bundle.manifest.ranker.encoders[0]) / "model.safetensors")
    assert set(after) <= set(before)
    assert not [name for name, tensor in after.items() if torch.equal(tensor, before[name])]


@pytest.mark.soak
def test_training_again_replaces_the_ranker_and_learns_without_it(make_spec: MakeSpec) -> None:
    first = make_spec("prototype")
    run(first)
    once = publish(Path(first["staging"]))
    second = make_spec("cross-encoder", base=str(once.path), parameters={**SMALL, "epochs": 1})
    events, _ = run(second)
    assert any("without the ranker that is being replaced" in event.text for event in events)
    manifest = open_bundle(second["staging"], verify="full").manifest
    assert manifest.ranker is not None
    assert manifest.ranker.kind == "cross"
    assert once.manifest.ranker is not None
    assert not (Path(second["staging"]) / once.manifest.ranker.encoders[0].path).exists()


@pytest.mark.soak
def test_shuffled_decisions_never_win(make_spec: MakeSpec) -> None:
    _, result = run(make_spec("cross-encoder", parameters=SMALL), shuffle_labels=True)
    assert result["verdict"] in ("refused", "no_gain")


def test_pairs_that_the_encoder_cannot_read_are_refused(make_spec: MakeSpec) -> None:
    with pytest.raises(ModelError, match="Choose fewer tokens"):
        run(make_spec("cross-encoder", parameters={**SMALL, "mention_tokens": 120}))


def test_nothing_to_tell_apart(encoder: Encoder, kb: KnowledgeBase, examples: list[Example]) -> None:
    lone = [dataclasses.replace(example, shown=()) for example in examples]
    task = make_task(encoder, kb, lone, [example.gold for example in lone])
    with pytest.raises(ModelError, match="nothing to train on"):
        list(train(task, TrainSettings(epochs=1, learning_rate=1e-3)))
