"""The process that refits a bundle's fusion weights and NIL model on validation decisions.

Specification: {snapshot, bundle, staging, device}: folders of a snapshot that holds the `validation` decisions, of the
bundle, and of the staging bundle to be written. Result: {bundle_id, message, fusion, nil}.
"""

from __future__ import annotations

from collections.abc import Generator

from curator.jobs.child_side import passed_on, run_job, speak
from curator.jobs.wire import Message
from models.errors import ModelError, use
from training.job import run_calibration


def work(spec: Message) -> Generator[Message, None, Message]:
    return passed_on(run_calibration(spec))


if __name__ == "__main__":
    speak(use)
    run_job(work, user_errors=(ModelError, OSError, MemoryError))
