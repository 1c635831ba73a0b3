"""The list of imports, undoing one with what was done by hand, and what comes back."""

from __future__ import annotations

import pytest

from curator.domain.decisions import Verdict
from curator.domain.wording import UserError
from curator.services.linking.remembering import decided_documents
from curator.services.ports.queue import QueueFilter
from curator.storage.curation.imports import SqlImports
from tests.curator.services.fakes import World, document, finish


def test_every_import_is_recorded_with_its_facts(world: World) -> None:
    world.kb()
    world.documents(2)
    world.documents(1, first=7, name="b.pubtator", gold=True)
    newest, first = world.project.imports.files()
    assert (first.record.file.name, first.record.file.format, first.documents) == ("a.pubtator", "pubtator", 2)
    assert (first.record.curator, first.record.counts["documents"]) == ("ada", 2)
    assert newest.record.counts["linked"] == 3
    assert len(newest.record.file.sha256) == 64
    assert newest.record.at is not None


def test_an_undone_import_is_hidden_everywhere_and_comes_back_with_its_decisions(filled: World) -> None:
    world, project = filled, filled.project
    [mention, *_] = world.mentions(1)
    project.curation.decide(mention, Verdict.link("MESH:D008012"))
    project.notes.flag_document(2)
    project.notes.comment(1, "to review")
    world.documents(1, first=9, name="b.pubtator")
    [file_id] = [one.record.file.id for one in project.imports.files() if one.record.file.name == "a.pubtator"]
    plan = project.imports.plan([file_id])
    assert (plan.handwork.decisions, plan.handwork.comments, plan.handwork.flags) == (1, 1, 1)
    assert plan.handwork.documents == 2
    assert any("1 decision, 1 comment, 1 flag in 2 documents" in one for one in plan.words())

    change = project.imports.undo([file_id])

    assert change.document_ids == (1, 2)
    assert project.queue.ids(QueueFilter()) == [3]
    assert not sum(project.queue.counts().decisions_by_outcome.values())
    assert not project.imports.shows(1)
    assert project.curation.undo() is None, "Ctrl+Z does not reach into what is hidden"
    with pytest.raises(UserError, match="was already undone"):
        project.imports.undo([file_id])

    report = finish(project.importing.documents([world.write(document(1) + document(2), name="elsewhere.txt")]))

    assert report.counts == {"documents brought back": 2}
    assert project.queue.ids(QueueFilter()) == [1, 2, 3]
    decision = project.queue.open(1).mentions[0].decision
    assert decision is not None
    assert decision.verdict == Verdict.link("MESH:D008012")
    assert project.queue.row(2).flagged


@pytest.mark.parametrize("recorded", [True, False])
def test_an_import_keeps_its_time_when_it_is_undone_and_when_it_comes_back(
    world: World, monkeypatch: pytest.MonkeyPatch, recorded: bool
) -> None:
    path = world.write(document(1))
    with monkeypatch.context() as older:
        if not recorded:  # as by a version without a list of imports
            older.setattr(SqlImports, "record", lambda *_, **__: 0)
        finish(world.project.importing.documents([path]))
    [before] = world.project.imports.files()
    world.project.imports.undo([before.record.file.id])
    [undone] = world.project.imports.files()
    assert (undone.at, undone.record.curator) == (before.at, before.record.curator)
    assert undone.undone is not None
    assert undone.undone.at != before.at
    finish(world.project.importing.documents([path]))
    [again] = world.project.imports.files()
    assert (again.at, again.record.curator) == (before.at, before.record.curator)
    assert again.undone is None
    assert again.restored is not None
    assert again.restored.at != before.at


def test_imported_gold_is_no_handwork_and_the_audit_trail_keeps_what_is_hidden(world: World) -> None:
    world.kb()
    world.documents(2, gold=True)
    [file_id] = world.project.imports.last()
    before = world.folder / "before.jsonl"
    after = world.folder / "after.jsonl"
    world.project.audit.export(before)
    assert not world.project.imports.plan([file_id]).handwork
    world.project.imports.undo([file_id])
    world.project.audit.export(after)
    kept = after.read_text("utf-8").splitlines()
    assert len(kept) == len(before.read_text("utf-8").splitlines()) + 1, "and the undoing itself"


def test_the_linker_forgets_the_decisions_of_an_undone_import(world: World) -> None:
    world.kb()
    world.documents(1, gold=True)
    store = world.store
    assert decided_documents(store, [1])[0].mentions
    world.project.imports.undo(world.project.imports.last())
    assert not decided_documents(store, [1])[0].mentions


def test_files_of_one_import_are_undone_together(world: World) -> None:
    paths = [world.write(document(n), name=f"{n}.pubtator") for n in (1, 2, 3)]
    world.documents(1, first=8, name="before.pubtator")
    finish(world.project.importing.documents(paths))
    assert len(world.project.imports.last()) == 3
    world.project.imports.undo(world.project.imports.last())
    assert world.project.queue.count(QueueFilter()) == 1
    assert len(world.project.imports.last()) == 1
