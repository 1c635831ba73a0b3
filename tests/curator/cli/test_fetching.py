"""`curator fetch pubmed` against a server of this computer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.curator.cli.conftest import Cli
from tests.fake_pubmed import FakePubMed, serving


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakePubMed]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("NCBI_API_KEY", "s3cret")
    with serving(5) as found:
        monkeypatch.setenv("CURATOR_EUTILS", found.address)
        yield found


def test_pmids_and_a_query(cli: Cli, fake: FakePubMed, tmp_path: Path) -> None:
    project, pmids = tmp_path / "p.curation", tmp_path / "pmids.txt"
    cli("new", project)
    pmids.write_text("PMID: 2\n77, 1\n", encoding="utf-8")
    answer = cli("fetch", "pubmed", project, "--pmid-file", pmids, "--split", "test")
    assert (answer.code, answer.err) == (0, "")
    assert "s: 2 documents" in answer.out
    assert "PubMed has no record of this PMID: 77." in answer.out
    assert cli("fetch", "pubmed", project, "--query", "x", "--count").out == "PubMed has 5 records for “x”.\n"
    found = cli("fetch", "pubmed", project, "--query", "x", "--most", 3, "--json").json
    assert found["counts"]["documents"] == 1
    assert fake.fetched() == [["2", "77", "1"], ["3"]], "what the project has is not asked for"
    for path in project.rglob("*"):
        assert path.is_dir() or b"s3cret" not in path.read_bytes(), "the key stays out of the project"


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ([], "Give either --pmid-file or --query"),
        (["--query", "x", "--pmid-file", "f"], "Give either --pmid-file or --query"),
        (["--pmid-file", "f", "--count"], "--count requires --query"),
        (["--pmid-file", "{folder}/gone"], "gone could not be read"),
        (["--pmid-file", "{folder}/bad"], "“twelve” in line 2"),
        (["--pmid-file", "{folder}/none"], "contains no PMIDs"),
    ],
)
def test_what_is_refused(cli: Cli, fake: FakePubMed, tmp_path: Path, arguments: list[str], why: str) -> None:
    project = tmp_path / "p.curation"
    cli("new", project)
    (tmp_path / "bad").write_text("12\ntwelve", encoding="utf-8")
    (tmp_path / "none").write_text("# only a note\n", encoding="utf-8")
    answer = cli("fetch", "pubmed", project, *(one.format(folder=tmp_path) for one in arguments))
    assert answer.code == 2
    assert why in answer.err
    assert fake.asked == []
