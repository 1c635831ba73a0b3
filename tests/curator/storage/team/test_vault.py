"""Linkers in the database: whole or not there, and never outside of their folder."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.storage.team import vault as module
from curator.storage.team.project import open_shared_project
from curator.storage.team.vault import LinkerVault
from tests.postgres import Server

FILES = {"manifest.json": b"{}", "empty": b"", "names/index.faiss": bytes(range(256)) * 50, "names/z": b"z"}


@pytest.fixture
def linker(tmp_path: Path) -> Path:
    for name, data in FILES.items():
        (tmp_path / "linker" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "linker" / name).write_bytes(data)
    return tmp_path / "linker"


def read(folder: Path) -> dict[str, bytes]:
    return {one.relative_to(folder).as_posix(): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def test_what_was_kept_comes_back(shared, linker, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 1000)
    monkeypatch.setattr(module, "AT_ONCE", 3)
    with open_shared_project(shared) as store:
        vault = LinkerVault(store)
        assert not vault.has("a")
        vault.keep("a", linker)
        vault.keep("a", linker)
        assert vault.has("a")
        vault.fetch("a", tmp_path / "fetched")
        assert read(tmp_path / "fetched") == FILES
        vault.forget("a")
        assert not vault.has("a")
        with pytest.raises(UserError, match="is not in the shared project"):
            vault.fetch("a", tmp_path / "again")


def test_a_folder_that_the_disk_does_not_list_is_not_an_empty_one(linker, monkeypatch):
    scandir = os.scandir

    def scan(path):
        if Path(path).name == "names":
            raise OSError(errno.EIO, os.strerror(errno.EIO), str(path))
        return scandir(path)

    with monkeypatch.context() as patched:
        patched.setattr(os, "scandir", scan)
        with pytest.raises(OSError, match="Input/output error"):
            list(module._pieces(linker))


def test_what_was_sent_in_part_is_not_there_and_is_sent_again(shared, linker, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "AT_ONCE", 2)
    with open_shared_project(shared) as store:
        vault = LinkerVault(store)
        send = LinkerVault._send

        def fails(self, batch):
            if any(one["path"] == "names/z" for one in batch):
                raise UserError("the network is gone")
            send(self, batch)

        monkeypatch.setattr(LinkerVault, "_send", fails)
        with pytest.raises(UserError, match="the network is gone"):
            vault.keep("a", linker)
        assert not vault.has("a")
        monkeypatch.setattr(LinkerVault, "_send", send)
        vault.keep("a", linker)
        vault.fetch("a", tmp_path / "fetched")
        assert read(tmp_path / "fetched") == FILES


@pytest.mark.parametrize("path", ["../outside", "/etc/outside", "names/../../outside", "C:\\outside", ""])
def test_a_path_out_of_the_folder_is_refused(server: Server, shared, linker, tmp_path, path):
    with open_shared_project(shared) as store:
        LinkerVault(store).keep("a", linker)
        server.sql(f"UPDATE curator.linker_pieces SET path = '{path}' WHERE path = 'names/z'", base=shared.base)
        with pytest.raises(UserError, match="names a file outside of its folder"):
            LinkerVault(store).fetch("a", tmp_path / "fetched")
    assert not list(tmp_path.rglob("outside"))


def test_a_piece_that_is_missing_is_said(server: Server, shared, linker, tmp_path):
    with open_shared_project(shared) as store:
        LinkerVault(store).keep("a", linker)
        server.sql("DELETE FROM curator.linker_pieces WHERE path = 'names/z'", base=shared.base)
        with pytest.raises(UserError, match="could not be fetched whole"):
            LinkerVault(store).fetch("a", tmp_path / "fetched")
