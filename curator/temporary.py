"""Temporary folders with the name of their process, so that those of killed processes are found and removed."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import socket
import sys
import tempfile
from contextlib import suppress
from pathlib import Path

SHORT = "/tmp"  # noqa: S108 - folders of their own are made there
_NAME = re.compile(r"curator-[a-z]+-(?P<host>[\w.-]*)-(?P<process>\d+)-[a-z0-9_]+", re.ASCII)


def prefix_of(kind: str) -> str:
    """How the name of a temporary folder begins. `kind`: lower-case letters."""
    return f"curator-{kind}-{_host()}-{os.getpid()}-"


def place_for_sockets(kind: str) -> str:
    """A new folder, to be removed by the caller, with a path that is short enough for the sockets of other programs,
    some hundred characters. Raises OSError."""
    short = SHORT if os.access(SHORT, os.W_OK) else None
    return tempfile.mkdtemp(prefix=f"curator-{kind}-{_short_host()}-{os.getpid()}-", dir=short)


def remove_abandoned() -> None:
    """Remove the temporary folders of this user's processes that ended without doing so. Folders of other computers or
    containers stay. Never raises."""
    if os.name != "posix":  # elsewhere, no harmless question says whether a process runs
        return
    hosts = (_host(), _short_host())
    places = {SHORT}
    with suppress(OSError):  # on a full disk there is no temporary folder
        places.add(tempfile.gettempdir())
    for place in places:
        with suppress(OSError), os.scandir(place) as entries:
            for entry in entries:
                found = _NAME.fullmatch(entry.name)
                if found and found["host"] in hosts and _is_ours(entry) and not is_running(int(found["process"])):
                    shutil.rmtree(Path(entry.path), ignore_errors=True)


def _host() -> str:
    return re.sub(r"[^\w.-]", "", socket.gethostname(), flags=re.ASCII)


def _short_host() -> str:
    return hashlib.sha256(_host().encode()).hexdigest()[:4]


def _is_ours(entry: os.DirEntry[str]) -> bool:
    if sys.platform == "win32":
        return False
    return entry.is_dir(follow_symlinks=False) and entry.stat(follow_symlinks=False).st_uid == os.getuid()


def is_running(process: int) -> bool:
    """Only for systems where signal 0 is a question."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
