"""What comes from below the window is said in the window's language; English is the default."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.domain import wording
from curator.domain.jobs import JobOutcome
from curator.domain.wording import ENGLISH, catalogue
from curator.io.literature.pubtator import PubTatorFormat
from curator.jobs.runner import JobRunner
from models.errors import english, nsay, say, use


@pytest.fixture
def german() -> Iterator[None]:
    wording.use(catalogue("de"))
    yield
    wording.use(ENGLISH)


def said_by_a_child(folder: Path) -> str:
    runner = JobRunner(folder, modules={"fake": "tests.curator.jobs.fake_reader"})
    ends: list[JobOutcome] = []
    handle = runner.start("fake", {}, on_progress=lambda _: None, on_end=ends.append)
    assert handle.wait(30.0) is not None
    runner.close()
    return ends[0].message


def damaged_line(folder: Path) -> str:
    path = folder / "a.txt"
    path.write_text("7|t|Aspirin again.\n7|a|It hurts.\n7\t0\t7\tAspirin\n\n", encoding="utf-8")
    reader = PubTatorFormat().open(path)
    assert len(list(reader)) == 1
    return next(problem.text for problem in reader.problems if problem.line == 3)


def test_a_damaged_line_is_told_in_german(german: None, tmp_path: Path) -> None:
    words = wording.tr("an annotation needs at least 5 columns, this one has {number}", number=4)
    assert damaged_line(tmp_path).startswith(words)


def test_a_childs_error_is_told_in_german(german: None, tmp_path: Path) -> None:
    assert said_by_a_child(tmp_path) == wording.tr("The knowledge base is empty. Import one with at least one entity.")


def test_without_a_choice_both_are_english(tmp_path: Path) -> None:
    assert damaged_line(tmp_path).startswith("an annotation needs at least 5 columns, this one has 4")
    assert said_by_a_child(tmp_path) == "The knowledge base is empty. Import one with at least one entity."


@pytest.fixture
def translated() -> Iterator[None]:
    use(wording.tr, wording.ntr)
    yield
    use()


def test_what_is_kept_stays_english(german: None, translated: None) -> None:
    inner = nsay("{n:,} link", "{n:,} links", 2)
    whole = say("{documents} with {links} are too few.", documents="D", links=inner)
    assert inner == "2 Verknüpfungen"
    assert english(inner) == "2 links"
    assert english(whole) == "D with 2 links are too few."
    assert whole == "D with 2 Verknüpfungen are too few.", "English where there is no translation"
