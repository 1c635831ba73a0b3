"""The port of a language model behind an OpenAI-compatible address: what `curator.io.local_model` implements. Nothing
is sent unless the user turned it on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from curator.domain.wording import CancelledError, UserError


class NoAnswerError(UserError):
    """There is no answer that can be used: the sentence says why. Nothing of it is stored."""


@dataclass(frozen=True, slots=True)
class ModelServer:
    """Where a model is asked. `address` ends in /v1, such as http://localhost:11434/v1; `key` may be empty. An answer
    counts that is complete within `seconds`. `anywhere`: the server may be another computer than this one."""

    address: str
    model: str = ""
    key: str = ""
    seconds: float = 30.0
    anywhere: bool = False


class Stopper:
    """Ends one request from another thread. `hold` names what ends it now; a request that begins after `stop` ends at
    once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end: Callable[[], None] | None = None
        self.stopped = False

    def stop(self) -> None:
        """Harmless when it is repeated or the request has ended."""
        with self._lock:
            self.stopped = True
            end = self._end
        if end is not None:
            end()

    def hold(self, end: Callable[[], None] | None) -> None:
        """Raises CancelledError where it was stopped before."""
        with self._lock:
            self._end = end
            if self.stopped and end is not None:
                raise CancelledError


class ModelPort(Protocol):
    """One request a call, in the caller's thread; it is over after `ModelServer.seconds` at the latest."""

    def models(self, server: ModelServer, stopper: Stopper) -> list[str]:
        """Names of the models that the server offers. Raises UserError for an address that is none or not allowed,
        NoAnswerError, CancelledError."""
        ...

    def answer(self, server: ModelServer, prompt: str, stopper: Stopper) -> str:
        """What the model writes. Raises as `models` does."""
        ...
