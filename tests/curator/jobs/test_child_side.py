"""The child's end of the pipes, without a child."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path
from unittest.mock import MagicMock, Mock

import pytest

from curator import tracing
from curator.jobs import child_side
from curator.jobs.child_side import passed_on
from curator.jobs.wire import Message
from training.data.progress import Event, Phase


def test_events_are_passed_on_and_the_last_one_holds_the_result() -> None:
    events = [Event(Phase.TRAIN, 1, 2), Event(Phase.DONE, data={"result": {"bundle_id": "b"}})]
    messages = passed_on(iter(events))
    assert [next(messages), next(messages)] == [one.to_json() for one in events]
    with pytest.raises(StopIteration) as end:
        next(messages)
    assert end.value.value == {"bundle_id": "b"}


def test_every_step_of_a_job_is_written_to_the_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_trace", tracing.Trace(tmp_path / "trace.json"))

    def steps() -> Generator[Message, None, Message]:
        yield {"phase": "names", "done": 1, "total": 1}
        return {}

    child_side._drive(steps(), Mock(), MagicMock(__bool__=Mock(return_value=False)))
    lines = (tmp_path / "trace.json").read_text().splitlines()[2:]
    assert [json.loads(one.rstrip(","))["name"] for one in lines] == ["names", "result"]
