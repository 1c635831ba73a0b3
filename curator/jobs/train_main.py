"""The training process.

Specification: {snapshot, base, staging, recipe, parameters, seed, device, threads, max_minutes, cache}: folders of
the snapshot, of the active bundle and of the staging bundle to be written, the recipe's id and its parameters.
Result: {bundle_id, verdict, message, metrics}.
"""

from __future__ import annotations

from collections.abc import Generator

from curator.jobs.child_side import Message, run_job
from models.errors import ModelError
from training.events import Event
from training.job import run_training


def work(spec: Message) -> Generator[Message, None, Message]:
    last: Event | None = None
    for event in run_training(spec):
        last = event
        yield event.to_json()
    assert last is not None, "a job yields its result last"
    return dict(last.data["result"])


if __name__ == "__main__":
    run_job(work, user_errors=(ModelError, OSError, MemoryError))
