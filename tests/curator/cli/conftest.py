"""Commands run in this process, with a linker and jobs that need none."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from curator.cli.main import run
from tests.curator.services.fakes import KB, FakeJobs, FakeLinker, document


@dataclass(frozen=True, slots=True)
class Answer:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Cli = Callable[..., Answer]


@pytest.fixture
def jobs() -> FakeJobs:
    return FakeJobs()


@pytest.fixture
def cli(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], jobs: FakeJobs) -> Cli:
    """Run one command; returns exit code and what it wrote."""
    monkeypatch.setattr("curator.project.LinkerProcess", lambda *_: FakeLinker())
    monkeypatch.setattr("curator.project.JobRunner", lambda *_: jobs)

    def called(*arguments: object) -> Answer:
        code = run([str(one) for one in arguments])
        written = capsys.readouterr()
        return Answer(code, written.out, written.err)

    return called


@pytest.fixture
def kb_file(tmp_path: Path) -> Path:
    path = tmp_path / "kb.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in KB), encoding="utf-8")
    return path


@pytest.fixture
def documents_file(tmp_path: Path) -> Path:
    path = tmp_path / "docs.pubtator"
    path.write_text("".join(document(n) for n in range(1, 9)), encoding="utf-8")
    return path


@pytest.fixture
def project(cli: Cli, tmp_path: Path, kb_file: Path, documents_file: Path) -> Path:
    """With knowledge base and eight documents with gold, two of them for validation."""
    path = tmp_path / "p.curation"
    assert cli("new", path).code == 0
    assert cli("kb", "import", path, kb_file).code == 0
    assert cli("import", path, documents_file, "--gold", "--hold-out", "2").code == 0
    return path
