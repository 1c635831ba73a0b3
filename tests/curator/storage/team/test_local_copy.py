"""The copy of a knowledge base: made once, checked by its hash, and searched without the server."""

from __future__ import annotations

from dataclasses import replace

import pytest

from curator.domain.entities import Entity, KnowledgeSource, ObsoleteEntity
from curator.domain.wording import DamagedProjectError
from curator.storage.team.project import open_shared_project
from tests.curator.storage.filler import Filler

ENTITIES = tuple(Entity(f"X:{n:04}", f"name {n}", (f"synonym {n}",), ("Disease",), f"word{n}") for n in range(450))
OBSOLETE = ObsoleteEntity("X:gone", "old name", replaced_by=("X:0001",))


def imported(store, entities=ENTITIES, name="kb"):
    Filler(store).kb(*entities, name=name)


def test_another_computer_fetches_what_one_has_imported(shared, tmp_path, monkeypatch):
    with open_shared_project(shared) as store:
        imported(store)
        with store.read() as unit:
            here = unit.kb.info(), list(unit.kb.iterate()), [one.entity.id for one in unit.kb.search("name 44")]
    monkeypatch.setenv("CURATOR_SHARED_DIR", str(tmp_path / "another computer"))
    with open_shared_project(shared, read_only=True) as store, store.read() as unit:
        there = unit.kb.info(), list(unit.kb.iterate()), [one.entity.id for one in unit.kb.search("name 44")]
    assert here == there
    assert len(there[1]) == 450


def test_a_copy_knows_whose_the_ids_without_prefix_are(shared, tmp_path, monkeypatch):
    genes, others = (Entity("7157", "TP53", types=("Gene",)),), (Entity("9606", "x", types=("Thing",)),)
    sources = (KnowledgeSource("a", own={"Gene": "NCBIGene"}, entities=1), KnowledgeSource("b", entities=1))
    with open_shared_project(shared) as store, store.write() as unit:
        version = unit.kb.begin(name="kb")
        unit.kb.add(version, genes + others)
        unit.kb.describe(version, sources)
        unit.kb.activate(version)
    for place in (None, tmp_path / "another computer"):
        if place is not None:
            monkeypatch.setenv("CURATOR_SHARED_DIR", str(place))
        with open_shared_project(shared, read_only=True) as store, store.read() as unit:
            assert unit.kb.resolve(["entrez:7157", "NCBITaxon:9606"]) == {"entrez:7157": "7157"}


def test_a_copy_is_made_once(shared, tmp_path, monkeypatch):
    with open_shared_project(shared) as store:
        imported(store)
    monkeypatch.setattr("curator.storage.team.local_copy._pieces", lambda *_: pytest.fail("fetched again"))
    with open_shared_project(shared, read_only=True) as store, store.read() as unit:
        assert unit.kb.get("X:0003") == ENTITIES[3]


def test_what_was_altered_on_the_way_is_refused(server, shared, tmp_path, monkeypatch):
    with open_shared_project(shared) as store:
        imported(store)
    server.sql("DELETE FROM curator.kb_pieces WHERE place = 2", base=shared.base)
    monkeypatch.setenv("CURATOR_SHARED_DIR", str(tmp_path / "another computer"))
    with open_shared_project(shared, read_only=True) as store:
        for _ in range(2):  # not once
            with (
                pytest.raises(DamagedProjectError, match="differs from the one that was imported"),
                store.read() as unit,
            ):
                unit.kb.get("X:0003")


def test_a_new_version_takes_the_place_of_the_copy(shared, tmp_path, monkeypatch):
    places = tmp_path / "here", tmp_path / "there"
    for number, place in enumerate((*places, *places)):
        monkeypatch.setenv("CURATOR_SHARED_DIR", str(place))
        with open_shared_project(shared) as store:
            with store.read() as unit:
                assert (unit.kb.info() is None) == (number == 0)
                assert unit.kb.get("X:0003") == (replace(ENTITIES[3], name=f"of {number - 1}") if number else None)
            imported(store, [replace(one, name=f"of {number}") for one in ENTITIES[:5]], name=f"kb {number}")


def test_an_import_that_fails_leaves_the_version_in_use(shared):
    def fails(store):
        with store.write() as unit:
            version = unit.kb.begin(name="other")
            unit.kb.add(version, ENTITIES[:3])
            raise ZeroDivisionError

    with open_shared_project(shared) as store:
        imported(store)
        with pytest.raises(ZeroDivisionError):
            fails(store)
        with store.read() as unit:
            assert unit.kb.get("X:0003") == ENTITIES[3]
            assert unit.kb.search("synonym 7")


def test_obsolete_terms_are_fetched_too(shared, tmp_path, monkeypatch):
    with open_shared_project(shared) as store, store.write() as unit:
        version = unit.kb.begin(name="kb")
        unit.kb.add(version, ENTITIES)
        unit.kb.add_obsolete(version, "source", [OBSOLETE])
        unit.kb.activate(version)
    monkeypatch.setenv("CURATOR_SHARED_DIR", str(tmp_path / "another computer"))
    with open_shared_project(shared, read_only=True) as store, store.read() as unit:
        assert unit.kb.obsolete(["x:GONE"]) == {"x:GONE": OBSOLETE}
