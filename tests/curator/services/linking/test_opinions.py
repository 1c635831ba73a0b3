"""Second opinions: what is asked, what is stored, what is counted, and that nonsense leaves nothing behind."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from curator.bootstrap import join
from curator.domain.decisions import Change, ChangeKind, NilReason, Verdict
from curator.domain.documents import DocumentState
from curator.domain.facets import NO, NONE, YES, Facet, Facets
from curator.domain.suggestions import Candidate, NilEstimate, OpinionUse, Suggestion
from curator.domain.wording import CancelledError, UserError
from curator.services.linking.opinions import OpinionOptions, OpinionService
from curator.services.ports.opinions import NoAnswerError, Stopper
from curator.services.ports.queue import QueueFilter
from curator.settings.schema import Settings
from tests.curator.services.fakes import FakeJobs, FakeLinker, World, finish, make_store
from tests.fake_model import FakeModel, Reply, says, serving

LIDOCAINE, ARREST, ARRHYTHMIA, BLORBITIS = 1, 2, 3, 4


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    with serving() as found:
        yield found


@pytest.fixture
def world(tmp_path: Path, fake: FakeModel, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Two linked documents, and a model that is asked on request."""
    options = OpinionOptions(OpinionUse.REQUEST, fake.address, "m", seconds=10.0)
    monkeypatch.setattr("curator.project.opinion_options", lambda: options)
    store, linker, jobs = make_store(tmp_path, kb=True, documents=2, linked=True), FakeLinker(), FakeJobs()
    project = join(store, Settings(), curator="ada", linker=False, linker_port=linker, job_port=jobs)
    yield World(project, store, linker, jobs, tmp_path)
    project.close()


@pytest.fixture
def service(world: World) -> OpinionService:
    return world.project.opinions


def stored(world: World) -> int:
    with world.store.read() as unit:
        return len(unit.suggestions.opinions(range(1, 20)))


def test_an_opinion_is_stored_with_model_prompt_and_time_and_told(
    world: World, service: OpinionService, fake: FakeModel
) -> None:
    told: list[Change] = []
    world.project.events.subscribe(told.append)
    found = service.ask(ARREST, Stopper())
    assert (found.mention_id, found.model, found.reason) == (ARREST, "m", "it fits")
    assert found.entity_id == "MESH:D001145", "Arrhythmia, the first by the alphabet"
    assert found.prompt == service.prompt(ARREST).key("m")
    assert service.known(ARREST) == found
    assert [(one.kind, one.document_ids, one.mention_ids) for one in told] == [(ChangeKind.OPINIONS, (1,), (ARREST,))]
    assert fake.prompts == [service.prompt(ARREST).text]
    assert world.project.queue.open(1).mentions[1].decision is None, "never a decision"
    assert not world.project.curation.can_undo()


def test_the_same_prompt_is_not_sent_twice_and_another_one_is(service: OpinionService, fake: FakeModel) -> None:
    first = service.ask(ARREST, Stopper())
    assert service.ask(ARREST, Stopper()) == first
    assert len(fake.asked) == 1
    service.set_template("{mention}? {context} {candidates}")
    fake.replies = [says("0")]
    second = service.ask(ARREST, Stopper())
    assert (second.entity_id, second.prompt == first.prompt, len(fake.asked)) == (None, False, 2)
    service.ask(ARREST, Stopper(), options=replace(service.options, model="n"))
    assert [one["model"] for one in fake.asked] == ["m", "m", "n"]


@pytest.mark.parametrize(
    "reply", [says("7"), says("I think it is 1"), says('{"choice": '), Reply(500), Reply(200, "<html>"), says("")]
)
def test_nothing_of_nonsense_is_stored(world: World, service: OpinionService, fake: FakeModel, reply: Reply) -> None:
    fake.replies = [reply]
    with pytest.raises(NoAnswerError):
        service.ask(ARREST, Stopper())
    assert stored(world) == 0


