"""A project with decisions in steps, closed properly."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

import pytest

from curator.domain.decisions import OperationKind, Verdict
from curator.storage.project import create_project, open_project
from curator.storage.store import SqlStore
from tests.curator.storage.filler import AT, Filler, document, mention

Decide = Callable[[Iterable[int]], None]


def decide_in(store: SqlStore, ids: Iterable[int]) -> None:
    for one in ids:
        with store.write() as unit:
            step = unit.operations.append(OperationKind.DECIDE, actor="ada", at=AT, text="Linked")
            unit.decisions.append(
                [one], [Verdict.link("D1")], curator="ada", at=AT, operation_id=step, shown=[None], notes=["x" * 200]
            )


def make(folder: Path, *, decided: int = 40) -> Path:
    with create_project(folder, name="P") as store:
        fill = Filler(store)
        text = document().text
        mentions = [replace(mention(at, at + 2), text=text[at : at + 2]) for at in range(20)]
        fill.file(*(document(str(number), mentions=mentions) for number in range(3)))
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
