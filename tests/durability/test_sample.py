"""A few of the attacks on what the program stores, and that they find what is broken on purpose.

`make durability` is the long run.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.soak
SCENARIOS = ("new", "decide in the window", "import pubtator", "release", "backup at close", "restore")
NO_COMPILER = 3


def attack(report: Path, *arguments: str, attempts: int) -> tuple[int, str]:
    """Exit code and report of so many attempts of each kind. Skips the test where nothing can be compiled."""
    command = [sys.executable, "-m", "tests.durability", "--attempts", str(attempts), "--report", str(report)]
    root = Path(__file__).parents[2]
    done = subprocess.run([*command, *arguments], cwd=root, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode == NO_COMPILER:
        pytest.skip(done.stdout.strip())
    return done.returncode, done.stdout + done.stderr


def test_a_sample_of_the_attacks_finds_nothing(tmp_path: Path) -> None:
    code, text = attack(tmp_path / "report", "--workers", "2", "--only", *SCENARIOS, attempts=12)
    assert code == 0, text


@pytest.mark.parametrize(
    ("fault", "scenario", "campaign", "word"),
    [
        ("sync", "decide in the window", "power", "unopened"),  # the mark says that steps are missing
        ("folder", "new", "power", "lost"),
        ("tidy", "export", "stops", "leftover"),
        ("abandoned", "new", "stops", "leftover"),
        ("backup", "backup after a command", "power", "unopened"),
        ("sentence", "decide", "reads", "traceback"),
    ],
)
def test_a_program_that_is_broken_on_purpose_is_found_out(
    tmp_path: Path, fault: str, scenario: str, campaign: str, word: str
) -> None:
    arguments = ("--break", fault, "--only", scenario, "--campaigns", campaign, "--workers", "1", "--seed", "1")
    code, text = attack(tmp_path / "report", *arguments, attempts=30)
    assert code == 1, text
    assert f"{scenario}, {campaign}, {word}" in text, text
