"""A small project for the services' tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.curator.services.fakes import World, make_world


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """An empty project whose linker was not started."""
    made = make_world(tmp_path)
    yield made
    made.project.close()


@pytest.fixture
def filled(world: World) -> World:
    """With a knowledge base and two documents without decisions."""
    world.kb()
    world.documents(2)
    return world
