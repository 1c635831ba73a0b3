"""Tables from the command line: columns are given once and kept, and errors are reported."""

from __future__ import annotations

from pathlib import Path

from tests.curator.cli.conftest import Cli


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
