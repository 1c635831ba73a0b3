"""The memory in the linker: effective from the next query on, for equal and similar strings, entities and NIL."""

from __future__ import annotations

import pytest

from models.encoders.encoders import Encoder
from models.linker.linker import Linker
from models.names.names import WORTH_KEEPING
from models.retrievers.recalled import NOTHING
from models.types import DecidedDocument, DocumentInput, MentionInput


def document(key: str, text: str, *quotes: str, types: tuple[str, ...] = ("Disease",)) -> DocumentInput:
    mentions = []
    for number, quote in enumerate(quotes):
        start = text.index(quote)
        mentions.append(MentionInput(f"{key}.{number}", ((start, start + len(quote)),), types))
    return DocumentInput(key, text, tuple(mentions))


@pytest.fixture
def linker(bundle) -> Linker:
    return Linker.load(bundle.path, device="cpu")


def first(linker: Linker, one: DocumentInput, *, own: bool = False):
    (answer,) = linker.link([one], own=own)
    return answer.mentions[0].candidates[0]


def test_a_decision_is_felt_by_the_next_query_and_its_undoing_too(linker) -> None:
    asked = document("b", "The pump gave out.", "pump gave out")
    before = first(linker, asked)
    taught = document("a", "Her pump gave out.", "pump gave out")
    other = "D3" if before.entity_id != "D3" else "D2"
    linker.remember(DecidedDocument(taught, ((other,),)))
    after = first(linker, asked)
    assert (after.entity_id, after.decided_times, after.decided_documents) == (other, 1, 1)
    assert after.scores["memory"] == pytest.approx(1 / 1.5)
    assert after.probability > before.probability or before.entity_id == other
    linker.remember(DecidedDocument(DocumentInput("a", taught.text), ()))
    assert first(linker, asked) == before
    assert linker.memory.documents == 0


@pytest.mark.parametrize(
    ("types", "ids", "found"),
    [
        (("Chemical",), ("D2",), {(): ("Chemical",), ("Chemical",): ("Chemical",), ("Disease",): None}),
        ((), ("D2",), {(): ("Disease",), ("Disease",): ("Disease",), ("Chemical",): None}),
        (("Disease",), (), {(): ("Disease",), ("Disease",): ("Disease",), ("Chemical",): None}),
        ((), (), {(): (), ("Disease",): None}),
    ],
    ids=["linked", "linked, of any type", "NIL", "NIL, of any type"],
)
def test_a_decided_text_is_detected_with_its_types_or_those_of_its_entities(linker, types, ids, found) -> None:
    linker.remember(DecidedDocument(document("a", "Her blorbitis.", "blorbitis", types=types), (ids,)))
    for wanted, expected in found.items():
        detected = [one.types for one in linker.detect("A blorbitis.", wanted)]
        assert detected == ([] if expected is None else [expected])
    linker.remember(DecidedDocument(DocumentInput("a", "Her blorbitis."), ()))
    assert linker.detect("A blorbitis.") == []


def test_an_entity_that_no_retriever_found_comes_from_the_memory(bundle) -> None:
    linker = Linker.load(bundle.path, device="cpu")
    asked = document("b", "qqqq", "qqqq")
    linker.remember(DecidedDocument(document("a", "qqqq", "qqqq"), (("D2",),)))
    (answer,) = linker.link([asked], k=1)
    assert answer.mentions[0].candidates[0].entity_id == "D2"


def test_a_document_hears_its_other_decisions_only_where_that_is_wanted(linker) -> None:
    text = "The pump gave out, and again the pump gave out."
    spans = [(4, 17), (33, 46)]
    both = DocumentInput("a", text, tuple(MentionInput(str(n), (span,), ("Disease",)) for n, span in enumerate(spans)))
    none_trained = first(linker, both)
    other = "D3" if none_trained.entity_id != "D3" else "D2"
    linker.remember(DecidedDocument(DocumentInput("a", text, both.mentions[1:]), ((other,),)))
    assert first(linker, both, own=False) == none_trained
    assert first(linker, both, own=True).entity_id == other
    (answer,) = linker.link([both], own=True)
    assert answer.mentions[1].candidates[0].decided_times == 0, "a mention never hears itself"


