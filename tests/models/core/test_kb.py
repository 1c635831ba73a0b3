import gzip

import pytest

from models.core.kb import load_kb, order_entities, read_kb, record_from_json, record_to_json, write_kb
from models.errors import ModelError
from models.types import EntityRecord

ENTITIES = [
    EntityRecord("b", "Two", ("two",), ("T",)),
    EntityRecord("a", "One", ("one", "One", " "), ("T", "U"), alt_ids=("b", "z")),
    EntityRecord("c", "Three", (), ()),
    EntityRecord("d", "Four", (), ("U",)),
]


def test_types_become_ranges_of_rows() -> None:
    kb = order_entities(ENTITIES)
    assert [entity.id for entity in kb.entities] == ["c", "b", "a", "d"]
    assert kb.names == ("Three", "Two", "two", "One", "one", "Four")
    assert kb.ranges(("T",)) == ((1, 3),)
    assert kb.ranges(("U",)) == ((2, 4),)
    assert kb.ranges(()) == ((0, 4),)
    assert kb.ranges(("unknown",)) == ()
    assert kb.name_ranges(("T",)) == ((1, 5),)
    assert kb.name_entity.tolist() == [0, 1, 1, 2, 2, 3]


def test_a_primary_id_wins_over_an_alternate_one() -> None:
    kb = order_entities(ENTITIES)
    assert (kb.resolved["b"], kb.resolved["z"], kb.resolved["a"]) == ("b", "a", "a")


def test_order_of_the_source_does_not_matter(tmp_path) -> None:
    first = write_kb(order_entities(ENTITIES), tmp_path / "1.jsonl")
    second = write_kb(order_entities(reversed(ENTITIES)), tmp_path / "2.jsonl")
    assert first == second
    assert load_kb(tmp_path / "1.jsonl") == order_entities(ENTITIES)


@pytest.mark.parametrize(
    ("entities", "message"),
    [
        ([], "is empty"),
        ([EntityRecord("a", "x"), EntityRecord("a", "y")], "twice"),
        ([EntityRecord("a", " ")], "has no name"),
    ],
)
def test_unfit_knowledge_bases(entities, message) -> None:
    with pytest.raises(ModelError, match=message):
        order_entities(entities)


def test_bad_files_name_the_line(tmp_path) -> None:
    path = tmp_path / "kb.jsonl"
    path.write_text('{"id": "a", "name": "x"}\n{"id": "b"}\n')
    with pytest.raises(ModelError, match="line 2"):
        read_kb(path)
    with pytest.raises(ModelError, match="cannot be read"):
        read_kb(tmp_path / "none.jsonl")
    cut = tmp_path / "kb.jsonl.gz"
    cut.write_bytes(gzip.compress(b'{"id": "a", "name": "x"}\n' * 50)[:-12])
    with pytest.raises(ModelError, match=r"kb\.jsonl\.gz"):
        read_kb(cut)


def test_one_entity_as_json_and_back() -> None:
    assert [record_from_json(record_to_json(entity)) for entity in ENTITIES] == ENTITIES
    for bad in ({"id": "a"}, {"id": "", "name": "x"}, {"id": 3, "name": "x"}, {"id": "a", "name": "x", "types": [1]}):
        with pytest.raises(ModelError, match="Not a valid entity"):
            record_from_json(bad)


def test_alternate_ids_know_all_their_owners() -> None:
    kb = order_entities([*ENTITIES, EntityRecord("e", "Five", (), ("A",), alt_ids=("z",))])
    assert kb.alternates == {"b": ("a",), "z": ("e", "a")}
    assert kb.resolved["z"] == "e"
