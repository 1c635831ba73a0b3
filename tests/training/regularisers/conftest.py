"""Two small towers in double precision without dropout, and tasks over the invented world."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from models.core.kb import KnowledgeBase, order_entities
from models.encoders.encoders import Encoder, load_encoder
from models.encoders.inputs import EntityStyle, InputSettings
from models.types import EntityRecord
from tests.tiny_bert import build_tiny_bert
from tests.training.conftest import document_lines, entities, write_lines
from training.data.examples import EntityTexts, Example, make_examples
from training.data.snapshot import read_snapshot
from training.loop.towers import Towers
from training.loop.trainer import Task
from training.losses.base import Loss, LossInputs, Similarity, pair_scores, scores
from training.negatives.kinship import Kinship
from training.negatives.sampling import RandomNegatives
from training.tasks.retriever_task import RetrieverTask

SETTINGS = InputSettings(mention_tokens=16, entity_tokens=20, style=EntityStyle.TITLE_TYPES)
MakeTask = Callable[..., RetrieverTask]


class Watching(Loss):
    """A smooth loss of all scores that keeps what it was given: the clean batch first, then the others."""

    def __init__(self, similarity: Similarity) -> None:
        super().__init__()
        self.similarity = similarity
        self.seen: list[LossInputs] = []

    def compute(self, batch: LossInputs) -> Tensor:
        self.seen.append(batch)
        pushed = (scores(batch.mentions, batch.candidates, self.similarity) / 4).exp() * batch.eligible
        pulled = pair_scores(batch.mentions, batch.positives, self.similarity) / 4 * batch.linked
        return (pushed.sum() - pulled.sum()) / len(batch.linked)


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    folder = build_tiny_bert(tmp_path_factory.mktemp("small") / "bert", hidden=8, layers=3)
    return load_encoder(folder, device="cpu")


@pytest.fixture(scope="session")
def kb() -> KnowledgeBase:
    made = [{**entity, "synonyms": tuple(entity["synonyms"]), "types": tuple(entity["types"])} for entity in entities()]
    return order_entities(EntityRecord(**{**entity, "alt_ids": tuple(entity["alt_ids"])}) for entity in made)


@pytest.fixture(scope="session")
def examples(kb: KnowledgeBase, small: Encoder, tmp_path_factory: pytest.TempPathFactory) -> tuple[Example, ...]:
    """Four linked mentions, of which two are linked to one entity, and one that is NIL."""
    folder = write_lines(tmp_path_factory.mktemp("snapshot"), document_lines("train", 2, seed=4), kb_hash="")
    found = make_examples(read_snapshot(folder).documents, kb, tokenizer=small.tokenizer, settings=SETTINGS)
    linked, nil = [one for one in found if one.gold][:4], next(one for one in found if not one.gold)
    linked[1] = replace(linked[1], gold=linked[0].gold)
    assert len({one.gold for one in linked}) == 3
    return (*linked, nil)


@pytest.fixture
def towers(small: Encoder, kb: KnowledgeBase) -> Towers:
    mention, entity = (copy.deepcopy(small.module).double().eval() for _ in range(2))
    with torch.no_grad():
        for parameter in entity.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(3)))
    texts = EntityTexts(kb, tokenizer=small.tokenizer, settings=SETTINGS)
    return Towers(mention, entity, texts, small.tokenizer.pad_token_id, torch.device("cpu"))


@pytest.fixture
def make_task(towers: Towers, kb: KnowledgeBase, examples: tuple[Example, ...]) -> MakeTask:
    """A task over all examples that watches its loss; options replace those of the task."""

    def make(regulariser: Any = None, *, similarity: Similarity = Similarity.DOT, **options: Any) -> RetrieverTask:
        given: dict[str, Any] = {
            "sampler": RandomNegatives(size=4, entities=len(kb.entities)),
            "kinship": Kinship(kb.entities),
            "batch_size": 5,
            "seed": 1,
        }
        return RetrieverTask(
            options.pop("towers", towers),
            options.pop("examples", examples),
            options.pop("loss", Watching(similarity)),
            similarity=similarity,
            regulariser=regulariser,
            **{**given, **options},
        )

    return make


def gradients(task: Task) -> dict[str, Tensor]:
    """The gradients of all that learns, by name; they are taken off."""
    found = {}
    for number, module in enumerate(task.modules()):
        for name, parameter in module.named_parameters():
            if parameter.grad is not None:
                found[f"{number}.{name}"] = parameter.grad
        module.zero_grad(set_to_none=True)
    return found
