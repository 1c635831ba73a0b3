"""A language model behind an OpenAI-compatible address, with the standard library: the llama.cpp server, Ollama, vLLM
and LM Studio have one.

Each request has its own connection, without proxies and redirects, which would lead to another server. An address of
another computer is refused before anything is sent, and so is a localhost that resolves to another computer. The whole
request has a deadline, so that a server sending one byte per second is cut off, too. It can be stopped at once from
another thread, even while connecting. The key is only in a header and never in an error.
"""

from __future__ import annotations

import ipaddress
import json
import socket
import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from curator.domain.wording import CancelledError, UserError, tr
from curator.services.ports.opinions import ModelServer, NoAnswerError, Stopper

if TYPE_CHECKING:
    from http.client import HTTPConnection

MOST_BYTES = 1 << 20  # per reply; an answer has a few hundred
MOST_TOKENS = 512
CONNECTING = 5.0
"""Seconds in which a server must accept a connection; a running server does so at once."""
ADDRESS = "http://localhost:11434/v1"
NOT_HERE = (
    "{host} is not this computer, and texts of your documents would be sent to it. Use a server on this computer, or "
    "allow other computers in Tools › Second opinion."
)
NO_SERVER = "There is no server at {host} ({why}). Start it, or change the address in Tools › Second opinion."

BROKEN = "{host} ended the connection without an answer ({why})."


