"""Strange mentions, documents and knowledge bases get a sensible answer or a clear sentence, and never a traceback."""

import pytest

from models.errors import ModelError
from models.linker.linker import Linker
from models.names.candidates import LEXICAL
from models.types import DocumentInput, EntityRecord, LinkedMention, MentionInput

CYRILLIC = EntityRecord("R", "Рак молочной железы", ("карцинома груди",), ("Disease",))
CHINESE = EntityRecord("Z", "乳腺癌", ("乳癌",), ("Disease",))
OTHERS = (EntityRecord("L", "lung cancer", (), ("Disease",)), EntityRecord("P", "pain", (), ("Disease",)))


@pytest.fixture(scope="module")
def linker(bundle) -> Linker:
    return Linker.load(bundle.path, device="cpu")


@pytest.fixture
def make_linker(make_bundle, tmp_path):
    return lambda *entities: Linker.load(make_bundle(tmp_path / "kb", entities).path, device="cpu")


def _link(linker: Linker, text: str, *quotes: str, types: tuple[str, ...] = ()) -> list[LinkedMention]:
    """The answers for the last places where the quotes stand."""
    places = [(text.rindex(quote), text.rindex(quote) + len(quote)) for quote in quotes]
    mentions = tuple(MentionInput(f"m{at}", (place,), types) for at, place in enumerate(places))
    (answer,) = linker.link([DocumentInput("d", text, mentions)])
    return list(answer.mentions)


def _ids(mention: LinkedMention) -> list[str]:
    return [candidate.entity_id for candidate in mention.candidates]


# --- mentions ---


@pytest.mark.parametrize("mention", ["", " ", "\n\t"], ids=["empty", "blank", "white"])
def test_an_empty_mention_has_no_candidates_and_is_nil(linker, mention: str) -> None:
    (answer,) = _link(linker, f"breast{mention}cancer" if mention else "breast cancer", mention)
    assert not answer.candidates
    assert answer.nil.is_nil


@pytest.mark.parametrize(
    "mention",
    [
        "breast cancer " * 358,
        "x" * 5000,
        "heart and " * 500,
        "(" * 5000,
        "a of " + "x" * 4995,
        "癌" * 5000,
        "pain, " * 834,
    ],
    ids=["words", "one word", "joined", "brackets", "of", "han", "list"],
)
def test_a_mention_of_5000_characters_is_looked_up_by_its_beginning(linker, mention: str) -> None:
    quote = mention[:5000]
    (answer,) = _link(linker, f"x {quote} y", quote)
    assert answer.surface == quote
    assert len(answer.candidates) <= 6
    assert 0 <= answer.nil.score <= 1


def test_a_long_mention_that_begins_with_a_name_finds_it(linker) -> None:
    (answer,) = _link(linker, "breast cancer " * 358, "breast cancer " * 358, types=("Disease",))
    assert _ids(answer)[0] == "D1"


@pytest.mark.parametrize("mention", ["😀", "***", "+", "\x00", "\u200b", "ﷺ", "İ", "\ufffd", "½"])
def test_marks_and_controls_are_no_trouble(linker, mention: str) -> None:
    (answer,) = _link(linker, f"a {mention} b", mention)
    assert all(-1.01 <= candidate.score <= 1.01 for candidate in answer.candidates)
    assert linker.detect(f"a {mention} b") == []


def test_more_candidates_than_entities_can_be_asked_for(linker) -> None:
    document = DocumentInput("d", "aspirin", (MentionInput("m", ((0, 7),)),))
    (answer,) = linker.link([document], k=10_000)
    assert len(answer.mentions[0].candidates) == 6


# --- documents ---


def test_a_document_of_20000_tokens_is_linked_to_its_end(linker) -> None:
    text = (
        "Congestive heart failure (CHF) was seen. "
        + "The patient felt well and went home. " * 2500
        + "CHF and aspirin."
    )
    assert len(text.split()) > 17_500
    failure, drug = _link(linker, text, "CHF", "aspirin")
    assert failure.expanded == "Congestive heart failure"
    assert _ids(failure)[0] == "D3"
    assert _ids(drug)[0] == "C2"
    assert [text[m.start : m.end] for m in linker.detect(text)] == ["heart failure", "CHF", "CHF", "aspirin"]


