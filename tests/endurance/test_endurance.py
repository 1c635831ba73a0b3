"""A minute of the long session, and that it finds growth, slowness and lost steps. `make endurance` is the long one."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.endurance.measuring import MORE, Key, Record, Sample, figures_of

FLAT = dict.fromkeys(MORE, 100.0)


def record(*, last: dict[str, float] | None = None, clock: float = 20.0, processor: float = 5.0) -> Record:
    """Eight samples, the last two with other figures."""
    samples = [Sample(10.0 * n, FLAT | (last or {} if n > 5 else {})) for n in range(8)]
    keys = [Key(10.0 * n, *((clock, processor) if n > 5 else (20.0, 5.0))) for n in range(8)]
    return Record(samples, keys)


def test_what_stays_as_it_was_is_no_fault() -> None:
    assert record().faults() == []
    assert len(record().lines()) == 4


@pytest.mark.parametrize("name", list(MORE))
def test_what_grows_is_named(name: str) -> None:
    [fault] = record(last={name: 200.0}).faults()
    assert fault == f"{name}: 100 → 200"


def test_keys_that_become_slower_are_named() -> None:
    assert record(clock=21.0, processor=5.2).faults() == []
    [fault] = record(clock=30.0).faults()
    assert "p99 by the clock: 20.0 → 30.0 ms" in fault
    [fault] = record(processor=6.0).faults()
    assert "p99 on a processor: 5.0 → 6.0 ms" in fault


def test_time_without_keys_is_named() -> None:
    [fault] = Record(record().samples, [Key(0.0, 20.0, 5.0)]).faults()
    assert "no keys" in fault


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="asks Linux about this process")
def test_files_and_children_are_counted(tmp_path: Path) -> None:
    before = figures_of([tmp_path])
    (tmp_path / "a").touch()
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        after = figures_of([tmp_path])
        child.kill()
    assert after["temporary files"] - before["temporary files"] == 1
    assert after["children"] - before["children"] == 1


@pytest.mark.soak
@pytest.mark.skipif(not shutil.which("Xvfb"), reason="needs Xvfb (Debian: xvfb)")
def test_a_minute_of_it_loses_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "tests.endurance", "--minutes", "1", "--kill", "0.5", "--work", "0.4"]
    report = tmp_path / "report.txt"
    subprocess.run([*command, "--report", str(report)], timeout=600, check=False)
    text = report.read_text(encoding="utf-8")
    assert "kill the linker" in text
    assert "lost" not in text.replace("Nothing lost", "")
