"""The evaluation process.

Specification: {snapshot, bundle, split, k, device, threads}: the folder of a snapshot that may hold `test` documents,
the folder of a bundle, the split to evaluate; and {against, memory, whole_kb, resamples, seed} as in
`training.data.spec.EvaluationSpec`. With {"replay": true} the gold is replayed instead: {then, limit, memory} as in
`training.data.spec.ReplaySpec`. With {cluster, bulk} the documents of an evaluation are linked on Ray (`bulk_main`).
Result: the figures, a message, and the report as `html`.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from functools import partial

from curator.jobs.child_side import run_job, speak
from curator.jobs.wire import Message
from models.errors import ModelError, no_memory, use
from training.data.progress import Event, Phase
from training.job.evaluate_job import run_evaluation, run_replay


def work(spec: Message) -> Generator[Message, None, Message]:
    result: Message = {}
    for event in _events(spec):
        if event.phase is Phase.DONE:
            result = dict(event.data["result"])
        else:
            yield event.to_json()
    return result


def _events(spec: Message) -> Iterator[Event]:
    if spec.get("replay"):
        return run_replay(spec)
    if spec.get("cluster"):
        from curator.jobs.bulk_main import linked_elsewhere  # it needs the extra packages

        return run_evaluation(spec, elsewhere=partial(linked_elsewhere, spec))
    return run_evaluation(spec)


if __name__ == "__main__":
    speak(use)
    run_job(work, user_errors=(ModelError, OSError), no_memory=no_memory)
