"""The map of mentions and entities: what is on it, that distances are kept, and that it is read back as written."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from models.core.kb import order_entities
from models.encoders.encoders import load_encoder
from models.encoders.inputs import InputSettings, MentionTokens
from models.errors import ModelError
from models.types import EntityRecord
from training.data.examples import EntityTexts, Example
from training.data.snapshot import Gold, SnapshotDocument, SnapshotMention, Split
from training.evaluation.embedding_map import (
    LIMIT,
    EmbeddingMap,
    PointKind,
    Selection,
    Vectors,
    make_map,
    seen_by,
    select_points,
)
from training.loop.towers import Towers

KB = order_entities(EntityRecord(f"E{n}", f"entity {n}") for n in range(8))
DOCUMENTS = [
    SnapshotDocument(
        f"d{number}",
        Split.TRAIN,
        "a fever, a rash",
        (
            SnapshotMention(f"{number}.0", ((2, 7),), gold=Gold(("E0",))),
            SnapshotMention(f"{number}.1", ((11, 15),), gold=Gold(nil=True)),
        ),
    )
    for number in range(6)
]


def example(key: str, *gold: int) -> Example:
    return Example(key, MentionTokens((1, 2), 0, 1), gold, (), 0)


EXAMPLES = [example(f"{number}.{place}", (number + place) % 3) for number in range(6) for place in (0, 1)]


def states(seed: int, selection: Selection, *, width: int = 2) -> Vectors:
    random = np.random.default_rng(seed)
    sizes = len(selection.numbers), len(selection.rows)
    mentions, entities = (random.normal(size=(size, width)).astype(np.float32) for size in sizes)
    return Vectors(mentions, entities)


def made(selection: Selection, before: Vectors, after: Vectors, *, directions: bool = False) -> EmbeddingMap:
    return make_map(
        selection, EXAMPLES, KB, documents=DOCUMENTS, before=before, after=after, directions=directions, seed=3
    )


@pytest.mark.parametrize("tokens", [False, True])
def test_a_state_is_what_the_towers_see(tiny_encoder: Path, tokens: bool) -> None:
    encoder = load_encoder(tiny_encoder, device="cpu")
    texts = EntityTexts(KB, tokenizer=encoder.tokenizer, settings=InputSettings(20, 20))
    towers = Towers(encoder.module, encoder.module, texts, int(encoder.tokenizer.pad_token_id), torch.device("cpu"))
    towers.mention.train()
    assert len(seen_by(towers, EXAMPLES, Selection((), (), ()), tokens=tokens).entities) == 0
    selection = Selection((0, 3), (2, 5), (0, 1))
    state = seen_by(towers, EXAMPLES, selection, tokens=tokens)
    assert towers.mention.training
    towers.mention.eval()
    with torch.no_grad():
        for number, vector in zip(selection.numbers, state.mentions, strict=True):
            plain = towers.mention_states([EXAMPLES[number]]).states[0].numpy().mean(0)
            whole = towers.encode_mentions([EXAMPLES[number]])[0].numpy()
            np.testing.assert_allclose(vector, plain / np.linalg.norm(plain) if tokens else whole, atol=1e-5)
        for row, vector in zip(selection.rows, state.entities, strict=True):
            plain = towers.entity_states(np.array([row])).states[0].numpy().mean(0)
            whole = towers.encode_entities(np.array([row]))[0].numpy()
            np.testing.assert_allclose(vector, plain / np.linalg.norm(plain) if tokens else whole, atol=1e-5)


def test_linked_mentions_of_few_entities_are_selected() -> None:
    many = [example(f"m{n}", n % 7) for n in range(300)] + [example("nil"), example("both", 1, 2), example("lone", 7)]
    found = select_points(many, seed=1, limit=40, groups=5)
    assert len(found.rows) == 5
    assert 7 not in found.rows
    assert len(found.numbers) + len(found.rows) == 40
    assert all(many[n].gold == (found.rows[g],) for n, g in zip(found.numbers, found.group_of, strict=True))
    assert set(Counter(found.group_of).values()) == {7}
    assert select_points(many, seed=1, limit=40, groups=5) == found
    assert select_points(many, seed=2, limit=40, groups=5) != found
    everything = select_points(many, seed=1)
    assert len(everything.numbers) + len(everything.rows) <= LIMIT
    assert set(everything.rows) == set(range(8))
    assert select_points(many[-3:-1], seed=1) == Selection((), (), ())


def test_one_layout_keeps_distances_within_and_between_both_states() -> None:
    selection = select_points(EXAMPLES, seed=0)
    before, after = states(1, selection), states(2, selection)
    found = made(selection, before, after)
    places = np.array([point.before for point in found.points] + [point.after for point in found.points])
    points = np.concatenate([before.entities, before.mentions, after.entities, after.mentions])
    true = np.linalg.norm(points[:, None] - points[None], axis=2)
    laid = np.linalg.norm(places[:, None] - places[None], axis=2)
    np.testing.assert_allclose(laid, true, atol=1e-3)
    assert found.stress < 1e-3
    assert made(selection, before, after) == found


def test_stress_tells_what_two_dimensions_lose() -> None:
    selection = select_points(EXAMPLES, seed=0)
    before, after = states(1, selection, width=9), states(2, selection, width=9)
    found = made(selection, before, after)
    places = np.array([point.before for point in found.points] + [point.after for point in found.points])
    points = np.concatenate([before.entities, before.mentions, after.entities, after.mentions])
    lost = whole = 0.0
    for a in range(len(points)):
        for b in range(a):
            true = float(np.linalg.norm(points[a] - points[b]))
            lost += (float(np.linalg.norm(places[a] - places[b])) - true) ** 2
            whole += true**2
    assert found.stress == pytest.approx((lost / whole) ** 0.5, rel=1e-3)
    assert 0.05 < found.stress < 0.5


def test_points_name_what_they_are() -> None:
    selection = select_points(EXAMPLES, seed=0)
    found = made(selection, states(1, selection), states(2, selection))
    entities = [point for point in found.points if point.kind is PointKind.ENTITY]
    mentions = [point for point in found.points if point.kind is PointKind.MENTION]
    assert [(point.key, point.label, point.document) for point in entities] == [
        (f"E{row}", f"entity {row}", "") for row in selection.rows
    ]
    by_key = {one.key: one for one in EXAMPLES}
    assert {point.key for point in mentions} == set(by_key)
    for point in mentions:
        number, place = point.key.split(".")
        assert (point.label, point.document) == (("fever", "rash")[int(place)], f"d{number}")
        assert point.group == KB.entities[by_key[point.key].gold[0]].id


def test_share_of_mentions_nearest_to_their_own_entity() -> None:
    selection = Selection((0, 1, 2, 3), (0, 1), (0, 0, 1, 1))
    entities = np.array([[0, 0], [10, 0]], dtype=np.float32)
    right = Vectors(np.array([[1, 0], [2, 1], [9, 0], [8, 1]], dtype=np.float32), entities)
    wrong = replace(right, mentions=np.array([[1, 0], [9, 1], [9, 0], [4, 1]], dtype=np.float32))
    found = made(selection, wrong, right)
    assert (found.nearest_before, found.nearest_after) == (0.5, 1.0)


def test_directions_leave_lengths_out() -> None:
    selection = select_points(EXAMPLES, seed=0)
    before, after = states(1, selection), states(2, selection)
    longer = Vectors(7 * after.mentions, 3 * after.entities)
    for directions in (True, False):
        one, two = (made(selection, before, state, directions=directions) for state in (after, longer))
        apart = max(abs(a - b) for p, q in zip(one.points, two.points, strict=True)
                    for a, b in zip(p.after, q.after, strict=True))  # fmt: skip
        assert (apart < 1e-3) == directions


def test_written_and_read_back() -> None:
    selection = select_points(EXAMPLES, seed=0)
    found = made(selection, states(1, selection), states(2, selection))
    raw = found.to_json()
    assert json.loads(json.dumps(raw)) == raw
    assert EmbeddingMap.from_json(raw) == found
    assert set(raw["points"][0]) == {"key", "label", "kind", "group", "before", "after", "document"}
    assert [point["kind"] for point in raw["points"]].count("mention") == 12
    for damaged in ({}, raw | {"points": [{"key": "a"}]}, raw | {"stress": "high"}):
        with pytest.raises(ModelError, match="not an embedding map"):
            EmbeddingMap.from_json(damaged)


def test_nothing_to_show_and_nothing_apart() -> None:
    nothing = Selection((), (), ())
    empty = made(nothing, states(1, nothing), states(2, nothing))
    assert empty == EmbeddingMap((), 0.0, 0.0, 0.0)
    selection = Selection((0, 1), (0,), (0, 0))
    same = Vectors(np.ones((2, 3), dtype=np.float32), np.ones((1, 3), dtype=np.float32))
    found = made(selection, same, same)
    assert {point.before for point in found.points} | {point.after for point in found.points} == {(0.0, 0.0)}
    assert found.nearest_after == 1.0
