from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from models.core.kb import KnowledgeBase, order_entities
from models.encoders.encoders import Encoder
from models.encoders.inputs import InputSettings, entity_tokens, mention_tokens
from models.errors import ModelError
from models.retrievers import som, token_store
from models.retrievers.biencoder import INDEX_FILE, Biencoder, BiencoderSettings
from models.retrievers.fusion import SPREAD
from models.retrievers.scorers import Scorer, TokenStates, sum_of_max
from models.retrievers.som import SomRetriever, build_som_index, load_som
from models.retrievers.token_store import HEADER_FILE, OFFSETS_FILE, STATES_FILE, TokenStore, write_tokens
from models.types import DocumentInput, EntityRecord, MentionInput, Progress

WORDS = ["breast", "heart", "pain", "acute", "chronic", "acid", "drug", "of", "the"]
SOURCE = "kb"


def random_kb(count: int) -> KnowledgeBase:
    random = np.random.default_rng(count)
    return order_entities(
        EntityRecord(
            f"E{number:03}",
            " ".join(random.choice(WORDS, size=random.integers(1, 5))),
            (),
            ("Disease",) if number % 3 else ("Chemical",),
            " ".join(random.choice(WORDS, size=random.integers(0, 12))),
        )
        for number in range(count)
    )


KB = random_kb(30)
TEXT = "Acute pain and heart failure in breast cancer, pain."
MENTIONS = [
    (DocumentInput("d", TEXT), MentionInput("a", ((6, 10),))),
    (DocumentInput("d", TEXT), MentionInput("b", ((15, 28),))),
    (DocumentInput("e", TEXT), MentionInput("a", ((6, 10),))),
    (DocumentInput("f", "heart"), MentionInput("a", ((0, 5),))),
]


def towers(encoder: Encoder, *, shortlist: int = 1000) -> Biencoder:
    return Biencoder(encoder, encoder, BiencoderSettings(Scorer.SOM, InputSettings(24, 16), shortlist))


@pytest.fixture(scope="module")
def folder(encoder: Encoder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("som") / "retriever"
    steps = list(build_som_index(towers(encoder), KB, path, kb_hash="kb"))
    assert steps[-1] == Progress("entities", 30, 30)
    return path


def open_som(encoder: Encoder, folder: Path, *, shortlist: int = 1000) -> SomRetriever:
    source = som.index_source("kb", encoder.fingerprint)
    return load_som("own", towers(encoder, shortlist=shortlist), folder, entities=30, source=source)


def expected_scores(encoder: Encoder, kb: KnowledgeBase = KB) -> np.ndarray:
    """(mentions, entities) by the function that training uses, over padded token states."""
    settings = towers(encoder).settings.inputs

    def states(ids: list[tuple[int, ...]]) -> TokenStates:
        tokens, mask = encoder.pad(ids)
        with torch.inference_mode():
            return TokenStates(encoder.module.token_states(tokens, mask), mask)

    mentions = states([mention_tokens(encoder.tokenizer, d, m, settings=settings).ids for d, m in MENTIONS])
    return sum_of_max(
        mentions, states([entity_tokens(encoder.tokenizer, e, settings=settings) for e in kb.entities])
    ).numpy()


def near(found: np.ndarray, expected: np.ndarray) -> None:
    """Half precision keeps three digits."""
    np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-2)


def test_a_small_knowledge_base_is_searched_whole_by_the_scores_of_training(encoder: Encoder, folder: Path) -> None:
    retriever, expected = open_som(encoder, folder), expected_scores(encoder)
    asked = retriever.ask(MENTIONS)
    scores, rows = asked.search([3, 0, 2], 40, ranges=((0, 30),))
    near(asked.score(1, np.asarray([29, 0, 7])), expected[1, [29, 0, 7]])
    for place, mention in enumerate([3, 0, 2]):
        assert sorted(rows[place, :30].tolist()) == list(range(30))
        near(scores[place, :30], expected[mention, rows[place, :30]])
        assert (np.diff(scores[place, :30]) <= 0).all()
    assert set(rows[:, 30:].ravel().tolist()) == {-1}
    assert np.isneginf(scores[:, 30:]).all()
    np.testing.assert_array_equal(rows[1], rows[2])  # the same mention in another document
    assert "all 30 entities are compared exactly" in retriever.sentence()
    assert retriever.scale == SPREAD


