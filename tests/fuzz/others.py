"""Targets that read no documents and no knowledge bases: files of rounds, and the wire between processes."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from tempfile import mkdtemp

from curator.domain.rounds import RoundKind
from curator.domain.wording import UserError
from curator.jobs.wire import EVENTS, REQUESTS, WireError, received
from tests.curator.services.fakes import World, make_world

DOCUMENTS = 2


class Rounds:
    """Reads the files of rounds into a small project, new for each, and writes what came in."""

    def __init__(self) -> None:
        self._world: World | None = None

    def place(self, data: bytes, folder: Path) -> Path:
        if self._world is None:
            home = Path(mkdtemp(prefix="world-", dir=folder.parent))
            self._world = make_world(home, kb=True, documents=DOCUMENTS)
        path = folder / "input"
        path.write_bytes(data)
        return path

    def read(self, path: Path) -> None:
        world, self._world = self._world, None
        assert world is not None
        try:
            before = [one.id for one in world.project.rounds.all()]
            found = world.project.round_files.read(path)
            assert found.text
            made = next(one for one in world.project.rounds.all() if one.name == found.name)
            assert before in ([], [made.id])
            world.project.round_files.export(made.name, path.parent / "again.jsonl")
            world.project.rounds.people()
            if made.kind is RoundKind.BLIND:
                with suppress(UserError):  # of one curator there is no agreement
                    world.project.agreement.report(made.name, resamples=2)
            again = world.project.round_files.read(path.parent / "again.jsonl")
            assert (again.judgements, again.attributes) == (0, 0), "a round that was written is another one"
        finally:
            world.project.close()


def read_wire(path: Path) -> None:
    """The bytes as requests, and as events. Raises WireError."""
    refused: list[WireError] = []
    for schema in (REQUESTS, EVENTS):
        try:
            with path.open("rb") as stream:
                for message in received(stream, schema):
                    repr(message)
        except WireError as error:
            refused.append(error)
    if refused:
        raise refused[0]
