"""A project with decisions in steps, closed properly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from curator.domain.decisions import OperationKind, Verdict
from curator.storage import SqlStore, create_project, open_project
from tests.curator.storage.filler import AT, Filler, document, mention

Decide = Callable[[Iterable[int]], None]


def decide_in(store: SqlStore, ids: Iterable[int]) -> None:
    for one in ids:
        with store.write() as unit:
            step = unit.decisions.append_operation(OperationKind.DECIDE, actor="ada", at=AT, text="Linked")
            unit.decisions.append(
                [one], [Verdict.link("D1")], curator="ada", at=AT, operation_id=step, shown=[None], notes=["x" * 200]
            )


def make(folder: Path, *, decided: int = 40) -> Path:
    with create_project(folder, name="P") as store:
        fill = Filler(store)
        mentions = [mention(i % 20, i % 20 + 2) for i in range(60)]
        fill.file(*(document(str(n), mentions=mentions[n * 20 : n * 20 + 20]) for n in range(3)))
        ids = [one for _, some in fill.stored for one in some]
        decide_in(store, ids[:decided])
    return store.folder


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path / "p")


@pytest.fixture
def decide(folder: Path) -> Decide:
    def more(ids: Iterable[int]) -> None:
        with open_project(folder) as store:
            decide_in(store, ids)

    return more
