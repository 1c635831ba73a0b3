"""A server with an OpenAI-compatible interface on this computer, with the replies that a test asks for."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True, slots=True)
class Reply:
    status: int = 200
    body: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


def says(content: str | None, *, finish: str = "stop") -> Reply:
    """A whole reply in which the model writes this."""
    choice = {"index": 0, "message": {"role": "assistant", "content": content}, "finish_reason": finish}
    return Reply(body=json.dumps({"object": "chat.completion", "choices": [choice]}))


@dataclass
class FakeModel:
    """`asked` are the bodies of requests for an answer. `replies` are given one after the other, then `usual`. While
    `silent` it says nothing to a request until `release`; `arrived` is set when such a request is there."""

    address: str = ""
    usual: Reply = field(default_factory=lambda: says('{"choice": 1, "reason": "it fits"}'))
    replies: list[Reply] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    names: tuple[str, ...] = ("llama-3.1-8b", "Qwen2.5")
    silent: bool = False
    arrived: threading.Event = field(default_factory=threading.Event)
    release: threading.Event = field(default_factory=threading.Event)

    @property
    def prompts(self) -> list[str]:
        return [one["messages"][0]["content"] for one in self.asked]


@contextmanager
def serving() -> Iterator[FakeModel]:
    """Until the block ends; what is still waiting then is let go."""
    fake = FakeModel()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    fake.address = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield fake
    finally:
        fake.release.set()
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(fake: FakeModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fake.headers.append(dict(self.headers))
            self._give(Reply(body=json.dumps({"data": [{"id": one} for one in fake.names]})))

        def do_POST(self) -> None:
            fake.headers.append(dict(self.headers))
            fake.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            if fake.silent:
                fake.arrived.set()
                fake.release.wait(30)
                return
            self._give(fake.replies.pop(0) if fake.replies else fake.usual)

        def _give(self, reply: Reply) -> None:
            content = reply.body.encode()
            self.send_response(reply.status)
            for key, value in {"Content-Length": str(len(content)), **reply.headers}.items():
                self.send_header(key, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *args: object) -> None:
            """Silent."""

    return Handler