def test_what_is_turned_off_or_incomplete_sends_nothing(service: OpinionService, fake: FakeModel) -> None:
    for change, why in (({"use": OpinionUse.OFF}, "turned off"), ({"address": ""}, "Enter"), ({"model": " "}, "Enter")):
        with pytest.raises(UserError, match=why):
            service.ask(ARREST, Stopper(), options=replace(service.options, **change))
    with pytest.raises(UserError, match="is not this computer"):
        service.ask(ARREST, Stopper(), options=replace(service.options, address="http://192.0.2.1/v1"))
    assert not fake.asked


def test_one_request_at_a_time_and_each_can_be_stopped(world: World, service: OpinionService, fake: FakeModel) -> None:
    fake.silent = True
    stoppers = [Stopper(), Stopper()]
    ended: list[type[BaseException]] = []

    def work(mention_id: int, stopper: Stopper) -> None:
        try:
            service.ask(mention_id, stopper)
        except CancelledError as error:
            ended.append(type(error))

    threads = [threading.Thread(target=work, args=(n, stopper)) for n, stopper in enumerate(stoppers, 1)]
    threads[0].start()
    assert fake.arrived.wait(10)
    threads[1].start()
    stoppers[1].stop()
    threads[1].join(10)
    assert len(fake.asked) == 1
    stoppers[0].stop()
    threads[0].join(10)
    assert ended == [CancelledError] * 2
    assert stored(world) == 0


def test_the_template_belongs_to_the_project_and_is_checked(service: OpinionService) -> None:
    usual = service.template()
    with pytest.raises(UserError, match="unknown placeholder"):
        service.set_template(usual + "{nothing}")
    assert service.template() == usual
    service.set_template("A {mention} {context} {candidates}")
    assert service.prompt(ARREST).text.startswith("A cardiac arrest Lidocaine and [[cardiac arrest]] Lidocaine slowed")
    service.set_template("")
    assert service.template() == usual


def test_doubt_is_a_low_probability_or_a_small_lead() -> None:
    options = OpinionOptions(below=0.6, margin=0.3)

    def doubts(*chances: float, nil: bool = False) -> bool:
        found = tuple(Candidate(str(n), "", (), "", 1.0, probability=one) for n, one in enumerate(chances))
        return options.doubts(Suggestion(1, found, NilEstimate(0.5, nil, True), None))  # type: ignore[arg-type]

    assert not doubts(0.7, 0.2)
    assert doubts(0.59, 0.1)
    assert doubts(0.62, 0.37)
    assert not doubts(0.3, 0.29, nil=True), "NIL is 0.7 sure, and who is second says nothing of it"
    assert doubts(0.5, nil=True)
    assert not doubts()
    assert not options.doubts(None)


def test_a_list_is_asked_in_turn_and_compared_with_the_linker_and_gold(
    world: World, service: OpinionService, fake: FakeModel
) -> None:
    curation = world.project.curation
    curation.decide(LIDOCAINE, Verdict.link("MESH:D008012"))
    curation.decide(ARREST, Verdict.link("MESH:D006323"))
    curation.decide(ARRHYTHMIA, Verdict.link("MESH:D001145"))
    curation.decide(BLORBITIS, Verdict.nil(NilReason.NOT_IN_KB))
    assert service.doubtful_gold(QueueFilter(), limit=9) == [], "the document is not done"
    curation.set_state(1, DocumentState.DONE)
    assert sorted(service.doubtful(QueueFilter(), limit=9)) == [5, 6, 7, 8]
    assert len(service.doubtful(QueueFilter(), limit=3)) == 3
    gold = service.doubtful_gold(QueueFilter(), limit=9)
    assert sorted(gold) == [1, 2, 3, 4]

    def answer(mention_id: int) -> str:
        wanted = {LIDOCAINE: "Lidocaine", ARREST: "Arrhythmia", ARRHYTHMIA: "Arrhythmia", BLORBITIS: "NIL"}[mention_id]
        return next(
            line.split(".")[0] for line in service.prompt(mention_id).text.splitlines() if f". {wanted}" in line
        )

    fake.replies = [says(answer(one)) for one in gold]
    report = finish(service.ask_many(gold))
    with world.store.read() as unit:
        firsts = {key: one.candidates[0].entity_id for key, one in unit.suggestions.get_many(gold).items()}
    linker = [firsts[one] == right for one, right in ((1, "MESH:D008012"), (2, "MESH:D006323"), (3, "MESH:D001145"))]
    assert (report.answered, report.gold, report.nil, report.model_right) == (4, 4, 1, 3)
    assert report.linker_right == sum(linker)
    assert report.only_linker == int(linker[1])
    assert report.agree == sum(
        firsts[n] == one for n, one in ((1, "MESH:D008012"), (2, "MESH:D001145"), (3, "MESH:D001145"))
    )
    assert "the model on 75.0 %" in report.text
    assert finish(service.ask_many(gold)) == report
    assert len(fake.asked) == 4, "what is known is not asked again"


