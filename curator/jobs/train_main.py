"""The training process.

Specification: as in `training.data.spec.TrainingSpec`: {snapshot, base, staging, recipe, parameters, seed, device,
threads, max_minutes, cache, work, tensorboard}: folders of the snapshot, of the active bundle and of the staging bundle
to write, the recipe's id and its parameters, the folder of checkpoints. Result: {bundle_id, verdict, message, metrics}.
"""

from __future__ import annotations

from collections.abc import Generator

from curator.jobs.child_side import NICER, passed_on, run_job, speak
from curator.jobs.wire import Message
from models.errors import ModelError, no_memory, use
from training.job.job import run_training


def work(spec: Message) -> Generator[Message, None, Message]:
    return (yield from passed_on(run_training(spec)))


if __name__ == "__main__":
    speak(use)
    run_job(work, user_errors=(ModelError, OSError), no_memory=no_memory, nice=NICER)
