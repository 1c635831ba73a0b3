"""Spans as lines that every viewer of Chrome's trace format reads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from curator import tracing
from models import tracing as model_tracing

TWO_PROCESSES = """
from curator import tracing
from models import tracing as model_tracing
model_tracing.use(tracing.span)
began = tracing.clock()
with model_tracing.span("outer", mentions=3), tracing.span("inner"):
    pass
tracing.since("key", began, key="Return")
"""


def written(path: Path) -> list[dict[str, object]]:
    found: list[dict[str, object]] = json.loads(path.read_text().rstrip().rstrip(",") + "]")
    return found


def test_processes_append_their_spans_to_one_file(tmp_path: Path) -> None:
    path = tmp_path / "trace.json"
    for _ in range(2):
        subprocess.run(
            [sys.executable, "-c", TWO_PROCESSES], env=os.environ | {tracing.VARIABLE: str(path)}, check=True
        )
    events = written(path)
    assert [one["name"] for one in events] == ["process_name", "inner", "outer", "key"] * 2
    assert len({one["pid"] for one in events}) == 2
    _, inner, outer, key = events[:4]
    assert outer["args"] == {"mentions": 3}
    assert key["args"] == {"key": "Return"}
    assert outer["ts"] <= inner["ts"]  # type: ignore[operator]
    assert inner["dur"] <= outer["dur"] <= key["dur"]  # type: ignore[operator]


def test_a_span_is_written_when_its_block_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tracing, "_trace", tracing.Trace(tmp_path / "trace.json"))
    with pytest.raises(ValueError, match="wrong"), tracing.span("work"):
        raise ValueError("wrong")
    assert written(tmp_path / "trace.json")[-1]["name"] == "work"


def test_without_the_variable_nothing_is_opened() -> None:
    assert not tracing.is_on()
    assert tracing.span("work") is tracing.span("other", mentions=3)
    assert model_tracing.span("work") is model_tracing.span("other")


def test_a_file_that_cannot_be_written_is_said_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert tracing._opened(str(tmp_path / "absent" / "trace.json")) is None
    assert "absent/trace.json cannot be opened" in caplog.text
