"""Export: what did not change goes back byte for byte, what did is written."""

from __future__ import annotations

import pytest

from curator.domain.decisions import RejectReason, SkipReason, Verdict
from curator.domain.documents import DocumentState, Span
from curator.domain.errors import UserError
from curator.services.exporting import ExportScope
from tests.curator.services.fakes import World, document, finish, make_world


@pytest.mark.parametrize("gold", [True, False])
def test_an_untouched_project_goes_back_byte_for_byte(world: World, gold: bool) -> None:
    world.kb()
    world.documents(3, gold=gold)
    report = world.project.exporting.export(world.folder / "out.txt", "pubtator")
    assert (world.folder / "out.txt").read_bytes() == (world.folder / "a.pubtator").read_bytes()
    assert (report.documents, report.mentions, report.unchanged) == (3, 12, 12)
    assert report.paths == (world.folder / "out.txt",)


def test_decisions_are_written_and_the_rest_stays(world: World) -> None:
    world.kb()
    world.documents(gold=True)
    curation = world.project.curation
    curation.decide(1, Verdict.nil())
    curation.decide(2, Verdict.link("MESH:D001145"))
    curation.delete_mention(3)
    curation.add_mention(1, [Span(39, 45)], "SpecificDisease")
    curation.decide(5, Verdict.link("MESH:D006323"))
    world.project.exporting.export(world.folder / "out.txt", "pubtator")
    expected = document(1).split("\n")
    expected[2] = expected[2].replace("D008012", "-1")
    expected[3] = expected[3].replace("D006323", "D001145")
    expected[4] = "1\t39\t45\t" + "slowed"[:0] + world.project.queue.open(1).document.text[39:45]
    written = (world.folder / "out.txt").read_text(encoding="utf-8").split("\n")
    assert written[2:4] == expected[2:4]
    assert written[4].startswith(expected[4] + "\tSpecificDisease\t")
    assert written[4].endswith("D006323")
    assert written[5:] == expected[5:]


def test_a_decision_undone_and_the_same_decision_again_leave_the_line_as_it_was(world: World) -> None:
    world.kb()
    world.documents(gold=True)
    world.project.curation.decide(1, Verdict.nil())
    world.project.curation.undo()
    world.project.curation.decide(2, Verdict.link("MESH:D006323"))
    report = world.project.exporting.export(world.folder / "out.txt", "pubtator")
    assert report.unchanged == 4
    assert (world.folder / "out.txt").read_text(encoding="utf-8") == document(1)


def test_cleared_gold_is_no_longer_the_files_own(world: World) -> None:
    world.kb()
    world.documents(gold=True)
    world.project.curation.clear(1)
    assert world.project.exporting.export(world.folder / "out.txt", "pubtator").unchanged == 3


def test_rejected_mentions_leave_and_skipped_ones_stay(world: World) -> None:
    world.kb()
    world.documents()
    world.project.curation.decide(1, Verdict.reject(RejectReason.NOT_AN_ENTITY))
    world.project.curation.decide(2, Verdict.skip(SkipReason.AMBIGUOUS))
    world.project.exporting.export(world.folder / "out.txt", "pubtator")
    lines = (world.folder / "out.txt").read_text(encoding="utf-8").split("\n")
    assert [line.split("\t")[3] for line in lines[2:5]] == ["cardiac arrest", "arrhythmia", "blorbitis"]


def test_only_done_documents_when_asked(world: World) -> None:
    world.documents(3)
    with pytest.raises(UserError, match="no document is done"):
        world.project.exporting.export(world.folder / "out.txt", "pubtator", scope=ExportScope.DONE)
    world.project.curation.set_state(2, DocumentState.DONE)
    world.project.exporting.export(world.folder / "out.txt", "pubtator", scope=ExportScope.DONE)
    assert (world.folder / "out.txt").read_text(encoding="utf-8") == document(2)


def test_unknown_formats_are_answered_with_those_there_are(world: World) -> None:
    world.documents()
    with pytest.raises(UserError, match="pubtator"):
        world.project.exporting.export(world.folder / "out.txt", "docx")
    names = [name for name, _ in world.project.exporting.formats()]
    assert {"zeshel", "pubtator", "bioc-xml", "bioc-json", "decisions"} <= set(names)


def test_an_export_imported_again_exports_the_same(world: World) -> None:
    world.kb()
    world.documents(2, gold=True)
    world.project.curation.decide(4, Verdict.link("MESH:D001145"))
    world.project.exporting.export(world.folder / "one.txt", "pubtator")
    other_folder = world.folder / "other"
    other_folder.mkdir()
    other = make_world(other_folder)
    other.kb()
    finish(other.project.importing.documents([world.folder / "one.txt"], gold=True))
    other.project.exporting.export(other_folder / "again.txt", "pubtator")
    other.project.close()
    assert (other_folder / "again.txt").read_bytes() == (world.folder / "one.txt").read_bytes()


def test_the_usual_format_is_that_of_the_imported_files(world: World) -> None:
    assert world.project.exporting.usual_format() in dict(world.project.exporting.formats())
    world.kb()
    world.documents(1)
    assert world.project.exporting.usual_format() == "pubtator"


def test_nothing_is_written_into_the_projects_own_folder(world: World) -> None:
    world.kb()
    world.documents(gold=True)
    folder = world.project.folder
    before = sorted(folder.rglob("*"))
    for out in (folder, folder / "gold.txt", folder / "bundles" / ".." / "gold"):
        with pytest.raises(UserError, match="own folder"):
            world.project.exporting.export(out, "zeshel")
    assert sorted(folder.rglob("*")) == before


def test_what_another_format_cannot_take_of_a_file_is_told(world: World) -> None:
    """Relations of PubTator go back into PubTator only, and nobody is left to find that out."""
    world.documents()
    other = world.project.exporting.export(world.folder / "out.xml", "bioc-xml")
    assert any("came as PubTator were not written as BioC XML" in one.text for one in other.problems)
    back = world.project.exporting.export(world.folder / "out.txt", "pubtator")
    assert not any("came as" in one.text for one in back.problems)
