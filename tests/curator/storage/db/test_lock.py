from __future__ import annotations

import os
import socket
import subprocess
import sys

import pytest

from curator.domain.wording import ProjectLockedError, UserError
from curator.storage import ProjectLock

HOLD = """
import sys
from pathlib import Path
from curator.storage import ProjectLock
lock = ProjectLock(Path(sys.argv[1]))
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


def test_the_holder_is_named_while_it_holds(tmp_path):
    lock = ProjectLock(tmp_path)
    assert lock.holder() is None
    with lock:
        assert lock.holder() == (os.getpid(), socket.gethostname())
        with pytest.raises(ProjectLockedError, match=f"process {os.getpid()} on {socket.gethostname()}"):
            ProjectLock(tmp_path).acquire()
    assert lock.holder() is None
    with ProjectLock(tmp_path):
        pass


def test_a_killed_process_frees_the_lock(tmp_path):
    command = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "held\n"
        with pytest.raises(ProjectLockedError, match=f"process {child.pid} on"):
            ProjectLock(tmp_path).acquire()
        child.kill()
        child.wait()
    with ProjectLock(tmp_path) as lock:
        assert lock.holder() == (os.getpid(), socket.gethostname())


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs Linux's /dev/full")  # noqa: PTH110
def test_a_full_disk_is_told_and_frees_the_lock(tmp_path):
    (tmp_path / "project.lock").symlink_to("/dev/full")
    with pytest.raises(UserError, match="cannot be written"):
        ProjectLock(tmp_path).acquire()
    (tmp_path / "project.lock").unlink()
    with ProjectLock(tmp_path):
        pass
