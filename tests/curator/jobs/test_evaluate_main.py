"""The evaluation process: progress as it comes, the result once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from curator.jobs import evaluate_main
from training.data.progress import Event, Phase


def drive(spec: dict[str, Any]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    steps, seen = evaluate_main.work(spec), []
    while True:
        try:
            seen.append(next(steps))
        except StopIteration as end:
            return seen, end.value


@pytest.mark.parametrize(("spec", "name"), [({}, "run_evaluation"), ({"replay": True}, "run_replay")])
def test_progress_then_the_result(spec: dict[str, Any], name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def job(given: dict[str, Any]) -> Iterator[Event]:
        assert given is spec
        yield Event(Phase.EVALUATE, 1, 2, text="halfway")
        yield Event(Phase.DONE, 1, 1, data={"result": {"message": name}})

    monkeypatch.setattr(evaluate_main, name, job)
    seen, result = drive(spec)
    assert [(one["phase"], one["done"], one["text"]) for one in seen] == [("evaluate", 1, "halfway")]
    assert result == {"message": name}
