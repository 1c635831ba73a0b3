"""An empty project for every test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from curator.storage import SqlStore, create_project
from tests.curator.storage.filler import Filler


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqlStore]:
    with create_project(tmp_path / "p.curation", name="P") as store:
        yield store


@pytest.fixture
def fill(store: SqlStore) -> Filler:
    return Filler(store)