def test_a_large_one_is_re_ranked_from_a_shortlist(encoder: Encoder, folder: Path) -> None:
    retriever, expected = open_som(encoder, folder, shortlist=9), expected_scores(encoder)
    asked = retriever.ask(MENTIONS)
    scores, rows = asked.search(range(4), 12, ranges=((0, 30),))
    for place in range(4):
        mean = asked.states[asked.offsets[asked.rows[place]] : asked.offsets[asked.rows[place] + 1]].mean(0).numpy()
        _, chosen = retriever.pooled.search(mean[None], 9)
        assert set(rows[place, :9].tolist()) == set(chosen[0].tolist())
        near(scores[place, :9], expected[place, rows[place, :9]])
        assert (np.diff(scores[place, :9]) <= 0).all()
        assert rows[place, 9:].tolist() == [-1] * 3
    assert "re-ranks the 9 entities" in retriever.sentence()
    assert "30 entities" in retriever.sentence()


def test_types_restrict_and_decide_whether_all_are_compared(encoder: Encoder, folder: Path) -> None:
    chemicals = KB.ranges(("Chemical",))
    ((start, stop),) = chemicals
    retriever = open_som(encoder, folder, shortlist=stop - start)
    _, rows = retriever.ask(MENTIONS).search([0, 3], 30, ranges=chemicals)
    for found in rows:
        assert sorted(found[: stop - start].tolist()) == list(range(start, stop))
        assert set(found[stop - start :].tolist()) == {-1}
    _, none = retriever.ask(MENTIONS).search([0], 3, ranges=())
    assert none.tolist() == [[-1, -1, -1]]


def test_equal_scores_give_the_lower_row_first(encoder: Encoder, tmp_path: Path) -> None:
    same = KnowledgeBase(tuple(EntityRecord(f"E{number}", "heart") for number in range(5)))
    list(build_som_index(towers(encoder), same, tmp_path, kb_hash="kb"))
    source = som.index_source("kb", encoder.fingerprint)
    retriever = load_som("own", towers(encoder), tmp_path, entities=5, source=source)
    _, rows = retriever.ask(MENTIONS).search([0], 3, ranges=((1, 5),))
    assert rows.tolist() == [[1, 2, 3]]


