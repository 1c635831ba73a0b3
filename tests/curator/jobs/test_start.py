"""Children end with their parent, however that ends, within a second."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from curator.jobs.child import PARENT as PARENT_ID
from curator.jobs.child import command, tie

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="waits for processes as Linux does")
TIMEOUT = 20.0

PARENT = """
import sys, threading
from pathlib import Path
from curator.jobs.child import ChildProcess
from curator.jobs import wire

def tell(message):
    print(child.pid, flush=True)

child = ChildProcess("tests.curator.jobs.fake_job", log=Path(sys.argv[1]), on_message=tell, on_exit=lambda *_: None)
child.send(wire.RunJob(op="run", spec={"how": sys.argv[2]}))
threading.Event().wait()
"""


@pytest.mark.parametrize("how", ["busy", "deaf"])
def test_a_child_ends_with_its_killed_parent(how: str, tmp_path: Path) -> None:
    """Amid one long step, in which other threads run (busy), or none does (deaf)."""
    program = [sys.executable, "-c", PARENT, str(tmp_path / "log"), how]
    parent = subprocess.Popen(program, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3])
    try:
        assert parent.stdout is not None
        pid = int([parent.stdout.readline() for _ in range(3)][-1])
        handle = os.pidfd_open(pid)
        parent.kill()
        assert select.select([handle], [], [], TIMEOUT)[0], "the child outlives its parent"
        os.close(handle)
    finally:
        parent.kill()
        parent.communicate()


def test_a_child_whose_parent_is_gone_already_ends_before_it_does_anything() -> None:
    environment = {**os.environ, PARENT_ID: str(2**22 + 1)}
    done = subprocess.run(command("this"), env=environment, capture_output=True, timeout=TIMEOUT, check=False)
    assert (done.returncode, done.stdout) == (130, b"")


def test_a_module_is_run_as_by_hand() -> None:
    done = subprocess.run(command("this"), env=os.environ | tie(), capture_output=True, timeout=TIMEOUT, check=False)
    assert done.returncode == 0
    assert b"Namespaces" in done.stdout
    assert done.stderr == b""
