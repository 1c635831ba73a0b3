"""import, with --dry-run and --changed: what it says and does."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest

from curator.cli.main import run
from curator.domain.documents import SourceDocument
from curator.services.importing.import_comparing import Compared
from curator.services.importing.import_reading import FileReading, ImportChoices
from tests.curator.cli.conftest import Cli
from tests.curator.services.fakes import document
from tests.curator.services.importing.test_changed_texts import FIRST, SECOND

Output = pytest.CaptureFixture[str]


@pytest.fixture
def project(tmp_path: Path, capsys: Output) -> Path:
    made = tmp_path / "p.curation"
    assert run(["new", str(made)]) == 0
    capsys.readouterr()
    return made


def said(capsys: Output, *arguments: object, code: int = 0) -> str:
    assert run([str(one) for one in arguments]) == code
    found = capsys.readouterr()
    return found.out + found.err


def file(folder: Path, text: str, name: str = "a.pubtator") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def test_a_dry_run_says_what_would_come_and_writes_nothing(project: Path, tmp_path: Path, capsys: Output) -> None:
    path = file(tmp_path, document(1) + document(2) + "3|t|Odd\nnot a line of it\n\n")
    facts = json.loads(said(capsys, "import", project, path, "--dry-run", "--json"))
    [found] = facts["files"]
    assert (found["format"], found["documents"], found["new"]) == ("PubTator", 3, 3)
    assert [one["id"] for one in found["first"]] == ["1", "2", "3"]
    assert any("not a line" in one["text"] or one["line"] for one in found["problems"])
    assert json.loads(said(capsys, "info", project, "--json"))["mentions"] == 0


def test_changed_documents_are_listed_and_taken(project: Path, tmp_path: Path, capsys: Output) -> None:
    said(capsys, "import", project, file(tmp_path, FIRST))
    newer = file(tmp_path, SECOND)
    listed = said(capsys, "import", project, newer, "--changed", "list")
    assert "{+In this report" in listed
    assert "Aspirin (Chemical) was not found in the new text" in listed
    assert "patient (Species)" in listed
    assert "changed, left as they are" in said(capsys, "import", project, newer)
    assert "1 text updated" in said(capsys, "import", project, newer, "--take", "7")
    out = tmp_path / "out.txt"
    said(capsys, "export", project, out, "--format", "pubtator")
    assert out.read_text("utf-8") == SECOND


def test_a_zip_of_many_files_is_one_import(project: Path, tmp_path: Path, capsys: Output) -> None:
    path = tmp_path / "corpus.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in (1, 2, 3):
            archive.writestr(f"corpus/{number}.txt", document(number))
        archive.writestr("corpus/README.md", "What this is.\n")
    told = said(capsys, "import", project, path)
    assert "3 documents" in told
    assert "README.md" in told
    again = said(capsys, "import", project, path)
    assert again.startswith("Nothing was imported. 3 files were already imported.\n")


def test_a_stopped_import_goes_on_when_it_is_called_again(
    project: Path, tmp_path: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = [file(tmp_path, document(number), f"{number}.pubtator") for number in (1, 2, 3)]
    whole = FileReading.sort
    read: list[str] = []

    def stopping(self: FileReading, compared: Sequence[Compared], choices: ImportChoices) -> list[SourceDocument]:
        read.append(self.source.name)
        if len(read) == 2:
            raise KeyboardInterrupt
        return whole(self, compared, choices)

    monkeypatch.setattr(FileReading, "sort", stopping)
    assert "Run the same command to import the rest" in said(capsys, "import", project, *paths, code=130)
    assert "2 documents" in said(capsys, "import", project, *paths)
    assert read == ["1.pubtator", "2.pubtator", "2.pubtator", "3.pubtator"]


PAIR = {"a.txt": "With aspirin.\n", "a.ann": "T1\tDrug 5 12\taspirin\n"}


def test_what_of_an_archive_is_left_out_is_listed_before_and_after(
    project: Path, tmp_path: Path, capsys: Output
) -> None:
    path = tmp_path / "corpus.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in (PAIR | {"1.pubtator": document(1), "stray.ann": PAIR["a.ann"], "notes.md": "N.\n"}).items():
            archive.writestr(name, text)
    for options in (["--dry-run"], []):
        told = said(capsys, "import", project, path, *options)
        assert told.count("stray.ann: the text stray.txt is missing") == 1
        assert f"{path}/notes.md" in told
    assert "s: 2 documents" in told


def test_the_format_can_be_chosen(project: Path, tmp_path: Path, capsys: Output) -> None:
    path = file(tmp_path, document(1), "a.txt")
    assert "Plain text, 1 document, 0 mentions" in said(
        capsys, "import", project, path, "--format", "text", "--dry-run"
    )
    assert "1 document" in said(capsys, "import", project, path, "--format", "TEXT")
    assert "is not brat" in said(capsys, "import", project, path, "--format", "brat", code=2)
    wrong = said(capsys, "import", project, path, "--format", "bart", code=2)
    assert "no format 'bart' to read: choose one of bioc-json" in wrong


def test_columns_are_said_once_and_kept(cli: Cli, tmp_path: Path) -> None:
    project = tmp_path / "p.curation"
    assert cli("new", project).code == 0
    first, second = tmp_path / "a.csv", tmp_path / "b.csv"
    first.write_text("Fallnr,Befundtext\n1,Schmerz\n")
    second.write_text("Fallnr,Befundtext\n2,Fieber\n3,Husten\n")
    assert cli("import", project, first).code != 0
    wrong = cli("import", project, first, "--column", "text=Befund")
    assert wrong.code != 0
    assert "has no column 'Befund': choose one of Fallnr, Befundtext" in wrong.err
    found = cli("import", project, first, "--columns", "document=Fallnr,text=Befundtext", "--json")
    assert found.json["counts"]["documents"] == 1
    assert cli("import", project, second, "--json").json["counts"]["documents"] == 2
    out = tmp_path / "out.csv"
    assert cli("export", project, out, "--format", "table").code == 0
    assert (tmp_path / "out.documents.csv").read_text().splitlines()[1] == '"1","Schmerz","Schmerz"'


def test_columns_are_about_tables(cli: Cli, tmp_path: Path, documents_file: Path) -> None:
    project = tmp_path / "p.curation"
    cli("new", project)
    assert "no file given is a table" in cli("import", project, documents_file, "--column", "text=x").err
    assert "write it as --column FIELD=HEADING" in cli("import", project, documents_file, "--column", "text").err
