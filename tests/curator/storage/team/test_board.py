"""Claims that run out by the server's clock, and news that no lost connection loses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from curator.domain.decisions import OperationKind
from curator.domain.documents import DocumentState
from curator.domain.wording import UserError
from curator.services.ports.address import SharedAddress
from curator.storage.team import postgres
from curator.storage.team.project import open_shared_project
from curator.storage.team.store import SharedStore
from tests.curator.storage.filler import AT, Filler, document, mention
from tests.postgres import Server

WAIT = 20
CUT = f"SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND objid = {postgres.TURN}"
RUN_OUT = "UPDATE curator.claims SET until = now() - interval '1s' WHERE curator = 'bob'"


@pytest.fixture
def pair(shared: SharedAddress) -> Iterator[tuple[SharedStore, SharedStore, list[int]]]:
    """Two clients, and the ids of three documents."""
    with open_shared_project(shared) as one, open_shared_project(shared) as other:
        fill = Filler(one)
        fill.file(*(document(str(n), mentions=[mention(0, 2)]) for n in range(3)))
        yield one, other, [document_id for document_id, _ in fill.stored]


class Heard:
    """What a client was told; `wait` until that holds."""

    def __init__(self, store: SharedStore) -> None:
        self.operations: list[int] = []
        self._news = threading.Condition()
        store.team.follow(self._hear)

    def _hear(self, operations) -> None:
        with self._news:
            self.operations += operations
            self._news.notify_all()

    def wait(self, wanted: list[int]) -> bool:
        with self._news:
            return self._news.wait_for(lambda: self.operations == wanted, WAIT)


def step(store: SharedStore, actor: str, then: Callable[[], object] = bool) -> int:
    with store.write() as unit:
        number = unit.operations.append(OperationKind.DECIDE, actor=actor, at=AT, text="t", payload={})
        then()
        return number


def test_only_the_first_has_it_alone(pair):
    one, other, _ = pair
    assert (one.sole, other.sole) == (True, False)


def test_a_document_is_handed_out_to_one_curator_at_a_time(pair, server: Server):
    one, other, ids = pair
    taken = [store.team.next(who, seconds=600) for store, who in ((one, "ada"), (other, "bob"), (one, "ada"))]
    assert taken == [ids[0], ids[1], ids[0]]
    assert other.team.next("eve", seconds=600) == ids[2]
    assert one.team.next("dan", seconds=600) is None
    expire = f"UPDATE curator.claims SET until = now() - interval '1s' WHERE document_id = {ids[1]}"
    server.sql(expire, base=one.place.base)
    assert one.team.prolong(ids[1], "bob", seconds=60)  # nobody else got it meanwhile
    server.sql(expire, base=one.place.base)
    assert one.team.next("dan", seconds=600) == ids[1]
    assert not other.team.prolong(ids[1], "bob", seconds=60)


def test_a_document_that_is_done_is_handed_out_no_more(pair):
    one, _, ids = pair
    one.team.next("ada", seconds=600)
    with one.write() as unit:
        unit.documents.set_state(ids[0], DocumentState.DONE)
    assert one.team.next("ada", seconds=600) == ids[1]


def test_others_hear_of_steps_and_not_of_their_own(pair):
    one, other, _ = pair
    heard, also = Heard(one), Heard(other)
    steps = [step(one if n % 2 else other, "ada") for n in range(6)]
    assert heard.wait(steps[::2])
    assert also.wait(steps[1::2])


def test_what_was_read_before_is_read_again_after_news(pair):
    one, other, _ = pair
    before, heard = one.written, Heard(one)
    assert heard.wait([])
    with other.write() as unit:
        unit.meta.set("k", "v")
    step(other, "bob")
    assert heard.wait([1])
    assert one.written > before


def test_news_that_came_while_the_server_was_gone_are_read_afterwards(pair, server: Server):
    one, other, _ = pair
    heard = Heard(one)
    first = step(other, "bob")
    assert heard.wait([first])
    server.stop(mode="fast")  # or this server, which syncs nothing, would lose the step
    server.start()
    second = step(other, "bob")
    assert heard.wait([first, second])
    assert step(one, "ada") == second + 1


def test_a_step_that_was_not_saved_hides_no_step_of_others(pair, server: Server):
    one, other, _ = pair
    heard = Heard(one)
    assert heard.wait([])
    with pytest.raises(UserError, match=r"The connection to postgresql://.* was lost"):
        step(one, "ada", lambda: server.sql(CUT, base=one.place.base))
    number = step(other, "bob")  # which the lost step had
    assert heard.wait([number])


def test_a_listener_that_fails_is_told_again(pair):
    one, other, _ = pair
    told, done = [], threading.Event()

    def heard(operations) -> None:
        told.append(list(operations))
        if operations and len(told) < 3:
            raise ZeroDivisionError
        if operations:
            done.set()

    one.team.follow(heard)
    number = step(other, "bob")
    assert done.wait(WAIT)
    assert told[-1] == [number]


def test_each_curator_undoes_their_own_steps(pair):
    one, other, _ = pair
    mine, theirs = step(one, "ada"), step(other, "bob")
    with one.write() as unit:
        assert (unit.operations.next_undo("ada"), unit.operations.next_undo("bob")) == (mine, theirs)
        unit.operations.append(OperationKind.UNDO, actor="ada", at=AT, text="u", target=mine)
        assert (unit.operations.next_undo("ada"), unit.operations.next_redo("ada")) == (None, mine)
        assert (unit.operations.next_undo("bob"), unit.operations.next_redo("bob")) == (theirs, None)


def test_a_clock_that_is_far_off_may_read_only(shared, monkeypatch):
    monkeypatch.setattr(postgres, "AHEAD", -1)
    with pytest.raises(UserError, match=r"differ by \d+ minutes, so decisions would have wrong times"):
        open_shared_project(shared)
    open_shared_project(shared, read_only=True).close()
