"""Annotations as decisions: bare identifiers that fit several entities."""

from __future__ import annotations

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState
from curator.domain.entities import TypeMapping
from curator.services.importing.importing import ImportReport
from tests.curator.services.fakes import World, finish

TWO = (
    {"id": "NCBIGene:9606", "name": "a gene", "types": ["Gene"]},
    {"id": "NCBITaxon:9606", "name": "Homo sapiens", "types": ["Organism"]},
    {"id": "MESH:D008012", "name": "Lidocaine", "types": ["Chemical"]},
)


def text(kind: str, ids: str = "9606", number: int = 1) -> str:
    return f"{number}|t|Of humans\n{number}|a|Nothing.\n{number}\t3\t9\thumans\t{kind}\t{ids}\n\n"


def imported(world: World, content: str) -> ImportReport:
    report: ImportReport = finish(world.project.importing.documents([world.write(content)], gold=True))
    return report


@pytest.mark.parametrize(("kind", "entity"), [("Species", "NCBITaxon:9606"), ("Gene", "NCBIGene:9606")])
def test_the_type_of_the_mention_decides_what_an_ambiguous_number_means(world: World, kind: str, entity: str) -> None:
    world.kb(TWO)
    report = imported(world, text(kind))
    opened = world.project.queue.open(1)
    assert opened.mentions[0].decision is not None
    assert opened.mentions[0].decision.verdict == Verdict.link(entity)
    assert opened.document.state is DocumentState.DONE
    assert report.problems == ()


def test_the_type_mapping_decides_before_the_names_of_types(world: World) -> None:
    world.kb(TWO)
    finish(world.project.importing.documents([world.write(text("Strain", "-1"), name="first.pubtator")]))
    world.project.knowledge.set_mapping(TypeMapping({"Strain": ("Organism",)}))
    imported(world, text("Strain", number=2))
    decision = world.project.queue.open(2).mentions[0].decision
    assert decision is not None
    assert decision.verdict == Verdict.link("NCBITaxon:9606")


@pytest.mark.parametrize("ids", ["9606", "D008012|9606", "9606|D777777"])
def test_what_stays_ambiguous_is_no_decision_and_is_listed(world: World, ids: str) -> None:
    world.kb(TWO)
    report = imported(world, text("Entity", ids))
    opened = world.project.queue.open(1)
    assert opened.mentions[0].decision is None
    assert opened.document.state is not DocumentState.DONE
    assert report.counts["left undecided, ambiguous"] == 1
    assert [one.problem.text for one in report.problems] == [
        'document 1: "humans" (Entity): id 9606 matches NCBIGene:9606, NCBITaxon:9606: left undecided'
    ]
    assert "nil" not in report.counts
