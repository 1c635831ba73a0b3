"""Values read once stay valid until somebody writes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.services.core.context import CachedAnswer
from curator.services.ports.storage import Store, UnitOfWork
from curator.storage import project as storage


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with storage.create_project(tmp_path / "p.curation", name="p") as made:
        yield made


def test_an_answer_is_read_once_and_anew_after_a_write(store: Store) -> None:
    asked: list[str | None] = []

    def name(unit: UnitOfWork) -> str | None:
        asked.append(unit.meta.get("name of it"))
        return asked[-1]

    cached = CachedAnswer(store, name)
    assert cached.get() == cached.get()
    assert len(asked) == 1
    with store.write() as unit:
        unit.meta.set("name of it", "new")
    assert cached.get() == "new"
    assert cached.get() == "new"
    assert len(asked) == 2


def test_what_is_written_while_it_reads_is_read_the_next_time(store: Store) -> None:
    first = [True]

    def name(unit: UnitOfWork) -> str | None:
        found = unit.meta.get("name of it")
        if first:
            first.clear()
            with store.write() as writing:
                writing.meta.set("name of it", "meanwhile")
        return found

    cached = CachedAnswer(store, name)
    before = cached.get()
    assert before != "meanwhile"
    assert cached.get() == "meanwhile"


def _fail(store: Store) -> None:
    with store.write() as unit:
        unit.meta.set("name of it", "lost")
        raise KeyError


def test_a_unit_that_fails_changes_nothing(store: Store) -> None:
    before = store.written
    with pytest.raises(KeyError):
        _fail(store)
    assert store.written == before
