"""The child's end of the pipes, without a child."""

from __future__ import annotations

import pytest

from curator.jobs.child_side import passed_on
from training.data.progress import Event, Phase


def test_events_are_passed_on_and_the_last_one_holds_the_result() -> None:
    events = [Event(Phase.TRAIN, 1, 2), Event(Phase.DONE, data={"result": {"bundle_id": "b"}})]
    messages = passed_on(iter(events))
    assert [next(messages), next(messages)] == [one.to_json() for one in events]
    with pytest.raises(StopIteration) as end:
        next(messages)
    assert end.value.value == {"bundle_id": "b"}
