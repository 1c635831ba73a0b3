"""`curator evaluate --errors` and `curator stats`."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.services.records.keeping import BackupService
from tests.curator.cli.conftest import Cli
from tests.curator.services.fakes import FakeJobs
from tests.curator.services.samples import error_row, evaluation_result


def test_the_figures_are_printed_for_people_and_for_programs(cli: Cli, project: Path) -> None:
    assert cli("decide", project, 1, "--link", "MESH:D008012", "--curator", "ada").code == 0
    assert cli("decide", project, 4, "--nil", "not-in-kb", "--curator", "bob").code == 0
    text = cli("stats", project, "--curator", "bob")
    assert text.code == 0, text.err
    assert "NIL among answers            100.0 %   1 of 1" in text.out
    assert "progress     1 decision, made on one day." in text.out
    found = cli("stats", project, "--json").json
    assert 0 < found["figures"]["nil"] < 1  # with the gold that came with the file
    assert found["filter"] == {"curator": None, "split": None, "since": None, "until": None}
    assert {"mentions", "ranks", "holdout", "recall", "agreement"} <= {one["id"] for one in found["plots"]}
    assert cli("stats", project, "--json", "--curator", "ada").json["figures"]["nil"] == 0.0
    assert cli("stats", project, "--json", "--since", "2999-01-01").json["figures"]["nil"] is None


def test_one_plot_is_csv(cli: Cli, project: Path) -> None:
    head = cli("stats", project, "--plot", "mentions").out.splitlines()[0]
    assert head == "State,Mentions"
    refused = cli("stats", project, "--plot", "nonsense")
    assert refused.code == 2
    assert "The plots are mentions, documents, progress" in refused.err
    assert cli("stats", project, "--since", "yesterday").code == 2


def test_the_errors_of_an_evaluation_are_written_and_stored(
    cli: Cli, project: Path, jobs: FakeJobs, tmp_path: Path
) -> None:
    cli("index", project)
    jobs.result = evaluation_result(
        error_row(relation="parent"),
        error_row(kind="nil_link", answer="", probability=0.5, mention="2", seen=False, name_class="other_words"),
    )
    jobs.result |= {"k": 64, "slices": {"other words": {"mentions": 3, "recall_at_1": 0.5, "recall_at_k": None}}}
    out = tmp_path / "errors.tsv"
    answer = cli("evaluate", project, "--split", "validation", "--errors", out)
    assert answer.code == 0, answer.err
    assert "words of the mention, other words: 3 mentions, recall@1 50.0 %, @64 undefined" in answer.out.splitlines()
    *_, head, kind, other, words, new, stored, written = answer.out.splitlines()
    assert head == "Errors: 2 of 9 mentions"
    assert kind.split() == ["gold", "ranked", "lower", "1", "50.0", "%", "parent", "of", "gold", "1"]
    assert other.split() == ["NIL,", "gold", "is", "a", "link", "1", "50.0", "%"]
    assert words.strip() == "words of the mention: same name 1, other words 1"
    assert new.strip() == "strings not seen in training: 1"
    assert written == f"2 errors written to {out}."
    assert len(out.read_text(encoding="utf-8").splitlines()) == 3
    assert stored.startswith("Stored as ")
    wrong = cli("evaluate", project, "--split", "validation", "--errors", tmp_path / "errors.xls")
    assert (wrong.code, "must end in .tsv or .json" in wrong.err) == (2, True)


def test_a_warning_about_the_project_is_printed_once(
    cli: Cli, project: Path, jobs: FakeJobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Though the command opens the project several times."""
    cli("index", project)
    jobs.result = evaluation_result(error_row())
    opened: list[BackupService] = []
    monkeypatch.setattr(
        BackupService, "place_warning", lambda self: opened.append(self) or "It lies on a network drive."
    )
    for out in ("a.tsv", "b.tsv"):
        answer = cli("evaluate", project, "--split", "validation", "--errors", tmp_path / out)
        assert (answer.code, answer.err.count("network drive"), len(opened) > 1) == (0, 1, True)
