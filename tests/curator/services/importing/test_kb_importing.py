"""Knowledge bases of several sources: put together, renewed, taken apart; what a new version changes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from curator.domain.wording import UserError
from curator.services.importing.importing import ImportReport
from curator.services.importing.kb_importing import KbWish
from curator.services.ports.files import KbOptions
from tests.curator.services.fakes import World, finish


def one(entity_id: str, name: str = "", **more: Any) -> dict[str, Any]:
    return {"id": entity_id, "name": name or f"name of {entity_id}", **more}


def put(world: World, name: str, *entities: dict[str, Any]) -> Path:
    path = world.folder / name
    path.write_text("".join(json.dumps(each) + "\n" for each in entities), encoding="utf-8")
    return path


def load(world: World, path: Path, **wish: Any) -> ImportReport:
    report: ImportReport = finish(world.project.importing.knowledge_base(path, KbWish(**wish)))
    return report


def ids(world: World) -> list[str]:
    with world.store.read() as unit:
        return [each.id for each in unit.kb.iterate()]


@pytest.fixture
def several(world: World) -> World:
    load(world, put(world, "a.jsonl", one("A:1"), one("A:2")), name="A", release="1", licence="CC0")
    load(world, put(world, "b.jsonl", one("A:2", "other"), one("7", types=["t"])), name="B", add=True, prefix="B")
    load(world, put(world, "c.jsonl", one("C:1", types=["x", "y"])), name="C", add=True, types={"x": "X", "*": "Z"})
    return world


def test_a_version_becomes_active_in_one_step_with_its_types_and_without_the_note(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.documents(1)
    path = put(world, "a.jsonl", one("A:1", types=["Chemical"]))
    steps = world.project.importing.knowledge_base(path)
    write, seen = type(world.store).write, []

    @contextmanager
    def watched(store: Any) -> Iterator[Any]:
        with write(store) as unit:
            yield unit
        with store.read() as after:
            seen.append((after.kb.info() is not None, any(after.meta.type_mapping().allowed.values())))

    monkeypatch.setattr(type(world.store), "write", watched)
    finish(steps)
    assert set(seen) == {(False, False), (True, True)}


def test_several_sources_make_one_knowledge_base(several: World) -> None:
    assert ids(several) == ["A:1", "A:2", "B:7", "C:1"]
    sources = several.project.knowledge.sources()
    assert [(each.name, each.entities, each.left_out) for each in sources] == [("A", 2, 0), ("B", 1, 1), ("C", 1, 0)]
    assert (sources[0].release, sources[0].licence, sources[0].format) == ("1", "CC0", "jsonl")
    kept, typed = several.project.knowledge.entity("A:2"), several.project.knowledge.entity("C:1")
    assert kept is not None
    assert kept.name == "name of A:2", "the earlier source's record"
    assert typed is not None
    assert typed.types == ("X", "Z")
    info = several.project.knowledge.info()
    assert info is not None
    assert info.name == "A + B + C"


def test_a_source_is_renewed_in_its_place(several: World) -> None:
    report = load(several, put(several, "b2.jsonl", one("8"), one("7", "seven")), name="B", add=True)
    assert ids(several) == ["A:1", "A:2", "B:8", "B:7", "C:1"], "its prefix is remembered"
    assert (report.counts["new"], report.counts["changed"], report.counts["obsolete"]) == (1, 1, 0)


def test_without_add_everything_is_replaced(several: World) -> None:
    load(several, put(several, "d.jsonl", one("D:1")))
    assert ids(several) == ["D:1"]
    assert [each.name for each in several.project.knowledge.sources()] == ["d.jsonl"]


def test_a_source_is_taken_out(several: World) -> None:
    report = finish(several.project.importing.drop_source("A"))
    assert ids(several) == ["B:7", "C:1"]
    assert report.counts["obsolete"] == 2
    with pytest.raises(UserError, match=r"no source A\. Available: B, C"):
        finish(several.project.importing.drop_source("A"))
    finish(several.project.importing.drop_source("B"))
    with pytest.raises(UserError, match="the only source"):
        finish(several.project.importing.drop_source("C"))
    assert ids(several) == ["C:1"]


def test_a_new_version_is_compared_with_the_one_before(world: World) -> None:
    load(world, put(world, "1.jsonl", one("A:1"), one("A:2"), one("A:3"), one("A:4")))
    report = load(world, put(world, "2.jsonl", one("A:1"), one("A:2", "new name", alt_ids=["A:3"]), one("A:5")))
    counts = {word: report.counts[word] for word in ("new", "changed", "merged", "obsolete")}
    assert counts == {"new": 1, "changed": 1, "merged": 1, "obsolete": 1}
    again = load(world, put(world, "3.jsonl", one("A:1"), one("A:2", "new name", alt_ids=["A:3"]), one("A:5")))
    assert not any(again.counts[word] for word in counts)


def test_a_cancelled_addition_leaves_the_version_before(several: World) -> None:
    steps = several.project.importing.knowledge_base(put(several, "d.jsonl", one("D:1")), KbWish(add=True))
    next(steps)
    steps.close()
    assert ids(several) == ["A:1", "A:2", "B:7", "C:1"]
    assert len(several.project.knowledge.sources()) == 3


def test_the_columns_of_a_table_are_remembered(world: World) -> None:
    table = world.folder / "t.tsv"
    table.write_text("number\tword\n1\tone\n", encoding="utf-8")
    columns = KbOptions({"id": "number", "name": "word"})
    load(world, table, name="T", options=columns, prefix="T")
    table.write_text("word\tnumber\none\t1\ntwo\t2\n", encoding="utf-8")
    load(world, table, name="T", add=True)
    assert ids(world) == ["T:1", "T:2"]


def test_what_of_a_source_is_read_is_remembered_unless_another_part_is_wanted(world: World) -> None:
    skos = world.folder / "t.ttl"
    concept = '<http://x.org/1> a skos:Concept; skos:prefLabel "one"@en; skos:altLabel "eins"@de, "uno"@es.'
    skos.write_text(f"@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n{concept}\n", encoding="utf-8")

    def names(**wish: object) -> set[str]:
        load(world, skos, name="T", **wish)
        found = world.project.knowledge.entity("http://x.org/1")
        assert found is not None
        return {found.name, *found.synonyms}

    assert names(options=KbOptions(languages=("en", "de"))) == {"one", "eins"}
    assert names(add=True) == {"one", "eins"}
    assert names(add=True, options=KbOptions(languages=("en", "es"))) == {"one", "uno"}
    assert names(add=True, exact=True) == {"one"}
    assert world.project.knowledge.sources()[0].languages == ()
