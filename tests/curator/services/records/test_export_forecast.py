"""What an export would write and lose, said before it is written."""

from __future__ import annotations

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState, Span
from curator.io.registry import default_registry
from curator.services.records.exporting import ExportScope
from tests.curator.services.fakes import World, finish

TEXT = "Lidocaine slowed an arrhythmia and cardiac arrest."
LINK = Verdict.link("MESH:D008012")


def raw_text(world: World, *, verdicts: tuple[Verdict, ...] = ()) -> list[int]:
    """A project of one plain text file, with a mention for each verdict."""
    world.kb()
    path = world.folder / "notes.txt"
    path.write_text(TEXT, encoding="utf-8")
    finish(world.project.importing.documents([path], format_name="text"))
    spans = [Span(0, 9), Span(20, 30), Span(35, 49), Span(10, 16)]
    ids = []
    for span, verdict in zip(spans, verdicts, strict=False):
        change = world.project.curation.add_mention(1, [span], "Chemical")
        ids += change.mention_ids
        world.project.curation.decide(change.mention_ids[0], verdict)
    return ids


@pytest.mark.parametrize("verdicts", [(), (LINK,), (Verdict.nil(),), (LINK, Verdict.nil())])
def test_the_preset_of_a_project_of_plain_texts_keeps_its_decisions(
    world: World, verdicts: tuple[Verdict, ...]
) -> None:
    raw_text(world, verdicts=verdicts)
    exporting = world.project.exporting
    name = exporting.usual_format()
    carries = default_registry().by_name(name).carries
    assert carries.mentions
    assert carries.nil
    forecast = exporting.forecast(name, exporting.holdings(ExportScope.DECIDED))
    assert (forecast.mentions, forecast.lost) == (len(verdicts), ())


def test_the_preset_is_the_most_frequent_format_that_keeps_decisions(world: World) -> None:
    for name in ("a", "b", "c"):
        (world.folder / f"{name}.txt").write_text(f"{name} {TEXT}", encoding="utf-8")
    texts = [world.folder / f"{name}.txt" for name in ("a", "b", "c")]
    finish(world.project.importing.documents(texts, format_name="text"))
    world.documents(1)
    assert world.project.exporting.usual_format() == "pubtator"


def composite(world: World) -> None:
    world.project.curation.decide(1, Verdict.link("MESH:D008012", "MESH:D006323"))


def in_pieces(world: World) -> None:
    change = world.project.curation.add_mention(1, [Span(0, 9), Span(14, 28)], "Chemical")
    world.project.curation.decide(change.mention_ids[0], LINK)


LOSSES = {
    "text": (
        lambda it: it.project.curation.decide(1, LINK),
        "Plain text cannot hold mentions: 4 mentions with their decisions are not written.",
    ),
    "zeshel": (
        lambda it: it.project.curation.decide(1, Verdict.nil()),
        "ZESHEL (Wikia) cannot hold NIL: 1 NIL decision is not written.",
    ),
    "blink": (in_pieces, "cannot hold mentions of several spans: 1 mention is not written in full."),
    "pubtator": (in_pieces, "cannot hold mentions of several spans: 1 mention is not written in full."),
    "zeshel, two entities": (
        composite,
        "ZESHEL (Wikia) cannot hold several entities for a mention: 1 mention is not written in full.",
    ),
}


@pytest.mark.parametrize("case", LOSSES)
def test_what_a_format_cannot_hold_is_said_before_it_is_written(world: World, case: str) -> None:
    world.kb()
    world.documents(1)
    decide, words = LOSSES[case]
    decide(world)
    exporting = world.project.exporting
    found = exporting.forecast(case.split(",")[0], exporting.holdings(ExportScope.DECIDED))
    assert any(words in one for one in found.lost), found.lost


@pytest.mark.parametrize("name", [one.name for one in default_registry().formats() if one.can_write])
def test_the_forecast_is_what_the_export_writes(world: World, name: str) -> None:
    world.kb()
    world.documents(1)
    curation = world.project.curation
    curation.decide(1, LINK)
    curation.decide(2, Verdict.link("MESH:D006323"))
    curation.decide(3, Verdict.reject())
    curation.decide(4, Verdict.skip())
    exporting = world.project.exporting
    held = exporting.holdings(ExportScope.DECIDED)
    assert (held.documents, held.mentions, held.links, held.nil) == (1, 3, 2, 0)
    forecast = exporting.forecast(name, held)
    report = exporting.export(world.folder / exporting.usual_name(name), name)
    assert (forecast.documents, forecast.mentions) == (report.documents, report.mentions)


def test_each_scope_is_counted_for_itself(filled: World) -> None:
    project = filled.project
    project.curation.decide_many(filled.mentions(1), Verdict.nil())
    project.curation.set_state(1, DocumentState.DONE)
    numbers = {scope: project.exporting.holdings(scope) for scope in ExportScope}
    assert {scope: (one.documents, one.mentions, one.nil) for scope, one in numbers.items()} == {
        ExportScope.DECIDED: (2, 8, 4),
        ExportScope.DONE: (1, 4, 4),
        ExportScope.ADJUDICATED: (0, 0, 0),
    }


def test_relations_and_fields_of_other_formats_are_named(world: World) -> None:
    world.kb()
    world.documents(2)
    exporting = world.project.exporting
    held = exporting.holdings(ExportScope.DECIDED)
    assert exporting.forecast("pubtator", held).lost == ()
    (said,) = exporting.forecast("bioc-json", held).lost
    assert said == (
        "Relations and special fields of 2 documents that were imported as PubTator are written only in that format."
    )


def test_the_numbers_are_a_sentence(world: World) -> None:
    raw_text(world, verdicts=(LINK, Verdict.nil()))
    exporting = world.project.exporting
    assert exporting.forecast("bioc-xml", exporting.holdings(ExportScope.DECIDED)).text == (
        "This export writes 1 document with 2 mentions: 1 link, 1 NIL decision."
    )
