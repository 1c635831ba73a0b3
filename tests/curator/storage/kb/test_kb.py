from __future__ import annotations

import hashlib
import threading

import pytest

from curator.domain.entities import Entity, MatchKind
from curator.domain.wording import UserError
from curator.storage.kb.kb_tables import canonical_json

LIDOCAINE = Entity(
    "MESH:D008012",
    "Lidocaine",
    ("Xylocaine", "Lignocaine"),
    ("Chemical",),
    "A local anesthetic and cardiac depressant.",
    ("CHEBI:6456", "MESH:C999"),
    ("D02.1",),
    ("MESH:D1",),
)
INFARCT = Entity(
    "MESH:D009203", "Myocardial Infarction", ("Heart Attack", "MI"), ("Disease",), "Necrosis of the heart."
)
ALPHA = Entity("OMIM:42", 'TNF-α "factor" (x*y)', ("β-blocker",), ("Gene",))
BARE = Entity("0A1B", "Minas", ("Heart",), ())
ALL = (LIDOCAINE, INFARCT, ALPHA, BARE)


def ids(unit, query, **more):
    return [match.entity.id for match in unit.kb.search(query, **more)]


def test_a_project_without_knowledge_base_finds_nothing(store):
    with store.read() as unit:
        assert unit.kb.info() is None
        assert (unit.kb.get("a"), unit.kb.get_many(["a"]), unit.kb.resolve(["a"]), unit.kb.search("a")) == (
            None,
            {},
            {},
            [],
        )
        assert list(unit.kb.iterate()) == []


def test_entities_come_back_whole(fill):
    fill.kb(*ALL)
    with fill.store.read() as unit:
        assert list(unit.kb.iterate()) == list(ALL)
        assert unit.kb.get_many(["0A1B", "nope", "MESH:C999"]) == {"0A1B": BARE}
        assert (unit.kb.get("MESH:D008012"), unit.kb.get("CHEBI:6456"), unit.kb.get("nope")) == (
            LIDOCAINE,
            LIDOCAINE,
            None,
        )
        info = unit.kb.info()
    assert (info.name, info.entities, info.names, info.definitions) == ("kb", 4, 10, 2)
    assert info.types == ("Chemical", "Disease", "Gene")


def test_the_hash_is_of_the_content_in_id_order(fill):
    fill.kb(*ALL)
    with fill.store.read() as unit:
        first = unit.kb.info().content_hash
    lines = "".join(canonical_json(e) + "\n" for e in sorted(ALL, key=lambda e: e.id))
    assert first == hashlib.sha256(lines.encode()).hexdigest()
    fill.kb(*reversed(ALL), name="other")
    with fill.store.read() as unit:
        assert unit.kb.info().content_hash == first
    fill.kb(*ALL[:3], Entity("0A1B", "Minas", ("heart",)))
    with fill.store.read() as unit:
        assert unit.kb.info().content_hash != first


def test_a_version_is_invisible_until_active_and_then_replaces_the_other(fill):
    fill.kb(LIDOCAINE)
    with fill.store.write() as unit:
        version = unit.kb.begin(name="new")
        unit.kb.add(version, [INFARCT])
        assert (ids(unit, "heart attack"), unit.kb.get(INFARCT.id)) == ([], None)
    with fill.store.write() as unit:
        info = unit.kb.activate(version)
        assert (info.name, info.entities) == ("new", 1)
        assert (ids(unit, "heart attack"), unit.kb.get(LIDOCAINE.id)) == ([INFARCT.id], None)
        if unit.connection.dialect.name == "sqlite":
            tables = unit.connection.exec_driver_sql("SELECT count(*) FROM sqlite_master WHERE name LIKE 'kb1_%'")
            assert tables.scalar() == 0


def test_a_load_that_never_ended_is_removed(fill):
    fill.kb(LIDOCAINE)
    with fill.store.write() as unit:
        unit.kb.add(unit.kb.begin(name="half"), [INFARCT])
    with fill.store.write() as unit:
        assert (unit.kb.remove_incomplete(), unit.kb.remove_incomplete()) == (1, 0)
        assert unit.kb.get(LIDOCAINE.id) == LIDOCAINE


@pytest.mark.parametrize("batches", [[[ALPHA, ALPHA]], [[ALPHA], [BARE, ALPHA]]])
def test_an_id_that_comes_twice_is_named(store, batches):
    with store.write() as unit:
        version = unit.kb.begin(name="x")
        for batch in batches[:-1]:
            unit.kb.add(version, batch)
        with pytest.raises(UserError, match="OMIM:42"):
            unit.kb.add(version, batches[-1])


def test_ids_resolve_as_corpora_write_them(fill):
    fill.kb(*ALL)
    given = ["D008012", " MESH:D008012", "mesh:d008012", "MSH:D008012", "CHEBI:6456", "C999", "6456"]
    unknown = ["ZESHEL:0A1B", "OTHER:42", "D7", "D", ""]
    with fill.store.read() as unit:
        found = unit.kb.resolve([*given, "0a1b", *unknown])
    assert found == dict.fromkeys(given, LIDOCAINE.id) | {"0a1b": "0A1B"}


