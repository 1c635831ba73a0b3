"""`.ci/setup`: what it takes for missing on a machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SETUP = Path(__file__).resolve().parents[1] / ".ci" / "setup"
PARTS = r"""set -euo pipefail
eval "$(sed -n '/^QT_LIBRARIES=/,/libxcb-shm0"/p;/^missing_packages()/,/^}/p' "$1")"
missing_packages "$2"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="the script is one of bash")
def test_a_font_of_the_user_is_enough(tmp_path: Path) -> None:
    """Also where the other folders of fonts are missing: who is not root could not go on."""
    (tmp_path / ".fonts").mkdir()
    (tmp_path / ".fonts" / "mine.ttf").touch()
    done = subprocess.run(
        ["bash", "-c", PARTS, "setup", str(SETUP), sys.executable],
        env={"HOME": str(tmp_path), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "fonts" not in done.stdout
