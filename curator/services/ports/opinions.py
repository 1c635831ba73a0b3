"""The port of a language model behind an OpenAI-compatible address: implemented by `curator.io.local_model`. Nothing is
sent unless the user turned it on."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from curator.domain.wording import CancelledError, UserError


class NoAnswerError(UserError):
    """There is no usable answer; the message gives the reason. Nothing is stored."""


@dataclass(frozen=True, slots=True)
class ModelServer:
    """The server of a model. `address` ends in /v1, such as http://localhost:11434/v1; `key` may be empty. An answer
    must be complete within `seconds`. `anywhere`: the server may be on another computer."""

    address: str
    model: str = ""
    key: str = ""
    seconds: float = 30.0
    anywhere: bool = False


class Stopper:
    """Ends one request from another thread. `hold` sets the function that ends it; a request that begins after `stop`
    ends at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._end: Callable[[], None] | None = None
        self.stopped = False

    def stop(self) -> None:
        """End the request; harmless if it is repeated or the request has ended."""
        with self._lock:
            self.stopped = True
            end = self._end
        if end is not None:
            end()

    def hold(self, end: Callable[[], None] | None) -> None:
        """Set the function that ends the request. Raises CancelledError if it was already stopped."""
        with self._lock:
            self._end = end
            if self.stopped and end is not None:
                raise CancelledError


class ModelPort(Protocol):
    """One request per call, in the caller's thread; it is over after `ModelServer.seconds` at the latest."""

    def models(self, server: ModelServer, stopper: Stopper) -> list[str]:
        """Names of the models that the server offers. Raises UserError for an invalid or forbidden address,
        NoAnswerError, CancelledError."""
        ...

    def answer(self, server: ModelServer, prompt: str, stopper: Stopper) -> str:
        """The model's text. Raises like `models`."""
        ...
