from __future__ import annotations

import threading

import pytest

from curator.storage.db.turns import Turns


def queue_up(turns, names, order):
    """Threads that wait in the order of `names`; each appends its name in its turn."""
    threads = []
    for n, name in enumerate(names, start=1):

        def work(name=name):
            with turns.turn():
                order.append(name)

        thread = threading.Thread(target=work)
        thread.start()
        while turns.waiting < n:
            thread.join(0.001)
        threads.append(thread)
    return threads


def test_turns_come_in_the_order_of_asking_and_before_the_holder_again():
    turns, order = Turns(), []
    with turns.turn():
        threads = queue_up(turns, "abcd", order)
    with turns.turn():
        order.append("again")
    for thread in threads:
        thread.join()
    assert order == [*"abcd", "again"]


def test_giving_way_lets_those_who_wait_go_first():
    turns, order = Turns(), []
    with turns.turn():
        turns.give_way()
        threads = queue_up(turns, "ab", order)
        assert turns.contended
        turns.give_way()
        order.append("back")
        assert not turns.contended
    for thread in threads:
        thread.join()
    assert order == ["a", "b", "back"]


def test_the_lock_is_free_after_an_error_and_not_reentrant():
    turns = Turns()
    with pytest.raises(KeyError), turns.turn():
        raise KeyError
    with turns.turn(), pytest.raises(RuntimeError), turns.turn():
        pass


def test_ctrl_c_while_giving_way_takes_nobodys_turn(monkeypatch):
    turns, inside, go_on = Turns(), threading.Event(), threading.Event()

    def work():
        with turns.turn():
            inside.set()
            go_on.wait()

    def interrupted(_):
        inside.wait()
        raise KeyboardInterrupt

    other = threading.Thread(target=work)
    with pytest.raises(KeyboardInterrupt), turns.turn():  # noqa: PT012 the other thread has to wait meanwhile
        other.start()
        while not turns.contended:
            other.join(0.001)
        monkeypatch.setattr(turns, "_wait", interrupted)
        turns.give_way()
    monkeypatch.undo()
    assert not turns.contended
    with turns.turn_if_free() as free:
        assert not free, "the other's turn goes on"
    go_on.set()
    other.join()
    with turns.turn():
        pass
