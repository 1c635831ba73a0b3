"""Errors are reported before anything is done: a window without a display, a file without a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.curator.cli.conftest import Cli
from tests.curator.services.fakes import FakeJobs


def test_no_project_there(cli: Cli, tmp_path: Path) -> None:
    answer = cli("open", tmp_path / "nothing")
    assert (answer.code, answer.out) == (2, "")
    assert "nothing does not exist" in answer.err


def test_no_display(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    answer = cli("open", project)
    assert (answer.code, answer.out) == (2, "")
    assert "no display was found" in answer.err


def test_the_window_gets_the_folder_that_was_meant(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []

    def run(folder: Path) -> int:
        opened.append(folder)
        return 0

    monkeypatch.setattr("curator.ui.shell.app.can_show", lambda: True)
    monkeypatch.setattr("curator.ui.shell.app.run", run)
    assert cli("open", project.with_suffix("")).code == 0
    assert cli("open", project / "project.curator").code == 0
    assert opened == [project, project]


def test_alone_it_opens_the_window(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[tuple[Path, ...]] = []

    def run(*folders: Path) -> int:
        opened.append(folders)
        return 0

    monkeypatch.setattr("curator.ui.shell.app.can_show", lambda: True)
    monkeypatch.setattr("curator.ui.shell.app.run", run)
    answer = cli()
    assert (answer.code, answer.out, opened) == (0, "", [()])


def test_alone_without_a_display_it_says_so(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("QT_QPA_PLATFORM", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    answer = cli()
    assert (answer.code, answer.out) == (2, "")
    assert "no display was found" in answer.err
    assert "curator --help" in answer.err


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_lists_the_commands_and_opens_nothing(cli: Cli, flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("curator.ui.shell.app.run", pytest.fail)
    answer = cli(flag)
    assert answer.code == 0
    assert "evaluate" in answer.out


def test_a_place_to_write_to_is_looked_at_before_an_index_is_built(cli: Cli, project: Path, jobs: FakeJobs) -> None:
    for out, words in ((project.parent, "is a folder"), (project.parent / "gone" / "out.jsonl", "was not found")):
        answer = cli("link", project, "--out", out)
        assert (answer.code, answer.out) == (2, "")
        assert words in answer.err
    assert not jobs.started
