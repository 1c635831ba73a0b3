"""A curator goes on while the server is away: nothing is lost or taken twice, and collisions are shown to both."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from curator.bootstrap import open_project, roles
from curator.domain.decisions import Change, Outcome, SkipReason, Verdict
from curator.domain.documents import DocumentState
from curator.domain.wording import AwayError, UnableError, UserError
from curator.project import Project
from curator.services.ports.address import SharedAddress
from curator.services.ports.storage import Role
from curator.storage.team import board, postgres
from curator.storage.team.absence import Absence
from curator.storage.team.reserve import Reserve
from curator.storage.team.store import SharedStore
from tests.curator.services.queue.cut_off import LOGIN, OF_ADA, Way, away, copied, make, until
from tests.postgres import Server

WAIT = 20
FULL = (
    "CREATE FUNCTION curator.full() RETURNS trigger LANGUAGE plpgsql AS"
    " $$ BEGIN RAISE 'No space left on device' USING ERRCODE = 'disk_full'; END $$",
    "CREATE TRIGGER full_disk BEFORE INSERT ON curator.operations FOR EACH ROW EXECUTE FUNCTION curator.full()",
)
ROOM = "DROP FUNCTION curator.full CASCADE"


@pytest.fixture(scope="module")
def way(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    """A curator's way to a project with eleven mentions, which can be cut."""
    folder, base = tmp_path_factory.mktemp("away"), server.new_base()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CURATOR_SHARED_DIR", str(folder / "shared"))
        patch.setattr(board, "AGAIN", 0.05)
        make(server, base, folder, 11)
        yield Way(server, base, folder / "way")
    server.drop(base)


def opened(way: Way) -> tuple[Project, list[int]]:
    """Ada's client with her document on this computer, and the mentions that she has not decided."""
    ada = open_project(way.address, linker=False, curator="ada")
    ada.team.start()
    views = ada.queue.open(1).mentions
    until(lambda: copied(ada, 1), WAIT)
    return ada, [view.mention.id for view in views if view.decision is None]


def test_decisions_without_the_server_arrive_once_in_order_and_collisions_are_shown(server: Server, tmp_path: Path):
    figures = away(server, tmp_path, 12)
    assert list(figures.values())[:8] == [12, 0, 12, 12, 12, 1, 2, 2]


def test_a_restored_backup_is_said_and_read_and_its_new_steps_are_news(server: Server, way: Way):
    ada, mentions = opened(way)
    store = ada.curation._store
    said = list[str]()
    ada.events.subscribe(lambda change: said.append(change.text))
    with store.read() as unit:
        before = len(unit.decisions.history(mentions[-1]))
    bob = open_project(SharedAddress.parse(server.address(way.address.base)), linker=False, curator="bob")
    for who in (ada, bob):
        who.curation.decide(mentions[-1], Verdict(Outcome.CLEARED))
    until(lambda: store.team._seen == store.last_written + 1, WAIT)
    way.cut()
    until(lambda: bool(ada.disk.saving.away), WAIT)
    last = f"WHERE operation_id >= {store.last_written}"
    server.sql(
        "SET session_replication_role = replica;"
        f"UPDATE curator.mentions SET outcome = NULL, decision_id = NULL WHERE id = {mentions[-1]};"
        f"DELETE FROM curator.decisions {last}; DELETE FROM curator.operations WHERE id >= {store.last_written}",
        base=way.address.base,
    )
    way.open()
    until(lambda: any("restored to an earlier state" in one for one in said), WAIT)
    with store.read() as unit:
        assert len(unit.decisions.history(mentions[-1])) == before
    bob.close()
    bob = open_project(SharedAddress.parse(server.address(way.address.base)), linker=False, curator="bob")
    step = bob.curation.decide(mentions[-1], Verdict(Outcome.CLEARED))  # with the number of a lost step of ada's
    until(lambda: step.text in said, WAIT)
    bob.close()
    ada.close()


