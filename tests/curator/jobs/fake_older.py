"""A job of another version of the program."""

from __future__ import annotations

from collections.abc import Generator

from curator.jobs import wire
from curator.jobs.child_side import run_job

wire.VERSION = 0


def work(spec: wire.Message) -> Generator[wire.Message, None, wire.Message]:
    yield {"phase": "count", "done": 0, "total": 1}
    return {"message": "Nobody is told so."}


run_job(work, user_errors=())
