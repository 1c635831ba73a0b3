"""Both ends of the wire refuse what they would misread: another version, and messages that the schema lacks."""

from __future__ import annotations

import hashlib
import io
import json
import queue
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_type_hints, is_typeddict

import pytest

from curator.domain.jobs import JobOutcome, JobState, LinkerState, LinkerStatus
from curator.jobs import wire
from curator.jobs.linker_process import LinkerProcess
from curator.jobs.runner import JobRunner
from curator.jobs.wire import EVENTS, REQUESTS, VERSION, Schema, WireError, frame, greeting, received

OPEN = {"op": "open", "bundle": "/b", "bundle_id": "b"}
STEP = {"event": "progress", "phase": "load", "done": 0, "total": 1}


def after_greeting(schema: Schema, *messages: Any) -> list[dict[str, Any]]:
    return list(told(schema, greeting(), *map(frame, messages)))


def told(schema: Schema, *parts: bytes) -> Iterator[dict[str, Any]]:
    return received(io.BytesIO(b"".join(parts)), schema)


def test_messages_arrive_as_they_were_sent() -> None:
    rich = {
        **STEP,
        "text": "ä 😀 \ud800",
        "data": {"loss": 0.1, "steps": [1, 2**62], "none": None, "wrong": float("inf")},
    }
    assert after_greeting(REQUESTS, OPEN, {"op": "cancel"}) == [OPEN, {"op": "cancel"}]
    assert after_greeting(EVENTS, STEP, rich) == [STEP, rich]


def test_half_a_message_of_a_killed_child_is_none() -> None:
    for left in (1, 4, 10):
        assert list(told(EVENTS, greeting(), frame(STEP), frame(STEP)[:left])) == [STEP]
    assert list(told(EVENTS, greeting()[:-1])) == []


@pytest.mark.parametrize(
    "first", [{"version": VERSION + 1}, STEP, [], 1], ids=["another version", "no greeting", "a list", "a number"]
)
def test_an_end_of_another_version_is_refused(first: Any) -> None:
    with pytest.raises(WireError, match="updated while it was running"):
        list(told(EVENTS, json.dumps(first).encode() + b"\n", frame(STEP)))


def test_nesting_and_long_words_are_refused_in_a_short_sentence() -> None:
    deep = b"\x91" * 100_000
    for one in (
        len(deep).to_bytes(4, "big") + deep,
        frame({"op": "x" * 100_000}),
        frame({**OPEN, "y" * 100_000: 1}),
    ):
        with pytest.raises(WireError) as found:
            list(told(REQUESTS, greeting(), one))
        assert len(str(found.value)) < 400


@pytest.mark.parametrize(
    ("message", "what"),
    [
        ({"op": "close"}, "op 'close'"),
        ({"op": "open", "bundle": "/b"}, "op 'open': bundle_id"),
        ({**OPEN, "device": "cpu", "cache": ""}, "op 'open': cache, device"),
        (STEP, "op None"),
        ([1], "op None"),
        ({"op": []}, "op []"),
        ({"op": {"op": 1}}, "op {'op': 1}"),
    ],
)
def test_a_message_that_the_schema_lacks_is_refused(message: Any, what: str) -> None:
    with pytest.raises(WireError) as found:
        after_greeting(REQUESTS, OPEN, message)
    assert f"({what})" in str(found.value)


@pytest.mark.parametrize(
    ("parts", "what"),
    [
        ((greeting(), b"a library prints\n"), "a li"),
        ((greeting(), b"\0\0\0\x02\xc1 "), "�"),
        ((b"a library prints\n",), "a library prints"),
        ((b"x" * 2000,), "x" * 80),
    ],
    ids=["text", "no MessagePack", "text first", "no line"],
)
def test_what_is_no_message_is_refused(parts: tuple[bytes, ...], what: str) -> None:
    with pytest.raises(WireError) as found:
        list(told(EVENTS, *parts))
    assert f"({what})" in str(found.value)


def test_a_job_of_another_version_ends_with_a_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "VERSION", VERSION + 1)  # of this end
    runner = JobRunner(tmp_path, modules={"older": "tests.curator.jobs.fake_job"})
    seen: list[JobOutcome] = []
    runner.start("older", {}, on_progress=lambda _: None, on_end=seen.append).wait(20)
    runner.close()
    assert [one.state for one in seen] == [JobState.FAILED]
    assert f"({VERSION + 1} and {VERSION})" in seen[0].message


def test_a_linker_of_another_version_is_given_up_with_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wire, "VERSION", VERSION + 1)
    linker = LinkerProcess(tmp_path, module="tests.curator.jobs.fake_linker")
    told: queue.SimpleQueue[LinkerStatus] = queue.SimpleQueue()
    linker.on_status(told.put)
    linker.open(tmp_path, "b")
    starting, failed = told.get(timeout=20), told.get(timeout=20)
    linker.close()
    assert (starting.state, failed.state) == (LinkerState.STARTING, LinkerState.FAILED)
    assert "updated while it was running" in failed.message
    assert told.get(timeout=20).state is LinkerState.OFF


@pytest.mark.parametrize("module", ["tests.curator.jobs.fake_job", "tests.curator.jobs.fake_linker"])
def test_a_child_says_that_its_window_has_another_version_and_ends(module: str) -> None:
    asked = b'{"version": %d}\n' % (VERSION + 1) + frame({"op": "run", "spec": {"how": "well"}})
    done = subprocess.run([sys.executable, "-m", module], input=asked, capture_output=True, timeout=20, check=False)
    (event,) = told(EVENTS, done.stdout)
    assert event["event"] == "misunderstood"
    assert f"({VERSION} and {VERSION + 1})" in event["message"]


def test_the_version_is_raised_with_every_change_of_a_message() -> None:
    kinds = {name: kind for name, kind in vars(wire).items() if is_typeddict(kind)}
    fields = {name: {field: str(hint) for field, hint in get_type_hints(kind).items()} for name, kind in kinds.items()}
    digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
    assert (VERSION, digest[:12]) == (8, "5c06fadfcf76"), "Raise `wire.VERSION`, then write down the new digest here."
