"""Choosing among facets."""

from __future__ import annotations

from curator.domain.facets import Facet, FacetCube, Facets


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
