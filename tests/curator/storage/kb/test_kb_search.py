"""The search line's grammar over a small knowledge base."""

from __future__ import annotations

import pytest

from curator.domain.decisions import Verdict
from curator.domain.entities import Entity
from curator.storage.kb import kb_search
from tests.curator.storage.filler import in_a_folder

KB = (
    Entity("M:1", "Common Cold", ("Cold", "Acute Coryza"), ("Disease",), "A viral infection of the nose."),
    Entity("M:2", "Cold", ("Low temperature",), ("Phenomenon",), "Absence of heat."),
    Entity("M:3", "Cold Injury", ("Frostbite",), ("Disease",), "Harm by low heat."),
    Entity("M:4", "Coldness of the hands", (), ("Sign or symptom",), ""),
    Entity("M:5", "Lidocaine", ("Xylocaine",), ("Chemical",), "Numbs the nose."),
    Entity("M:6", "Cryoglobulinemia", ("Proteins that clot by cold",), ("Disease",), ""),
)


@pytest.fixture
def ask(fill):
    fill.kb(*KB)

    def ask(query: str, **more: object) -> list[str]:
        with fill.store.read() as unit:
            return [match.entity.id for match in unit.kb.search(query, **more)]

    return ask


def test_preferred_types_lead_among_exact_names_and_again_behind_them(ask):
    assert ask("cold") == ["M:2", "M:1", "M:3", "M:4", "M:6"]
    assert ask("cold", preferred=["Disease"]) == ["M:1", "M:2", "M:3", "M:6", "M:4"]
    assert ask("cold", preferred=["Nothing"]) == ask("cold")


def test_types_restrict_as_far_as_they_are_typed(ask):
    assert ask("cold type:dis") == ["M:1", "M:3", "M:6"]
    assert ask("type:phen cold") == ["M:2"]
    assert ask("cold type:symptom") == ask('type:"sign or" cold') == ["M:4"]
    assert ask("cold type:gene") == []
    assert ask("type:disease,chemical") == ["M:5", "M:1", "M:3", "M:6"], "the shortest names first"
    assert ask("cold type:dis", types=["Phenomenon"]) == []
    assert ask("cold", types=["Phenomenon"]) == ["M:2"]


def test_words_of_the_definition_behind_two_colons(ask):
    assert ask("cold :: heat") == ["M:2", "M:3"]
    assert ask("cold :: heat type:disease") == ["M:3"]
    assert ask(":: nos") == ["M:5", "M:1"], "the last word is being typed; a short definition says more of it"
    assert ask(":: nos ") == []
    assert ask('"xylo" :: nose') == ["M:5"]


def test_exact_characters_in_the_middle_of_words_too(ask):
    assert ask('"oldness of"') == ["M:4"]
    assert ask('"cold" clot') == ["M:6"]
    assert ask('"d i"') == ["M:3"]
    assert ask('"Cold"')[:2] == ["M:2", "M:1"]
    assert ask('"ld inj"') == ["M:3"], "across two words"
    assert ask('"ld of the h"') == []
    assert ask('"ness of the h"') == ["M:4"]
    assert ask('"!"') == ask('"zzz"') == []


def test_exact_characters_with_accents_too(fill):
    fill.kb(Entity("A", "Ménière disease"), Entity("B", "Meniere"))
    with fill.store.read() as unit:
        assert [one.entity.id for one in unit.kb.search('"énièr"')] == ["A"]
        assert [one.entity.id for one in unit.kb.search("meniere")] == ["B", "A"]


@pytest.mark.parametrize(
    ("typed", "found"),
    [
        ("M:5", ["M:5 identifier"]),
        ("cold", ["M:2 exact name", "M:1 exact name", "M:3 name", "M:4 name", "M:6 name"]),
        ("coldnes hands", ["M:4 similar spelling"]),
        ("blorb cold", ["M:2 some of the words", "M:1 some of the words", "M:3 some of the words"]),
        ("infection blorb", []),
        ("blorb", []),
        ("nose", ["M:5 definition", "M:1 definition"]),
        ("harm heat", ["M:3 definition"]),
        ("proteins heat", ["M:6 some of the words"]),
        ("acute nose", ["M:1 some of the words"]),
    ],
)
def test_every_entity_says_how_it_was_found(fill, typed, found):
    fill.kb(*KB)
    with fill.store.read() as unit:
        assert [f"{one.entity.id} {one.kind}" for one in unit.kb.search(typed)][: max(len(found), 3)] == found[:5]


def test_only_some_that_lack_a_word_are_listed_and_definitions_come_after_them(fill):
    pains = [Entity(f"P:{number}", f"Pain {number}") for number in range(30)]
    fill.kb(*pains, Entity("D", "Porphyria", definition="Pain of the belly."))
    with fill.store.read() as unit:
        kinds = [one.kind for one in unit.kb.search("belly pain", limit=20)]
    assert kinds == ["some of the words"] * kb_search.PARTIAL + ["definition"]