def test_remembered_nil_raises_the_nil_features(linker) -> None:
    linker.remember(DecidedDocument(document("a", "blorbitis", "blorbitis"), ((),)))
    (scored,) = linker.score([document("b", "A blorbitis.", "blorbitis")])
    features = linker.nil_features(scored)
    assert features.nil_share == pytest.approx(1 / 1.5)
    assert scored.without_memory().recalled is NOTHING
    assert linker.nil_features(scored.without_memory()).nil_share == 0


def test_contexts_tell_rivals_apart(linker) -> None:
    heart, breast = "Weak heart muscle, a cold state.", "Lump in the breast, a cold state."
    linker.remember(
        DecidedDocument(document("a", heart, "cold state"), (("D3",),)),
        DecidedDocument(document("b", breast, "cold state"), (("D1",),)),
    )
    assert first(linker, document("c", heart, "cold state")).entity_id == "D3"
    assert first(linker, document("d", breast, "cold state")).entity_id == "D1"


def test_an_entity_that_the_knowledge_base_lost_is_passed_over(linker) -> None:
    linker.remember(DecidedDocument(document("a", "qqqq", "qqqq"), (("GONE:1",),)))
    (answer,) = linker.link([document("b", "qqqq", "qqqq")])
    assert "GONE:1" not in {candidate.entity_id for candidate in answer.mentions[0].candidates}


def test_the_memory_outlives_a_change_of_bundle(bundle, linker) -> None:
    linker.remember(DecidedDocument(document("a", "qqqq", "qqqq"), (("D2",),)))
    newer = Linker.load(bundle.path, device="cpu")
    assert newer.shares_memory_with(linker)
    newer.adopt_memory(linker)
    assert first(newer, document("b", "qqqq", "qqqq")).decided_times == 1


def test_a_bundle_without_dense_names_answers_to_equal_strings(make_bundle, tmp_path) -> None:
    linker = Linker.load(make_bundle(tmp_path / "lexical", stages=("lexical",)).path, device="cpu")
    linker.remember(DecidedDocument(document("a", "qqqq", "qqqq"), (("D2",),)))
    assert first(linker, document("b", "qqqq", "qqqq")).entity_id == "D2"
    assert not linker.recollection.encoder_name


def test_an_empty_mention_teaches_and_asks_nothing(linker) -> None:
    empty = DocumentInput("a", "abc", (MentionInput("m", ((1, 1),), ("Disease",)),))
    linker.remember(DecidedDocument(empty, (("D1",),)))
    assert len(linker.memory) == 0
    (answer,) = linker.link([empty])
    assert not answer.mentions[0].candidates


def test_remembered_mentions_are_detected(linker) -> None:
    text = "A broken pump and cardiac failure."
    assert [text[m.start : m.end] for m in linker.detect(text)] == ["cardiac failure"]
    linker.remember(DecidedDocument(document("a", "Her broken pump.", "broken pump"), (("D3",),)))
    assert [text[m.start : m.end] for m in linker.detect(text)] == ["broken pump", "cardiac failure"]
    linker.forget("a")
    assert [text[m.start : m.end] for m in linker.detect(text)] == ["cardiac failure"]


def many_decided() -> DecidedDocument:
    words = [f"pain{number}" for number in range(WORTH_KEEPING)]
    starts = [len(" ".join(words[:at])) + bool(at) for at in range(len(words))]
    spans = [((start, start + len(word)),) for start, word in zip(starts, words, strict=True)]
    mentions = tuple(MentionInput(str(at), span, ("Disease",)) for at, span in enumerate(spans))
    return DecidedDocument(DocumentInput("many", " ".join(words), mentions), (("D1",),) * len(mentions))


def test_a_linker_that_is_started_again_reads_what_it_learnt_from_disk(bundle, linker, tmp_path, monkeypatch) -> None:
    linker.recollection.keep_vectors(tmp_path)
    linker.remember(many_decided())
    again = Linker.load(bundle.path, device="cpu")
    again.recollection.keep_vectors(tmp_path)
    monkeypatch.setattr(Encoder, "encode_ids", None)
    again.remember(many_decided())
    assert len(again.memory) == len(linker.memory) == WORTH_KEEPING


def test_a_cache_that_cannot_be_written_costs_no_decision(linker, tmp_path, caplog) -> None:
    (tmp_path / "file").write_text("no folder")
    linker.recollection.keep_vectors(tmp_path / "file")
    linker.remember(many_decided())
    assert len(linker.memory) == WORTH_KEEPING
    assert "Cannot write to the embedding cache" in caplog.text
