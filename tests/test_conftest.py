"""What `conftest.py` and the configuration of pytest do for every test."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
HANGS = "import threading\n\n\ndef test_hangs():\n    threading.Event().wait()\n"


def test_a_test_that_hangs_is_ended_with_its_traceback(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    assert float(request.config.getini("faulthandler_timeout")) >= 0  # 0 in `make soak`
    (tmp_path / "test_it.py").write_text(HANGS, encoding="utf-8")
    options = ["-c", str(ROOT / "pyproject.toml"), "-o", "faulthandler_timeout=0.1", "-p", "no:cacheprovider", "-q"]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "--rootdir", str(tmp_path), str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert "test_hangs" in done.stderr


@pytest.mark.parametrize("number", [1, 2])
def test_no_test_sees_the_settings_of_another(number: int) -> None:
    folder = Path(os.environ["CURATOR_CONFIG_DIR"])
    assert list(folder.iterdir()) == []
    (folder / "settings.toml").write_text(f"# {number}", encoding="utf-8")
