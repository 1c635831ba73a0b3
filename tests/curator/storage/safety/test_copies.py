"""A project that is copied file by file while it is open, as copying programs do: the copy opens with a state that the
project had, or a sentence says what is wrong with it."""

from __future__ import annotations

import itertools
import random
import shutil
from pathlib import Path

import pytest

from curator.domain.wording import UserError
from curator.storage.project import open_project
from curator.storage.safety.checking import check_steps
from curator.storage.store import SqlStore
from tests.curator.storage.safety.conftest import decide_in, make

FILES = ("project.sqlite", "project.sqlite-wal", "project.mark", "project.curator")


def rows(folder: Path) -> list[tuple[object, ...]]:
    """The decisions and what the mentions show of them. Raises UserError."""
    with open_project(folder) as store, store.read() as unit:
        query = "SELECT id, mention_id, operation_id, outcome, entity_ids, hash FROM decisions ORDER BY id"
        found = [tuple(row) for row in unit.connection.exec_driver_sql(query)]
        shown = unit.connection.exec_driver_sql("SELECT count(*) FROM mentions WHERE decision_id IS NOT NULL").scalar()
        linked = unit.connection.exec_driver_sql("SELECT sum(linked) FROM documents").scalar()
    assert (shown, linked) == (len(found), len(found)), "the state is between two steps"
    return found


def findings(folder: Path) -> int:
    steps = check_steps(folder)
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return len(end.value.findings)


def copied(store: SqlStore, target: Path, order: tuple[str, ...], ids: list[int], rng: random.Random) -> None:
    """Copy the files one by one, while decisions are made and the log is folded in between."""
    (target / "bundles").mkdir(parents=True)
    for name in order:
        if (store.folder / name).exists():
            shutil.copyfile(store.folder / name, target / name)
        for _ in range(rng.randrange(3)):
            decide_in(store, [ids.pop(0)])
        store.settle()
        if rng.random() < 0.5:
            store._syncer.fold()


def outcomes(place: Path, number: int, *, seed: int) -> tuple[list[int], int]:
    """How many decisions the copies lack against those made before the copy, and how many copies were refused."""
    rng = random.Random(seed)
    orders = list(itertools.permutations(FILES))
    lacking, refused = [], 0
    for n in range(number):
        folder = make(place / f"{n}", decided=20)
        target = place / f"copy{n}.curation"
        ids = list(range(21, 61))
        with open_project(folder) as store:
            decide_in(store, [ids.pop(0) for _ in range(rng.randrange(1, 6))])
            store.settle()
            before = 60 - len(ids)
            copied(store, target, rng.choice(orders), ids, rng)
        whole = rows(folder)
        try:
            found = rows(target)
        except UserError:
            refused += 1
            continue
        assert found == whole[: len(found)], f"{n}: other decisions"
        assert findings(target) == 0, f"{n}: opened silently, and the check finds damage"
        lacking.append(before - len(found))
    return lacking, refused


def test_a_copy_made_while_the_project_is_open_holds_a_state_that_it_had_or_is_refused(tmp_path: Path) -> None:
    lacking, refused = outcomes(tmp_path, 6, seed=1)
    assert max(lacking, default=0) <= 0
    assert len(lacking) + refused == 6


def test_a_copy_that_shares_its_files_is_not_changed(tmp_path: Path) -> None:
    folder, copy = make(tmp_path / "p", decided=20), tmp_path / "copy.curation"
    (copy / "bundles").mkdir(parents=True)
    for name in ("project.sqlite", "project.mark", "project.curator"):
        (copy / name).hardlink_to(folder / name)
    before = (folder / "project.sqlite").read_bytes()
    with open_project(copy) as store:
        decide_in(store, [21, 22])
    assert (folder / "project.sqlite").read_bytes() == before
    assert (len(rows(folder)), len(rows(copy))) == (20, 22)
    assert not list(copy.glob("*.part"))


@pytest.mark.soak
def test_many_copies_made_while_the_project_is_open(tmp_path: Path) -> None:
    lacking, refused = outcomes(tmp_path, 120, seed=2)
    assert max(lacking, default=0) <= 0
    assert lacking, "some copies are whole"
    assert len(lacking) + refused == 120
