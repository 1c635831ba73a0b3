"""A report is written whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.io.files.atomic import AtomicWriter
from curator.services.training.evaluation import check_place, save_report, without_html

RESULT = {"mentions": 3, "html": "<p>Béla \ud800</p>"}


def test_a_report_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    path.write_text("old", encoding="utf-8")
    save_report(RESULT, path, AtomicWriter())
    assert path.read_text(encoding="utf-8") == "<p>Béla \\ud800</p>", "a lone surrogate cannot be encoded"
    assert [one.name for one in tmp_path.iterdir()] == ["report.html"]
    assert without_html(RESULT) == {"mentions": 3}
    database = tmp_path / "P.curation" / "project.sqlite"
    database.parent.mkdir()
    database.write_text("decisions")
    with pytest.raises(UserError, match="a file of a Curator project"):
        save_report(RESULT, database, AtomicWriter())
    assert database.read_text() == "decisions"


def test_where_no_report_can_be_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a folder"):
        check_place(tmp_path)
    with pytest.raises(UserError, match="does not exist"):
        check_place(tmp_path / "none" / "r.html")
