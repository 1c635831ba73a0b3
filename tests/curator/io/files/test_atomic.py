"""Nothing is half-written after any failure."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.io.files.atomic import AtomicFiles, AtomicWriter, make_folder


def names(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.iterdir())


def test_files_appear_together(tmp_path: Path) -> None:
    with AtomicFiles() as files:
        files.open(tmp_path / "a").write(b"1")
        files.open(tmp_path / "b").write(b"2")
        assert not (tmp_path / "a").exists()
    assert [(tmp_path / n).read_bytes() for n in names(tmp_path)] == [b"1", b"2"]


def test_an_exception_leaves_the_old_file(tmp_path: Path) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")

    def fail(files: AtomicFiles) -> None:
        with files:
            files.open(target).write(b"new")
            raise KeyError

    with pytest.raises(KeyError):
        fail(AtomicFiles())
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "a"
    target.write_bytes(b"old")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UserError, match="disk is full"), AtomicFiles() as files:
        files.open(target).write(b"new")
    assert target.read_bytes() == b"old"
    assert names(tmp_path) == ["a"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs Linux's /dev/full")
def test_a_disk_that_fills_while_writing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_open = os.open
    monkeypatch.setattr(os, "open", lambda path, flags, mode=0o777: real_open("/dev/full", os.O_WRONLY))
    with pytest.raises(UserError, match="disk is full"), AtomicFiles() as files:
        files.open(tmp_path / "a").write(b"x" * (1 << 20))
    assert names(tmp_path) == []


def test_targets_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="does not exist"), AtomicFiles() as files:
        files.open(tmp_path / "no" / "a")
    with pytest.raises(UserError, match="is a folder"), AtomicFiles() as files:
        files.open(tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="with this name already exists"):
        make_folder(tmp_path / "file")
    with pytest.raises(UserError, match="not a folder"), AtomicFiles() as files:
        files.open(tmp_path / "file" / "a")


@pytest.mark.parametrize(
    ("code", "says"),
    [
        (errno.EACCES, "no permission"),
        (errno.EROFS, "read-only"),
        (errno.EDQUOT, "quota"),
        (errno.EIO, "check the disk"),
    ],
)
def test_refused_by_the_system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, says: str) -> None:
    def refuse(*_: object) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(UserError, match=says), AtomicFiles() as files:
        files.open(tmp_path / "a")


def fill(folder: Path, *, well: bool) -> None:
    with AtomicFiles() as files:
        files.folder(folder)
        files.folder(folder / "part")
        files.open(folder / "part" / "a").write(b"a")
        if not well:
            files.open(folder)


def test_folders_stay_with_their_files_or_go(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="is a folder"):
        fill(tmp_path / "out", well=False)
    assert not (tmp_path / "out").exists()
    fill(tmp_path / "out", well=True)
    with pytest.raises(UserError, match="is a folder"):
        fill(tmp_path / "out", well=False)
    assert (tmp_path / "out" / "part" / "a").read_bytes() == b"a"


def leave(folder: Path, *others: str) -> None:
    """What an earlier process left, and what looks a little like it."""
    folder.mkdir(exist_ok=True)
    for name in (".a.0123456789ab.part", ".b.txt.0123456789ab.1.part", *others):
        (folder / name).write_bytes(b"half")
    (folder / ".c.0123456789ab.0.part").mkdir()
    (folder / ".c.0123456789ab.0.part" / "d").write_bytes(b"half")


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no locks there")
def test_what_a_killed_process_left_goes_with_the_next_file(tmp_path: Path) -> None:
    mine = (".notes.part", ".a.012345.part", "a.0123456789ab.part")
    leave(tmp_path, *mine)
    with AtomicFiles() as files:
        files.put(tmp_path / "a", b"1")
    assert names(tmp_path) == sorted(["a", *mine])


@pytest.mark.skipif(sys.platform == "win32", reason="folders have no locks there")
def test_what_another_writes_at_the_same_time_stays(tmp_path: Path) -> None:
    with AtomicFiles() as files, AtomicFiles() as others:
        others.put(tmp_path / "b", b"2")
        files.folder(tmp_path / "c")
        files.put(tmp_path / "c" / "d", b"3")
        files.put(tmp_path / "a", b"1")
        assert len(names(tmp_path)) == 3
    assert names(tmp_path) == ["a", "b", "c"]


def test_a_folder_gets_its_name_when_all_of_its_files_are_there(tmp_path: Path) -> None:
    with AtomicFiles() as files:
        files.folder(tmp_path / "out")
        files.folder(tmp_path / "out" / "part")
        files.put(tmp_path / "out" / "part" / "a", b"1")
        files.put(tmp_path / "out" / "b", b"2")
        assert not (tmp_path / "out").exists()
    assert [path.relative_to(tmp_path).as_posix() for path in sorted(tmp_path.rglob("*"))] == [
        "out",
        "out/b",
        "out/part",
        "out/part/a",
    ]


def test_a_half_written_folder_of_a_killed_process_does_not_stop_the_next(tmp_path: Path) -> None:
    leave(tmp_path / "out")
    AtomicWriter().write_folder(tmp_path / "out", {"a": b"1"})
    assert [name for name in names(tmp_path / "out") if not name.startswith(".")] == ["a"]


def test_files_that_were_written_before_a_failure_are_said(tmp_path: Path) -> None:
    files = AtomicFiles()
    files.put(tmp_path / "a", b"1")
    files.put(tmp_path / "b", b"2")
    (tmp_path / "b").mkdir()
    with pytest.raises(UserError, match="other files of this step were already written"), files:
        pass
    assert names(tmp_path) == ["a", "b"]


@pytest.mark.parametrize("there", [True, False])
def test_a_symbolic_link_stays_and_its_target_is_written(tmp_path: Path, there: bool) -> None:
    home, link = tmp_path / "home", tmp_path / "link"
    home.mkdir()
    if there:
        (home / "real").write_bytes(b"old")
    link.symlink_to("home/real")
    with AtomicFiles() as files:
        files.put(link, b"new")
        assert len(names(home)) == there + 1, "the temporary file is next to the target"
    assert link.is_symlink()
    assert (home / "real").read_bytes() == b"new"
    assert names(home) == ["real"]


def test_what_is_no_plain_file_is_refused(tmp_path: Path) -> None:
    pipe, circle = tmp_path / "pipe", tmp_path / "circle"
    os.mkfifo(pipe)
    circle.symlink_to(circle)
    (tmp_path / "to-pipe").symlink_to(pipe)
    for name, words in (("pipe", "a pipe or"), ("to-pipe", "a pipe or"), ("circle", "points to itself")):
        with pytest.raises(UserError, match=words), AtomicFiles() as files:
            files.open(tmp_path / name)
    with pytest.raises(UserError, match="a device"), AtomicFiles() as files:
        files.open(Path(os.devnull))
    with pytest.raises(UserError, match="it is a folder"), AtomicFiles() as files:
        files.open(tmp_path)
    (tmp_path / "link").symlink_to(tmp_path / "P.Curation")
    with pytest.raises(UserError, match="a file of a Curator project"), AtomicFiles() as files:
        files.open(tmp_path / "link" / "Project.sqlite-wal")
    linker = tmp_path / "link" / "bundles" / "b1"
    with pytest.raises(UserError, match="a file of a Curator project"), AtomicFiles() as files:
        files.open(linker / "kb.jsonl")
    assert pipe.is_fifo()
    assert names(tmp_path) == ["circle", "link", "pipe", "to-pipe"]
