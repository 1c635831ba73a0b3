"""The process that refits a bundle's fusion weights and NIL model on validation decisions.

Specification: {snapshot, bundle, staging, device}: folders of a snapshot that holds the `validation` decisions, of the
bundle, and of the staging bundle to be written. Result: {bundle_id, message, fusion, nil}.
"""

from __future__ import annotations

from collections.abc import Generator

from curator.jobs.child_side import Message, run_job
from models.errors import ModelError
from training.calibration import run_calibration
from training.events import Event


def work(spec: Message) -> Generator[Message, None, Message]:
    last: Event | None = None
    for event in run_calibration(spec):
        last = event
        yield event.to_json()
    assert last is not None, "a job yields its result last"
    return dict(last.data["result"])


if __name__ == "__main__":
    run_job(work, user_errors=(ModelError, OSError, MemoryError))
