"""A linker whose entities changed answers as one built again from the changed knowledge base."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from models.core.kb import KB_FILE, KnowledgeBase, order_entities
from models.encoders.encoders import load_encoder, save_encoder
from models.encoders.inputs import InputSettings
from models.errors import ModelError
from models.linker.bundle import EncoderRef, RankerSpec, RetrieverSpec, new_id, new_staging, publish, reuse, seal
from models.linker.linker import Linker
from models.linker.overlay import LiveKnowledgeBase
from models.names.candidates import LEXICAL, NAMES
from models.names.lexical_merged import LexicalList
from models.rankers.cross_encoder import new_head, save_head
from models.rankers.dual_ranker import build_ranker_entities
from models.rankers.ranker import RankerSettings
from models.retrievers.biencoder import Biencoder, BiencoderSettings, Scorer, build_entity_index
from models.retrievers.fusion import FusionWeights
from models.types import DocumentInput, EntityRecord, MentionInput

TEXT = "breast cancer, zebra palsy, aspirin, calcium, heart failure, ovarian cancer, CHF"
SPANS = [(0, 13), (15, 26), (28, 35), (37, 44), (46, 59), (61, 75), (77, 80)]
TYPES = [(), ("Disease",), ("Chemical",), ("Planet",)]
DOCUMENT = DocumentInput(
    "d",
    TEXT,
    tuple(MentionInput(f"{start}{types}", ((start, end),), types) for start, end in SPANS for types in TYPES),
)
ZEBRA = EntityRecord("Z1", "Zebra palsy", ("palsy of zebras",), ("Disease",), "Stripes fail.", ("OLD9",))


def _answers(linker: Linker):
    (answer,) = linker.link([DOCUMENT], k=64)
    return {mention.key: mention for mention in answer.mentions}


def _same(changed: Linker, anew: Linker) -> None:
    """Equal candidates with equal scores, up to the half precision in which built indexes are made."""
    expected = _answers(anew)
    for key, answer in _answers(changed).items():
        other = {c.entity_id: c for c in expected[key].candidates}
        assert {c.entity_id for c in answer.candidates} == other.keys(), key
        for candidate in answer.candidates:
            twin = other[candidate.entity_id]
            assert (candidate.name, candidate.types) == (twin.name, twin.types)
            assert candidate.score == pytest.approx(twin.score, abs=4e-3)
            assert candidate.scores == pytest.approx(dict(twin.scores), abs=4e-3)
        assert answer.nil.score == pytest.approx(expected[key].nil.score, abs=2e-2)


@pytest.fixture
def linker(bundle) -> Linker:
    return Linker.load(bundle.path, device="cpu")


@pytest.fixture(scope="module")
def entities(bundle) -> dict[str, EntityRecord]:
    return {e.id: e for e in Linker.load(bundle.path, device="cpu").stages.kb.entities}


def test_an_added_entity_is_found_by_the_next_query(linker) -> None:
    assert "Z1" not in {c.entity_id for a in _answers(linker).values() for c in a.candidates}
    linker.upsert(ZEBRA)
    answers = _answers(linker)
    for types in ((), ("Disease",)):
        first = answers[f"15{types}"].candidates[0]
        assert (first.entity_id, first.matched, first.types) == ("Z1", "Zebra palsy", ("Disease",))
        assert first.scores[LEXICAL] == pytest.approx(1, abs=1e-5)
        assert first.scores[NAMES] == pytest.approx(1, abs=1e-3)
    assert "Z1" not in {c.entity_id for c in answers["15('Chemical',)"].candidates}
    assert linker.entity("OLD9") is linker.entity("Z1") is ZEBRA
    assert [TEXT[m.start : m.end] for m in linker.detect(TEXT, ["Disease"])].count("zebra palsy") == 1


def test_a_removed_entity_is_gone_everywhere(linker) -> None:
    assert linker.detect(TEXT)[0].entity_ids == ("D1",)
    linker.remove("D1")
    assert "D1" not in {c.entity_id for a in _answers(linker).values() for c in a.candidates}
    assert linker.entity("D1") is None
    assert linker.entity("O1") is None
    assert "D1" not in {one for m in linker.detect(TEXT) for one in m.entity_ids}
    with pytest.raises(ModelError, match="'D1' cannot be removed because it is not in the knowledge base"):
        linker.remove("D1")


def test_a_changed_entity_answers_by_its_new_names_and_types_only(linker) -> None:
    linker.upsert(EntityRecord("D1", "Zebra palsy", (), ("Chemical",)))
    answers = _answers(linker)
    assert answers["15('Chemical',)"].candidates[0].entity_id == "D1"
    assert "D1" not in {c.entity_id for c in answers["15('Disease',)"].candidates}
    (scores,) = [c.scores for c in answers["0()"].candidates if c.entity_id == "D1"]
    assert scores[LEXICAL] < 0.5
    assert linker.entity("O1") is None


def test_all_at_once_or_nothing(linker) -> None:
    before = linker.stages
    for upsert, remove in (
        ([ZEBRA, EntityRecord("N", " ")], []),
        ([ZEBRA], ["D1", "none"]),
        ([EntityRecord("", "x")], []),
    ):
        with pytest.raises(ModelError, match=r"no name|not in the knowledge base"):
            linker.change_entities(upsert=upsert, remove=remove)
    assert linker.stages is before
    linker.upsert(linker.entity("D1"))
    assert linker.stages is before


def test_a_failing_encoder_changes_nothing(linker, monkeypatch) -> None:
    linker.upsert(ZEBRA)
    before = _answers(linker)

    def fail(_texts):
        raise MemoryError

    stage = linker.stages.names.stages[NAMES]
    monkeypatch.setattr(type(stage), "encode", lambda self, texts: fail(texts))
    with pytest.raises(MemoryError):
        linker.upsert(dataclasses.replace(ZEBRA, name="Another"))
    monkeypatch.undo()
    assert _answers(linker) == before


STEPS = st.lists(st.tuples(st.sampled_from(["D1", "D2", "D3", "C1", "Z1", "Z2"]), st.integers(0, 5)), max_size=6)
NEW = [
    None,
    EntityRecord("", "zebra palsy", ("aspirin", "breast tumour"), ("Disease",)),
    EntityRecord("", "Calcium", (), ("Chemical", "Drug"), "A metal.", ("O1",)),
    EntityRecord("", "heart failures", ("CHF",), ()),
    EntityRecord("", "ovarian cancers", ("cancer",), ("Disease", "Syndrome"), alt_ids=("D9",)),
    EntityRecord("", "Рак 乳腺癌", (), ("Disease",)),
]


def _changed(linker: Linker, present: dict[str, EntityRecord], steps) -> dict[str, EntityRecord]:
    entities = dict(present)
    for entity_id, choice in steps:
        record = NEW[choice]
        if record is not None:
            entities[entity_id] = dataclasses.replace(record, id=entity_id)
            linker.upsert(entities[entity_id])
        elif entity_id in entities and len(entities) > 1:
            del entities[entity_id]
            linker.remove(entity_id)
    return entities


@settings(max_examples=25, deadline=None)
@given(steps=STEPS)
def test_the_knowledge_base_is_that_of_the_changed_entities(steps) -> None:
    from models.linker.overlay import entity_change

    base = order_entities([dataclasses.replace(NEW[1 + i % 5], id=name) for i, name in enumerate(["D1", "D2", "C1"])])
    kb: KnowledgeBase = base
    entities = {e.id: e for e in base.entities}
    for entity_id, choice in steps:
        record = NEW[choice]
        if record is not None:
            entities[entity_id] = dataclasses.replace(record, id=entity_id)
            kb = entity_change(kb, [entities[entity_id]], []).kb
        elif entity_id in entities:
            del entities[entity_id]
            kb = entity_change(kb, [], [entity_id]).kb
    assert {entity_id: kb.entities[row] for entity_id, row in kb.rows.items()} == entities
    assert len(kb.rows) == len(entities)
    assert len(kb.names) == len(kb.name_entity) == kb.name_starts[-1]
    assert list(kb.names) == [kb.names[row] for row in range(len(kb.names))]
    for entity in entities.values():
        row = kb.rows[entity.id]
        assert kb.names[kb.name_starts[row] : kb.name_starts[row + 1]] == entity.names
        assert (kb.name_entity[kb.name_starts[row] : kb.name_starts[row + 1]] == row).all()
    for types in TYPES:
        rows = [row for start, stop in kb.ranges(types) for row in range(start, stop)]
        living = {kb.entities[row].id for row in rows} - {""}
        assert living == {e.id for e in entities.values() if not types or set(types) & set(e.types)}
    ids = {*entities, *(alt for e in entities.values() for alt in e.alt_ids)}
    assert set(kb.resolved) == ids
    for one in ids:
        owner = entities[kb.resolved[one]]
        assert one == owner.id or (one in owner.alt_ids and one not in entities)
    assert "nothing" not in kb.resolved
    assert set(kb.types) >= {kind for e in entities.values() for kind in e.types}


def test_a_primary_id_that_goes_makes_way_for_the_alternate_one() -> None:
    from models.linker.overlay import entity_change

    base = order_entities([EntityRecord("a", "A", alt_ids=("b", "c")), EntityRecord("b", "B", alt_ids=("c",))])
    assert (base.resolved["b"], base.resolved["c"]) == ("b", "a")
    kb = entity_change(base, [], ["b"]).kb
    assert (kb.resolved["b"], kb.resolved["c"]) == ("a", "a")
    kb = entity_change(base, [EntityRecord("a", "A")], []).kb
    assert kb.resolved["c"] == "b"
    with pytest.raises(IndexError):
        kb.names[99]
    with pytest.raises(IndexError):
        kb.entities[-99]
    assert kb.entities[-1].id == "a"


def test_many_changes_answer_like_a_linker_built_anew(linker, entities, make_bundle, tmp_path) -> None:
    steps = [("Z1", 1), ("D2", 0), ("D1", 4), ("Z2", 2), ("C1", 3), ("Z1", 5), ("Z2", 0), ("Z2", 1)]
    after = _changed(linker, entities, steps)
    # the frozen idf is that of the old names: only entities and the dense scores can be compared with a new build
    anew = Linker.load(make_bundle(tmp_path, tuple(after.values()), stages=(NAMES,)).path, device="cpu")
    expected = _answers(anew)
    for key, answer in _answers(linker).items():
        other = {c.entity_id: c.scores[NAMES] for c in expected[key].candidates}
        assert {c.entity_id: c.scores[NAMES] for c in answer.candidates} == pytest.approx(other, abs=2e-3), key


def test_lexical_scores_are_those_of_the_frozen_weights(linker, entities) -> None:
    """Against one matrix product over all living names."""
    after = _changed(linker, entities, [("Z1", 1), ("D2", 0), ("Z1", 4), ("D1", 3), ("Z2", 2)])
    stage = linker.stages.names.stages[LEXICAL]
    names = [(e.id, name) for e in after.values() for name in e.names]
    queries = stage.encode([TEXT[start:end] for start, end in SPANS])
    exact = (queries @ stage.encode([name for _, name in names]).T).toarray()
    kb = linker.stages.kb
    scores, rows = stage.search(queries, 50, ranges=kb.name_ranges(()))
    for query in range(len(SPANS)):
        found = {(kb.entities[kb.name_entity[row]].id, kb.names[row]) for row in rows[query] if row >= 0}
        assert found == {names[at] for at in np.flatnonzero(exact[query] > 0)}
        np.testing.assert_allclose(
            scores[query][rows[query] >= 0], np.sort(exact[query][exact[query] > 0])[::-1], atol=1e-6
        )
    _, one = stage.search(queries, 1, ranges=kb.name_ranges(()))
    np.testing.assert_array_equal(one[:, 0], rows[:, 0])


def test_a_stage_asks_for_more_where_all_near_names_are_dead(make_bundle, tmp_path) -> None:
    crowd = tuple(EntityRecord(f"E{n:03}", "breast cancer", (f"breast cancer {n}",)) for n in range(150))
    linker = Linker.load(make_bundle(tmp_path, (*crowd, EntityRecord("far", "breast"))).path, device="cpu")
    linker.change_entities(remove=[e.id for e in crowd[:149]])
    (answer,) = linker.link([DocumentInput("d", "breast cancer", (MentionInput("m", ((0, 13),)),))], k=2)
    assert [c.entity_id for c in answer.mentions[0].candidates] == ["E149", "far"]
    linker.change_entities(remove=["E149", "far"])
    (answer,) = linker.link([DocumentInput("d", "breast cancer", (MentionInput("m", ((0, 13),)),))], k=2)
    assert not answer.mentions[0].candidates
    assert answer.mentions[0].nil.is_nil


@pytest.fixture(scope="module")
def trained(bundle, make_tiny_bert, tmp_path_factory):
    """Bundles with a (random) bi-encoder and each kind of ranker, over any knowledge base."""
    source = load_encoder(make_tiny_bert(tmp_path_factory.mktemp("t") / "t", seed=5), device="cpu", max_tokens=64)

    def make(base, kind: str) -> Linker:
        staging = new_staging(base.path.parent)
        for part in (KB_FILE, "retrievers", "encoders"):
            reuse(base, part, staging)
        folder = save_encoder(source, staging / "encoders" / "own")
        encoder = load_encoder(staging / "encoders" / "own", device="cpu", max_tokens=64)
        ref = EncoderRef("bundle", folder, "encoders/own")
        kb, kb_hash = Linker.load(base.path, device="cpu").stages.kb, base.manifest.kb_hash
        towers = Biencoder(encoder, encoder, BiencoderSettings(Scorer.DOT, InputSettings(32, 32)))
        list(build_entity_index(towers, kb, staging / "retrievers" / "own", kb_hash=kb_hash))
        ranking = RankerSettings(InputSettings(32, 32))
        if kind == "dual":
            list(build_ranker_entities(encoder, kb, staging / "ranker", settings=ranking, kb_hash=kb_hash))
        else:
            save_head(new_head(encoder, seed=1), staging / "ranker", encoder=folder)
        spec = RetrieverSpec("own", "biencoder", "retrievers/own", (ref, ref), towers.settings.to_json())
        manifest = base.manifest.replace(
            id=new_id("own"),
            retrievers=(*base.manifest.retrievers, spec),
            ranker=RankerSpec("again", kind, "ranker", (ref, ref), 3, ranking.to_json()),
            fusion=FusionWeights({NAMES: 1.0, "own": 0.5, "ranker": 0.5}).to_json(),
        )
        return Linker.load(publish(seal(staging, manifest, known=base).path).path, device="cpu")

    return make


@pytest.mark.parametrize("kind", ["dual", "cross"])
def test_trained_stages_and_rankers_know_new_entities(make_bundle, entities, trained, tmp_path, kind) -> None:
    base = make_bundle(tmp_path / "old", tuple(entities.values()), stages=(NAMES,))
    linker = trained(base, kind)
    after = _changed(linker, entities, [("Z1", 1), ("D2", 0), ("D1", 4), ("Z2", 2)])
    _same(linker, trained(make_bundle(tmp_path / "new", tuple(after.values()), stages=(NAMES,)), kind))


def test_weights_taken_before_a_change_go_on_with_what_they_had(linker) -> None:
    other = linker.with_weights()
    linker.upsert(ZEBRA)
    assert other.entity("Z1") is None
    assert "Z1" not in {c.entity_id for a in _answers(other).values() for c in a.candidates}
    assert isinstance(linker.stages.kb, LiveKnowledgeBase)
    later = linker.with_weights()
    later.remove("Z1")
    assert linker.entity("Z1") is ZEBRA
    linker.upsert(dataclasses.replace(ZEBRA, id="Z2"))
    later.upsert(dataclasses.replace(ZEBRA, name="Another"))
    assert (linker.entity("Z1"), later.entity("Z2")) == (ZEBRA, None)
    assert _answers(linker)["15()"].candidates[1].entity_id == "Z2"


@pytest.mark.parametrize("kind", [LexicalList.MERGED, LexicalList.BM25])
def test_lists_of_words_take_new_names_and_lose_old_ones(make_bundle, tmp_path, kind) -> None:
    linker = Linker.load(make_bundle(tmp_path, stages=(LEXICAL,), lexical=kind).path, device="cpu")
    linker.upsert(ZEBRA)
    first = _answers(linker)["15()"].candidates[0]
    assert (first.entity_id, first.scores[LEXICAL]) == ("Z1", pytest.approx(1, abs=1e-5))
    linker.remove("Z1")
    linker.remove("D1")
    assert {"Z1", "D1"}.isdisjoint(c.entity_id for a in _answers(linker).values() for c in a.candidates)


def test_a_stage_that_weighs_names_otherwise_takes_none(linker) -> None:
    from models.names.bm25 import Bm25
    from models.names.lexical import LexicalRetriever

    stages = linker.stages
    bm25 = LexicalRetriever(Bm25.fit(list(stages.kb.names)))
    names = dataclasses.replace(stages.names, stages={**stages.names.stages, LEXICAL: bm25})
    linker.stages = dataclasses.replace(stages, names=names)
    with pytest.raises(ModelError, match="cannot take new names"):
        linker.upsert(ZEBRA)
    assert len(stages.names.stages[NAMES].index) == len(stages.kb.names)


def test_two_changes_of_one_knowledge_base_do_not_disturb_each_other() -> None:
    base = LiveKnowledgeBase.of(order_entities([EntityRecord("a", "A", ("aa",)), EntityRecord("b", "B")]))
    first = base.changed([EntityRecord("c", "C", ("cc", "ccc"))], [0])
    second = base.changed([EntityRecord("d", "D")], [])
    third = first.changed([EntityRecord("e", "E", ("ee",))], [1])
    assert list(base.names) == ["A", "aa", "B"]
    assert list(first.names) == ["", "", "B", "C", "cc", "ccc"]
    assert list(second.names) == ["A", "aa", "B", "D"]
    assert list(third.names) == ["", "", "", "C", "cc", "ccc", "E", "ee"]
    assert third.name_starts.tolist() == [0, 2, 3, 6, 8]
    assert second.name_entity.tolist() == [0, 0, 1, 2]
