"""Choosing among facets."""

from __future__ import annotations

from curator.domain.facets import Facet, FacetCube, Facets, Range, ranges_of


def test_toggling_twice_leaves_nothing() -> None:
    one = Facets().toggled(Facet.TYPE, "Disease").toggled(Facet.STATE, "nil").toggled(Facet.STATE, "link")
    assert one.chosen == ((Facet.STATE, ("link", "nil")), (Facet.TYPE, ("Disease",)))
    assert one.only(Facet.STATE, ()).toggled(Facet.TYPE, "Disease") == Facets()
    assert not Facets()


def test_json_keeps_a_choice_and_forgives_unknown_facets() -> None:
    one = Facets.of({Facet.MARGIN: ["0.1", "none"], Facet.FLAG: ["yes"]})
    assert Facets.from_json({**one.as_json(), "of the future": ["x"]}) == one


def test_totals_add_up_over_a_facets_own_values() -> None:
    def cell(state: str, kind: str) -> tuple[str, ...]:
        return (state, kind, *("",) * (len(Facet) - 2))

    cube = FacetCube(((cell("nil", "A"), 2), (cell("link", "A"), 3), (cell("link", "B"), 5)))
    facets = Facets.of({Facet.STATE: ["link"]})
    assert cube.total(facets) == 8 == sum(cube.counts(facets)[Facet.TYPE].values())
    assert sum(cube.counts(facets)[Facet.STATE].values()) == 10


def test_a_range_is_written_and_read_as_a_value() -> None:
    assert Range.of("0.37..0.52") == Range(0.37, 0.52)
    assert Range.between(" ,52", ".37") == Range(0.37, 0.52), "in their order, with either decimal mark"
    assert [Range.of(one) for one in ("0.9..", "..3", "..", "a..1", "-1..2", "nan..1", "0.5")] == [
        *(Range(0.9, None), Range(None, 3.0)),
        *[None] * 5,
    ]
    for one in (Range(0.37, 0.52), Range(0.9, None), Range(None, 3.0), Range(1e-6, 1.0)):
        assert Range.of(one.key) == one
    facets = Facets.of({Facet.PROBABILITY: ["0.37..0.52", "0.99"], Facet.TYPE: ["a..b"]})
    assert Facets.from_json(facets.as_json()) == facets
    assert ranges_of(Facet.PROBABILITY, facets.values(Facet.PROBABILITY)) == [Range(0.37, 0.52)]
    assert ranges_of(Facet.TYPE, facets.values(Facet.TYPE)) == [], "a type may have dots"
