"""The server for other programs, over real connections: who may ask, and what it does with odd requests."""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from http import HTTPStatus
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from curator.domain.wording import LinkerUnavailableError, UserError
from curator.io.web_server import MOST_BYTES, WebAccess, WebServer
from curator.services.ports.web import WebAnswer, WebError, WebQuestion

TOKEN = "secret"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
SITE = "http://127.0.0.1:3333"


def repeated(question: WebQuestion) -> WebAnswer:
    """What was understood of the question."""
    fields = question.fields
    if "raise" in fields:
        raise {"web": WebError(HTTPStatus.BAD_REQUEST, "wrong"), "linker": LinkerUnavailableError("gone")}.get(
            fields["raise"], ZeroDivisionError()
        )
    if question.path == "page":
        return WebAnswer("<p>…</p>")
    return WebAnswer({"path": question.path, "fields": dict(fields), "address": question.address})


@contextmanager
def serving(access: WebAccess | None = None, answer: Callable[[WebQuestion], WebAnswer] = repeated) -> Iterator[str]:
    server = WebServer(answer, WebAccess(TOKEN) if access is None else access, host="127.0.0.1", port=0)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server.address
    finally:
        server.stop()
        thread.join(10)
        assert not thread.is_alive()


@pytest.fixture
def address() -> Iterator[str]:
    with serving() as found:
        yield found


class Reply:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status, self.headers, self.body = status, headers, body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def ask(address: str, path: str = "", *, method: str = "GET", body: bytes | str | None = None, **headers: str) -> Reply:
    place = urlsplit(address)
    assert place.hostname is not None
    with closing(HTTPConnection(place.hostname, place.port, timeout=20)) as connection:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if body is not None:
            sent = {**FORM, **sent}
        connection.request(method, f"{place.path}{path}", body=body, headers=sent)
        found = connection.getresponse()
        return Reply(found.status, dict(found.getheaders()), found.read())


def test_a_question_reaches_the_service_below_the_token(address: str) -> None:
    found = ask(address, "suggest/type?prefix=a%20b&prefix=c")
    assert found.json == {"path": "suggest/type", "fields": {"prefix": "c"}, "address": address}
    form = ask(address, "?x=1", method="POST", body=urlencode({"queries": "{“é”}", "empty": ""}))
    assert form.json["fields"] == {"x": "1", "queries": "{“é”}", "empty": ""}
    page = ask(address, "page")
    assert (page.headers["Content-Type"], page.body.decode()) == ("text/html; charset=utf-8", "<p>…</p>")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert ask(address, method="HEAD").body == b""


def test_without_the_token_nobody_gets_anything(address: str) -> None:
    root = address.removesuffix(f"{TOKEN}/")
    for path in ("", "suggest/type", "secre/", "secret2/", f"x/{TOKEN}/"):
        found = ask(root, path)
        assert (found.status, found.json["status"]) == (HTTPStatus.UNAUTHORIZED, "error")
    assert ask(root, Authorization="Bearer wrong").status == HTTPStatus.UNAUTHORIZED
    assert ask(root, "x", Authorization=f"Bearer {TOKEN}").json["address"] == root


def test_pages_of_other_sites_get_nothing_unless_their_site_is_named(address: str) -> None:
    for origin in ("https://example.org", "null", SITE):
        found = ask(address, Origin=origin)
        assert found.status == HTTPStatus.FORBIDDEN
        assert "Access-Control-Allow-Origin" not in found.headers
    with serving(WebAccess(TOKEN, (SITE,))) as named:
        allowed = ask(named, Origin=SITE)
        assert (allowed.status, allowed.headers["Access-Control-Allow-Origin"]) == (HTTPStatus.OK, SITE)
        assert ask(named, method="OPTIONS", Origin=SITE).status == HTTPStatus.OK
        assert ask(named, Origin="https://example.org").status == HTTPStatus.FORBIDDEN


def test_another_name_for_this_computer_is_refused(address: str) -> None:
    """A site whose name leads to 127.0.0.1 is no way in."""
    port = urlsplit(address).port
    assert ask(address, Host=f"evil.example:{port}").status == HTTPStatus.MISDIRECTED_REQUEST
    assert ask(address, Host=f"localhost:{port}").status == HTTPStatus.OK


@pytest.mark.parametrize(
    ("raised", "status", "words"),
    [("web", 400, "wrong"), ("linker", 503, "gone"), ("other", 500, "bug in curator")],
)
def test_errors_are_sentences(
    address: str, raised: str, status: int, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    found = ask(address, f"?raise={raised}")
    assert found.status == status
    assert words in found.json["message"]
    assert ("ZeroDivisionError" in caplog.text) == (raised == "other")
    assert b"Traceback" not in found.body


def test_odd_requests_get_clear_answers(address: str) -> None:
    large = ask(address, method="POST", body=b"queries=" + b"x" * 10_000_000)
    assert large.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert f"at most {MOST_BYTES:,}" in large.json["message"]
    assert ask(address, method="DELETE").status == HTTPStatus.METHOD_NOT_ALLOWED
    assert ask(address, method="POST", body="{}", Content_Type="application/json").status == 415
    assert ask(address, method="POST", body=b"q=\xff").status == HTTPStatus.BAD_REQUEST
    assert ask(address, "?" + "&".join(f"f{n}=1" for n in range(200))).status == HTTPStatus.BAD_REQUEST


def test_two_hundred_programs_at_once_and_one_that_says_nothing(address: str) -> None:
    place = urlsplit(address)
    with socket.create_connection((place.hostname, place.port), timeout=20) as silent:
        silent.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Le")
        with ThreadPoolExecutor(200) as pool:
            replies = list(pool.map(lambda n: ask(address, f"?n={n}"), range(200)))
    assert {one.status for one in replies} == {HTTPStatus.OK}
    assert sorted(int(one.json["fields"]["n"]) for one in replies) == list(range(200))


def test_what_cannot_be_served_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(WebAccess("")) as address:
        assert ask(address, "x").json["path"] == "x"
        port = urlsplit(address).port
        assert port is not None
        with pytest.raises(UserError, match="Choose another --port"):
            WebServer(repeated, WebAccess(TOKEN), host="127.0.0.1", port=port)
    with pytest.raises(UserError, match="Without a token"):
        WebServer(repeated, WebAccess(""), host="0.0.0.0", port=0)
    with pytest.raises(UserError, match="cannot be served"):
        WebServer(repeated, WebAccess(TOKEN), host="192.0.2.1", port=0)
    monkeypatch.setitem(sys.modules, "waitress", None)
    with pytest.raises(UserError, match="pip install"):
        WebServer(repeated, WebAccess(TOKEN), host="127.0.0.1", port=0)


def test_ctrl_c_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    server = WebServer(repeated, WebAccess(TOKEN), host="127.0.0.1", port=0)

    def pressed(**_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(server._server.asyncore, "loop", pressed)
    server.run()
    with pytest.raises(OSError, match="refused"):
        ask(server.address)
