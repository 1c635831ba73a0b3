"""The model of a disk: what is certain after which call, and that images lack and keep everything else."""

from __future__ import annotations

import random

import pytest

from tests.durability.disk import SECTOR, Disk, Tree, images
from tests.durability.shim import Call, Kind

ROOT = "/r"


def write(name: str, data: bytes, offset: int = 0) -> Call:
    return Call(Kind.WRITE, 1, f"{ROOT}/{name}", offset=offset, data=data)


def call(kind: Kind, name: str = "", other: str = "", offset: int = 0) -> Call:
    path = f"{ROOT}/{name}" if name else ROOT
    return Call(kind, 1, path, other=f"{ROOT}/{other}" if other else "", offset=offset)


def after(*calls: Call, before: Tree | None = None) -> Disk:
    disk = Disk(ROOT, before or {})
    for one in calls:
        disk.take(one)
    return disk


def possible(disk: Disk) -> list[Tree]:
    return list(images(disk, random.Random(1), many=40))


def test_what_was_not_synced_may_be_there_or_not() -> None:
    disk = after(write("a", b"new"), before={"a": b"old"})
    assert disk.now() == {"a": b"new"}
    assert {one["a"] for one in possible(disk)} >= {b"old", b"new"}


def test_what_was_synced_is_certain() -> None:
    disk = after(write("a", b"new"), call(Kind.SYNC, "a"), before={"a": b"old"})
    assert possible(disk) == [{"a": b"new"}]


def test_a_sync_of_another_file_is_none_of_this_one() -> None:
    disk = after(write("a", b"new"), call(Kind.SYNC, "b"), before={"a": b"old", "b": b""})
    assert {"a": b"old", "b": b""} in possible(disk)


def test_a_name_is_certain_when_its_folder_was_synced() -> None:
    made = [call(Kind.CREATE, "a"), write("a", b"x"), call(Kind.SYNC, "a")]
    assert {} in possible(after(*made))
    assert possible(after(*made, call(Kind.SYNC))) == [{"a": b"x"}]


def test_a_name_without_its_content_is_possible() -> None:
    assert {"a": b""} in possible(after(call(Kind.CREATE, "a"), write("a", b"x"), call(Kind.SYNC)))


def test_a_rename_is_one_step() -> None:
    disk = after(write("b", b"2"), call(Kind.SYNC, "b"), call(Kind.RENAME, "b", "a"), before={"a": b"1", "b": b""})
    found = possible(disk)
    assert {"a": b"1", "b": b"2"} in found
    assert {"a": b"2"} in found
    assert all(one in ({"a": b"1", "b": b"2"}, {"a": b"2"}) for one in found)


def test_renamed_folders_keep_what_is_in_them() -> None:
    before: Tree = {"f": None, "f/a": b"1"}
    disk = after(call(Kind.RENAME, "f", "g"), write("g/a", b"2"), before=before)
    assert disk.now() == {"g": None, "g/a": b"2"}
    assert {"f": None, "f/a": b"1"} in possible(disk)


def test_removed_files_may_come_back() -> None:
    disk = after(call(Kind.UNLINK, "a"), before={"a": b"1"})
    assert possible(disk)[0] == {}
    assert {"a": b"1"} in possible(disk)


def test_writes_are_torn_at_sectors_and_reordered() -> None:
    size = 4 * SECTOR
    disk = after(write("a", b"x" * size), write("a", b"y" * size, size), before={"a": b"-" * 2 * size})
    found = {one["a"] for one in possible(disk)}
    assert b"-" * size + b"y" * size in found, "the second without the first"
    torn = [one for one in found if one and len({one[at] for at in range(0, size, SECTOR)}) > 1]
    assert torn
    for one in found:
        assert one is not None
        assert all(len(set(one[at : at + SECTOR])) == 1 for at in range(0, 2 * size, SECTOR))


@pytest.mark.parametrize(("size", "content"), [(2, b"12"), (6, b"1234\0\0")])
def test_a_file_is_cut_or_made_longer(size: int, content: bytes) -> None:
    disk = after(call(Kind.RESIZE, "a", offset=size), before={"a": b"1234"})
    assert disk.now() == {"a": content}
    assert {one["a"] for one in possible(disk)} == {b"1234", content}


def test_a_process_that_ends_within_a_write_leaves_its_start() -> None:
    disk = after(before={"a": b"----"})
    assert disk.now(write("a", b"xy", 1)) == {"a": b"-xy-"}
    assert disk.now() == {"a": b"----"}
