from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from curator import temporary
from curator.temporary import place_for_sockets, prefix_of, remove_abandoned


@pytest.mark.skipif(os.name != "posix", reason="removed where a process can be asked for")
def test_only_folders_of_processes_that_ended_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(temporary, "SHORT", str(tmp_path))
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    mine, other = prefix_of("read"), str(os.getpid())
    left = [prefix_of(kind).replace(other, str(ended.pid)) + "ab12" for kind in ("read", "report")]
    sockets = Path(place_for_sockets("ray"))
    assert len(sockets.name) < 34  # and the names in it
    left.append(sockets.name.replace(other, str(ended.pid)))
    sockets.rename(tmp_path / left[-1])
    kept = [mine + "ab12", "curator-read-elsewhere-" + f"{ended.pid}-ab12", "curator-abcd", "curator-fuzz"]
    for name in left + kept:
        (tmp_path / name).mkdir(exist_ok=True)
        (tmp_path / name / "project.sqlite").touch()
    (tmp_path / (left[0] + "x")).symlink_to(tmp_path / kept[0])
    remove_abandoned()
    assert sorted(one.name for one in tmp_path.iterdir()) == sorted([*kept, left[0] + "x"])
    assert (tmp_path / kept[0] / "project.sqlite").exists()