SAME_NAMES = (
    ("CROHN  disease", ["N:1"]),
    ("Crohns Diseases", ["N:1"]),
    ("leukaemias", ["N:2"]),
    ("Leukemia", ["N:2"]),
    ("beta-blocker", ["N:3"]),
    ("Beta blockers", ["N:3"]),
    ("Edema", ["N:4", "N:5"]),
    ("oedemas", ["N:4", "N:5"]),
    ("Meniere's disease", ["N:6"]),
    ("tumor of faeces", ["N:7"]),
    ("Sulfur", ["N:8"]),
    ("α-synuclein", ["N:9"]),
    ("Leukemia acute", []),
    ("disease", []),
    ("blorb", []),
    ("+", []),
    ("", []),
)


def test_the_same_name_in_another_spelling(fill, subtests):
    fill.kb(
        Entity("N:1", "Crohn's Disease"),
        Entity("N:2", "Leukaemia", ("Leukemias, all",)),
        Entity("N:3", "Beta-Blockers"),
        Entity("N:4", "Oedema"),
        Entity("N:5", "Swelling", ("EDEMA",)),
        Entity("N:6", "Ménière Disease"),
        Entity("N:7", "Tumours of Feces"),
        Entity("N:8", "Sulphur"),
        Entity("N:9", "α-Synuclein"),
    )
    for typed, found in SAME_NAMES:
        with subtests.test(typed), fill.store.read() as unit:
            assert unit.kb.same_named(typed) == found


@pytest.mark.parametrize(
    ("typed", "found"), [("lidocian", "M:5"), ("xylocane", "M:5"), ("comon cold", "M:1"), ("cryogobulinem", "M:6")]
)
def test_nearly_the_same_spelling_is_found_last(ask, fill, typed, found):
    assert ask(typed) == [found]
    with fill.store.read() as unit:
        assert int(unit.kb.search(typed)[0].rank) == kb_search.FUZZY


def test_the_first_letter_and_short_words_are_taken_as_typed(ask):
    assert ask("midocaine") == ask("nsoe") == ask("cod") == []


def test_an_identifier_is_completed_while_it_is_typed(fill):
    fill.kb(Entity("MESH:D008012", "Lidocaine"), Entity("MESH:D008013", "Lidoflazine"))
    with fill.store.read() as unit:
        assert [one.entity.id for one in unit.kb.search("d00801")] == ["MESH:D008012", "MESH:D008013"]
        assert [one.entity.id for one in unit.kb.search("D008013")] == ["MESH:D008013"]


def test_what_was_linked_before_stands_higher(ask, fill):
    fill.kb(Entity("A", "Shock type a", types=("Disease",)), Entity("B", "Shock of type b", types=("Disease",)))
    assert ask("shock") == ["A", "B"]
    first, second, third = fill.mentions(3)
    fill.decide(first, Verdict.link("B"))
    assert ask("shock") == ["B", "A"]
    fill.decide(second, Verdict.link("A"))
    fill.decide(third, Verdict.link("C", "A"))
    with fill.store.read() as unit:
        assert unit.kb.linked_last(9) == ["C", "A", "B"]
        assert unit.kb.linked_last(2) == ["C", "A"]
    fill.decide(first, Verdict.link("A"))
    with fill.store.read() as unit:
        assert unit.kb.linked_last(9) == ["A", "C"], "B was replaced"


def test_what_is_likely_in_the_document_stands_higher_and_is_found_behind_any_number_of_others(fill, monkeypatch):
    monkeypatch.setattr(kb_search, "READ", 5)
    names = [Entity(f"X:{i:03}", f"heart {chr(97 + i % 26)}{i}") for i in range(60)]
    fill.kb(*names, Entity("L", "Angina", synonyms=("heart pain",)))

    def ask(typed: str, *likely: str) -> list[str]:
        with fill.store.read() as unit:
            return [one.entity.id for one in unit.kb.search(typed, likely=likely)]

    assert "L" not in ask("hea")
    assert ask("hea", "L", "gone")[0] == "L"
    assert ask("heart a0", "L")[0] == "X:000", "what is typed in full stays first"
    assert ask("lung", "L") == []
    with fill.store.read() as unit:
        assert unit.kb.search("hea", likely=["L"])[0].matched == "heart pain"


def test_an_answer_reads_little_however_many_match(fill, monkeypatch):
    monkeypatch.setattr(kb_search, "READ", 5)
    fill.kb(*(Entity(f"X:{i:03}", f"heart {'a' * (i % 40)}{i}") for i in range(200)))
    with fill.store.read() as unit:
        found = unit.kb.search("heart")
        assert 5 <= len(found) < 20
        assert len(found[0].entity.name) == min(len(f"heart {'a' * (i % 40)}{i}") for i in range(200))


@in_a_folder
def test_a_missing_index_is_made_again_with_the_next_opening(fill, ask):
    with fill.store.write() as unit:
        unit.connection.exec_driver_sql("DROP TABLE kb1_words")
    with fill.store.write() as unit:
        assert unit.kb.remove_incomplete() == 0
    assert ask("lidocian") == ["M:5"]