@pytest.mark.parametrize("filler", ["(", "( ", "(a) ", "a(b", "a/", "x", "[[ ]] "], ids=repr)
def test_a_document_without_sentences_is_linked(linker, filler: str) -> None:
    text = filler * 20_000 + " aspirin"
    (answer,) = _link(linker, text, "aspirin")
    assert _ids(answer)[0] == "C2"


def test_a_document_of_a_thousand_equal_mentions(linker) -> None:
    text = "aspirin " * 1000
    mentions = tuple(MentionInput(str(at), ((8 * at, 8 * at + 7),)) for at in range(1000))
    (answer,) = linker.link([DocumentInput("d", text, mentions)])
    assert {tuple(_ids(mention)) for mention in answer.mentions} == {tuple(_ids(answer.mentions[0]))}
    assert _ids(answer.mentions[0])[0] == "C2"


# --- knowledge bases ---


def test_a_knowledge_base_of_one_entity(make_linker) -> None:
    linker = make_linker(EntityRecord("E", "pain"))
    found, other = _link(linker, "pain or zzz", "pain", "zzz")
    assert _ids(found) == _ids(other) == ["E"]
    assert found.candidates[0].scores[LEXICAL] > other.candidates[0].scores[LEXICAL]
    assert other.nil.score > found.nil.score
    assert [m.entity_ids for m in linker.detect("Pains here")] == [("E",)]


def test_equal_names_are_told_apart_by_type_and_else_ordered_by_id(make_linker) -> None:
    twins = [EntityRecord(key, "cold", ("cold", "common cold"), (kind,)) for key, kind in (("B", "X"), ("A", "Y"))]
    linker = make_linker(*twins, EntityRecord("C", "cold", (), ("X",)))
    (answer,) = _link(linker, "a cold", "cold")
    assert [_ids(answer).index(key) for key in "AB"] == sorted(_ids(answer).index(key) for key in "AB")
    (restricted,) = _link(linker, "a cold", "cold", types=("Y",))
    assert _ids(restricted) == ["A"]
    (found,) = linker.detect("a cold")
    assert sorted(found.entity_ids) == ["A", "B", "C"]


def test_a_knowledge_base_without_definitions_or_types(make_linker) -> None:
    linker = make_linker(EntityRecord("A", "breast cancer"), EntityRecord("B", "lung cancer"))
    (answer,) = _link(linker, "lung cancers", "lung cancers")
    assert _ids(answer) == ["B", "A"]
    (typed,) = _link(linker, "lung cancers", "lung cancers", types=("Disease",))
    assert not typed.candidates
    assert typed.nil.is_nil


def test_names_in_cyrillic_and_chinese(make_linker) -> None:
    linker = make_linker(CYRILLIC, CHINESE, *OTHERS)
    text = "Рак Молочной Железы, 乳癌 и 乳腺癌 карцинома груди"
    answers = _link(linker, text, "Рак Молочной Железы", "乳癌", "乳腺癌", "карцинома груди")
    assert [_ids(answer)[0] for answer in answers] == ["R", "Z", "Z", "R"]
    assert [m.entity_ids[0] for m in linker.detect(text)] == ["R", "Z", "Z", "R"]


def test_names_of_marks_and_of_enormous_length(make_linker) -> None:
    linker = make_linker(EntityRecord("M", "***"), EntityRecord("W", "word " * 2000), EntityRecord("P", "pain"))
    marks, pain = _link(linker, "*** pain", "***", "pain")
    assert _ids(marks)[0] == "M"
    assert _ids(pain)[0] == "P"
    assert [m.entity_ids for m in linker.detect("*** pain")] == [("P",)]


def test_what_cannot_be_a_knowledge_base_is_refused_in_a_sentence(make_linker) -> None:
    with pytest.raises(ModelError, match="knowledge base is empty"):
        make_linker()
    with pytest.raises(ModelError, match="has no name"):
        make_linker(EntityRecord("E", " "))
    with pytest.raises(ModelError, match="twice"):
        make_linker(EntityRecord("E", "a"), EntityRecord("E", "b"))
