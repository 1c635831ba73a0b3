"""The evaluation process.

Specification: {snapshot, bundle, split, k, device, threads}: the folder of a snapshot that may hold `test` documents,
the folder of a bundle, the split to be scored. Result: the figures of `training.evaluation.Report`, and a message.
"""

from __future__ import annotations

from collections.abc import Generator

from curator.jobs.child_side import Message, run_job
from models.errors import ModelError
from training.evaluate_job import run_evaluation
from training.events import Event


def work(spec: Message) -> Generator[Message, None, Message]:
    last: Event | None = None
    for event in run_evaluation(spec):
        last = event
        yield event.to_json()
    assert last is not None, "a job yields its result last"
    return dict(last.data["result"])


if __name__ == "__main__":
    run_job(work, user_errors=(ModelError, OSError, MemoryError))
