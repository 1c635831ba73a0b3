from __future__ import annotations

from pathlib import Path

import pytest

from tests import gpu


@pytest.mark.soak
def test_the_whole_script_runs_on_a_processor(tmp_path: Path) -> None:
    assert gpu.main(["--small", "--device", "cpu", "--out", str(tmp_path)]) == 0
    page = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert all(f"| {recipe} | 4 |" in page for recipe in gpu.SMALL_RECIPES), page


def test_an_error_that_is_no_sentence_is_a_bug() -> None:
    def fails() -> str:
        raise ZeroDivisionError

    def full() -> str:
        raise MemoryError("std::bad_alloc")

    assert gpu.ended(fails).startswith("BUG: ZeroDivisionError")
    assert not gpu.ended(full).startswith("BUG")
