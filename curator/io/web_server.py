"""A small server for other programs on this computer, through waitress.

Requests without the token are refused. Requests from pages of other sites are refused too: a request with another
origin, or another host than the served one, is refused, so that no page in a browser can use the curator's connection.
Sizes, times and connections are limited.
"""

from __future__ import annotations

import hmac
import json
import logging
import socket
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl

from curator.domain.wording import LinkerUnavailableError, UserError, tr
from curator.services.ports.web import WebAnswer, WebError, WebQuestion

log = logging.getLogger(__name__)
MOST_BYTES = 4 << 20
"""The most bytes of a request's body; 1,000 queries have about 100 kB."""
REFUSED_BYTES = 64 << 20
"""For larger bodies the connection is closed instead of reading the rest to send an error."""
MOST_FIELDS = 100
CONNECTIONS = 300
QUIET = 30
"""Seconds without a byte after which a connection is closed."""
THREADS = 4
LOCAL = ("127.0.0.1", "localhost", "::1")
FORM = "application/x-www-form-urlencoded"
SAFE = [
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cache-Control", "no-store"),
    ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'"),
]
Environ = Mapping[str, Any]
Start = Callable[[str, list[tuple[str, str]]], Any]


@dataclass(frozen=True, slots=True)
class WebAccess:
    """The permitted requests. `token`: '' permits everybody on this computer. `origins`: sites whose pages may send
    requests, as `https://host:port`."""

    token: str
    origins: tuple[str, ...] = ()


class WebApplication:
    """The WSGI application around `answer`."""

    def __init__(self, answer: Callable[[WebQuestion], WebAnswer], access: WebAccess, *, host: str, port: int) -> None:
        self._answer = answer
        self._access = access
        named = f"[{host}]" if ":" in host else host
        local = {*LOCAL, "[::1]"}
        self._hosts = {f"{one}:{port}" for one in (local if host in LOCAL else {named})} | {named}
        self._anyhow = host in ("0.0.0.0", "::")  # noqa: S104 who serves all addresses knows their names
        self._port = port

    def __call__(self, environ: Environ, start: Start) -> Iterable[bytes]:
        headers = [*SAFE, *self._for_origin(environ)]
        try:
            answer = self._handled(environ)
        except WebError as error:
            answer = _failure(error.status, str(error))
        except LinkerUnavailableError as error:
            answer = _failure(HTTPStatus.SERVICE_UNAVAILABLE, str(error))
        except UserError as error:
            answer = _failure(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
        except Exception:  # boundary of a request: the next one is answered
            log.exception("a request failed")
            answer = _failure(
                HTTPStatus.INTERNAL_SERVER_ERROR, "This is a bug in curator; the traceback is in its log."
            )
        if isinstance(answer.body, str):
            kind, body = "text/html; charset=utf-8", answer.body.encode("utf-8", "replace")
        else:
            kind, body = "application/json; charset=utf-8", json.dumps(answer.body).encode()
        status = f"{answer.status.value} {answer.status.phrase}"
        start(status, [("Content-Type", kind), ("Content-Length", str(len(body))), *headers])
        return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]

    def _handled(self, environ: Environ) -> WebAnswer:
        host = environ.get("HTTP_HOST", "")
        if not self._anyhow and host not in self._hosts:
            raise WebError(HTTPStatus.MISDIRECTED_REQUEST, "This server is asked under another name than its own.")
        origin = environ.get("HTTP_ORIGIN", "")
        if origin not in ("", f"http://{host}", *self._access.origins):
            raise WebError(HTTPStatus.FORBIDDEN, f"Pages of {origin[:100]} may not ask. `--origin` allows a site.")
        if environ["REQUEST_METHOD"] == "OPTIONS":
            return WebAnswer({})
        if environ["REQUEST_METHOD"] not in ("GET", "HEAD", "POST"):
            raise WebError(HTTPStatus.METHOD_NOT_ALLOWED, "Only GET and POST are answered.")
        path, token = self._admitted(environ)
        fields = {**_fields(environ.get("QUERY_STRING", "")), **_form(environ)}
        return self._answer(WebQuestion(path, fields, f"http://{host}/{token}/" if token else f"http://{host}/"))

    def _admitted(self, environ: Environ) -> tuple[str, str]:
        """The path below the token, and the token if the path has it. Raises WebError without the right one."""
        path, token = environ.get("PATH_INFO", "").lstrip("/"), self._access.token
        if not token:
            return path, ""
        first, _, rest = path.partition("/")
        if _same(first, token):
            return rest, token
        if _same(environ.get("HTTP_AUTHORIZATION", ""), f"Bearer {token}"):
            return path, ""
        raise WebError(HTTPStatus.UNAUTHORIZED, "The token is missing or wrong. `curator serve` prints the address.")

    def _for_origin(self, environ: Environ) -> list[tuple[str, str]]:
        origin = environ.get("HTTP_ORIGIN", "")
        if origin not in self._access.origins:
            return []
        return [
            ("Access-Control-Allow-Origin", origin),
            ("Access-Control-Allow-Headers", "Authorization, Content-Type"),
            ("Vary", "Origin"),
        ]


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _failure(status: HTTPStatus, text: str) -> WebAnswer:
    return WebAnswer({"status": "error", "message": text}, status)


