"""What the program assumes of Windows and macOS, where nobody has run it, as far as Linux can test it.

| assumption | tested by |
|---|---|
| A file that is open here is neither renamed, replaced nor removed: Windows refuses it | below |
| No process is forked: children are new programs (`spawn`) | below |
| A window that was started without a console has neither output nor errors | below |
| What only POSIX has is not called elsewhere | below; `mypy --platform win32` and `--platform darwin`, by hand |
| Every text file names its encoding | `ruff check --preview --select PLW1514 curator models training`, by hand |
| Names of exported files are names there too | `tests/curator/io/files/test_archives.py` |
| Folders for settings, caches and logs are those of the system | `platformdirs` |
| Fonts are those of the system: no name of a font is in the source | `curator/ui/kit/row_list.py`, by reading |

Not tested, because Linux cannot: PyTorch, FAISS and scikit-learn each bring an OpenMP library, and on macOS and Windows
the second one that is loaded can end the process. Whoever tries Curator there should look at this first.
"""

from __future__ import annotations

import errno
import mmap
import os
import re
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from curator.domain.wording import UserError
from curator.io.files.export import write_files
from curator.settings.file import save
from curator.settings.schema import Settings
from curator.storage.db.lock import LOCK_NAME
from curator.storage.project import create_project, open_project
from curator.ui.shell.app import x_answers
from models.vectors.index_plan import UNKNOWN_MEMORY, memory_share

ROOT = Path(__file__).resolve().parents[1]
OURS = ("curator", "models", "training")
DESCRIPTORS = Path("/proc/self/fd")


def _refuse_open(path: Any, *, folders: bool) -> None:
    """The lock of a new project is exempt: on Windows, `create_project` releases it before the rename."""
    name = os.fspath(path)
    for one in DESCRIPTORS.iterdir():
        if not one.is_symlink():
            continue
        found = str(one.readlink())
        inside = folders and found.startswith(f"{os.path.realpath(name)}/") and not found.endswith(LOCK_NAME)
        if found == os.path.realpath(name) or inside:
            raise PermissionError(errno.EACCES, "The file is in use", name)


@pytest.fixture
def as_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    if not DESCRIPTORS.is_dir():
        pytest.skip("needs the list of open files that Linux has")
    replace, rename, unlink = os.replace, os.rename, os.unlink

    def replacing(source: Any, target: Any, **more: Any) -> None:
        _refuse_open(source, folders=True)
        _refuse_open(target, folders=False)
        replace(source, target, **more)

    def renaming(source: Any, target: Any, **more: Any) -> None:
        _refuse_open(source, folders=True)
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "The file exists", os.fspath(target))
        rename(source, target, **more)

    def removing(path: Any, **more: Any) -> None:
        if more.get("dir_fd") is None:
            _refuse_open(path, folders=False)
        unlink(path, **more)

    for name, function in (("replace", replacing), ("rename", renaming), ("unlink", removing), ("remove", removing)):
        monkeypatch.setattr(os, name, function)


def test_files_are_closed_before_they_are_replaced(
    as_on_windows: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    for name in ("ada", "grace"):
        save(Settings(curator_name=name))
    folder = tmp_path / "p.curation"
    create_project(folder, name="P").close()
    open_project(folder).close()
    for content in (b"1", b"2"):
        write_files(tmp_path / "out.zip", [("a", content)])
    (folder / "project.sqlite").write_bytes(b"x" * 5000)
    with pytest.raises(UserError) as failed:  # its traceback keeps everything that the opening left open
        open_project(folder)
    (folder / "project.sqlite").replace(tmp_path / "kept")
    assert failed.value


def test_the_rules_of_windows_are_felt(as_on_windows: None, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a", encoding="utf-8")
    with (tmp_path / "a").open(encoding="utf-8"):
        for change in (lambda: (tmp_path / "a").replace(tmp_path / "b"), (tmp_path / "a").unlink):
            with pytest.raises(PermissionError):
                change()
    (tmp_path / "a").unlink()


def test_what_only_posix_has_is_not_called_on_windows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("DISPLAY", ":0")
    for module, name in ((os, "sysconf"), (socket, "AF_UNIX"), (mmap, "MADV_DONTNEED")):
        monkeypatch.delattr(module, name, raising=False)
    assert memory_share() == UNKNOWN_MEMORY // 8
    assert not x_answers()
    write_files(tmp_path / "out", [("a", b"1")])
    assert (tmp_path / "out" / "a").read_bytes() == b"1"


def test_no_process_is_forked() -> None:
    forking = re.compile(r"os\.fork\b|forkserver|\"fork\"|import multiprocessing|from multiprocessing|preexec_fn")
    paths = [path for name in OURS for path in (ROOT / name).rglob("*.py")]
    assert len(paths) > 100
    assert not [path for path in paths if forking.search(path.read_text(encoding="utf-8"))]


def test_a_start_without_a_console_ends_as_any_other() -> None:
    """`pythonw` on Windows: `sys.stdout` and `sys.stderr` are None."""
    script = "import sys; sys.stdout = sys.stderr = None; sys.argv[1:] = ['--version']; "
    script += "from curator.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
