"""Export: what did not change goes back byte for byte, what did is written."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from curator.domain.decisions import RejectReason, SkipReason, Verdict
from curator.domain.documents import DocumentState, Span
from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.services.ports.files import LeftOut
from curator.services.ports.queue import QueueFilter
from curator.services.records.exporting import ExportReport, ExportScope, ExportTarget
from curator.storage.store import SqlStore
from tests.curator.services.fakes import World, document, finish, make_world

WRITTEN = [one.name for one in default_registry().formats() if one.can_write]


SOURCES = {"pubtator": "a.txt", "bioc-xml": "a.xml", "bioc-json": "a.json", "webannotation": "a.jsonld", "xmi": "a"}
OUT = {"pubannotation": "o.json", "webannotation": "o.jsonld", "table": "o.csv", "docbin": "o", "blink": "o.jsonl"}


@pytest.mark.parametrize("source", SOURCES)
def test_imported_gold_keeps_the_identifiers_that_the_knowledge_base_lacks(world: World, source: str) -> None:
    """In every format: alone, and beside one that it has; NIL stays NIL, and what a curator decides holds."""
    world.kb()
    path = world.write(
        "9|t|lidocaine fooxin both none later\n9|a|\n9\t0\t9\tlidocaine\tChemical\tMESH:D008012\n"
        "9\t10\t16\tfooxin\tChemical\tMESH:C064227\n9\t17\t21\tboth\tChemical\tMESH:D008012|MESH:C064227\n"
        "9\t22\t26\tnone\tChemical\t-1\n9\t27\t32\tlater\tChemical\tMESH:C064227\n\n"
    )
    if source != "pubtator":
        folder = world.folder / "first"
        folder.mkdir()
        first = make_world(folder)
        finish(first.project.importing.documents([path]))
        path = folder / SOURCES[source]
        first.project.exporting.export(path, source)
        first.project.close()
    finish(world.project.importing.documents([path], gold=True))
    (document,) = world.project.queue.ids(QueueFilter())
    world.project.curation.decide(world.mentions(document)[4], Verdict.nil())
    both, found = ("MESH:D008012", "MESH:C064227"), {}
    for name in set(WRITTEN) - {"text", "decisions", "zeshel"}:
        out = world.folder / f"out-{name}" / OUT.get(name, "o")
        out.parent.mkdir()
        paths = world.project.exporting.export(out, name).paths
        (read,) = default_registry().by_name(name).open(out if out.exists() else paths[0])
        found[name] = [one.ids for one in read.mentions]
    assert {name: ids[:4] for name, ids in found.items()} == {name: [both[:1], both[1:], both, ()] for name in found}
    edited = {"bioc-xml", "bioc-json"} if source.startswith("bioc") else {source}  # where the file's own line stays
    assert all(ids[4] == () for name, ids in found.items() if name not in edited)


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


def damage(world: World, statement: str) -> None:
    with world.store.write() as unit:
        unit.connection.exec_driver_sql(statement)


@pytest.mark.parametrize("name", WRITTEN)
@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE document_texts SET text = replace(text, 'a', 'e') WHERE document_id = 2", "The text of document"),
        ("UPDATE mentions SET text = 'other' WHERE id = 6", "Mention 6 of document"),
    ],
)
def test_a_damaged_document_is_named_and_left_out(world: World, name: str, statement: str, words: str) -> None:
    world.kb()
    world.documents(3, gold=True)
    damage(world, statement)
    before = sorted(world.folder.rglob("*"))
    report = world.project.exporting.export(world.folder / ("out.csv" if name == "table" else "out"), name)
    assert (report.documents, report.damaged) == (2, 1)
    assert report.text.startswith("1 damaged document was left out. Wrote 2 documents")
    assert report.problems[0].text.startswith(words)
    written = [one for one in world.folder.rglob("*") if one not in before and one.is_file()]
    assert written
    assert not any(b"other" in one.read_bytes() for one in written)


@pytest.mark.parametrize("name", WRITTEN)
def test_no_file_is_written_for_a_file_whose_documents_are_all_damaged(world: World, name: str) -> None:
    def written(out: Path) -> dict[str, bytes]:
        report = world.project.exporting.export(out, name)
        assert report.documents == 2
        return {one.name: one.read_bytes() for one in (out.rglob("*") if out.is_dir() else [out]) if one.is_file()}

    world.kb()
    world.documents(2, gold=True)
    suffix = ".csv" if name == "table" else ""
    (world.folder / "first").mkdir()  # as for several files
    expected = written(world.folder / ("first.csv" if suffix else "first"))
    world.documents(2, first=3, name="b.pubtator", gold=True)
    damage(world, "UPDATE document_texts SET text = text || 'x' WHERE document_id > 2")
    found = written(world.folder / ("again.csv" if suffix else "again"))
    assert len(found) == len(expected)
    if name not in ("bioc-xml", "docbin", "xmi", "table"):  # which hold times or compressed data
        assert sorted(found.values()) == sorted(expected.values())


def test_nothing_is_written_if_all_documents_are_damaged(world: World) -> None:
    world.kb()
    world.documents(3, gold=True)
    damage(world, "UPDATE document_texts SET text = text || 'x'")
    before = sorted(world.folder.rglob("*"))
    with pytest.raises(UserError, match="all 3 documents are damaged: The text of document 1 "):
        world.project.exporting.export(world.folder / "out", "pubtator")
    assert [one for one in sorted(world.folder.rglob("*")) if one not in before] == []


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
        with pytest.raises(UserError, match="inside a project's folder"):
            world.project.exporting.export(out, "zeshel")
    assert sorted(folder.rglob("*")) == before


def test_what_another_format_cannot_take_of_a_file_is_told(world: World) -> None:
    """Relations of PubTator go into BioC, but not into Web Annotations."""
    world.documents()
    other = world.project.exporting.export(world.folder / "out.jsonld", "webannotation")
    assert [one.text[:70] for one in other.problems] == [
        "1 document that was imported as PubTator has relations or other fields"
    ]
    assert world.project.exporting.export(world.folder / "out.xml", "bioc-xml").problems == ()
    back = world.project.exporting.export(world.folder / "out.txt", "pubtator")
    assert back.problems == ()


def test_there_is_no_warning_of_relations_where_there_are_none(world: World) -> None:
    path = world.write("".join(line for line in document(1).splitlines(keepends=True) if "CID" not in line))
    finish(world.project.importing.documents([path]))
    assert world.project.exporting.export(world.folder / "out.xml", "bioc-xml").problems == ()


def test_the_counts_are_of_what_was_written(world: World) -> None:
    """Rejected, discontinuous and undecided new mentions stay out, of which the report says each."""
    world.kb()
    world.documents(gold=True)
    curation = world.project.curation
    curation.decide(1, Verdict.reject(RejectReason.NOT_AN_ENTITY))
    curation.add_mention(1, [Span(0, 4), Span(39, 45)], "Disease")
    curation.decide(5, Verdict.nil())
    curation.add_mention(1, [Span(39, 45)], "Disease")
    report = world.project.exporting.export(world.folder / "out.txt", "pubtator")
    lines = (world.folder / "out.txt").read_text(encoding="utf-8").split("\n")
    assert report.mentions == sum(len(line.split("\t")) > 4 for line in lines) == 3
    assert report.unchanged == 3
    assert len([one for one in report.problems if isinstance(one, LeftOut)]) == 3
    assert world.project.exporting.export(world.folder / "out.json", "bioc-json").mentions == 4
    assert world.project.exporting.export(world.folder / "texts", "text").mentions == 0
    blink = world.project.exporting.export(world.folder / "out.jsonl", "blink")
    assert (blink.documents, blink.mentions) == (1, 3)


def test_documents_without_a_line_of_their_own_do_not_count(world: World) -> None:
    finish(world.project.importing.documents([world.write("1|t|a b\n1|a|\n\n" + document(2))]))
    report = world.project.exporting.export(world.folder / "out.jsonl", "blink")
    assert report.documents == len({json.loads(one)["context_doc_id"] for one in lines_of(world, "out.jsonl")}) == 1


def lines_of(world: World, name: str) -> list[str]:
    return (world.folder / name).read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("name", ["pubtator", "bioc-xml", "bioc-json", "pubannotation", "decisions", "webannotation"])
def test_several_imported_files_go_into_one_file(world: World, name: str) -> None:
    """`gold.pubtator` is a file; it is read as the documents of all files."""
    world.documents(2)
    world.documents(1, first=3, name="b.pubtator")
    exporting = world.project.exporting
    out = world.folder / exporting.usual_name(name)
    assert exporting.makes(out, name) == (ExportTarget.FILE, 2)
    assert exporting.export(out, name).paths == (out,)
    reader = default_registry().by_name(name).open(out)
    assert [(one.external_id, len(one.mentions)) for one in reader] == [("1", 4), ("2", 4), ("3", 4)]


def test_one_file_of_pubtator_is_the_files_one_after_the_other(world: World) -> None:
    world.documents(2)
    finish(world.project.importing.documents([world.write("\ufeff" + document(3).rstrip("\n"), name="b.pubtator")]))
    world.documents(1, first=4, name="c.pubtator")
    world.project.exporting.export(world.folder / "gold.pubtator", "pubtator")
    text = (world.folder / "gold.pubtator").read_text(encoding="utf-8")
    assert text == "".join(map(document, (1, 2, 3, 4)))


def test_a_folder_is_made_where_the_name_says_no_file(world: World) -> None:
    world.documents(2)
    world.documents(1, first=3, name="b.pubtator")
    exporting, out = world.project.exporting, world.folder / "gold"
    assert exporting.makes(out, "pubtator") == (ExportTarget.FOLDER, 2)
    assert exporting.export(out, "pubtator").paths == (out / "a.pubtator", out / "b.pubtator")
    assert [(out / one).read_bytes() for one in ("a.pubtator", "b.pubtator")] == [
        (world.folder / one).read_bytes() for one in ("a.pubtator", "b.pubtator")
    ]
    (world.folder / "dir.pubtator").mkdir()
    assert exporting.makes(world.folder / "dir.pubtator", "pubtator") == (ExportTarget.FOLDER, 2)
    assert exporting.makes(world.folder / "gold.zip", "brat") == (ExportTarget.ARCHIVE, 2)
    assert exporting.makes(world.folder / "gold-brat", "brat") == (ExportTarget.FOLDER, 2)
    assert exporting.makes(world.folder / "one.xmi", "xmi") == (ExportTarget.FILE, 1)


def test_many_paths_are_a_folder_and_a_number(tmp_path: Path) -> None:
    paths = tuple(tmp_path / "out" / f"{number}.ann" for number in range(1586))
    report = ExportReport("brat", paths, 1, 1, 0)
    assert report.text == f"Wrote 1 document with 1 mention to {tmp_path / 'out'} (1,586 files)."
    assert str(paths[1]) in replace(report, paths=paths[:3]).text


def test_the_whole_report_can_be_written(world: World) -> None:
    world.documents()
    exporting = world.project.exporting
    report = exporting.export(world.folder / "out.xml", "bioc-xml")
    exporting.write_report(report, world.folder / "report.txt")
    assert lines_of(world, "report.txt") == [report.text, *(one.text for one in report.problems)]


def test_what_an_export_contains_is_saved_before_it_takes_its_place(
    filled: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = filled.folder / "out.txt"
    there: list[bool] = []
    monkeypatch.setattr(SqlStore, "settle", lambda _: there.append(out.exists()))
    filled.project.exporting.export(out, "pubtator")
    assert there == [False]
    assert out.exists()


@pytest.mark.parametrize("name", WRITTEN)
def test_every_format_waits_once_for_the_disk(world: World, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    world.documents(2)
    world.documents(2, first=3, name="b.pubtator")
    waited: list[SqlStore] = []
    monkeypatch.setattr(SqlStore, "settle", lambda store: waited.append(store))
    world.project.exporting.export(world.folder / ("out.csv" if name == "table" else "out"), name)
    assert len(waited) == 1


def test_a_project_whose_disk_fails_is_exported_with_a_note(filled: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: SqlStore) -> None:
        raise UserError("the disk fails")

    monkeypatch.setattr(SqlStore, "settle", fails)
    report = filled.project.exporting.export(filled.folder / "out.txt", "pubtator")
    assert (filled.folder / "out.txt").exists()
    assert report.problems[-1].text == "Not everything that was written is saved in the project: the disk fails"


@pytest.mark.parametrize("out", [".", "a.pubtator", "link"])
def test_the_imported_file_is_not_replaced(world: World, out: str) -> None:
    world.documents(2)
    source = world.folder / "a.pubtator"
    (world.folder / "link").symlink_to(source)
    before = source.read_bytes()
    with pytest.raises(UserError, match="imported from it"):
        world.project.exporting.export(world.folder / out, "pubtator")
    assert source.read_bytes() == before
    assert world.project.exporting.export(world.folder, "bioc-xml").paths == (world.folder / "a.bioc.xml",)
    source.rename(world.folder / "moved")
    assert world.project.exporting.export(world.folder, "pubtator").paths == (source,)


def test_no_export_goes_into_another_project(world: World) -> None:
    world.documents()
    other = world.folder / "other.curation" / "gold"
    other.mkdir(parents=True)
    with pytest.raises(UserError, match=r"inside a project's folder. Choose a location outside other.curation"):
        world.project.exporting.export(other, "pubtator")
