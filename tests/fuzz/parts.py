"""Targets that are parts of a project, of a linker or of the user's own files, and answers from the network."""

from __future__ import annotations

import gzip
import importlib
import io
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from tempfile import mkdtemp
from unittest.mock import Mock, patch

import click

from curator.cli.main import cli
from curator.domain.wording import UserError
from curator.io import local_model
from curator.io.eutils import Eutils
from curator.io.files.atomic import AtomicWriter
from curator.jobs.bundles import FolderBundleStore
from curator.services.importing.fetching import unfinished
from curator.services.linking.opinions import Prompt, read_answer
from curator.services.ports.opinions import ModelServer, Stopper
from curator.services.ports.pubmed import NotNowError
from curator.services.records.stored_evaluations import StoredEvaluations
from curator.services.training.bundles import manifest_text, notes_of
from curator.services.training.embedding_map import read_map
from curator.services.training.workplace import TrainingFolders
from curator.settings.file import load
from curator.storage.db.lock import ProjectLock
from curator.storage.db.mark import read_mark
from curator.storage.project import _is_current
from curator.storage.safety.backup_places import facts_of, place_of
from tests.curator.services.fakes import context
from tests.curator.storage.wrong_rows import make_killed, set_value
from tests.fuzz.packing import as_folder, as_zip

NO_ANSWER = (UserError, NotNowError)
PROMPT = Prompt("which?", ("D1", "D2"))
SERVER = ModelServer("http://localhost:9/v1", "m", "", seconds=1.0, anywhere=False)


def place_project(data: bytes, folder: Path) -> Path:
    """The files of a project's folder but its database."""
    path = folder / "p.curation"
    path.mkdir()
    as_folder(data, path)
    for one in path.glob("evaluations/*.json"):
        one.with_name(f"{one.name}.gz").write_bytes(gzip.compress(one.read_bytes(), 1))
    return path


def read_project(path: Path) -> None:
    """What opening and the windows about linkers, trainings and fetches ask of them."""
    read_mark(path)
    ProjectLock(path).holder()
    _is_current(path / "project.curator")
    place_of(path, path)
    facts_of(path)
    linkers = FolderBundleStore(path / "bundles")
    for info in linkers.all(active=None):
        linkers.path(info.id)
        read_map(info)
        notes_of(info)
        manifest_text(info)
    list(linkers.altered())
    TrainingFolders(path, read_only=False).interrupted()
    for fetch in unfinished(path, AtomicWriter()):
        assert fetch.asked.key
    store = Mock()
    store.folder = path
    evaluations = StoredEvaluations(context(store), AtomicWriter())
    for one in evaluations.all():
        with suppress(UserError):
            evaluations.result(one.id)


class Databases:
    """The database of a killed project, with values and bytes that the lines of an input change: `TABLE.COLUMN =
    VALUE` and `PLACE: BYTE`, the latter after all values and beside the hashes."""

    def __init__(self) -> None:
        self._home: Path | None = None
        self._killed = Path()

    def place(self, data: bytes, folder: Path) -> Path:
        if self._home is None or not self._home.is_dir():
            self._home = Path(mkdtemp(prefix="killed-", dir=folder.parent))
            with _silent():
                self._killed = make_killed(self._home)
        path = folder / "p.curation"
        shutil.copytree(self._killed, path)
        lines = data.decode("utf-8", "replace").split("\n")[:MOST_CHANGES]
        values = [found for line in lines if (found := _VALUE.fullmatch(line))]
        for table, column, value in (found.groups() for found in values):
            with suppress(sqlite3.Error):  # no such table, or what it does not take
                set_value(path, table, column, "'{}'".format(value.replace("'", "''").replace("\0", "")))
        database = path / "project.sqlite"
        content = bytearray(database.read_bytes())
        for place, byte in (found.groups() for line in lines if (found := _BYTE.fullmatch(line))):
            content[int(place) % len(content)] = int(byte) % 256
        database.write_bytes(content)
        return path

    def read(self, path: Path) -> None:
        out = path.parent
        commands: list[tuple[object, ...]] = [
            ("check", path),
            ("info", path),
            ("work", path),
            ("stats", path),
            ("audit", path, out / "audit.csv"),
            ("export", path, out / "out.json", "--format", "bioc-json"),
            ("undo", path),
        ]
        for one in commands:
            with suppress(UserError, click.exceptions.Exit), _silent():
                cli.main(args=[str(part) for part in one], prog_name="curator", standalone_mode=False)


_VALUE = re.compile(r"(\w{1,40})\.(\w{1,40}) = (.{0,1000})")
_BYTE = re.compile(r"(\d{1,9}): (\d{1,4})")
MOST_CHANGES = 8


@contextmanager
def _silent() -> Iterator[None]:
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        yield


def place_manifest(data: bytes, folder: Path) -> Path:
    importlib.import_module("models.linker.bundle")  # with torch, whose memory is no input's
    path = folder / "manifest"
    path.write_bytes(data)
    return path


def read_manifest(path: Path) -> None:
    """A linker's manifest and the header of an index, as the linker's process reads them. Raises ModelError."""
    from models.core.file_io import read_json
    from models.linker.bundle import manifest_from_json
    from models.vectors.index_files import read_header

    beside = path.with_name(f"{path.name}.json")
    beside.write_bytes(path.read_bytes())
    try:
        read_header(path)
    finally:
        raw = read_json(path, what="The manifest", remedy="")
        manifest_from_json(raw, where=path)


def place_settings(data: bytes, folder: Path) -> Path:
    path = folder / "config"
    path.mkdir()
    (path / "settings.json").write_bytes(data)
    return path


def read_settings(path: Path) -> None:
    found = load(path)
    assert all(str(one) for one in found.problems)
    json.dumps(found.unknown)


def read_reply(path: Path) -> None:
    """An answer of a language model, and of PubMed's two services. Raises one of NO_ANSWER."""
    data = path.read_bytes()
    refused: list[Exception] = []
    with patch.object(local_model, "_asked", return_value=data), patch.object(Eutils, "_ask", return_value=data):
        for ask in (
            lambda: local_model.LocalModel().models(SERVER, Stopper()),
            lambda: read_answer(local_model.LocalModel().answer(SERVER, "?", Stopper()), PROMPT),
            lambda: Eutils().search("x", most=10),
            lambda: Eutils().records(["1"]),
            lambda: read_answer(data.decode("utf-8", "replace"), PROMPT),
        ):
            try:
                ask()
            except NO_ANSWER as error:
                refused.append(error)
    if refused:
        raise refused[0]


def place_workbook(data: bytes, folder: Path) -> Path:
    """The parts of a workbook: changed as a whole, a zip archive fails at its checksums and shows nothing else."""
    path = folder / "input.xlsx"
    path.write_bytes(as_zip(data))
    return path
