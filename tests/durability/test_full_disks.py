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
    "ext4": (48, ("mkfs.ext4", "-q", "-m", "0", "-b", "1024")),
    "xfs": (320, ("mkfs.xfs", "-q", "-b", "size=1024")),
    "btrfs": (120, ("mkfs.btrfs", "-q", "-M")),
    "btrfs quota": (300, ("mkfs.btrfs", "-q")),
}
"""Megabytes, and the command that makes the file system."""
LIMITED = "limited"
"""The folder with a quota."""


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
    place = folder / LIMITED if "quota" in request.param else folder
    if place != folder:
        for command in (
            ("quota", "enable", folder),
            ("subvolume", "create", place),
            ("qgroup", "limit", "16M", place),
        ):
            subprocess.run(["btrfs", *command], check=True, capture_output=True)
    yield place
    subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("when", ["before", "later"])
@pytest.mark.parametrize("left", [10, 24, 2048], ids=lambda left: f"{left} KB")
def test_a_full_disk_ends_no_process_and_loses_nothing(disk: Path, left: int, when: str) -> None:
    check(disk, left, when)


@pytest.mark.parametrize("left", [16, 24], ids=lambda left: f"{left} MB")
def test_a_transaction_that_is_larger_than_the_disk_is_refused_whole(disk: Path, left: int) -> None:
    if disk.name == LIMITED:
        subprocess.run(["btrfs", "qgroup", "limit", f"{left}M", disk], check=True)
        left = 1 << 10  # nothing else is there
    check(disk, left << 10, "large")


def test_a_project_is_closed_when_others_have_filled_the_disk(disk: Path) -> None:
    check(disk, 0, "closing")


def check(disk: Path, left: int, when: str) -> None:
    command = [sys.executable, "-m", "tests.durability.full_disks", disk, str(left), when]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
