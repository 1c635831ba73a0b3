"""Files that others made: links that lead out of their folder, and files that the disk does not give."""

from __future__ import annotations

import gzip
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from curator.domain.wording import UnreadableError, UserError
from curator.io.files import opening
from curator.io.files.opening import failure_behind, first_bytes, is_own, own_file, unreadable
from curator.io.files.source import chosen_files, digest, never_read, open_files

Put = Callable[..., Path]
links = pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")


@pytest.fixture
def folder(put: Put, tmp_path: Path) -> Path:
    put("a", "private/a.txt"), put("b", "c/sub/b.txt")
    folder = tmp_path / "c"
    (folder / "all").symlink_to("../private")
    (folder / "own").symlink_to("sub")
    (folder / "a.txt").symlink_to(tmp_path / "private/a.txt")
    (folder / "again.txt").symlink_to("a.txt")
    (folder / "b.txt").symlink_to("sub/b.txt")
    (folder / "circle").symlink_to("circle")
    (folder / "sub/out").symlink_to("../../private/none")
    return folder


OUTSIDE = ["a.txt", "again.txt", "all", "sub/out"]


@links
def test_links_that_lead_out_are_not_in_the_folder(folder: Path) -> None:
    assert open_files(folder).names == ("b.txt", "sub/b.txt")
    assert [one.relative_to(folder).as_posix() for one in never_read(folder)] == OUTSIDE
    before = digest(folder)
    (folder.parent / "private/a.txt").write_text("other")
    assert digest(folder) == before


@links
@pytest.mark.parametrize("name", [*OUTSIDE, "all/a.txt", "all/none"])
def test_files_that_a_reader_finds_are_checked(folder: Path, name: str) -> None:
    assert not is_own(folder / name, folder)
    with pytest.raises(UserError, match=rf"{name} was not opened.*Choose the folder that the link leads to"):
        own_file(folder / name, folder)


@links
@pytest.mark.parametrize("name", ["b.txt", "sub/b.txt", "own/b.txt", "circle", "none"])
def test_links_may_stay_in_the_folder(folder: Path, name: str) -> None:
    assert own_file(folder / name, folder) == folder / name


@links
def test_a_folder_may_be_a_link_itself(folder: Path, tmp_path: Path) -> None:
    (link := tmp_path / "link").symlink_to(folder)
    assert own_file(link / "b.txt", link) == link / "b.txt"
    assert open_files(link).names == ("b.txt", "sub/b.txt")
    assert not is_own(link / "a.txt", link)


@links
def test_only_the_chosen_file_may_lead_out(folder: Path) -> None:
    assert open_files(folder / "a.txt").text("a.txt") == "a"
    assert chosen_files(folder, ["a.txt", "b.txt"], path=folder / "a.txt").text("b.txt") == "b"
    for path in (folder / "b.txt", None):
        with pytest.raises(UserError, match="leads out of the folder"):
            chosen_files(folder, ["b.txt", "a.txt"], path=path)


def test_nothing_begins_where_nothing_is(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"abc")
    assert first_bytes(tmp_path / "a", 2) == b"ab"
    assert first_bytes(tmp_path, 2) == first_bytes(tmp_path / "none", 2) == first_bytes(tmp_path / "a/b", 2) == b""


def test_a_file_without_permission_is_not_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(path: Path) -> BinaryIO:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(opening, "open_plain", denied)
    with pytest.raises(UnreadableError, match="no permission to read"):
        first_bytes(tmp_path / "a", 2)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (FileNotFoundError(2, "no such file"), "x.txt does not exist: check the path"),
        (IsADirectoryError(21, "a directory"), "x.txt is a folder: choose a file in it"),
        (PermissionError(13, "denied"), "no permission to read x.txt: change its permissions or copy it"),
        (OSError(5, "Input/output error"), "cannot read x.txt: Input/output error"),
    ],
)
def test_what_the_disk_said_is_a_sentence(error: OSError, said: str) -> None:
    assert str(unreadable("x.txt", error)) == said


def test_a_failure_is_found_behind_what_zipfile_makes_of_it() -> None:
    failure = OSError(5, "Input/output error")
    hidden = zipfile.BadZipFile("File is not a zip file")
    hidden.__context__ = failure
    assert failure_behind(failure) is failure_behind(hidden) is failure
    for damage in (zipfile.BadZipFile("bad"), gzip.BadGzipFile("not gzip"), ValueError("a value")):
        assert failure_behind(damage) is None