def test_three_failures_in_a_row_end_a_list(world: World, service: OpinionService, fake: FakeModel) -> None:
    fake.replies = [says("1"), says("x"), says("1"), *[Reply(500)] * 3]
    ids = service.doubtful(QueueFilter(), limit=20)
    assert len(ids) == 8
    report = finish(service.ask_many(ids))
    assert (report.answered, report.asked, len(fake.asked)) == (2, 6, 6)
    assert sorted(report.silent.values()) == [1, 3]
    assert "HTTP 500" in report.stopped
    assert report.text.endswith("The others were not asked.")
    assert stored(world) == 2
    assert "no doubtful mention" in finish(service.ask_many([])).text


def test_closing_a_list_ends_the_request_under_way(world: World, service: OpinionService, fake: FakeModel) -> None:
    fake.silent = True
    steps = service.ask_many([1, 2])
    next(steps)
    assert fake.arrived.wait(10)
    steps.close()
    assert (len(fake.asked), stored(world)) == (1, 0)


def test_the_queue_is_filtered_by_who_agrees(world: World, service: OpinionService, fake: FakeModel) -> None:
    with world.store.read() as unit:
        first = unit.suggestions.get(ARREST).candidates[0].name  # type: ignore[union-attr]
    right = next(
        line.split(".")[0] for line in service.prompt(ARREST).text.splitlines() if line[2:].startswith(f" {first}")
    )

    def counts() -> dict[str, int]:
        return dict(world.project.facets.cube(QueueFilter()).counts(Facets())[Facet.OPINION])

    assert counts() == {NONE: 8}
    fake.replies = [says(right), says("0")]
    service.ask(ARREST, Stopper())
    service.ask(BLORBITIS, Stopper())
    assert counts() == {NONE: 6, YES: 1, NO: 1}
    where = QueueFilter(facets=Facets.of({Facet.OPINION: [NO]}))
    with world.store.read() as unit:
        assert unit.queue.mentions(where) == [BLORBITIS]
        assert unit.queue.matches(BLORBITIS, where)
        assert not unit.queue.matches(ARREST, where)
        assert [row.mention_id for row in unit.queue.undecided(where, limit=5)] == [BLORBITIS]
    assert world.project.facets.documents(where) == {1: 1}


def test_the_json_lines_of_an_export_carry_it_and_are_read_again(
    world: World, service: OpinionService, tmp_path: Path
) -> None:
    found = service.ask(ARREST, Stopper())
    out = tmp_path / "out.decisions.jsonl"
    world.project.exporting.export(out, "decisions")
    mentions = [one for line in out.read_text().splitlines() for one in json.loads(line)["mentions"]]
    assert [one["text"] for one in mentions if "opinion" in one] == ["cardiac arrest"]
    assert mentions[1]["opinion"] == {
        "entity": found.entity_id,
        "model": "m",
        "prompt": found.prompt,
        "at": found.at.isoformat(),
        "reason": "it fits",
    }
    finish(world.project.importing.documents([out]))
