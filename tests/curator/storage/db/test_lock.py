from __future__ import annotations

import errno
import os
import socket
import subprocess
import sys

import pytest

from curator.domain.wording import ProjectLockedError, UserError
from curator.storage.db import lock as locks
from curator.storage.db.lock import ProjectLock

HOLD = """
import sys
from pathlib import Path
from curator.storage.db.lock import ProjectLock
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


@pytest.mark.skipif(sys.platform == "win32", reason="limits the size of files as only POSIX systems do")
def test_a_full_disk_is_told_and_frees_the_lock(tmp_path):
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
    try:
        with pytest.raises(UserError, match="cannot be written"):
            ProjectLock(tmp_path).acquire()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with ProjectLock(tmp_path):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="makes links and pipes as POSIX systems do")
def test_a_disk_that_fails_at_the_end_frees_the_lock_without_a_word(tmp_path, monkeypatch):
    lock = ProjectLock(tmp_path)
    lock.acquire()
    monkeypatch.setattr(lock, "_write", lambda holder: (_ for _ in ()).throw(OSError(5, "Input/output error")))
    lock.release()
    with ProjectLock(tmp_path):
        pass


@pytest.mark.parametrize("kind", ["symbolic link", "broken link", "hard link", "pipe", "folder"])
def test_what_is_no_plain_file_is_neither_emptied_nor_waited_for(tmp_path, kind):
    (project := tmp_path / "project").mkdir()
    letter, lock = tmp_path / "letter.txt", project / "project.lock"
    letter.write_text("Dear colleague")
    if kind == "symbolic link":
        lock.symlink_to(letter)
    elif kind == "broken link":
        lock.symlink_to(tmp_path / "made by nobody")
    elif kind == "hard link":
        lock.hardlink_to(letter)
    elif kind == "pipe":
        os.mkfifo(lock)
    else:
        lock.mkdir()
    with pytest.raises(UserError, match="Delete it and open the project again"):
        ProjectLock(project).acquire()
    assert ProjectLock(project).holder() is None
    assert sorted(one.name for one in tmp_path.iterdir()) == ["letter.txt", "project"]
    assert letter.read_text() == "Dear colleague"


@pytest.mark.skipif(sys.platform == "win32", reason="locks as POSIX systems do")
@pytest.mark.parametrize("fails", ["unsupported", "held by nobody"])
def test_a_file_system_without_locks_is_refused_for_writing(tmp_path, monkeypatch, fails: str) -> None:
    import fcntl

    def flock(*_: object) -> None:
        if fails == "unsupported":
            raise OSError(errno.EOPNOTSUPP, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", flock)
    lock = ProjectLock(tmp_path)
    with pytest.raises(UserError, match=r"does not support locks.*open it read-only"):
        lock.acquire()
    assert lock.holder() is None
    lock.release()


@pytest.mark.skipif(sys.platform == "win32", reason="mounts as POSIX systems do")
def test_a_network_folder_whose_locks_other_computers_do_not_see_is_refused_for_writing(tmp_path, monkeypatch):
    device = tmp_path.stat().st_dev
    mounts = tmp_path / "mountinfo"
    monkeypatch.setattr(locks, "MOUNTS", mounts)
    for kind, options, held in (
        ("fuse.sshfs", "rw,user_id=0", False),
        ("nfs4", "rw,vers=4.2,local_lock=all", False),
        ("nfs4", "rw,vers=4.2,local_lock=none", True),
        ("cifs", "rw,nobrl", False),
        ("ext4", "rw", True),
    ):
        place = f"{os.major(device)}:{os.minor(device)}"
        line = f"44 27 {place} / /a rw,nodev shared:1 - {kind} b:/a {options}"
        mounts.write_text(f"43 27 0:0 / / rw - ext4 x rw\n{line}\n")
        if held:
            with ProjectLock(tmp_path):
                pass
        else:
            with pytest.raises(UserError, match="does not support locks"):
                ProjectLock(tmp_path).acquire()
