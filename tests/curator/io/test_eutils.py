"""E-utilities: what is sent, what is understood, and what may be asked again."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from email.utils import formatdate

import pytest

from curator.domain.wording import UserError
from curator.io.eutils import Eutils
from curator.services.ports.pubmed import NotNowError
from tests.fake_pubmed import FakePubMed, Reply, serving


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakePubMed]:
    monkeypatch.setenv("no_proxy", "*")
    with serving(5) as found:
        yield found


def test_a_search_and_the_records_that_exist(fake: FakePubMed) -> None:
    eutils = Eutils(fake.address)
    found = eutils.search("beta catenin", most=3)
    assert (found.count, found.pmids) == (5, ("1", "2", "3"))
    records = eutils.records(["1", "99", "4"])
    assert records.pmids == ("1", "4")
    assert "Title of 4, β-<i>catenin</i> 😀." in records.xml.decode()
    assert eutils.records(["98", "99"]).pmids == ()


def test_the_key_goes_in_the_body_alone(fake: FakePubMed, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    eutils = Eutils(fake.address, key=lambda: "s3cret")
    fake.first = [Reply(400, '{"error":"API key invalid"}')]
    with pytest.raises(UserError, match="API key invalid") as error:
        eutils.search("x", most=1)
    eutils.records(["1"])
    assert all(fields["api_key"] == "s3cret" and fields["tool"] == "curator" for _, fields in fake.asked)
    assert "s3cret" not in "".join([*fake.lines, str(error.value), caplog.text])
    assert (eutils.pause, Eutils(fake.address).pause) == (pytest.approx(0.1), pytest.approx(1 / 3))
    Eutils(fake.address).records(["1"])
    assert "api_key" not in fake.asked[-1][1]


@pytest.mark.parametrize(
    ("reply", "why", "seconds"),
    [
        (Reply(429, '{"error":"API rate limit exceeded","count":"4"}', {"Retry-After": "7"}), "rate limit", 7.0),
        (Reply(503, "busy"), "HTTP 503", None),
        (Reply(200, "<html><b>Service unavailable"), "incomplete XML", None),
        (Reply(200, "<eFetchResult><ERROR>Cannot fetch</ERROR></eFetchResult>"), "Cannot fetch", None),
        (Reply(200, "<PubmedArticleSet><PubmedArticle>"), "incomplete XML", None),
        (Reply(200, "", {"Content-Length": "900"}), "incomplete reply", None),
    ],
    ids=["rate", "busy", "html", "error", "cut", "incomplete reply"],
)
def test_what_may_be_asked_again(fake: FakePubMed, reply: Reply, why: str, seconds: float | None) -> None:
    fake.first = [reply]
    with pytest.raises(NotNowError, match=why) as error:
        Eutils(fake.address).records(["1"])
    assert error.value.seconds == seconds


def test_a_date_to_come_back_at(fake: FakePubMed) -> None:
    fake.first = [Reply(503, "", {"Retry-After": formatdate(time.time() + 100, usegmt=True)})]
    with pytest.raises(NotNowError) as error:
        Eutils(fake.address).search("x", most=1)
    assert error.value.seconds == pytest.approx(100, abs=30)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(200, '{"esearchresult":{"ERROR":"Invalid query."}}'), "cannot search for this: Invalid query"),
        (Reply(302, "", {"Location": "http://127.0.0.1:1/else"}), "rejected the request"),
        (Reply(414, ""), "rejected the request"),
    ],
)
def test_what_is_refused(fake: FakePubMed, reply: Reply, why: str) -> None:
    fake.first = [reply]
    with pytest.raises(UserError, match=why):
        Eutils(fake.address).search("x", most=1)
    assert len(fake.asked) == 1, "a redirection leads nowhere"


def test_entities_of_a_reply_are_refused(fake: FakePubMed) -> None:
    fake.first = [Reply(body='<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]><PubmedArticleSet/>')]
    with pytest.raises(UserError, match="declares XML entities"):
        Eutils(fake.address).records(["1"])


def test_nobody_answers(fake: FakePubMed) -> None:
    with pytest.raises(NotNowError):
        Eutils("http://127.0.0.1:9/").search("x", most=1)
