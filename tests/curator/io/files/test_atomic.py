"""Nothing is half-written after any failure."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.io.files.atomic import AtomicFiles, make_folder


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
    assert pipe.is_fifo()
    assert names(tmp_path) == ["circle", "pipe", "to-pipe"]
