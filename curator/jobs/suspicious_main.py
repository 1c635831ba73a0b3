"""The process that looks for suspicious gold.

Specification: {snapshot, bundle, device, threads}: folders of a snapshot and of the bundle. Result: {rows, found,
checked, folds, message}, see `training.job.suspicious`.
"""

from __future__ import annotations

from collections.abc import Generator

from curator.jobs.child_side import passed_on, run_job, speak
from curator.jobs.wire import Message
from models.errors import ModelError, no_memory, use
from training.job.suspicious import run_suspicious


def work(spec: Message) -> Generator[Message, None, Message]:
    return passed_on(run_suspicious(spec))


if __name__ == "__main__":
    speak(use)
    run_job(work, user_errors=(ModelError, OSError), no_memory=no_memory)
