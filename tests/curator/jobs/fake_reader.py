"""A child whose knowledge base is empty, as the package `models` says it."""

from __future__ import annotations

from collections.abc import Generator

from curator.jobs.child_side import run_job, speak
from curator.jobs.wire import Message
from models.core.kb import order_entities
from models.errors import ModelError, use


def work(spec: Message) -> Generator[Message, None, Message]:
    yield {"phase": "load", "done": 0, "total": 1}
    order_entities(())
    return {}


if __name__ == "__main__":
    speak(use)
    run_job(work, user_errors=(ModelError,))
