"""Small disks that become full, with file systems on which SQLite's memory map needs space. Needs root and Linux."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.soak,
    pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="mounts small disks"),
]
DISKS = {
    "ext4": (24, ("mkfs.ext4", "-q", "-m", "0", "-b", "1024")),
    "xfs": (320, ("mkfs.xfs", "-q", "-b", "size=1024")),
    "btrfs": (120, ("mkfs.btrfs", "-q", "-M")),
}
"""Megabytes, and the command that makes the file system."""


@pytest.fixture(params=DISKS)
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    size, command = DISKS[request.param]
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs {command[0]}")
    image, folder = tmp_path / "image", tmp_path / "disk"
    folder.mkdir()
    with image.open("wb") as file:
        file.truncate(size << 20)
    subprocess.run([*command, image], check=True, capture_output=True)
    if subprocess.run(["mount", "-o", "loop", image, folder], check=False, capture_output=True).returncode:
        pytest.skip(f"{request.param} cannot be mounted here")
    yield folder
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("when", ["before", "later"])
@pytest.mark.parametrize("left", [10, 24, 2048], ids=lambda left: f"{left} KB")
def test_a_full_disk_ends_no_process_and_loses_nothing(disk: Path, left: int, when: str) -> None:
    command = [sys.executable, "-m", "tests.durability.full_disks", disk, str(left), when]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
