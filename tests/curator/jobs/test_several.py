"""The processes that train together: each has its place and its GPU, and none outlives the first."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from curator.jobs.several import own_spec, rank, together

MODULE = "tests.curator.jobs.fake_member"


def test_alone_nothing_is_started() -> None:
    spec = {"device": "cuda", "processes": 1}
    with together(spec, "no.such.module") as own:
        assert own is spec
        assert "WORLD_SIZE" not in os.environ


def test_a_member_starts_no_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RANK", "1")
    spec = {"device": "cuda:1", "processes": 2}
    with together(spec, "no.such.module") as own:
        assert own is spec
    assert rank() == 1


@pytest.mark.parametrize(
    ("device", "wanted"), [("auto", "cuda:1"), ("cuda", "cuda:1"), ("cpu", "cpu"), ("cuda:3", "cuda:3")]
)
def test_each_has_a_gpu_of_its_own(device: str, wanted: str) -> None:
    assert own_spec({"device": device}, 1)["device"] == wanted


@pytest.mark.skipif(os.name != "posix", reason="named pipes")
def test_places_and_the_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    spec = {"device": "cuda", "processes": 2, "pipe": str(tmp_path / "pipe")}
    with together(spec, MODULE) as own, (tmp_path / "pipe").open() as pipe:
        given = json.loads(pipe.readline())
        assert own["device"] == "cuda:0"
        assert given["device"] == "cuda:1"
        assert (given["RANK"], given["LOCAL_RANK"], rank()) == ("1", "1", 0)
        for name in ("WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
            assert given[name] == os.environ[name]
        assert given["WORLD_SIZE"] == "2"
    assert "WORLD_SIZE" not in os.environ
    assert "RANK" not in os.environ
