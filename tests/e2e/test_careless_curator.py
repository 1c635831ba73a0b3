"""A careless curator in the real window: what is recorded was on the screen before its key. The long one is
`python -m tests.careless`."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.careless.__main__ import demo, run

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(
        not (shutil.which("Xvfb") and shutil.which("xdotool")), reason="needs Xvfb and xdotool (Debian: xvfb, xdotool)"
    ),
]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return demo(tmp_path_factory.mktemp("careless"))


def test_random_keys_decide_only_what_was_painted_before_them(project: Path, tmp_path: Path) -> None:
    verdict = run(project, events=90, seed=3, folder=tmp_path)
    assert verdict.decisions > 3, verdict.text
    assert not verdict.violations, verdict.text
