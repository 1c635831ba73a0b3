"""The training process.

Specification: {snapshot, base, staging, recipe, parameters, seed, device, threads, max_minutes, cache}: folders of
the snapshot, of the active bundle and of the staging bundle to be written, the recipe's id and its parameters.
Result: {bundle_id, verdict, message, metrics}.
"""

from __future__ import annotations

from collections.abc import Generator

from curator.jobs.child_side import Message, passed_on, run_job
from models.errors import ModelError
from training.job import run_training


def work(spec: Message) -> Generator[Message, None, Message]:
    return passed_on(run_training(spec))


if __name__ == "__main__":
    run_job(work, user_errors=(ModelError, OSError, MemoryError))
