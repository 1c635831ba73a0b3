from __future__ import annotations

from curator.domain.entities import TypeMapping


def test_values_are_replaced_and_missing_ones_are_none(store):
    with store.write() as unit:
        assert unit.meta.get("bundle.active") is None
        unit.meta.set("bundle.active", "a")
        unit.meta.set("bundle.active", "é")
    with store.read() as unit:
        assert (unit.meta.get("bundle.active"), unit.meta.get("project.name")) == ("é", "P")


def test_the_type_mapping_round_trips_and_is_empty_at_first(store):
    mapping = TypeMapping({"SpecificDisease": ("Disease", "Symptom"), "Any": ()})
    with store.write() as unit:
        assert unit.meta.type_mapping() == TypeMapping({})
        unit.meta.set_type_mapping(mapping)
    with store.read() as unit:
        assert unit.meta.type_mapping() == mapping
