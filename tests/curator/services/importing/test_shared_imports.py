"""Two clients that import into one shared project at the same time."""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from curator.bootstrap import create_project, open_project
from curator.domain.wording import UserError
from curator.project import Project
from curator.services.importing.kb_importing import KbWish
from curator.services.ports.address import SharedAddress
from tests.postgres import Server

DOCUMENTS = 60
"""More than one transaction stores."""


@pytest.fixture
def pair(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Project, Project]]:
    """Two clients of an empty project, each with its own folder as on a computer of its own."""
    name = server.new_base()
    place = SharedAddress.parse(server.address(name))
    monkeypatch.setenv("CURATOR_SHARED_DIR", str(tmp_path / "ada"))
    ada = create_project(place, name="trial", linker=False)
    monkeypatch.setenv("CURATOR_SHARED_DIR", str(tmp_path / "ben"))
    ben = open_project(place, linker=False)
    yield ada, ben
    ben.close()
    ada.close()
    server.drop(name)


def documents(tmp_path: Path, name: str, number: int = DOCUMENTS) -> Path:
    path = tmp_path / f"{name}.pubtator"
    path.write_text("".join(f"{name}{n}|t|Aspirin\n{name}{n}|a|Text.\n\n" for n in range(number)), encoding="utf-8")
    return path


def knowledge_base(tmp_path: Path, *names: str) -> Path:
    path = tmp_path / f"{names[0]}.jsonl"
    path.write_text("".join(json.dumps({"id": one, "name": one, "types": ["X"]}) + "\n" for one in names))
    return path


def rest(steps: Generator[Any, None, Any]) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def test_a_cancelled_import_leaves_a_colleague_s(pair: tuple[Project, Project], tmp_path: Path) -> None:
    ada, ben = pair
    running = ada.importing.documents([documents(tmp_path, "a")])
    next(running)
    cancelled = ben.importing.documents([documents(tmp_path, "b")])
    next(cancelled)
    cancelled.close()
    rest(running)
    assert sum(ben.queue.counts().documents.values()) == DOCUMENTS


def test_a_file_that_two_import_at_once_is_there_once(pair: tuple[Project, Project], tmp_path: Path) -> None:
    ada, ben = pair
    path = documents(tmp_path, "a")
    running = ada.importing.documents([path])
    next(running)
    rest(ben.importing.documents([path]))
    report = rest(running)
    assert "already imported as a.pubtator" in str(report.problems)
    assert sum(ada.queue.counts().documents.values()) == DOCUMENTS


@pytest.mark.parametrize("cancelled", [True, False])
def test_an_import_of_a_knowledge_base_leaves_a_colleague_s(
    pair: tuple[Project, Project], tmp_path: Path, cancelled: bool
) -> None:
    ada, ben = pair
    running = ada.importing.knowledge_base(knowledge_base(tmp_path, "A:1", "A:2"))
    next(running)
    other = ben.importing.knowledge_base(knowledge_base(tmp_path, "B:1"))
    next(other)
    other.close() if cancelled else rest(other)
    rest(running)
    found = ben.knowledge.info()
    assert found is not None
    assert found.entities == 2


def test_a_source_is_not_added_to_a_knowledge_base_that_was_replaced_meanwhile(
    pair: tuple[Project, Project], tmp_path: Path
) -> None:
    ada, ben = pair
    rest(ada.importing.knowledge_base(knowledge_base(tmp_path, "A:1", "A:2")))
    running = ada.importing.knowledge_base(knowledge_base(tmp_path, "C:1"), KbWish(add=True))
    next(running)
    rest(ben.importing.knowledge_base(knowledge_base(tmp_path, "B:1", "B:2", "B:3")))
    with pytest.raises(UserError, match="Somebody else changed the knowledge base"):
        rest(running)
    found = ada.knowledge.info()
    assert found is not None
    assert found.entities == 3