@dataclass(frozen=True, slots=True)
class _Place:
    """A parsed address; `path` begins with a slash and does not end with one."""

    host: str
    port: int
    path: str
    secure: bool

    @property
    def words(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


class LocalModel:
    """See `ports.ModelPort`."""

    def models(self, server: ModelServer, stopper: Stopper) -> list[str]:
        place = _place(server)
        reply = _json(_asked(place, server, "GET", "/models", None, stopper), place)
        listed = reply.get("data")
        if not isinstance(listed, list):
            raise _no_answer(place)
        return sorted({str(one["id"]) for one in listed if isinstance(one, dict) and one.get("id")}, key=str.casefold)

    def answer(self, server: ModelServer, prompt: str, stopper: Stopper) -> str:
        place = _place(server)
        sent = {
            "model": server.model,
            "messages": [{"role": "user", "content": prompt}],
            "temperature": 0,
            "max_tokens": MOST_TOKENS,
            "stream": False,
        }
        body = json.dumps(sent).encode()
        reply = _json(_asked(place, server, "POST", "/chat/completions", body, stopper), place)
        try:
            choice = reply["choices"][0]
            content = choice["message"]["content"]
        except (KeyError, IndexError, TypeError):
            raise _no_answer(place) from None
        if choice.get("finish_reason") == "length":
            raise NoAnswerError(tr("The model wrote more than {n} tokens and was cut off.", n=MOST_TOKENS))
        if not isinstance(content, str) or not content.strip():
            raise NoAnswerError(tr("The model's answer is empty."))
        return content


def _place(server: ModelServer) -> _Place:
    """The parsed address. Raises UserError for an invalid address, and for another computer's if that is not
    allowed."""
    typed = server.address.strip()
    try:
        parts = urlsplit(typed)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.query or parts.fragment:
        raise UserError(
            tr(
                "“{address}” is not the address of a server. Enter one such as {example}.",
                address=typed,
                example=ADDRESS,
            )
        )
    if not server.anywhere and not _is_here(host):
        raise UserError(tr(NOT_HERE, host=host))
    if not server.key.isascii() or not server.key.isprintable():
        raise UserError(tr("The API key has characters that no key has. Enter it again in Tools › Second opinion."))
    secure = parts.scheme == "https"
    path = parts.path.rstrip("/").removesuffix("/chat/completions") or "/v1"
    return _Place(host, port or (443 if secure else 80), path, secure)


def _is_here(host: str) -> bool:
    """Whether the host is this computer, by its name alone: forbidden addresses are not looked up."""
    if host.casefold() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False


def _asked(place: _Place, server: ModelServer, method: str, path: str, body: bytes | None, stopper: Stopper) -> bytes:
    """The body of the reply. Raises NoAnswerError, CancelledError."""
    from http.client import HTTPException  # imported, with its dependencies, when a model is called

    late = threading.Event()

    def end() -> None:
        """Called from another thread: waiting reads get an error."""
        with suppress(OSError):
            if connected is not None:
                connected.shutdown(socket.SHUT_RDWR)

    def expire() -> None:
        late.set()
        end()

    connected: socket.socket | None = None
    connection = _connection(place, min(CONNECTING, server.seconds))
    watch = threading.Timer(server.seconds, expire)
    try:
        connected = _connected(connection, stopper)
        connected.settimeout(server.seconds)
        if not server.anywhere and not _is_here(str(connected.getpeername()[0])):
            raise UserError(tr(NOT_HERE, host=place.host))
        stopper.hold(end)
        watch.start()
        return _sent(connection, place, method, path, body, server.key)
    except (OSError, HTTPException, ValueError, AttributeError) as error:  # the last two: a closed TLS socket
        if stopper.stopped:
            raise CancelledError from None
        if late.is_set() or (isinstance(error, TimeoutError) and watch.is_alive()):
            words = tr("No answer from {host} within {n:g} seconds.", host=place.words, n=server.seconds)
            raise NoAnswerError(words) from None
        why = getattr(error, "strerror", None) or str(error) or type(error).__name__
        words = tr(BROKEN if watch.is_alive() else NO_SERVER, host=place.words, why=why)
        raise NoAnswerError(words) from None
    finally:
        watch.cancel()
        stopper.hold(None)
        connection.close()


def _connected(connection: HTTPConnection, stopper: Stopper) -> socket.socket:
    """Connect in a thread: the look-up of a name and the wait for an unresponsive computer cannot be interrupted, so a
    stopped request leaves them running. Raises the errors of connecting, and CancelledError."""
    over, raised = threading.Event(), list[BaseException]()

    def work() -> None:
        try:
            connection.connect()
        except BaseException as error:  # thread boundary: raised again below
            raised.append(error)
        over.set()
        if stopper.stopped:
            connection.close()

    stopper.hold(over.set)
    threading.Thread(target=work, name="connecting to a language model", daemon=True).start()
    over.wait()
    if stopper.stopped:
        raise CancelledError
    if raised:
        raise raised[0]
    return connection.sock


def _connection(place: _Place, seconds: float) -> HTTPConnection:
    from http.client import HTTPConnection, HTTPSConnection

    kind = HTTPSConnection if place.secure else HTTPConnection
    return kind(place.host, place.port, timeout=seconds)


def _sent(connection: HTTPConnection, place: _Place, method: str, path: str, body: bytes | None, key: str) -> bytes:
    headers = {"Accept": "application/json", "User-Agent": "curator"}
    if body is not None:
        headers["Content-Type"] = "application/json"
    if key.strip():
        headers["Authorization"] = f"Bearer {key.strip()}"
    connection.request(method, place.path + path, body, headers)
    reply = connection.getresponse()
    data = reply.read(MOST_BYTES + 1)
    if reply.status != 200:
        raise _refused(place, reply.status, data)
    if len(data) > MOST_BYTES or reply.length:  # bytes that are still missing: the connection broke
        raise NoAnswerError(tr("The answer of {host} is incomplete.", host=place.words))
    return data


def _refused(place: _Place, status: int, data: bytes) -> NoAnswerError:
    if status in (401, 403):
        return NoAnswerError(
            tr("{host} requires an API key. Enter it in Tools › Second opinion.", host=place.words, status=status)
        )
    said = _said(data)
    if status == 404:
        words = tr("{host} does not know the model or the address.", host=place.words)
        return NoAnswerError(f"{words} {said}".strip())
    words = tr("{host} reports an error (HTTP {status}).", host=place.words, status=status)
    return NoAnswerError(f"{words} {said}".strip())


def _said(data: bytes) -> str:
    """The server's error message, in one line; '' if it is not JSON."""
    try:
        reply = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    error = reply.get("error") if isinstance(reply, dict) else None
    words = error.get("message") if isinstance(error, dict) else error
    return " ".join(words.split())[:160] if isinstance(words, str) else ""


def _json(data: bytes, place: _Place) -> Mapping[str, Any]:
    try:
        reply = json.loads(data)
    except (ValueError, RecursionError):
        raise _no_answer(place) from None
    if not isinstance(reply, dict):
        raise _no_answer(place)
    return reply


def _no_answer(place: _Place) -> NoAnswerError:
    return NoAnswerError(tr("{host} sent something that is not a model's answer. Check the address.", host=place.words))
