"""Fetching from PubMed: politely, resumably, and imported as any other file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from curator.bootstrap import Project, join
from curator.domain.documents import Split
from curator.domain.wording import UserError
from curator.io.eutils import Eutils
from curator.io.files.atomic import AtomicWriter
from curator.services.importing import fetching
from curator.services.importing.fetching import FetchClock, FetchService, FetchWish
from curator.services.ports.queue import QueueFilter
from curator.settings.schema import Settings
from curator.storage import project as storage
from tests.curator.services.fakes import FakeJobs, FakeLinker, context, finish
from tests.failing_reads import fail_reads
from tests.fake_pubmed import FakePubMed, Reply, serving


@dataclass
class Time:
    """A clock that advances when somebody sleeps."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@dataclass
class Fetching:
    service: FetchService
    fake: FakePubMed
    project: Project
    time: Time
    at: list[float]

    def fetch(self, wish: FetchWish) -> list[str]:
        """What the report says besides the counts."""
        return [one.problem.text for one in finish(self.service.pubmed(wish)).problems]

    def documents(self) -> list[str]:
        return [row.external_id for row in self.project.queue.rows(QueueFilter(), limit=1000)]


@pytest.fixture
def fetch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fetching]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setattr(fetching, "BATCH", 2)
    time = Time()
    with serving(5) as fake:
        at: list[float] = []
        fake.before = lambda: at.append(time.now)
        timer = FetchClock(lambda: time.now, time.sleep)
        store = storage.create_project(tmp_path / "p.curation", name="p")
        project = join(store, Settings(), curator="ada", linker=False, linker_port=FakeLinker(), job_port=FakeJobs())
        eutils = Eutils(fake.address)
        service = FetchService(context(store), project.importing, eutils, AtomicWriter(), timer=timer)
        yield Fetching(service, fake, project, time, at)
        project.close()


def test_pmids_become_documents_and_missing_ones_are_listed(fetch: Fetching) -> None:
    notes = fetch.fetch(FetchWish(("3", "77", "1", "5", "88"), split=Split.TEST))
    assert fetch.documents() == ["3", "1", "5"]
    assert "PubMed has no record of these 2 PMIDs: 77, 88." in notes
    assert fetch.project.queue.count(QueueFilter(split=Split.TEST)) == 3
    opened = fetch.project.queue.open(fetch.project.queue.ids(QueueFilter())[0])
    assert opened.document.text.startswith("Title of 3, β-catenin 😀.\nText 3.")
    assert fetch.service.unfinished() == []


def test_requests_keep_their_distance(fetch: Fetching) -> None:
    fetch.fetch(FetchWish(query="catenin"))
    assert [name for name, _ in fetch.fake.asked] == ["esearch.fcgi", *["efetch.fcgi"] * 3]
    apart = [later - sooner for sooner, later in zip(fetch.at, fetch.at[1:], strict=False)]
    assert min(apart) >= 1 / 3 - 1e-6


def test_a_query_takes_the_first_and_says_so(fetch: Fetching) -> None:
    notes = fetch.fetch(FetchWish(query=" catenin ", most=2))
    assert sorted(fetch.documents()) == ["1", "2"]
    assert notes[0] == "“catenin” matches 5 records; the first 2 were requested."
    assert finish(fetch.service.count("catenin")) == 5
    assert fetch.fake.asked[-1][1]["retmax"] == "0"


def test_a_stopped_fetch_goes_on_where_it_was(fetch: Fetching) -> None:
    wish = FetchWish(("1", "2", "3", "4", "5"))
    steps = fetch.service.pubmed(wish)
    while len(fetch.fake.fetched()) < 2:
        next(steps)
    next(steps)
    steps.close()
    assert fetch.documents() == []
    [stopped] = fetch.service.unfinished()
    assert (stopped.done, stopped.asked.given) == (4, wish.pmids)
    fetch.fetch(wish)
    assert fetch.fake.fetched() == [["1", "2"], ["3", "4"], ["5"]], "nothing is asked for twice"
    assert sorted(fetch.documents()) == ["1", "2", "3", "4", "5"]


