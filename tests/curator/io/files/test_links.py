"""Links in folders: what leads out of the folder is refused."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.io.files import chosen_files, digest, is_own, links_outside, open_files, own_file

Put = Callable[..., Path]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")


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


def test_links_that_lead_out_are_not_in_the_folder(folder: Path) -> None:
    assert open_files(folder).names == ("b.txt", "sub/b.txt")
    assert [one.relative_to(folder).as_posix() for one in links_outside(folder)] == OUTSIDE
    before = digest(folder)
    (folder.parent / "private/a.txt").write_text("other")
    assert digest(folder) == before


@pytest.mark.parametrize("name", [*OUTSIDE, "all/a.txt", "all/none"])
def test_files_that_a_reader_finds_are_checked(folder: Path, name: str) -> None:
    assert not is_own(folder / name, folder)
    with pytest.raises(UserError, match=rf"{name} was not opened.*Choose the folder that the link leads to"):
        own_file(folder / name, folder)


@pytest.mark.parametrize("name", ["b.txt", "sub/b.txt", "own/b.txt", "circle", "none"])
def test_links_may_stay_in_the_folder(folder: Path, name: str) -> None:
    assert own_file(folder / name, folder) == folder / name


def test_a_folder_may_be_a_link_itself(folder: Path, tmp_path: Path) -> None:
    (link := tmp_path / "link").symlink_to(folder)
    assert own_file(link / "b.txt", link) == link / "b.txt"
    assert open_files(link).names == ("b.txt", "sub/b.txt")
    assert not is_own(link / "a.txt", link)


def test_only_the_chosen_file_may_lead_out(folder: Path) -> None:
    assert open_files(folder / "a.txt").text("a.txt") == "a"
    assert chosen_files(folder, ["a.txt", "b.txt"], path=folder / "a.txt").text("b.txt") == "b"
    for path in (folder / "b.txt", None):
        with pytest.raises(UserError, match="leads out of the folder"):
            chosen_files(folder, ["b.txt", "a.txt"], path=path)