def test_what_was_kept_is_sent_at_the_next_start_and_a_done_document_too(server: Server, way: Way):
    ada, mentions = opened(way)
    ada.curation.decide(mentions[0], Verdict.nil())  # the copy lacks it
    way.cut()
    until(lambda: bool(ada.disk.saving.away), WAIT)
    with pytest.raises(AwayError, match="this step needs it"):
        ada.curation.undo()
    ada.curation.decide(mentions[1], Verdict.nil())
    with closing(
        open_project(SharedAddress.parse(server.address(way.address.base)), linker=False, curator="bob")
    ) as bob:
        bob.curation.decide(mentions[1], Verdict.skip(SkipReason.UNSURE))
    ada.curation.finish(1)
    seen = ada.queue.open(1)
    assert [seen.view(one).decision is not None for one in mentions[:3]] == [True, True, False]
    assert (seen.document.state, ada.disk.saving.kept) == (DocumentState.DONE, 2)
    ada.close()
    way.open()
    ada = open_project(way.address, linker=False, curator="ada")
    at_start: list[int] = []
    ada.disk.on_saving(lambda saving: at_start.append(saving.kept))
    ada.team.start()
    assert at_start[0] == 2
    until(lambda: ada.disk.saving.kept == 0, WAIT)
    assert ada.queue.open(1).document.state is DocumentState.DONE
    assert [one for (one,) in server.sql(OF_ADA, base=way.address.base)] == mentions[:2]
    [(found, now)] = ada.team.collided()  # bob's decision came while nobody listened
    assert (found.theirs.curator, found.current, now.curator, now.mention_id) == ("bob", found.mine, "ada", mentions[1])
    ada.curation.resume(1)
    ada.close()


def test_a_step_whose_answer_was_lost_is_not_taken_twice(server: Server, way: Way, monkeypatch):
    ada, mentions = opened(way)
    before = server.sql(OF_ADA, base=way.address.base)
    commit = SharedStore._commit

    def lose_the_answer(store, conn):
        monkeypatch.setattr(SharedStore, "_commit", commit)
        commit(store, conn)
        raise AwayError("lost")

    monkeypatch.setattr(SharedStore, "_commit", lose_the_answer)
    change = ada.curation.decide(mentions[0], Verdict.nil())
    assert change.operation_id == 0
    until(lambda: not ada.disk.saving.away and not ada.disk.saving.kept, WAIT)
    assert server.sql(OF_ADA, base=way.address.base) == [*before, (mentions[0],)]
    ada.close()


def test_a_document_is_not_read_without_a_step_that_is_only_in_the_journal(server: Server, way: Way, monkeypatch):
    monkeypatch.setattr(Reserve, "_copy_due", lambda *_, **__: None)  # the server went away too early for copies
    ada = open_project(way.address, linker=False, curator="ada")
    ada.team.start()
    mention = ada.queue.open(1).mentions[0].mention.id
    before = server.sql(OF_ADA, base=way.address.base)
    commit, send = SharedStore._commit, Absence.send

    def fail(*_: object) -> list[Change]:
        raise AwayError("away")

    monkeypatch.setattr(SharedStore, "_commit", fail)
    monkeypatch.setattr(Absence, "send", fail)
    assert ada.curation.decide(mention, Verdict.nil()).operation_id == 0
    monkeypatch.setattr(SharedStore, "_commit", commit)  # the server is back, and the step is not sent yet
    with pytest.raises(AwayError, match="not copied to this computer"):
        ada.queue.open(1)
    monkeypatch.setattr(Absence, "send", send)
    until(lambda: not ada.disk.saving.away and not ada.disk.saving.kept, WAIT)
    assert ada.queue.open(1).view(mention).decision is not None
    assert server.sql(OF_ADA, base=way.address.base) == [*before, (mention,)]
    ada.close()


def test_a_server_that_stands_still_is_away_and_a_decision_in_it_arrives_once(server: Server, way: Way, monkeypatch):
    monkeypatch.setattr(board, "BEAT", 0.2)
    ada, mentions = opened(way)
    before = server.sql(OF_ADA, base=way.address.base)
    store = ada.curation._store
    assert isinstance(store, SharedStore)
    store.team.wake()  # while nothing is wrong
    with server.suspended():
        assert ada.curation.decide(mentions[0], Verdict.nil()).operation_id == 0
        assert ada.queue.open(1).view(mentions[0]).decision is not None
    until(lambda: not ada.disk.saving.away and not ada.disk.saving.kept, WAIT)
    assert server.sql(OF_ADA, base=way.address.base) == [*before, (mentions[0],)]
    ada.close()


def test_decisions_do_not_wait_for_somebody_who_keeps_the_writers_turn(server: Server, way: Way, monkeypatch):
    monkeypatch.setattr(postgres, "SOON", "200ms")
    ada, mentions = opened(way)
    before = server.sql(OF_ADA, base=way.address.base)
    with psycopg.connect(server.address(way.address.base)) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (postgres.TURN,))
        assert ada.curation.decide(mentions[0], Verdict.nil()).operation_id == 0
        assert "Others have been writing" in ada.disk.saving.away
    until(lambda: not ada.disk.saving.away and not ada.disk.saving.kept, WAIT)
    assert server.sql(OF_ADA, base=way.address.base) == [*before, (mentions[0],)]
    ada.close()