@pytest.mark.parametrize("name", ["asked.json", "000000.pmids.json"])
def test_a_stored_list_that_the_disk_does_not_give_is_not_a_missing_one(
    fetch: Fetching, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A query would be sent again, and the fetched records could be removed as if there were none."""
    wish = FetchWish(("1", "2", "3"))
    steps = fetch.service.pubmed(wish)
    while not fetch.fake.fetched():
        next(steps)
    next(steps)
    steps.close()
    failed = fail_reads(monkeypatch, name)
    with pytest.raises(UserError, match="cannot be read"):
        fetch.fetch(wish)
    assert failed() == 1
    fetch.fetch(wish)
    assert fetch.fake.fetched() == [["1", "2"], ["3"]], "nothing is asked for twice"
    assert sorted(fetch.documents()) == ["1", "2", "3"]


def test_a_stopped_fetch_may_be_forgotten(fetch: Fetching) -> None:
    steps = fetch.service.pubmed(FetchWish(("1", "2", "3")))
    while not fetch.fake.fetched():
        next(steps)
    next(steps)
    steps.close()
    fetch.service.forget(fetch.service.unfinished()[0].asked)
    assert fetch.service.unfinished() == []


def test_what_the_project_has_is_not_asked_for(fetch: Fetching) -> None:
    fetch.fetch(FetchWish(("1", "2")))
    notes = fetch.fetch(FetchWish(("2", "3")))
    assert fetch.fake.fetched()[-1] == ["3"]
    assert notes[0] == "1 record is already in the project and was not fetched."
    asked = len(fetch.fake.asked)
    assert fetch.fetch(FetchWish(("1", "3"))) == ["2 records are already in the project and were not fetched."]
    assert len(fetch.fake.asked) == asked
    assert sorted(fetch.documents()) == ["1", "2", "3"]


def test_it_is_asked_again_after_a_growing_pause_or_as_told(fetch: Fetching) -> None:
    fetch.fake.first = [Reply(500, ""), Reply(429, "", {"Retry-After": "20"}), Reply(503, "")]
    fetch.fetch(FetchWish(("1",)))
    apart = [round(later - sooner) for sooner, later in zip(fetch.at, fetch.at[1:], strict=False)]
    assert apart == [1, 20, 4]
    assert max(fetch.time.slept) <= 0.2, "a cancel is felt at once"


def test_giving_up_keeps_what_is_there(fetch: Fetching) -> None:
    wish = FetchWish(("1", "2", "3"))
    steps = fetch.service.pubmed(wish)
    while not fetch.fake.fetched():
        next(steps)
    fetch.fake.first = [Reply(503, "")] * fetching.TRIES
    with pytest.raises(UserError, match="2 PMIDs were requested, and their records are kept"):
        finish(steps)
    fetch.fetch(wish)
    assert sorted(fetch.documents()) == ["1", "2", "3"]


def test_a_long_wait_is_told_and_not_waited_for(fetch: Fetching) -> None:
    fetch.fake.first = [Reply(429, "", {"Retry-After": "3600"})]
    before = fetch.time.now
    with pytest.raises(UserError, match="try again in 60 minutes"):
        fetch.fetch(FetchWish(("1",)))
    assert fetch.time.now - before < 1


@pytest.mark.parametrize(
    ("wish", "why"),
    [
        (FetchWish(), "Enter PMIDs or a query"),
        (FetchWish(("77", "88")), "no record of these 2 PMIDs: 77, 88"),
        (FetchWish(query="none"), "finds nothing for “none”"),
    ],
)
def test_nothing_to_fetch(fetch: Fetching, wish: FetchWish, why: str) -> None:
    if wish.query:
        fetch.fake.pmids = []
    with pytest.raises(UserError, match=why):
        fetch.fetch(wish)
    assert fetch.service.unfinished() == []
