"""A day of a team: simulated curators decide in one shared project, while its server is killed now and then.

    python -m tests.endurance.team_day --curators 30 --minutes 20 --kills 20

Each curator is a process of its own with the program's services and a login with the role of a curator: it is handed a
document, decides each of its mentions in turn, one every two seconds, finishes it and asks for the next. It hears of
what the others do. The server syncs to the disk, and is killed with all its processes (SIGKILL) and started again.
Meanwhile, decisions are kept on the curator's computer. Printed: decisions that were called saved, there or here, and
are not there at the end, or twice; documents that two curators were handed; how long a decision took; how long until
others heard of it (from the moment when it was saved on the server; of kept ones only whether they did); and how long
after the server's return each curator's next decision was saved there.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from curator.bootstrap import create_project, open_project, roles
from curator.domain.decisions import Saving, Verdict
from curator.domain.wording import UserError
from curator.project import Project
from curator.services.ports.address import SharedAddress
from curator.services.ports.storage import Role
from tests.postgres import Server

SAFE = {
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "autovacuum": "on",
    "max_connections": "200",
    "shared_buffers": "128MB",
}
MENTIONS = 20
PACE = 2.0
"""Seconds from one decision of a curator to the next."""
RETRY = 0.2
LATE = 5.0
"""Seconds after the server's return within which a client that had not noticed its end does so."""
LAST = 10.0
"""Seconds in which the last kept decisions and news arrive."""


def main(arguments: Sequence[str] | None = None) -> dict[str, float]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--curators", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pace", type=float, default=PACE)
    given = parser.parse_args(arguments)
    seconds = given.minutes * 60
    with tempfile.TemporaryDirectory(prefix="curator-team-") as name:
        folder = Path(name)
        os.environ["CURATOR_SHARED_DIR"] = str(folder / "shared")
        server = Server(SAFE)
        try:
            address = server.address(server.new_base())
            _make(
                SharedAddress.parse(address), folder, round(given.curators * seconds / given.pace / MENTIONS * 1.3) + 9
            )
            back = _day(server, address, folder, given.curators, seconds, given.kills, given.pace)
            figures = _figures(server, SharedAddress.parse(address).base, folder, back)
        finally:
            server.close()
    for key, value in figures.items():
        print(f"{key:45} {value:,.3f}" if isinstance(value, float) else f"{key:45} {value:,}", flush=True)  # noqa: T201
    return figures


def _make(place: SharedAddress, folder: Path, documents: int) -> None:
    """A project with documents of invented words, and no knowledge base: nothing but the server is measured."""
    words = [f"wordling{n}" for n in range(MENTIONS)]
    text = " ".join(words)
    places = [text.index(f"{one} ") if one != words[-1] else text.index(one) for one in words]
    file = folder / "documents.pubtator"
    with file.open("w") as out:
        for n in range(1, documents + 1):
            out.write(f"{n}|t|{text}\n{n}|a|None.\n")
            for word, at in zip(words, places, strict=True):
                out.write(f"{n}\t{at}\t{at + len(word)}\t{word}\tDisease\n")
            out.write("\n")
    project = create_project(place, name="team", linker=False)
    for _ in project.importing.documents([file]):
        pass
    project.close()


def _day(
    server: Server, address: str, folder: Path, curators: int, seconds: float, kills: int, pace: float
) -> list[float]:
    """The times at which the server was back."""
    (folder / "logs").mkdir()
    names = [f"curator-{n:02}" for n in range(curators)]
    command = [sys.executable, "-m", "tests.endurance.team_day", "client"]
    gone = folder / "over"
    place = SharedAddress.parse(address)
    server.logins(*names)
    for one in names:
        roles(place).grant(one, Role.CURATOR)
    running = [
        subprocess.Popen(
            [*command, server.address(place.base, user=one), one, str(folder / "logs" / one), str(gone), str(pace)]
        )
        for one in names
    ]
    while sum(one.stat().st_size > 0 for one in (folder / "logs").iterdir()) < curators:
        time.sleep(0.1)
    (folder / "begin").touch()
    begun, back = time.time(), []
    for number in range(kills):
        time.sleep(max(0.0, begun + seconds * (number + 0.7) / kills - time.time()))
        server.kill()
        server.start()
        back.append(time.time())
    time.sleep(max(0.0, begun + seconds - time.time()))
    gone.touch()  # nobody decides any more
    time.sleep(LAST)  # the last news
    for one in running:
        one.send_signal(signal.SIGTERM)
        one.wait(timeout=60)
    return back


