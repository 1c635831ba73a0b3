"""A report is written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.services.training.evaluation import check_place, save_report, without_html

RESULT = {"mentions": 3, "html": "<p>Béla \ud800</p>"}


def test_a_report_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    (tmp_path / "letter.txt").write_text("Dear colleague")
    (tmp_path / ".report.html.part").symlink_to(tmp_path / "letter.txt")
    save_report(RESULT, path)
    assert path.read_text(encoding="utf-8") == "<p>Béla \\ud800</p>", "a lone surrogate cannot be encoded"
    assert sorted(one.name for one in tmp_path.iterdir()) == ["letter.txt", "report.html"]
    assert (tmp_path / "letter.txt").read_text() == "Dear colleague", "the temporary name is no link of a stranger's"
    assert without_html(RESULT) == {"mentions": 3}


def test_where_no_report_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a folder"):
        check_place(tmp_path)
    with pytest.raises(UserError, match="does not exist"):
        check_place(tmp_path / "none" / "r.html")


def test_what_the_system_refuses_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("curator.services.training.evaluation.os.fsync", full)
    with pytest.raises(UserError, match="No space left on device"):
        save_report(RESULT, path)
    assert path.read_text(encoding="utf-8") == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
