"""Folders and zip archives as sources: what is seen, what is refused, and both written."""

from __future__ import annotations

import stat
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from curator.domain.wording import UserError
from curator.io.files import source
from curator.io.files.export import safe_name, write_files
from curator.io.files.source import Source, open_files

Put = Callable[..., Path]
CONTENT = [("b.txt", b"two\r\n"), ("sub/a.txt", "é".encode()), ("c.ann", b"")]


def zipped(path: Path, members: list[tuple[str, bytes]]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return path


@pytest.mark.parametrize("name", ["out", "out.zip"])
def test_what_is_written_is_listed_and_read(tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    write_files(out, CONTENT)
    files = open_files(out)
    assert files.names == ("b.txt", "c.ann", "sub/a.txt")
    assert files.with_suffix(".txt") == ["b.txt", "sub/a.txt"]
    assert [files.text(one) for one in files.names] == ["two\r\n", "", "é"]
    assert files.position == (7, 7)


def test_an_archive_of_the_same_content_is_the_same(tmp_path: Path) -> None:
    write_files(tmp_path / "a.zip", CONTENT)
    write_files(tmp_path / "b.zip", CONTENT)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_nothing_stays_of_a_writing_that_fails(tmp_path: Path) -> None:
    def pieces() -> object:
        yield "a/b.txt", b"one"
        raise UserError("no")

    for name in ("out", "out.zip"):
        with pytest.raises(UserError, match="no"):
            write_files(tmp_path / name, pieces())  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_one_file_is_a_source_too_and_strewn_files_are_not_seen(put: Put, tmp_path: Path) -> None:
    assert open_files(put("x", "one.txt")).names == ("one.txt",)
    put("x", ".hidden"), put("x", "__MACOSX/one.txt")
    assert open_files(tmp_path).names == ("one.txt",)
    path = zipped(tmp_path / "z.zip", [("__MACOSX/._a", b"x"), (".DS_Store", b"x"), ("a", b"x")])
    assert open_files(path).names == ("a",)


@pytest.mark.parametrize("name", ["../a", "/a", "b/../../a", "C:a", "a\\..\\b"])
def test_names_that_lead_out_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="leads out"):
        open_files(zipped(tmp_path / "z.zip", [(name, b"x")]))


def test_links_bombs_and_passwords_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = zipfile.ZipInfo("a")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    path = tmp_path / "z.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    with pytest.raises(UserError, match="a link"):
        open_files(path)
    monkeypatch.setattr(source, "FREE_BYTES", 1000)
    bomb = zipped(path, [("a", bytes(1 << 20))])
    with pytest.raises(UserError, match="would unpack"):
        open_files(bomb)
    data = bytearray(zipped(path, [("a", b"x")]).read_bytes())
    for magic, place in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        data[data.index(magic) + place] |= 1
    path.write_bytes(data)
    with pytest.raises(UserError, match="encrypted"):
        open_files(path)


def test_damaged_archives_are_sentences(tmp_path: Path) -> None:
    path = zipped(tmp_path / "z.zip", [("a", b"some text " * 50)])
    data = path.read_bytes()
    path.write_bytes(data[:60])
    with pytest.raises(UserError, match="damaged zip"):
        open_files(path)
    path.write_bytes(data[:40] + b"\xff" + data[41:])
    with pytest.raises(UserError, match="damaged"):
        open_files(path).text("a")


def test_other_than_utf_8_is_said_with_its_line(put: Put, tmp_path: Path) -> None:
    put(b"a\nb\xff", "d/x.txt")
    with pytest.raises(UserError, match=r"x.txt, line 2: byte 4 .* is not UTF-8"):
        open_files(tmp_path / "d").text("x.txt")


def test_a_zip_of_one_file_is_read_as_the_file(tmp_path: Path) -> None:
    path = zipped(tmp_path / "z.zip", [("a.txt", b"one\ntwo\n")])
    assert list(Source(path).lines()) == ["one\n", "two\n"]
    with pytest.raises(UserError, match="zip archive of 2 files"):
        Source(zipped(path, [("a", b"x"), ("b", b"x")])).head()


def test_names_to_write_stay_where_they_are() -> None:
    assert [safe_name(one) for one in ("../a", "a//b", "/a", "..", "a:b", "")] == ["_/a", "a/b", "a", "_", "a_b", "_"]


@pytest.mark.parametrize(
    ("name", "safe"),
    [("aux", "_aux"), ("a/Com1.txt", "a/_Com1.txt"), ("console", "console"), ("a.", "a_"), ("b /c", "b_/c")],
)
def test_names_to_write_are_names_on_windows_too(name: str, safe: str) -> None:
    assert safe_name(name) == safe == safe_name(safe)


def test_long_names_are_cut_to_what_a_folder_takes(tmp_path: Path) -> None:
    name = "\U0001f600" * 100
    assert safe_name(f"{name}/{name}") == "/".join(["\U0001f600" * 50] * 2)
    (out,) = write_files(tmp_path / "out", [(f"{safe_name(name)}/{safe_name(name)}-12.txt", b"x")])
    assert out.name.endswith("-12.txt")
    assert out.read_bytes() == b"x"
    with pytest.raises(UserError, match="too long"):
        write_files(tmp_path / "deep", [("/".join(["a" * 200] * 25), b"x")])
    with pytest.raises(UserError, match="too long"):
        write_files(tmp_path / ("a" * 300), [("a", b"x")])
    assert [one.name for one in tmp_path.iterdir()] == ["out"]


def test_an_archive_that_the_disk_does_not_give_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "a")

    def fails(_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(zipfile, "_EndRecData", fails)
    with pytest.raises(UserError, match=r"cannot read .*Input/output error"):
        open_files(path)


def test_an_archive_whose_read_failed_once_is_an_archive(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "a.zip", [("a", b"a")])
    failing = [OSError(5, "Input/output error")]
    opened = source.open_plain

    def once(one: Path) -> BinaryIO:
        if failing:
            raise failing.pop()
        return opened(one)

    monkeypatch.setattr(source, "open_plain", once)
    assert source.is_zip(path)


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="lists the open files as Linux does")
def test_an_archive_is_open_only_while_a_member_is_read(tmp_path: Path) -> None:
    """Otherwise Windows lets nobody replace or delete it until the program ends."""

    def open_now() -> bool:
        links = (one.readlink() for one in Path("/proc/self/fd").iterdir() if one.is_symlink())
        return any(one == path for one in links)

    path = zipped(tmp_path / "z.zip", CONTENT)
    for files in (open_files(path), open_files(path / "b.txt")):
        assert not open_now()
        with files.open("b.txt") as stream:
            assert (stream.read(2), open_now()) == (b"tw", True)
            with files.open("b.txt") as other:
                assert other.read() == b"two\r\n"
            assert stream.read() == b"o\r\n"
        assert not open_now()
    path.write_bytes(zipped(tmp_path / "y.zip", [("x.txt", b"x" * 50), ("b.txt", b"other")]).read_bytes())
    with pytest.raises(UserError, match="damaged"):
        files.text("b.txt")