class Client:
    """One curator; every line of the log is a list with its kind first."""

    def __init__(self, project: Project, log: Path, pace: float) -> None:
        self.project = project
        self._log = log.open("a")
        self._pace = pace
        self._away = False
        self._random = random.Random(log.name)

    def note(self, *values: Any) -> None:
        self._log.write(json.dumps(values) + "\n")
        self._log.flush()

    def _saving(self, saving: Saving) -> None:
        if bool(saving.away) != self._away:
            self._away = bool(saving.away)
            self.note("away" if self._away else "back", time.time())

    def work(self, gone: Path) -> None:
        self.project.team.on_news(lambda change, _: self.note("heard", change.operation_id, time.time()))
        self.project.disk.on_saving(self._saving)
        self.project.team.start()
        self.note("ready")
        while not (gone.parent / "begin").exists():
            time.sleep(0.05)
        used = time.process_time()
        due = time.monotonic() + self._random.uniform(0, self._pace)
        document: int | None = None
        while not gone.exists():
            with suppress(UserError):  # the server is gone: again in a moment
                if document is None:
                    document = self.project.team.next()
                    self.note("served", document)
                    if document is None:
                        break
                view = self.project.queue.open(document)
                left = [one.mention.id for one in view.mentions if one.decision is None]
                if not left:
                    self.project.curation.finish(document)
                    document = None
                    continue
                time.sleep(max(0.0, due - time.monotonic()))
                due = max(due + self._pace, time.monotonic())
                self._decide(left[0])
                continue
            time.sleep(RETRY)
        self.note("used", time.process_time() - used)
        time.sleep(60)  # the parent ends it

    def _decide(self, mention: int) -> None:
        begun = time.perf_counter()
        change = self.project.curation.decide(mention, Verdict.nil())
        self.note("saved", change.operation_id, mention, time.perf_counter() - begun, time.time())  # 0: here


def client(address: str, name: str, log: str, gone: str, pace: str) -> None:
    project = open_project(SharedAddress.parse(address), linker=False, curator=name)
    try:
        Client(project, Path(log), float(pace)).work(Path(gone))
    finally:
        project.close()


def _figures(server: Server, base: str, folder: Path, back: Sequence[float]) -> dict[str, float]:
    lines = {one.name: list(_lines(one)) for one in sorted((folder / "logs").iterdir())}
    made = [(who, *one[1:]) for who, some in lines.items() for one in some if one[0] == "saved"]
    saved = {one[1]: (one[0], *one[2:]) for one in made if one[1]}
    stored = server.sql(STORED, base=base)
    steps = {(who, mention): step for step, who, mention in stored}
    lost = [one for one in made if (one[1] and one[1] != steps.get((one[0], one[2]))) or (one[0], one[2]) not in steps]
    served: dict[int, set[str]] = defaultdict(set)
    for who, some in lines.items():
        for one in some:
            if one[0] == "served" and one[1] is not None:
                served[one[1]].add(who)
    times = sorted(one[3] for one in made)
    heard = {(who, one[1]): one[2] for who, some in lines.items() for one in some if one[0] == "heard"}
    news = sorted(at - saved[step][3] for (_, step), at in heard.items() if step in saved)
    owed = {(who, step) for who in lines for step, (by, *_) in saved.items() if who != by}
    kept = [(by, steps.get((by, mention))) for by, step, mention, *_ in made if not step]
    owed |= {(who, step) for who in lines for by, step in kept if who != by}
    used = sum(one[1] for some in lines.values() for one in some if one[0] == "used")
    again = [_again(some, at) for some in lines.values() for at in back]
    resumed = [_resumed(some, at) for some in lines.values() for at in back]
    return {
        "curators": len(lines),
        "decisions saved": len(made),
        "of them on the curator's computer first": len(made) - len(saved),
        "decisions lost": len(lost),
        "decisions there twice": len(stored) - len(steps),
        "documents handed out": len(served),
        "documents handed out twice": sum(len(one) > 1 for one in served.values()),
        "server killed": len(back),
        "decision p50, s": _at(times, 0.5),
        "decision p95, s": _at(times, 0.95),
        "news p50, s": _at(news, 0.5),
        "news p95, s": _at(news, 0.95),
        "news that never came": len(owed - heard.keys()),
        "processor time of clients per decision, s": used / max(len(made), 1),
        "connected, all sent after a return, worst, s": max(again, default=0.0),
        "next decision after a return, worst, s": max(resumed, default=0.0),
    }


STORED = "SELECT operation_id, curator, mention_id FROM curator.decisions"


def _lines(path: Path) -> Iterator[list[Any]]:
    for line in path.read_text().splitlines():
        yield json.loads(line)


def _at(ordered: Sequence[float], share: float) -> float:
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)] if ordered else 0.0


def _again(lines: Sequence[Sequence[Any]], back: float) -> float:
    """Seconds from the server's return until the curator was connected and everything kept was sent."""
    marks = [(one[0], one[1]) for one in lines if one[0] in ("away", "back")]
    before = [kind for kind, at in marks if at <= back]
    after = [one for one in marks if one[1] > back]
    late = bool(after) and after[0][0] == "away" and after[0][1] < back + LATE
    if before and before[-1] == "back" and not late:  # quicker than the command that starts the server
        return 0.0
    return min((at - back for kind, at in after if kind == "back"), default=0.0)


def _resumed(lines: Sequence[Sequence[Any]], back: float) -> float:
    """Seconds from the server's return to the curator's next decision; the pace of the curator is in them."""
    return min((one[4] - back for one in lines if one[0] == "saved" and one[1] and one[4] > back), default=0.0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["client"]:
        client(*sys.argv[2:])
    else:
        main()
