"""`curator open`: what keeps a window from being opened is told on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.curator.cli.conftest import Cli


def test_no_project_there(cli: Cli, tmp_path: Path) -> None:
    answer = cli("open", tmp_path / "nothing")
    assert (answer.code, answer.out) == (2, "")
    assert "nothing does not exist" in answer.err


def test_no_display(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("QT_QPA_PLATFORM", "offscreen")
    answer = cli("open", project)
    assert (answer.code, answer.out) == (2, "")
    assert "no display" in answer.err


def test_the_window_gets_the_folder_that_was_meant(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []

    def run(folder: Path) -> int:
        opened.append(folder)
        return 0

    monkeypatch.setattr("curator.ui.app.can_show", lambda: True)
    monkeypatch.setattr("curator.ui.app.run", run)
    assert cli("open", project.with_suffix("")).code == 0
    assert cli("open", project / "project.curator").code == 0
    assert opened == [project, project]