def _form(environ: Environ) -> dict[str, str]:
    if environ["REQUEST_METHOD"] != "POST":
        return {}
    length = int(environ.get("CONTENT_LENGTH") or 0)  # waitress has checked that it is a number
    if length > MOST_BYTES:
        text = f"The request has {length:,} bytes; at most {MOST_BYTES:,} are read. Send smaller batches."
        raise WebError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, text)
    if environ.get("CONTENT_TYPE", FORM).partition(";")[0].strip().lower() != FORM:
        raise WebError(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, f"Send the fields as {FORM}.")
    try:
        return _fields(environ["wsgi.input"].read(length).decode("ascii"))
    except UnicodeDecodeError:
        raise WebError(HTTPStatus.BAD_REQUEST, "The form is not encoded as the address of a page is.") from None


def _fields(text: str) -> dict[str, str]:
    try:
        return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError:
        raise WebError(HTTPStatus.BAD_REQUEST, f"The request has more than {MOST_FIELDS} fields.") from None


class WebServer:
    """A server at an open address. Raises UserError if waitress is not installed, if the address cannot be opened, or
    if others could reach a server without a token. `port` 0 chooses a free port."""

    def __init__(self, answer: Callable[[WebQuestion], WebAnswer], access: WebAccess, *, host: str, port: int) -> None:
        if not access.token and host not in LOCAL:
            raise UserError(tr("Without a token, only this computer can be served. Remove --without-token or --host."))
        try:
            from waitress import create_server
        except ImportError:
            raise UserError(tr("`curator serve` needs another package: pip install 'curator[serve]'.")) from None
        opened = _opened(host, port)
        taken = int(opened.getsockname()[1])
        self._map: dict[int, Any] = {}
        self._stopping = False
        self._server: Any = create_server(
            WebApplication(answer, access, host=host, port=taken),
            map=self._map,
            sockets=[opened],
            threads=THREADS,
            connection_limit=CONNECTIONS,
            channel_timeout=QUIET,
            max_request_body_size=REFUSED_BYTES,
            ident=None,
        )
        named = f"[{host}]" if ":" in host else host
        self.address = f"http://{named}:{taken}/{access.token}/" if access.token else f"http://{named}:{taken}/"

    def run(self) -> None:
        """Answer until `stop` is called, in another thread, or Ctrl+C is pressed."""
        try:
            while not self._stopping:
                self._server.asyncore.loop(timeout=1, map=self._map, use_poll=True, count=1)
        except KeyboardInterrupt:
            log.info("the server was stopped")
        finally:
            self._server.task_dispatcher.shutdown()
            self._server.asyncore.close_all(self._map)

    def stop(self) -> None:
        self._stopping = True
        self._server.pull_trigger()


def _opened(host: str, port: int) -> socket.socket:
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, backlog=CONNECTIONS)
    except (OSError, OverflowError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else error
        text = tr(
            "{host}:{port} cannot be served ({reason}). Choose another --port or --host.",
            host=host,
            port=port,
            reason=reason,
        )
        raise UserError(text) from error
