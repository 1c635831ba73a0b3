"""Filters kept under names, and the guidelines: both live in the project."""

from __future__ import annotations

import pytest

from curator.domain.attributes import Scheme
from curator.domain.documents import DocumentState, Split
from curator.domain.facets import Facet, Facets
from curator.domain.wording import UserError
from curator.services.ports.queue import QueueFilter
from tests.curator.services.fakes import World


def test_filters_come_back_as_they_were(filled: World) -> None:
    filters = filled.project.filters
    one = QueueFilter(DocumentState.TODO, Split.TEST, "heart", Facets.of({Facet.NIL: ["yes"]}))
    filters.save(" ß first ", one)
    filters.save("Another", QueueFilter())
    assert list(filters.all().items()) == [("Another", QueueFilter()), ("ß first", one)]
    filters.save("Another", one)
    filters.delete("ß first")
    filters.delete("never there")
    assert filters.all() == {"Another": one}
    with pytest.raises(UserError):
        filters.save("  ", one)


def test_guidelines_are_kept(filled: World) -> None:
    guidelines = filled.project.guidelines
    assert guidelines.text() == ""
    guidelines.set_text("# Drugs\n\nLink salts to the *base*.")
    assert guidelines.text() == "# Drugs\n\nLink salts to the *base*."
    with pytest.raises(UserError, match="1,000,000"):
        guidelines.set_text("x" * 1_000_001)
    assert guidelines.text().startswith("# Drugs")


def test_a_filter_follows_attributes_and_values_that_are_renamed(filled: World) -> None:
    project = filled.project
    project.attributes.save(Scheme().with_attribute("negation", ("affirmed", "negated")))
    values = ["negation=negated", "negation=", "gone=x"]
    project.filters.save("negated", QueueFilter(facets=Facets.of({Facet.ATTRIBUTE: values})))
    project.attributes.save(project.attributes.scheme().renamed(1, "polarity").value_renamed(2, "negative"))
    found = project.filters.all()["negated"].facets
    assert found.values(Facet.ATTRIBUTE) == ("gone=x", "polarity=", "polarity=negative")
    project.attributes.set([filled.mentions(1)[0]], 1, 2)
    one = QueueFilter(facets=found.only(Facet.ATTRIBUTE, ["polarity=negative"]))
    assert project.facets.documents(one) == {1: 1}
