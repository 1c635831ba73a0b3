"""A child whose knowledge base is empty, as `models.core.kb` says it, which takes seconds to load."""

from __future__ import annotations

from collections.abc import Generator

from curator.jobs.child_side import run_job, speak
from curator.jobs.wire import Message
from models.errors import ModelError, say, use


def work(spec: Message) -> Generator[Message, None, Message]:
    yield {"phase": "load", "done": 0, "total": 1}
    raise ModelError(say("The knowledge base is empty. Import one with at least one entity."))


if __name__ == "__main__":
    speak(use)
    run_job(work, user_errors=(ModelError,))
