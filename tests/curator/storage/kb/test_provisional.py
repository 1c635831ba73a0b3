"""Provisional entities beside the knowledge base: look-up, search, ids, and what the versions are compared by."""

from __future__ import annotations

from dataclasses import replace

import pytest

from curator.domain.decisions import Verdict
from curator.domain.entities import Entity, ProvisionalEntity
from curator.domain.wording import UserError
from tests.curator.storage.filler import AT
from tests.curator.storage.kb.test_kb import INFARCT, LIDOCAINE

BLORB = Entity("NEW:0001", "Blorbitis", ("Blorb's disease", "Heart blorb"), ("Disease",), "An inflamed blorb.")
SNORB = Entity("NEW:0002", "Snorbin", (), ("Chemical",))


def keep(store, *entities, **more):
    with store.write() as unit:
        for one in entities:
            unit.kb.save_provisional(ProvisionalEntity(one, "ada", AT, **more))


def found(store, query, **more):
    with store.read() as unit:
        return [match.entity.id for match in unit.kb.search(query, **more)]


def test_they_are_looked_up_with_and_without_a_knowledge_base(store, fill):
    keep(store, BLORB)
    for _ in range(2):
        with store.read() as unit:
            assert unit.kb.get("NEW:0001") == BLORB
            assert unit.kb.get_many(["NEW:0001", "NEW:9"]) == {"NEW:0001": BLORB}
            assert unit.kb.resolve(["NEW:0001", "blorbitis"]) == {"NEW:0001": "NEW:0001"}
        fill.kb(LIDOCAINE)


def test_the_knowledge_base_itself_stays_as_it_was_imported(store, fill):
    fill.kb(LIDOCAINE)
    with store.read() as unit:
        before = unit.kb.info()
    keep(store, BLORB)
    with store.read() as unit:
        assert unit.kb.info() == before
        assert list(unit.kb.iterate()) == [LIDOCAINE]
        assert unit.kb.held(["NEW:0001", LIDOCAINE.id]) == {LIDOCAINE.id}
        assert unit.kb.provisional_only() == {"NEW:0001"}


QUERIES = [
    ("NEW:0001", ["NEW:0001"]),
    ("0001", ["NEW:0001"]),
    ("blorbitis", ["NEW:0001"]),
    ("blorb", ["NEW:0001"]),
    ("disease blorb", ["NEW:0001"]),
    ("inflamed", ["NEW:0001"]),
    ("heart", [INFARCT.id, "NEW:0001"]),  # a synonym of a shorter entity begins so: both begin with the word
    ('"art b"', ["NEW:0001"]),
    ("heart type:disease", [INFARCT.id, "NEW:0001"]),
    ("blorb type:chem", []),
    ("blorb :: inflamed", ["NEW:0001"]),
    ("blorb :: necrosis", []),
    ("type:chemical snorb", ["NEW:0002"]),
    ("", []),
]


def test_search_finds_them_by_the_same_grammar(store, fill):
    fill.kb(LIDOCAINE, INFARCT)
    keep(store, BLORB, SNORB)
    assert [(query, found(store, query)) for query, _ in QUERIES] == QUERIES


def test_an_exact_name_stands_before_what_begins_so_and_preferred_types_lead(store, fill):
    fill.kb(Entity("A", "Snorbin acid", (), ("Disease",)))
    keep(store, SNORB)
    assert found(store, "snorbin") == ["NEW:0002", "A"]
    keep(store, replace(SNORB, name="Snorbin salt"))
    assert found(store, "snorbin", preferred=["Disease"]) == ["A", "NEW:0002"]
    assert found(store, "snorbin", preferred=["Chemical"]) == ["NEW:0002", "A"]
    assert found(store, "snorbin", limit=1, preferred=["Disease"]) == ["A"]


def test_deleted_and_replaced_ones_are_found_by_nobody_but_keep_their_name(store):
    keep(store, BLORB, deleted=True)
    keep(store, SNORB, successor="A")
    with store.read() as unit:
        assert unit.kb.get("NEW:0001") is None
        assert unit.kb.search("blorbitis") == []
        assert unit.kb.former("NEW:0001") == BLORB
        assert unit.kb.all_provisional() == []
        assert [one.id for one in unit.kb.all_provisional(retired=True)] == ["NEW:0001", "NEW:0002"]
        assert unit.kb.provisional_only() == {"NEW:0001", "NEW:0002"}
        with pytest.raises(UserError, match="NEW:7"):
            unit.kb.provisional("NEW:7")


def test_no_id_is_given_twice(store, fill):
    with store.write() as unit:
        assert unit.kb.next_provisional_id() == "NEW:0001"
    keep(store, replace(BLORB, id="NEW:0041"), deleted=True)
    with store.write() as unit:
        assert unit.kb.next_provisional_id() == "NEW:0042"
    fill.kb(replace(BLORB, id="NEW:0099"))
    with store.write() as unit:
        assert unit.kb.next_provisional_id() == "NEW:0100"
        unit.kb.retire([replace(BLORB, id="NEW:0200")])
    fill.kb(LIDOCAINE)
    with store.write() as unit:
        assert unit.kb.next_provisional_id() == "NEW:0201"


def test_the_knowledge_base_goes_before_a_provisional_entity_of_the_same_id(store, fill):
    theirs = replace(BLORB, name="Blorbitis acuta")
    keep(store, BLORB)
    fill.kb(theirs)
    with store.read() as unit:
        assert unit.kb.get("NEW:0001") == theirs
        assert unit.kb.provisional_only() == frozenset()
        assert [match.entity for match in unit.kb.search("blorbitis")] == [theirs]


def test_alternate_ids_and_exact_names_of_the_active_version(store, fill):
    fill.kb(LIDOCAINE, replace(INFARCT, alt_ids=("MESH:C999", "X:1")))
    with store.read() as unit:
        assert unit.kb.successors(["CHEBI:6456", "mesh:c999", "MESH:D008012", "C999"]) == {
            "CHEBI:6456": (LIDOCAINE.id,),
            "mesh:c999": (LIDOCAINE.id, INFARCT.id),
        }
        assert unit.kb.named(["xylocaine", "HEART  attack", "heart"]) == {
            "xylocaine": (LIDOCAINE.id,),
            "HEART  attack": (INFARCT.id,),
        }


def test_outcomes_tell_who_is_linked_to_what(store, fill):
    one, two, three = fill.mentions(3)
    fill.decide(one, Verdict.link("A"))
    fill.decide(two, Verdict.link("B", "A"))
    fill.decide(three, Verdict.link("A"))
    fill.decide(three, Verdict.nil())
    with store.read() as unit:
        assert unit.links.by_entity() == {("A",): 1, ("B", "A"): 1}
        assert unit.links.linked_to(["A"]) == [one, two]
        assert unit.links.linked_to(["B"]) == [two]
        assert unit.links.linked_to([]) == []
        assert [found.mention_id for found in unit.links.nils(decided=True)] == [three]
        assert unit.links.nils(decided=False) == []
    with store.write() as unit:
        unit.mentions.set_deleted([one, three], True)
        assert unit.links.linked_to(["A"]) == [two]
        assert unit.links.nils(decided=True) == []


def test_what_a_version_said_is_kept_once(store):
    with store.write() as unit:
        unit.kb.retire([LIDOCAINE])
        unit.kb.retire([replace(LIDOCAINE, name="Lignocaine"), INFARCT])
        assert unit.kb.retired([LIDOCAINE.id, "x"]) == {LIDOCAINE.id: replace(LIDOCAINE, name="Lignocaine")}
        assert unit.kb.former(INFARCT.id) == INFARCT
