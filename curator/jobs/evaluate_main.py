"""The evaluation process.

Specification: {snapshot, bundle, split, k, device, threads}: the folder of a snapshot that may hold `test` documents,
the folder of a bundle, the split to be scored; and {against, memory, whole_kb, resamples, seed} as in
`training.data.spec.EvaluationSpec`. With {"replay": true} the gold is replayed instead: {then, limit, memory} as in
`training.data.spec.ReplaySpec`. Result: the figures, a message, and the report as `html`.
"""

from __future__ import annotations

from collections.abc import Generator

from curator.jobs.child_side import run_job, speak
from curator.jobs.wire import Message
from models.errors import ModelError, use
from training.data import Phase
from training.job import run_evaluation, run_replay


def work(spec: Message) -> Generator[Message, None, Message]:
    result: Message = {}
    for event in run_replay(spec) if spec.get("replay") else run_evaluation(spec):
        if event.phase is Phase.DONE:
            result = dict(event.data["result"])
        else:
            yield event.to_json()
    return result


if __name__ == "__main__":
    speak(use)
    run_job(work, user_errors=(ModelError, OSError, MemoryError))
