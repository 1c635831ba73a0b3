"""A language model behind an address: what is sent, what is understood, and every way in which there is no answer."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator

import pytest

from curator.domain.wording import CancelledError, UserError
from curator.io.local_model import LocalModel
from curator.services.ports.opinions import ModelServer, NoAnswerError, Stopper
from tests.fake_model import FakeModel, Reply, says, serving


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    with serving() as found:
        yield found


def ask(fake: FakeModel, *, seconds: float = 10.0, key: str = "") -> str:
    return LocalModel().answer(ModelServer(fake.address, "m", key, seconds), "Which one?", Stopper())


def test_the_prompt_goes_out_and_the_words_come_back(fake: FakeModel) -> None:
    assert ask(fake) == '{"choice": 1, "reason": "it fits"}'
    sent = fake.asked[0]
    assert (sent["model"], sent["messages"]) == ("m", [{"role": "user", "content": "Which one?"}])
    assert (sent["temperature"], sent["stream"]) == (0, False)
    assert "Authorization" not in fake.headers[0]


def test_the_models_of_the_server_are_listed(fake: FakeModel) -> None:
    found = LocalModel().models(ModelServer(fake.address.removesuffix("/v1") + "/"), Stopper())
    assert found == ["llama-3.1-8b", "Qwen2.5"]


def test_the_key_is_in_the_header_alone(fake: FakeModel, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    fake.replies = [Reply(401, '{"error": {"message": "bad key s3cret"}}')]
    with pytest.raises(NoAnswerError, match="requires an API key") as error:
        ask(fake, key="s3cret")
    assert fake.headers[0]["Authorization"] == "Bearer s3cret"
    assert "s3cret" not in f"{error.value}{fake.asked}{caplog.text}"
    with pytest.raises(UserError, match="The API key has characters"):
        ask(fake, key="schlüssel")
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(500, '{"error": {"message": "out of\\nmemory"}}'), r"reports an error \(HTTP 500\). out of memory"),
        (Reply(503, "<html>busy"), r"HTTP 503\).$"),
        (Reply(404, '{"error": "no such model"}'), "does not know the model or the address. no such model"),
        (Reply(302, "", {"Location": "http://example.org/"}), r"HTTP 302"),
        (Reply(200, "<html><b>Welcome"), "not a model's answer"),
        (Reply(200, '{"choices": [{"message": {"content": "1'), "not a model's answer"),
        (Reply(200, "[" * 100_000), "not a model's answer"),
        (Reply(200, "[1]"), "not a model's answer"),
        (Reply(200, '{"choices": []}'), "not a model's answer"),
        (Reply(200, '{"choices": [{"message": null}]}'), "not a model's answer"),
        (Reply(200, ""), "not a model's answer"),
        (Reply(200, "{}", {"Content-Length": "900"}), "incomplete"),
        (Reply(200, "x" * ((1 << 20) + 2)), "incomplete"),
        (says("  "), "answer is empty"),
        (says(None), "answer is empty"),
        (says("1, since", finish="length"), "was cut off"),
    ],
)
def test_what_is_no_answer_says_why(fake: FakeModel, reply: Reply, why: str) -> None:
    fake.replies = [reply]
    with pytest.raises(NoAnswerError, match=why):
        ask(fake)


def test_a_server_that_says_nothing_is_given_up(fake: FakeModel) -> None:
    fake.silent = True
    with pytest.raises(NoAnswerError, match=r"No answer from 127.0.0.1:\d+ within 0.2 seconds."):
        ask(fake, seconds=0.2)


def test_a_server_that_says_a_byte_at_a_time_is_given_up_as_soon() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        ended = threading.Event()

        def drip() -> None:
            connection, _ = server.accept()
            with connection:
                while not ended.wait(0.01):
                    try:
                        connection.sendall(b"x")
                    except OSError:
                        return

        thread = threading.Thread(target=drip)
        thread.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
        with pytest.raises(NoAnswerError, match=r"within 0\.2 seconds"):
            LocalModel().answer(ModelServer(address, "m", seconds=0.2), "?", Stopper())
        ended.set()
        thread.join()


def test_a_server_that_is_gone_is_said_so() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    with pytest.raises(NoAnswerError, match=f"There is no server at 127.0.0.1:{port}"):
        LocalModel().answer(ModelServer(f"http://127.0.0.1:{port}", "m"), "?", Stopper())


def test_a_request_is_stopped_from_another_thread(fake: FakeModel) -> None:
    fake.silent = True
    stopper, raised = Stopper(), []

    def work() -> None:
        try:
            LocalModel().answer(ModelServer(fake.address, "m", seconds=60), "?", stopper)
        except CancelledError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert fake.arrived.wait(10)
    stopper.stop()
    thread.join(10)
    assert not thread.is_alive()
    assert raised
    with pytest.raises(CancelledError):
        LocalModel().answer(ModelServer(fake.address, "m"), "?", stopper)
    assert len(fake.asked) == 1


@pytest.mark.parametrize(
    "address",
    ["http://192.0.2.7:8080/v1", "https://api.example.org/v1", "http://localhost.example.org/v1", "http://0.0.0.0/v1"],
)
def test_another_computer_is_refused_before_anything_is_sent(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "create_connection", lambda *_, **__: pytest.fail("connected"))
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: pytest.fail("looked up"))
    with pytest.raises(UserError, match="is not this computer"):
        LocalModel().answer(ModelServer(address, "m"), "?", Stopper())


def test_a_request_that_still_connects_is_stopped_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    connecting, answers, left = threading.Event(), threading.Event(), list[threading.Thread]()

    def connect(*_: object, **__: object) -> socket.socket:
        left.append(threading.current_thread())
        connecting.set()
        answers.wait(10)  # as a computer that is turned off
        raise TimeoutError

    monkeypatch.setattr(socket, "create_connection", connect)
    stopper, raised = Stopper(), []

    def work() -> None:
        try:
            LocalModel().answer(ModelServer("http://192.0.2.7/v1", "m", anywhere=True), "?", stopper)
        except CancelledError as error:
            raised.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    assert connecting.wait(10)
    stopper.stop()
    thread.join(10)
    assert raised
    assert left[0].is_alive()
    answers.set()
    left[0].join(10)


def test_a_localhost_that_leads_elsewhere_gets_nothing(fake: FakeModel, monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere(socket.socket):
        def getpeername(self):  # type: ignore[no-untyped-def]
            return ("192.0.2.7", 80)

    def connect(*_: object, **__: object) -> socket.socket:
        made = Elsewhere(socket.AF_INET, socket.SOCK_STREAM)
        made.connect(("127.0.0.1", int(fake.address.split(":")[2].split("/")[0])))
        return made

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(UserError, match="is not this computer"):
        LocalModel().answer(ModelServer("http://localhost:9/v1", "m"), "?", Stopper())
    assert not fake.asked
    allowed = ModelServer("http://localhost:9/v1", "m", anywhere=True)
    assert LocalModel().answer(allowed, "?", Stopper()).startswith('{"choice"')


@pytest.mark.parametrize(
    "address", ["", "localhost:8080", "ftp://localhost/", "http://", "http://a:b@localhost/", "http://[::"]
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(UserError, match="is not the address of a server"):
        LocalModel().models(ModelServer(address), Stopper())


def test_every_name_of_this_computer_is_one(fake: FakeModel) -> None:
    port = fake.address.split(":")[2]
    for host in ("localhost", "LOCALHOST", "127.0.0.1"):
        assert LocalModel().models(ModelServer(f"http://{host}:{port}"), Stopper())
