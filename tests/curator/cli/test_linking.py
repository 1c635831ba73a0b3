"""`curator link --on`: several linkers. `curator opinion`: a language model. `curator serve`: others ask the linker."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.io.web_server import WebServer
from tests.curator.cli.conftest import Cli
from tests.fake_model import FakeModel, Reply, serving


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    with serving() as found:
        yield found


@pytest.fixture
def linked(cli: Cli, project: Path) -> Path:
    assert cli("link", project).code == 0
    return project


def test_it_is_off_and_asks_only_where_it_may(
    cli: Cli, linked: Path, fake: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    off = cli("opinion", linked)
    assert (off.code, off.out) == (2, "")
    assert "turned off" in off.err
    assert "Give --address and --model" in cli("opinion", linked, "--address", fake.address).err
    elsewhere = cli("opinion", linked, "--gold", "--address", "http://192.0.2.1/v1", "--model", "m")
    assert elsewhere.code == 2
    assert "is not this computer" in elsewhere.err
    assert not fake.asked


def test_gold_without_suggestions_says_what_makes_them(
    cli: Cli, project: Path, fake: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    found = cli("opinion", project, "--gold", "--address", fake.address, "--model", "m")
    assert found.code == 2
    assert "`curator link P` makes suggestions for decided mentions" in found.err


def test_gold_says_who_is_right(
    cli: Cli, linked: Path, fake: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    server = ("--address", fake.address, "--model", "m")
    nothing = cli("opinion", linked, *server)
    assert (nothing.code, nothing.out) == (0, "There is no doubtful mention to ask about.\n"), nothing.err
    found = cli("opinion", linked, *server, "--gold", "--limit", "3", "--json")
    assert found.code == 0, found.err
    assert (found.json["asked"], found.json["answered"], found.json["gold"], found.json["model"]) == (3, 3, 3, "m")
    assert len(fake.asked) == 3
    text = cli("opinion", linked, *server, "--gold", "--limit", "3").out
    assert text.startswith("m answered for 3 mentions.\nIt agrees with the linker on ")
    assert "Of 3 with gold, the linker is right on " in text
    assert len(fake.asked) == 3, "kept from before"


def test_a_server_that_fails_ends_it_with_what_it_says(
    cli: Cli, linked: Path, fake: FakeModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    fake.usual = Reply(500, '{"error": {"message": "no memory"}}')
    found = cli("opinion", linked, "--address", fake.address, "--model", "m", "--gold")
    assert found.code == 2
    assert "No answer for 3 mentions" in found.out
    assert "no memory" in found.err


@pytest.fixture
def manifests(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """What a client got of each server, which was stopped then."""
    found: list[dict[str, str]] = []
    run = WebServer.run

    def asked(server: WebServer) -> None:
        thread = threading.Thread(target=run, args=(server,))
        thread.start()
        with urllib.request.urlopen(server.address, timeout=20) as reply:
            found.append({**json.load(reply), "address": server.address})
        server.stop()
        thread.join()

    monkeypatch.setattr(WebServer, "run", asked)
    return found


def test_others_are_served_until_it_is_stopped(
    cli: Cli, project: Path, manifests: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CURATOR_TOKEN", "my-token")
    for options, path in (((), "/my-token/"), (("--without-token",), "/")):
        answer = cli("serve", project, "--port", 0, *options)
        assert answer.code == 0, answer.err
        assert manifests[-1]["versions"] == ["0.2"]
        assert manifests[-1]["address"].endswith(path)
        assert manifests[-1]["address"] in answer.out
        assert answer.out.endswith("Stopped.\n")
    monkeypatch.delenv("CURATOR_TOKEN")
    first, second = (cli("serve", project, "--port", 0).out for _ in range(2))
    assert first != second, "each start has a token of its own"


def test_a_token_that_no_address_can_hold_is_refused(cli: Cli, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURATOR_TOKEN", "a/b?")
    assert "CURATOR_TOKEN may only contain" in cli("serve", project).err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--on", "localhost"), "localhost is neither ray nor the address of a Ray cluster"),
        (("--on", "ray://head"), "ray://head is neither ray nor the address"),
        (("--actors", "2"), "--actors needs --on"),
        (("--on", "ray", "--out", "x.jsonl"), "Give either --on or --out"),
    ],
)
def test_several_linkers_need_a_place(cli: Cli, project: Path, options: tuple[str, ...], words: str) -> None:
    refused = cli("link", project, *options)
    assert refused.code == 2
    assert words in refused.err
