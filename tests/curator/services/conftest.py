"""A small project for the services' tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.curator.services.fakes import World, make_world


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """An empty project whose linker was not started; nothing was measured on this machine yet."""
    monkeypatch.setenv("CURATOR_CACHE", str(tmp_path / "cache"))
    made = make_world(tmp_path)
    yield made
    made.project.close()


@pytest.fixture
def filled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """With a knowledge base and two documents without decisions."""
    monkeypatch.setenv("CURATOR_CACHE", str(tmp_path / "cache"))
    made = make_world(tmp_path, kb=True, documents=2)
    yield made
    made.project.close()
