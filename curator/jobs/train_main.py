"""The training process.

Specification: as in `training.data.spec.TrainingSpec`: {snapshot, base, staging, recipe, parameters, seed, device,
threads, max_minutes, cache, work, tensorboard}: folders of the snapshot, of the active bundle and of the staging bundle
to write, the recipe's id and its parameters, the folder of checkpoints. With {"processes": n} it is trained on n GPUs.
Result: {bundle_id, verdict, message, metrics}.
"""

from __future__ import annotations

from collections.abc import Generator

from curator.jobs.child_side import NICER, passed_on, run_job, speak
from curator.jobs.several import rank, together
from curator.jobs.wire import Message
from models.errors import ModelError, no_memory, use
from training.job.job import run_training

MODULE = "curator.jobs.train_main"


def work(spec: Message) -> Generator[Message, None, Message]:
    with together(spec, MODULE) as own:
        if rank():
            return (yield from help_learning(own))
        return (yield from passed_on(run_training(own)))


def help_learning(spec: Message) -> Generator[Message, None, Message]:
    """The same job up to the end of training, in a process that neither reports nor writes."""
    for event in run_training(spec):
        yield event.to_json()
        if "together" in event.data:  # the last event of a training in several processes
            break
    return {}


if __name__ == "__main__":
    speak(use)
    nice = 0 if rank() else NICER  # it is inherited
    run_job(work, user_errors=(ModelError, OSError), no_memory=no_memory, nice=nice)
