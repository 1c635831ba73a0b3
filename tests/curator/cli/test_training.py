"""Training and linkers on the command line: forecasts, reasons, deleting, what changed, resuming after a crash."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from curator.domain.jobs import JobOutcome, JobState
from curator.services.training import training_preview
from tests.curator.cli.conftest import Cli
from tests.curator.services.fakes import FakeJobs, document

RECIPE = "pel-pb-quick"


@pytest.fixture
def ready(cli: Cli, project: Path) -> Path:
    """With enough decisions to train on."""
    more = project.parent / "more.pubtator"
    more.write_text("".join(document(n) for n in range(50, 53)), encoding="utf-8")
    assert cli("import", project, more, "--gold").code == 0
    return project


def ids(cli: Cli, project: Path) -> list[str]:
    return [one["id"] for one in cli("linkers", project, "--json").json["bundles"]]


def test_train_says_what_it_learns_from_and_how_long_the_last_run_took(
    cli: Cli, ready: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = cli("train", ready, "--recipe", RECIPE, "--set", "entity_tower=train")
    assert answer.code == 0, answer.err
    assert "Learns from 27 links" in answer.err
    assert "The last training" not in answer.err
    assert "recipe here took 4 minutes." in cli("train", ready, "--recipe", RECIPE, "--preview").out
    assert cli("train", ready, "--preview").out.startswith("Learns from 27 links"), "the recommended recipe"
    monkeypatch.setattr(training_preview, "HARD_SHARE", -1.0)
    lines = cli("train", ready, "--preview").out.splitlines()
    assert lines[-1].startswith("Also recommended: --recipe pel-pb-quick. In 0.0 % of the links")
    assert "Also recommended" not in cli("train", ready, "--recipe", "pel-pb-quick", "--preview").out
    preview: dict[str, Any] = cli("train", ready, "--recipe", RECIPE, "--preview", "--json").json
    assert preview["test_documents"] == 0
    assert preview["seconds"] == 240


def test_a_linker_that_did_not_pass_the_check_needs_a_reason(cli: Cli, ready: Path, jobs: FakeJobs) -> None:
    jobs.verdict = "refused"
    refused = cli("train", ready, "--recipe", RECIPE, "--json").json["bundle"]
    answer = cli("linkers", ready, "--use", refused)
    assert answer.code == 2
    assert "reason" in answer.err
    assert cli("linkers", ready, "--use", refused, "--reason", "for a look").code == 0
    shown = cli("linkers", ready, "--show", refused).out.splitlines()[0]
    assert "put into use by" in shown
    assert shown.endswith(": for a look")
    assert f"* {refused}" in cli("linkers", ready).out


def test_linkers_are_deleted_but_never_the_one_in_use(cli: Cli, ready: Path) -> None:
    cli("index", ready)
    lexical, full = ids(cli, ready)
    answer = cli("linkers", ready, "--delete", full)
    assert answer.code == 2
    assert "is in use" in answer.err
    listed = cli("linkers", ready, "--delete", lexical)
    assert listed.code == 0
    assert "in total" in listed.out
    assert ids(cli, ready) == [full]
    gone = cli("linkers", ready, "--show", lexical)
    assert gone.code == 2
    assert f"was not found. Linkers of this project: {full}." in gone.err


@pytest.mark.parametrize("wrong", [("--use", "a", "--rollback"), ("--delete", "a", "--show", "b"), ("--reason", "why")])
def test_one_thing_at_a_time(cli: Cli, ready: Path, wrong: tuple[str, ...]) -> None:
    assert cli("linkers", ready, *wrong).code == 2


def test_an_interrupted_training_is_resumed(cli: Cli, ready: Path, jobs: FakeJobs) -> None:
    assert "No training was interrupted" in cli("train", ready, "--resume").err
    cli("index", ready)
    jobs.outcomes = [JobOutcome(JobState.CRASHED, "Killed.", {"signal": 9})]
    crashed = cli("train", ready, "--recipe", RECIPE)
    assert crashed.code == 2
    assert "curator train P --resume" in crashed.err
    answer = cli("train", ready, "--resume", "--json")
    assert answer.code == 0, answer.err
    assert "was interrupted" in answer.err
    assert answer.json["active"] is True
    assert jobs.started[-1][1]["recipe"] == RECIPE
    assert cli("train", ready, "--resume").code == 2


def test_an_interrupted_training_is_discarded(cli: Cli, ready: Path, jobs: FakeJobs) -> None:
    cli("index", ready)
    jobs.outcomes = [JobOutcome(JobState.CRASHED, "Killed.", {"signal": 9})]
    cli("train", ready, "--recipe", RECIPE)
    assert "Discarded" in cli("train", ready, "--discard").out
    assert cli("train", ready, "--discard").code == 2


@pytest.mark.parametrize("wrong", [(), ("--recipe", RECIPE, "--resume"), ("--resume", "--discard")])
def test_train_needs_one_way_to_start(cli: Cli, ready: Path, wrong: tuple[str, ...]) -> None:
    assert cli("train", ready, *wrong).code == 2


def test_what_changed_is_listed(cli: Cli, ready: Path) -> None:
    cli("index", ready)
    _, full = ids(cli, ready)
    answer = cli("linkers", ready, "--changes", full)
    assert answer.out.strip() == "0 decisions become right, 0 become wrong."
    assert cli("linkers", ready, "--changes", full, "--json").json == {"bundle": full, "changes": []}