def test_primary_ids_win_and_an_ambiguous_bare_id_does_not_resolve(fill):
    fill.kb(
        Entity("A:1", "a", alt_ids=("A:2", "X:9")),
        Entity("A:2", "b", alt_ids=("Y:9",)),
        Entity("B:1", "c"),
    )
    with fill.store.read() as unit:
        assert unit.kb.resolve(["A:2", "1", "2", "9", "X:9"]) == {"A:2": "A:2", "2": "A:2", "X:9": "A:1"}


def test_search_is_ranked_by_tier(fill):
    fill.kb(
        Entity("K:1", "Heart failure"),
        Entity("K:2", "Cardiac thing", ("heart",)),
        Entity("K:3", "Heart"),
        Entity("K:4", "Weak heart"),
        Entity("K:5", "Lung", definition="Not the HEART."),
        Entity("heart", "Zzz"),
        Entity("K:6", "Other"),
    )
    with fill.store.read() as unit:
        found = unit.kb.search("Heart")
        assert [m.entity.id for m in found] == ["heart", "K:3", "K:2", "K:1", "K:4", "K:5"]
        assert [int(m.rank) for m in found] == [0, 1, 2, 3, 4, 7]
        assert [m.kind for m in found] == ["identifier", "exact name", "exact name", "name", "name", "definition"]
        assert [m.matched for m in found] == ["Zzz", "Heart", "heart", "Heart failure", "Weak heart", "Lung"]
        assert ids(unit, "Heart", limit=2) == ["heart", "K:3"]


def test_search_as_one_types_and_by_id(fill):
    fill.kb(*ALL)
    with fill.store.read() as unit:
        for query in ("l", "lid", "LIDOCAINE", "xylo", "D008012", "mesh:d008012", "CHEBI:6456", "anesthetic cardiac"):
            assert ids(unit, query)[:1] == [LIDOCAINE.id], query
        assert unit.kb.search("CHEBI:6456")[0].matched == "CHEBI:6456"
        (found,) = unit.kb.search("infarct myo")  # only the last word is being typed: no name has the first
        assert (found.entity.id, found.kind) == (INFARCT.id, MatchKind.SOME_WORDS)
        assert ids(unit, "myocardial inf") == ids(unit, "attack hea") == [INFARCT.id]
        assert ids(unit, "heart", types=["Disease"]) == [INFARCT.id]
        assert ids(unit, "heart", types=["Gene", "Chemical"]) == []


def test_quotes_ask_for_exact_characters(fill):
    fill.kb(*ALL)
    with fill.store.read() as unit:
        assert ids(unit, '"YOCARD"') == ids(unit, '"yocard') == [INFARCT.id]
        assert ids(unit, '"infarct myo"') == []
        assert ids(unit, '"f-α') == [ALPHA.id]
        assert ids(unit, '"(x*y)"') == [ALPHA.id]


QUERIES = ['"', '""', "*", "-", "a-b", "NOT", "AND OR", "NEAR(a b)", "(", "x:y", "^a", "'", "\\", "%", "_", "\x00", " "]


def test_no_character_is_syntax(fill, subtests):
    fill.kb(*ALL)
    for query in QUERIES:
        with subtests.test(query=query), fill.store.read() as unit:
            assert isinstance(unit.kb.search(query), list)
            assert isinstance(unit.kb.search(f"heart {query}", types=["Disease"]), list)


def test_greek_and_punctuation_are_found(fill):
    fill.kb(*ALL)
    with fill.store.read() as unit:
        for query in ("tnf-α", "TNF α", "Β-BLOCK", "factor (x*y)"):
            assert ids(unit, query) == ["OMIM:42"], query


def test_a_decision_gets_its_turn_inside_a_bulk_load(store):
    """The load lets a waiting writer in before its own unit ends."""
    ended = threading.Event()
    order: list[str] = []
    with store.write() as unit:
        version = unit.kb.begin(name="big")

    def decide():
        with store.write() as unit:
            unit.meta.set("k", "v")
            order.append("decision")
        ended.set()

    with store.write() as unit:
        thread = threading.Thread(target=decide)
        thread.start()
        n = 0
        while not ended.is_set() and n < 40:
            unit.kb.add(version, [Entity(f"X:{n}-{i}", f"name {i}") for i in range(400)])
            n += 1
        order.append("load")
    thread.join()
    assert order == ["decision", "load"]
    with store.write() as unit:
        assert unit.kb.activate(version).entities == n * 400


def test_the_real_knowledge_base_loads_and_answers(shared_data, fill):
    """38,186 entities would take seconds; the first 3,000 show the same."""
    import gzip
    import json

    with gzip.open(shared_data / "kb" / "mesh_medic.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for _, line in zip(range(3000), lines, strict=False)]
    entities = [Entity(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items()}) for row in rows]
    fill.kb(*entities)
    with fill.store.read() as unit:
        bare = {entity.id.partition(":")[2]: entity.id for entity in entities}
        assert unit.kb.resolve(bare) == bare
        for entity in entities[::100]:
            assert entity.id in ids(unit, entity.name)
