"""Figures of benchmarks are kept one a line, and one that became clearly worse is reported."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.benchmarks import history
from tests.benchmarks.targets import Result, measured, tell

RUN = "make bench --window"


def kept(path: Path, *figures: float, run: str = RUN, most: bool = True) -> list[history.Kept]:
    for figure in figures:
        history.keep([Result("a key", figure, "ms", most=most)], run, commit="12345678", path=path)
    return history.read(path)


def told(figure: float, before: list[history.Kept], *, most: bool = True, run: str = RUN) -> list[str]:
    return history.worse([Result("a key", figure, "ms", most=most)], run, before=before, here=history.machine())


LEFT = ("durability-report.txt", "endurance-report.txt", "gpu-out/report.md")


@pytest.mark.skipif(shutil.which("git") is None, reason="git is needed to ask what it ignores")
@pytest.mark.skipif(not (history.ROOT / ".git").exists(), reason="this is no checkout of git")
@pytest.mark.parametrize("path", [*LEFT, "fuzz-findings/x", "demo-out/x", "dist/x", "x.curation/project.sqlite"])
def test_what_other_targets_leave_does_not_keep_figures_from_being_kept(path: str) -> None:
    done = subprocess.run(["git", "check-ignore", "-q", path], cwd=history.ROOT, check=False)
    assert done.returncode == 0


def test_a_figure_is_read_as_it_was_kept(tmp_path: Path) -> None:
    [one] = kept(tmp_path / "HISTORY.md", 8.25)
    assert (one.commit, one.run, one.what, one.figure, one.unit, one.better) == (
        "12345678",
        RUN,
        "a key",
        8.25,
        "ms",
        "less",
    )
    assert (tmp_path / "HISTORY.md").read_text(encoding="utf-8").startswith("# ")


def test_what_is_clearly_worse_than_the_last_three_is_told(tmp_path: Path) -> None:
    before = kept(tmp_path / "HISTORY.md", 99.0, 10.0, 12.0, 11.0)
    assert not told(12.6, before)
    [words] = told(12.7, before)
    assert words.startswith("WORSE: a key: 12.7 ms, usually 11 (+15%)")
    assert not told(1.0, before), "better is never told"


def test_more_can_be_better(tmp_path: Path) -> None:
    before = kept(tmp_path / "HISTORY.md", 100.0, 100.0, 100.0, most=False)
    assert told(84.0, before, most=False)
    assert not told(130.0, before, most=False)


def test_only_the_same_machine_and_order_is_compared(tmp_path: Path) -> None:
    before = kept(tmp_path / "HISTORY.md", 10.0, 10.0, 10.0)
    assert not told(20.0, before, run="make bench")
    result = Result("a key", 20.0, "ms")
    assert not history.worse([result], RUN, before=before, here="another machine")
    assert not told(20.0, before[:2]), "two earlier figures are no measure"


def test_a_figure_needs_no_target() -> None:
    assert measured("documents linked", 25.0, "/s", more=True).reached
    assert not tell("a key", 20.0, "ms", most=16.0).reached


def test_the_table_of_the_project_can_be_read() -> None:
    assert history.HISTORY.exists()
    assert all(one.better in ("less", "more") for one in history.read())