def test_decisions_wait_on_this_computer_while_the_disk_of_the_server_is_full(server: Server, way: Way, monkeypatch):
    ada, mentions = opened(way)
    before, tried = server.sql(OF_ADA, base=way.address.base), threading.Event()
    send = Absence._send
    server.sql(*FULL, base=way.address.base)
    assert ada.curation.decide(mentions[0], Verdict.nil()).operation_id == 0
    assert "The disk of the server" in ada.disk.saving.away
    with pytest.raises(AwayError, match="cannot save anything"):
        ada.curation.undo()

    def try_again(absence, step, changes):
        with pytest.raises(UnableError) as failed:
            send(absence, step, changes)
        tried.set()
        raise failed.value

    monkeypatch.setattr(Absence, "_send", try_again)
    assert tried.wait(WAIT)
    monkeypatch.undo()
    assert (ada.disk.saving.kept, ada.disk.saving.why) == (1, "")
    server.sql(ROOM, base=way.address.base)
    until(lambda: not ada.disk.saving.away and not ada.disk.saving.kept, WAIT)
    assert server.sql(OF_ADA, base=way.address.base) == [*before, (mentions[0],)]
    ada.close()


def test_what_was_kept_waits_until_the_login_has_its_role_again(server: Server, way: Way):
    ada, mentions = opened(way)
    before, owner = server.sql(OF_ADA, base=way.address.base), SharedAddress.parse(server.address(way.address.base))
    way.cut()
    until(lambda: bool(ada.disk.saving.away), WAIT)
    ada.curation.decide(mentions[0], Verdict.nil())
    roles(owner).grant(LOGIN, Role.READER, name="ada")
    way.open()
    until(lambda: "Your login may only read" in ada.disk.saving.away, WAIT)
    roles(owner).revoke(LOGIN)
    until(lambda: "your login has lost its role" in ada.disk.saving.away, WAIT)
    assert (ada.disk.saving.kept, server.sql(OF_ADA, base=way.address.base)) == (1, before)
    roles(owner).grant(LOGIN, Role.CURATOR, name="ada")
    until(lambda: not ada.disk.saving.away and not ada.disk.saving.kept, WAIT)
    assert server.sql(OF_ADA, base=way.address.base) == [*before, (mentions[0],)]
    ada.close()


def test_a_step_that_is_not_possible_any_more_is_said(server: Server, way: Way):
    ada, mentions = opened(way)
    bob = open_project(SharedAddress.parse(server.address(way.address.base)), linker=False, curator="bob")
    way.cut()
    until(lambda: bool(ada.disk.saving.away), WAIT)
    for one in mentions[-2:]:
        ada.curation.decide(one, Verdict.nil())
    bob.curation.delete_mention(mentions[-2])
    said = threading.Event()
    ada.disk.on_saving(lambda saving: said.set() if "not possible any more" in saving.why else None)
    way.open()
    assert said.wait(WAIT)
    until(lambda: not ada.disk.saving.kept, WAIT)
    assert bob.curation.current(mentions[-2:]).keys() == {mentions[-1]}
    ada.close()
    bob.close()


def test_a_project_that_was_upgraded_meanwhile_is_not_written(server: Server, way: Way):
    ada, mentions = opened(way)
    before = server.sql(OF_ADA, base=way.address.base)
    way.cut()
    until(lambda: bool(ada.disk.saving.away), WAIT)
    ada.curation.decide(mentions[-1], Verdict.nil())
    server.sql("UPDATE curator.schema_version SET version = version + 1", base=way.address.base)
    way.open()
    store = ada.curation._store
    until(lambda: "newer version of this program" in store.absence.sentence, WAIT)
    assert (ada.disk.saving.kept, server.sql(OF_ADA, base=way.address.base)) == (1, before)
    server.sql("UPDATE curator.schema_version SET version = version - 1", base=way.address.base)
    until(lambda: not ada.disk.saving.kept, WAIT)
    ada.close()


def test_single_commands_get_the_error(way: Way):
    project = open_project(way.address, linker=False, curator="ada")
    way.cut()
    with pytest.raises(UserError, match=r"answers at|was lost"):
        project.curation.decide(1, Verdict(Outcome.CLEARED))
    way.open()
    project.close()


def test_steps_that_the_copies_contain_are_forgotten(way: Way):
    ada, mentions = opened(way)
    reserve = ada.curation._store.absence.reserve
    until(lambda: 1 in reserve._held, WAIT)
    for one in mentions:
        ada.curation.decide(one, Verdict.nil())
    reserve.opened(10**6)  # a later one: those before it are not among the next
    reserve._copy_due(again=True)
    assert reserve._recent == []
    ada.close()


def test_no_step_is_noted_before_anything_is_copied(way: Way):
    ada = open_project(way.address, linker=False, curator="ada")
    ada.team.start()
    ada.curation.decide(1, Verdict.nil())
    assert ada.curation._store.absence.reserve._recent == []
    ada.close()
