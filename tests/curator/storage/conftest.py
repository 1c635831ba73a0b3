"""An empty project for every test, in a folder; for tests of both dialects also on a server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.services.ports.address import SharedAddress
from curator.storage.project import create_project
from curator.storage.store import SqlStore
from curator.storage.team.project import create_shared_project, open_shared_project
from curator.storage.team.store import SharedStore
from tests.curator.storage.filler import DIALECTS, SQLITE, Filler
from tests.postgres import Server, empty

AnyStore = SqlStore | SharedStore


@pytest.fixture(scope="session")
def base(server: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A database that holds a project."""
    name = server.new_base()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CURATOR_SHARED_DIR", str(tmp_path_factory.mktemp("shared")))
        create_shared_project(SharedAddress.parse(server.address(name)), name="P").close()
    return name


@pytest.fixture
def shared(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SharedAddress]:
    """The address of an empty project on the server."""
    server: Server = request.getfixturevalue("server")
    base: str = request.getfixturevalue("base")
    monkeypatch.setenv("CURATOR_SHARED_DIR", str(tmp_path / "shared"))
    yield SharedAddress.parse(server.address(base))
    empty(server, base)


@pytest.fixture
def empty_base(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SharedAddress]:
    """The address of a database with nothing in it."""
    monkeypatch.setenv("CURATOR_SHARED_DIR", str(tmp_path / "shared"))
    name = server.new_base()
    yield SharedAddress.parse(server.address(name))
    server.drop(name)


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[AnyStore]:
    if getattr(request, "param", SQLITE) == SQLITE:
        with create_project(tmp_path / "p.curation", name="P") as store:
            yield store
    else:
        with open_shared_project(request.getfixturevalue("shared")) as shared:
            yield shared


@pytest.fixture
def fill(store: AnyStore) -> Filler:
    return Filler(store)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """The repositories are asked for the same in both dialects."""
    marks = metafunc.definition.iter_markers("parametrize")
    in_both = metafunc.module.__name__.split(".")[3:4] in (["curation"], ["kb"]) or getattr(
        metafunc.module, "IN_BOTH_DIALECTS", False
    )
    if in_both and "store" in metafunc.fixturenames and not any("store" in mark.args[0] for mark in marks):
        metafunc.parametrize("store", DIALECTS, indirect=True)
