import numpy as np
import pytest

from models.core.kb import KnowledgeBase
from models.encoders.inputs import MentionTokens
from models.types import EntityRecord
from training.data.examples import Example
from training.job.part_quality import recall, rerank, search
from training.losses.base import Similarity

KB = KnowledgeBase(tuple(EntityRecord(f"E{n}", f"e{n}", types=("A",) if n < 2 else ("B",)) for n in range(4)))


def example(gold: tuple[int, ...], types: tuple[str, ...] = ()) -> Example:
    return Example("m", MentionTokens((1,), 0, 0), gold, types, 0)


def test_retrieval_is_restricted_by_type_and_cosine_ignores_length() -> None:
    entities = np.array([[1, 0], [0, 1], [9, 9], [4, 0]], dtype=np.float32)
    mentions = np.array([[1, 0.5], [1, 0.5]], dtype=np.float32)
    examples = [example((0,), ("A",)), example((2,), ())]
    _, by_dot = search(mentions, entities, examples, KB, similarity=Similarity.DOT, k=3)
    assert by_dot.tolist() == [[0, 1, -1], [2, 3, 0]]
    _, by_cosine = search(mentions, entities, examples, KB, similarity=Similarity.COSINE, k=2)
    assert by_cosine[1].tolist()[0] == 2


def test_rerank_is_by_distance_and_stable() -> None:
    entities = np.array([[3, 0], [1, 0], [1, 0], [0, 0]], dtype=np.float32)
    ordered = rerank(np.zeros((2, 2), dtype=np.float32), entities, [[0, 2, 1], []])
    assert ordered == [[2, 1, 0], []]


def test_recall_counts_linked_examples_only() -> None:
    examples = [example((1,)), example(()), example((2, 3)), example((0,))]
    found = recall([[1, 2], [1], [0, 3], []], examples, k=2)
    assert found == (pytest.approx(1 / 3), pytest.approx(2 / 3))
    assert recall([[1]], [example(())], k=2) == (0.0, 0.0)