def test_blocks_change_nothing(encoder: Encoder, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = open_som(encoder, folder).ask(MENTIONS)
    whole = asked.search(range(4), 30, ranges=((0, 30),))
    monkeypatch.setattr(som, "BLOCK_ENTRIES", 2000)
    monkeypatch.setattr(token_store, "CHUNK", 7)
    parts = asked.search(range(4), 30, ranges=((0, 30),))
    np.testing.assert_allclose(parts[0], whole[0], rtol=1e-5)
    np.testing.assert_array_equal(parts[1], whole[1])
    again = folder.parent / "again"
    list(build_som_index(towers(encoder), KB, again, kb_hash="kb"))
    assert (again / OFFSETS_FILE).read_bytes() == (folder / OFFSETS_FILE).read_bytes()
    near(open_som(encoder, again).tokens.stored, open_som(encoder, folder).tokens.stored)


def test_on_a_gpu_blocks_are_larger_and_the_shortlist_is_searched_there(
    encoder: Encoder, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lengths = np.full(100, 8)
    assert [len(block) for block in som._blocks(lengths, width=4, entries=8 * 4 * 30)] == [30, 30, 30, 10]
    asked: list[bool] = []
    monkeypatch.setattr(som.VectorIndex, "to_gpu", lambda self, *, wanted: asked.append(wanted))
    source = som.index_source("kb", encoder.fingerprint)
    for on_gpu in (False, True):
        load_som("own", towers(encoder), folder, entities=30, source=source, on_gpu=on_gpu)
    assert asked == [False, True]


def test_no_mentions_and_no_entities(encoder: Encoder, folder: Path) -> None:
    asked = open_som(encoder, folder).ask([])
    assert asked.search([], 3, ranges=((0, 30),))[1].shape == (0, 3)
    assert open_som(encoder, folder).ask(MENTIONS).score(0, np.zeros(0, dtype=np.int64)).shape == (0,)


def test_new_entities_are_found_and_removed_ones_are_not(encoder: Encoder, folder: Path) -> None:
    new = [EntityRecord("N1", "acute pain"), EntityRecord("N2", "heart", (), (), "failure of the heart")]
    expected = expected_scores(encoder, KnowledgeBase((*KB.entities, *new)))
    for shortlist in (1000, 20):
        retriever = open_som(encoder, folder, shortlist=shortlist)
        grown = retriever.changed(new, np.asarray([4, 9])).changed([], np.asarray([31]))
        asked = grown.ask(MENTIONS)
        near(asked.score(1, np.asarray([30, 5, 31])), expected[1, [30, 5, 31]])
        scores, rows = asked.search([1], 32, ranges=((0, 32),))
        found = rows[0][rows[0] >= 0]
        assert not {4, 9, 31} & set(found.tolist())
        assert len(found) == min(29, shortlist)
        near(scores[0, : len(found)], expected[1, found])
    assert len(open_som(encoder, folder).tokens) == 30


@pytest.mark.parametrize("name", [STATES_FILE, OFFSETS_FILE, HEADER_FILE, INDEX_FILE])
def test_missing_and_cut_off_files_are_told(encoder: Encoder, folder: Path, tmp_path: Path, name: str) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    (broken / name).write_bytes((folder / name).read_bytes()[:-5])
    with pytest.raises(ModelError, match=r"truncated|cannot be read|damaged"):
        open_som(encoder, broken)
    (broken / name).unlink()
    with pytest.raises(ModelError, match=r"missing"):
        open_som(encoder, broken)


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('"format": 1', '"format": 9', "a different version"),
        ('"rows": 30', '"rows": 29', "another knowledge base"),
        ('"source": "kb', '"source": "xx', "another knowledge base"),
        ('"tokens"', '"token"', "damaged header"),
        ('"dimension": 32', '"dimension": "a"', "damaged header"),
        ('"dimension": 32', '"dimension": 31', "truncated"),
    ],
)
def test_headers_that_do_not_fit_are_told(
    encoder: Encoder, folder: Path, tmp_path: Path, before: str, after: str, told: str
) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    header = (broken / HEADER_FILE).read_text()
    assert before in header
    (broken / HEADER_FILE).write_text(header.replace(before, after))
    with pytest.raises(ModelError, match=told):
        open_som(encoder, broken)


def test_offsets_that_do_not_ascend_are_told(encoder: Encoder, folder: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(folder, broken)
    offsets = np.fromfile(broken / OFFSETS_FILE, dtype="<i8")
    offsets[[3, 4]] = offsets[[4, 3]]
    offsets.tofile(broken / OFFSETS_FILE)
    with pytest.raises(ModelError, match="damaged"):
        open_som(encoder, broken)


def test_an_interrupted_or_refused_build_leaves_nothing(
    encoder: Encoder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(token_store, "CHUNK", 2)
    ids = [entity_tokens(encoder.tokenizer, e, settings=InputSettings()) for e in KB.entities]
    steps = write_tokens(encoder, ids, tmp_path, source=SOURCE)
    next(steps)
    steps.close()
    assert list(tmp_path.iterdir()) == []
    monkeypatch.setattr(token_store, "token_states", lambda *_: (np.full((9, 32), 1e6), np.asarray([0, 5, 9])))
    with pytest.raises(ModelError, match="too large"):
        list(write_tokens(encoder, ids, tmp_path, source=SOURCE))
    monkeypatch.setattr(token_store.shutil, "disk_usage", lambda _: SimpleNamespace(total=9, used=9, free=9))
    with pytest.raises(ModelError, match="Free some disk space"):
        list(write_tokens(encoder, ids, tmp_path, source=SOURCE))
    assert list(tmp_path.iterdir()) == []


def test_token_states_are_read_only_and_padded_by_repetition(encoder: Encoder, folder: Path) -> None:
    store = TokenStore.load(folder, rows=30, source=som.index_source("kb", encoder.fingerprint))
    rows = np.argsort(store.lengths(np.arange(30)))[[0, -1]]
    padded = store.padded(rows)
    short = int(store.lengths(rows[:1])[0])
    assert padded.shape == (2, int(store.lengths(rows[1:])[0]), 32)
    assert (padded[0, short:] == padded[0, short - 1]).all()
    start = int(store.offsets[rows[0]])
    np.testing.assert_array_equal(padded[0, :short], store.stored[start : start + short])
    assert not store.stored.flags.writeable
