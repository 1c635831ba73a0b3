"""An older copy of `project.sqlite` beside linkers that are newer: it is said, and no linker of another knowledge base
answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.bootstrap import Project, join
from curator.domain.wording import MissingStepsError
from curator.settings.schema import Settings
from curator.storage import project as storage
from tests.curator.services.fakes import KB, FakeJobs, FakeLinker, make_world


def reopened(folder: Path, jobs: FakeJobs) -> Project:
    store = storage.open_project(folder, lacking=True)
    return join(store, Settings(), curator="ada", linker=False, linker_port=FakeLinker(), job_port=jobs)


def active(project: Project) -> str:
    """The id of the linker in use; '' for none."""
    return next((one.id for one in project.retraining.bundles() if one.active), "")


@pytest.mark.parametrize("indexed", [False, True])
def test_an_older_database_beside_a_newer_linker_does_not_use_it(tmp_path: Path, indexed: bool) -> None:
    world = make_world(tmp_path, kb=True, documents=1)
    folder = world.project.folder
    if indexed:
        world.index()
    former = active(world.project)
    world.project.close()
    older = (folder / "project.sqlite").read_bytes()

    jobs = FakeJobs(kb_hash="newer")
    project = reopened(folder, jobs)
    world.project = project
    world.kb([*KB, {"id": "X:1", "name": "New", "types": ["Disease"]}], name="newer.jsonl")
    project.retraining.build_index(on_progress=lambda _: None, on_end=lambda _: None)
    newer = active(project)
    assert newer not in ("", former)
    project.close()

    (folder / "project.sqlite").write_bytes(older)
    with pytest.raises(MissingStepsError):
        storage.open_project(folder)
    project = reopened(folder, jobs)
    assert active(project) == former
    assert project.retraining.needs_index() is not indexed
    assert newer in {one.id for one in project.retraining.bundles()}
    project.close()
