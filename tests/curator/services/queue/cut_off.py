"""A curator of a shared project without the server, and with it again.

The way from ada's client to the server is cut: its connections are ended, and no other can be made. She decides; bob,
who has the server, decides two of the same mentions otherwise. Then the way is open again. `away` gives whether every
decision arrived once and in order, the collisions that each of the two is shown, and the times.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from curator.bootstrap import create_project, open_project, roles
from curator.domain.decisions import SkipReason, Verdict
from curator.project import Project
from curator.services.ports.address import SharedAddress
from curator.services.ports.storage import Role
from tests.postgres import Server

PATIENCE = 60
OF_ADA = "SELECT mention_id FROM curator.decisions WHERE curator = 'ada' ORDER BY id"
LOGIN = "traveller"
CUT = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{LOGIN}'"


class Way:
    """The way of a login to the server: a folder with a link to its socket."""

    def __init__(self, server: Server, base: str, folder: Path) -> None:
        self._server, self._base = server, base
        folder.mkdir()
        [self._socket] = [one for one in server.folder.glob(".s.PGSQL.*") if not one.name.endswith(".lock")]
        self._link = folder / self._socket.name
        self.address = SharedAddress.parse(f"postgresql://{LOGIN}@/{base}?host={folder}")
        self.open()

    def open(self) -> None:
        self._link.symlink_to(self._socket)

    def cut(self) -> None:
        self._link.unlink()
        self._server.sql(CUT, base=self._base)


def until(what: Callable[[], bool], seconds: float = PATIENCE) -> float:
    """Wait until `what` holds; returns the seconds that it took."""
    begun = time.perf_counter()
    while not what():
        if time.perf_counter() - begun > seconds:
            raise TimeoutError
        time.sleep(0.01)
    return time.perf_counter() - begun


def copied(project: Project, document_id: int) -> bool:
    """Whether the document is on this computer."""
    reserve = project.curation._store.absence.reserve  # type: ignore[attr-defined]
    return document_id in reserve._held


def away(server: Server, folder: Path, number: int) -> dict[str, float]:
    """The figures, for one document with this number of mentions."""
    os.environ["CURATOR_SHARED_DIR"] = str(folder / "bob")
    base = server.new_base()
    make(server, base, folder, number)
    way = Way(server, base, folder / "way")
    bob = open_project(SharedAddress.parse(server.address(base)), linker=False, curator="bob")
    os.environ["CURATOR_SHARED_DIR"] = str(folder / "ada")
    ada = open_project(way.address, linker=False, curator="ada")
    try:
        return _figures(server, base, way, ada, bob)
    finally:
        ada.close()
        bob.close()
        server.drop(base)


def make(server: Server, base: str, folder: Path, number: int) -> None:
    words = [f"wordling{n:04}" for n in range(number)]
    lines = [f"1|t|{' '.join(words)}", "1|a|Text."]
    lines += [f"1\t{n * 13}\t{n * 13 + 12}\t{one}\tDisease" for n, one in enumerate(words)]
    (folder / "d.pubtator").write_text("\n".join([*lines, "", ""]))
    project = create_project(SharedAddress.parse(server.address(base)), name="team", linker=False)
    for _ in project.importing.documents([folder / "d.pubtator"]):
        pass
    project.close()
    server.logins(LOGIN)
    roles(project.place).grant(LOGIN, Role.CURATOR, name="ada")


def _figures(server: Server, base: str, way: Way, ada: Project, bob: Project) -> dict[str, float]:
    ada.team.start()
    bob.team.start()
    mentions = [view.mention.id for view in ada.queue.open(1).mentions]
    until(lambda: copied(ada, 1))
    way.cut()
    noticed = until(lambda: bool(ada.disk.saving.away))
    times = []
    for one in mentions:
        begun = time.perf_counter()
        ada.curation.decide(one, Verdict.nil())
        times.append(time.perf_counter() - begun)
    kept = ada.disk.saving.kept
    seen = sum(view.decision is not None for view in ada.queue.open(1).mentions)
    for one in (mentions[3], mentions[-2]):
        bob.curation.decide(one, Verdict.skip(SkipReason.UNSURE))
    before = len(server.sql(OF_ADA, base=base))
    way.open()
    sent = until(lambda: not ada.disk.saving.away and not ada.disk.saving.kept)
    until(lambda: min(len(one.team.collisions) for one in (ada, bob)) >= 2)
    arrived = [one for (one,) in server.sql(OF_ADA, base=base)]
    return {
        "decisions without the server": len(mentions),
        "of them on the server meanwhile": before,
        "kept on this computer": kept,
        "of them seen in the document meanwhile": seen,
        "arrived": len(arrived),
        "arrived once and in order": int(arrived == mentions),
        "collisions shown to ada": len(ada.team.collisions),
        "collisions shown to bob": len(bob.team.collisions),
        "until the loss was noticed, s": noticed,
        "decision without the server, p95, s": sorted(times)[int(len(times) * 0.95)],
        "until all were sent, s": sent,
    }
