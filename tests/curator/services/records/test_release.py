"""What leaves the project: adjudicated gold, the audit trail, the release bundle, the taught knowledge base."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState
from curator.domain.wording import DamagedTextError, UserError
from curator.services.records.exporting import ExportScope
from curator.storage.store import SqlStore
from tests.curator.services.fakes import World, finish

LIDOCAINE, ARREST, ARRHYTHMIA = (Verdict.link(f"MESH:{one}") for one in ("D008012", "D006323", "D001145"))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.fixture
def worked(filled: World) -> World:
    """Decided, undone, done again; a round judged by two and adjudicated in part; document 1 done."""
    project = filled.project
    filled.index()
    one, two, three, four = filled.mentions(1)
    project.curation.decide(one, ARREST)
    project.curation.decide(one, LIDOCAINE)
    project.curation.undo()
    project.curation.redo()
    project.curation.decide(two, ARREST)
    project.curation.set_state(1, DocumentState.DONE)
    found = project.rounds.create("pilot", [1])
    project.rounds.seat(found, "ada").curation.decide_many([three], ARRHYTHMIA)
    project.rounds.seat(found, "ben").curation.decide_many([three], Verdict.nil())
    project.rounds.close(found.id)
    project.adjudication.settle(found.id, three, "ada")
    project.curation.decide(four, ARRHYTHMIA)
    project.curation.decide(filled.mentions(2)[3], ARRHYTHMIA)
    return filled


def test_a_text_that_is_not_the_one_that_was_imported_is_not_released(worked: World, tmp_path: Path) -> None:
    with worked.store.write() as unit:
        unit.connection.exec_driver_sql("UPDATE document_texts SET text = text || 'x' WHERE document_id = 1")
    for export in (
        lambda: worked.project.release.export(tmp_path / "made"),
        lambda: worked.project.round_files.export("pilot", tmp_path / "made"),
    ):
        with pytest.raises(DamagedTextError, match="differs from the one imported"):
            export()
        assert not (tmp_path / "made").exists()


def test_the_audit_trail_holds_every_step_with_what_was_suggested_and_replaced(worked: World, tmp_path: Path) -> None:
    report = worked.project.audit.export(tmp_path / "audit.jsonl")
    rows = lines(tmp_path / "audit.jsonl")
    assert (report.entries, report.decisions, report.judgements, report.operations) == (len(rows), 8, 2, 1)
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    first = [row for row in rows if row["kind"] == "decision" and row["mention"] == rows[0]["mention"]]
    assert [row["step"] for row in first] == ["decide", "decide", "undo", "redo"]
    assert [row.get("replaces") for row in first] == [None, *(row["id"] for row in first[:3])]
    assert [row["entities"] for row in first] == [["MESH:D006323"], ["MESH:D008012"]] * 2
    assert first[1]["replaced_entities"] == ["MESH:D006323"]
    assert first[2]["target"] == first[1]["operation"]
    judged = [row for row in rows if row["kind"] == "judgement"]
    assert [(row["round"], row["curator"]) for row in judged] == [("pilot", "ada"), ("pilot", "ben")]
    assert any(row["note"] == "round “pilot”: as ada judged" for row in rows if "note" in row)

    worked.project.audit.export(tmp_path / "audit.csv")
    table = list(csv.DictReader(io.StringIO((tmp_path / "audit.csv").read_text(encoding="utf-8"))))
    assert [int(row["id"]) for row in table] == [row["id"] for row in rows]
    assert table[0]["spans"] == "0-9"
    with pytest.raises(UserError, match=r"\.csv or \.jsonl"):
        worked.project.audit.export(tmp_path / "audit.xls")


def test_gold_that_is_adjudicated_only_leaves_everything_else_out(worked: World) -> None:
    out = worked.folder / "gold.txt"
    report = worked.project.exporting.export(out, "pubtator", scope=ExportScope.ADJUDICATED)
    assert (report.documents, report.mentions) == (1, 1)
    marks = [line.split("\t")[3] for line in out.read_text(encoding="utf-8").splitlines() if line.count("\t") > 4]
    assert marks == ["arrhythmia"]


def test_the_format_that_carries_people_says_who_and_when(worked: World) -> None:
    exporting = worked.project.exporting
    out = worked.folder / "gold.jsonl"
    exporting.export(out, "decisions", scope=ExportScope.DONE)
    [document] = lines(out)
    first, *_ = document["mentions"]
    assert (first["curator"], first["outcome"], first["entities"]) == ("ada", "link", ["MESH:D008012"])
    assert first["at"].startswith("20")
    assert exporting.carries_people("decisions")
    assert not exporting.carries_people("pubtator")


def test_a_release_has_the_same_bytes_again_and_its_sums_hold(worked: World, tmp_path: Path) -> None:
    release = worked.project.release
    first = release.export(tmp_path / "a.zip")
    second = release.export(tmp_path / "b.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    assert first.sha256 == second.sha256 == hashlib.sha256((tmp_path / "a.zip").read_bytes()).hexdigest()
    assert (first.documents, first.decisions) == (1, 4)
    folder = release.export(tmp_path / "c").path
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert archive.namelist() == list(first.files)
        assert all(archive.read(name) == (folder / name).read_bytes() for name in first.files)
    for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split("  ")
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    [document] = lines(folder / "documents.jsonl")
    text = worked.project.queue.open(1).document.text
    assert document["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    head = json.loads((folder / "release.json").read_text(encoding="utf-8"))
    assert (head["mentions"]["link"], head["mentions"]["adjudicated"]) == (4, 1)
    assert json.loads((folder / "bundle.json").read_text(encoding="utf-8"))["manifest"]["id"] == head["bundle"]
    assert len(lines(folder / "judgements.jsonl")) == 2
    release.export(tmp_path / "c")
    worked.project.curation.undo()
    worked.project.curation.undo()
    assert release.export(tmp_path / "d.zip").sha256 != first.sha256


def test_a_release_goes_nowhere_that_it_could_harm(worked: World, tmp_path: Path) -> None:
    release = worked.project.release
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x", encoding="utf-8")
    with pytest.raises(UserError, match=r"thesis\.txt"):
        release.export(tmp_path / "mine")
    with pytest.raises(UserError, match="own folder"):
        release.export(worked.project.folder / "r.zip")
    with pytest.raises(UserError, match="does not exist"):
        release.export(tmp_path / "none" / "r.zip")
    assert [one.name for one in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_names_that_decisions_taught_join_the_knowledge_base(worked: World, tmp_path: Path) -> None:
    export = worked.project.kb_export
    [name] = export.taught()
    assert (name.entity_id, name.synonym, name.decisions, name.documents) == ("MESH:D001145", "blorbitis", 2, 2)
    assert export.taught(least=3) == []
    report = export.export(tmp_path / "kb.jsonl")
    assert (report.entities, report.names) == (3, 1)
    found = {row["id"]: row for row in lines(tmp_path / "kb.jsonl")}
    assert found["MESH:D001145"]["synonyms"] == ["blorbitis"]
    assert (tmp_path / "kb.names.csv").read_text(encoding="utf-8").splitlines()[1].endswith("blorbitis,2,2")
    finish(worked.project.importing.knowledge_base(tmp_path / "kb.jsonl"))
    assert worked.project.knowledge.entity("MESH:D001145").synonyms == ("blorbitis",)  # type: ignore[union-attr]
    assert export.taught() == []
    other = worked.mentions(2)[3]
    worked.project.curation.decide(other, LIDOCAINE)  # the string is no longer one entity's
    assert export.taught(least=1) == []


def test_obsolete_entities_come_back_from_an_exported_knowledge_base(worked: World, tmp_path: Path) -> None:
    obo = (
        "format-version: 1.4\n\n[Term]\nid: X:1\nname: alpha\n\n[Term]\nid: X:2\nname: old beta\nnamespace: things\n"
        'def: "What it was." []\nis_obsolete: true\nconsider: X:1\n\n[Term]\nid: X:3\nname: old alpha\n'
        "is_obsolete: true\nreplaced_by: X:1\n"
    )
    (tmp_path / "kb.obo").write_text(obo, encoding="utf-8")
    finish(worked.project.importing.knowledge_base(tmp_path / "kb.obo"))
    before = [worked.project.knowledge.obsolete(one) for one in ("X:2", "X:3")]
    assert all(before)
    assert worked.project.kb_export.export(tmp_path / "kb.jsonl").entities == 1
    finish(worked.project.importing.knowledge_base(tmp_path / "kb.jsonl"))
    assert [worked.project.knowledge.obsolete(one) for one in ("X:2", "X:3")] == before
    assert worked.project.knowledge.entity("X:1").alt_ids == ("X:3",)  # type: ignore[union-attr]


def test_nothing_is_released_that_the_project_cannot_save(worked: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(_: SqlStore) -> None:
        raise UserError("the disk fails")

    monkeypatch.setattr(SqlStore, "settle", fails)
    for work in (
        lambda: worked.project.release.export(worked.folder / "r", scope=ExportScope.DECIDED),
        lambda: worked.project.round_files.export("pilot", worked.folder / "r"),
    ):
        with pytest.raises(UserError, match="the disk fails"):
            work()
        assert not (worked.folder / "r").exists()
