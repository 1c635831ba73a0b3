"""PubMed records by query or PMID over the network: fetched within PubMed's limits, stored as received, imported as a
file.

A fetch may be stopped at any time; the same query resumes it. Records that the project already has, by PMID, are not
requested.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import time
import zlib
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TypeVar

from curator.domain.curies import listed
from curator.domain.documents import Split
from curator.domain.jobs import Progress
from curator.domain.wording import UserError, ntr, tr
from curator.foreign_files import read_small
from curator.services.core.context import Context, Service
from curator.services.importing.importing import FileProblem, ImportReport, ImportService
from curator.services.ports.files import FileWriter, Problem
from curator.services.ports.pubmed import MOST_FOUND, FoundRecords, NotNowError, PubMedPort, PubMedRecords

BATCH = 200
TRIES = 6
LONGEST_WAIT = 300.0  # the most seconds to wait on a server's request; also the limit of the doubling pause
LOOK = 0.2
SHOWN = 200
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FetchWish:
    """Either `pmids` or a `query`, of which the first `most` records are fetched; the other fields are as in an
    import."""

    pmids: tuple[str, ...] = ()
    query: str = ""
    most: int = MOST_FOUND
    split: Split = Split.TRAIN
    hold_out: int = 0

    @property
    def asked(self) -> FetchRequest:
        query = " ".join(self.query.split())
        return FetchRequest(query, () if query else self.pmids, self.most if query else 0)


@dataclass(frozen=True, slots=True)
class FetchClock:
    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep


class FetchService(Service):
    """Generators yield progress and may be closed between two steps; waits consist of short ones."""

    def __init__(
        self,
        context: Context,
        importing: ImportService,
        pubmed: PubMedPort,
        writer: FileWriter,
        *,
        timer: FetchClock | None = None,
    ) -> None:
        super().__init__(context)
        self._importing = importing
        self._pubmed = pubmed
        self._writer = writer
        self._timer = timer or FetchClock()
        self._next = 0.0  # earliest time of the next request

    @property
    def host(self) -> str:
        """The host that requests are sent to."""
        return self._pubmed.host

    def unfinished(self) -> list[Unfinished]:
        """The stopped fetches; the same request resumes one."""
        return unfinished(self._store.folder, self._writer)

    def forget(self, asked: FetchRequest) -> None:
        """Remove the stored data of a stopped fetch."""
        FetchFolder(self._store.folder, asked.key, self._writer).remove()

    def count(self, query: str) -> Generator[Progress, None, int]:
        """The number of matching records, with one request. Raises UserError."""
        found: FoundRecords = yield from self._patiently(
            lambda: self._pubmed.search(query, most=0), Progress(tr("search PubMed"), 0, 0, self.host), kept=0
        )
        return found.count

    def pubmed(self, wish: FetchWish) -> Generator[Progress, None, ImportReport]:
        """Fetch the requested records and import them as PubMed XML; the report also lists PMIDs without a record.

        Raises UserError if nothing is requested or found, if the request is refused, or without an answer after several
        tries. Fetched records stay, and the same request resumes the fetch.
        """
        asked, folder = yield from self._begun(wish)
        known = self._known(asked.pmids)
        done, _ = folder.done()
        without = known.union(done)
        left = [pmid for pmid in asked.pmids if pmid not in without]
        yield from self._fetched(folder, left, len(done))
        done, found = folder.done()
        notes = self._notes(asked, known, [pmid for pmid in done if pmid not in found])
        if not found:
            folder.remove()
            if known:
                return ImportReport((), {}, notes)
            raise UserError(" ".join(one.problem.text for one in notes) or tr("PubMed found nothing."))
        path = folder.join(asked)
        report = yield from self._importing.documents([path], split=wish.split, hold_out=wish.hold_out)
        folder.remove()
        return replace(report, problems=(*notes, *report.problems))

    # --- what is asked ---

    def _begun(self, wish: FetchWish) -> Generator[Progress, None, tuple[FetchRequest, FetchFolder]]:
        """The request, as noted before, or newly noted."""
        asked = wish.asked
        if not asked.query and not asked.given:
            raise UserError(tr("Enter PMIDs or a query."))
        folder = FetchFolder(self._store.folder, asked.key, self._writer)
        noted = folder.asked()
        if noted is not None:
            return noted, folder
        if asked.query:
            asked = yield from self._searched(asked)
        else:
            asked = replace(asked, pmids=asked.given, count=len(asked.given))
        return folder.begin(asked, self._clock.now()), folder

    def _searched(self, asked: FetchRequest) -> Generator[Progress, None, FetchRequest]:
        progress = Progress(tr("search PubMed"), 0, 0, self.host)
        most = min(asked.most, MOST_FOUND)
        found: FoundRecords = yield from self._patiently(
            lambda: self._pubmed.search(asked.query, most=most), progress, kept=0
        )
        if not found.pmids:
            raise UserError(tr("PubMed finds nothing for “{query}”. Nothing was changed.", query=asked.query))
        return replace(asked, pmids=tuple(dict.fromkeys(found.pmids)), count=found.count)

    def _known(self, pmids: Sequence[str]) -> set[str]:
        with self._store.read() as unit:
            return set(unit.imports.present(pmids))

    # --- fetching ---

    def _fetched(self, folder: FetchFolder, left: Sequence[str], done: int) -> Generator[Progress, None, None]:
        total, number = done + len(left), folder.next_number()
        for start in range(0, len(left), BATCH):
            pmids = left[start : start + BATCH]
            progress = self._progress(done + start, total)
            ask = partial(self._pubmed.records, pmids)
            records: PubMedRecords = yield from self._patiently(ask, progress, kept=done + start)
            folder.put(number, pmids, records)
            number += 1
        yield self._progress(total, total)

    def _progress(self, done: int, total: int) -> Progress:
        text = tr("{done:,} of {total:,} records", done=done, total=total)
        return Progress(tr("fetch from {host}", host=self.host), done, total, text)

    def _patiently(self, ask: Callable[[], T], progress: Progress, *, kept: int) -> Generator[Progress, None, T]:
        """Send requests at the permitted rate, and retry after a growing pause if PubMed cannot answer."""
        for attempt in range(TRIES):
            yield from self._wait(self._next - self._timer.now(), progress)
            self._next = self._timer.now() + self._pubmed.pause
            try:
                return ask()
            except NotNowError as error:
                seconds = min(2.0**attempt, LONGEST_WAIT) if error.seconds is None else error.seconds
                if attempt == TRIES - 1 or seconds > LONGEST_WAIT:
                    raise UserError(self._gave_up(error, seconds, kept)) from error
                text = tr("Waiting for {host}: {why}", host=self.host, why=error)
                yield from self._wait(seconds, replace(progress, text=text))
        raise AssertionError("unreachable")

    def _wait(self, seconds: float, progress: Progress) -> Generator[Progress, None, None]:
        yield progress
        until = self._timer.now() + seconds
        while (left := until - self._timer.now()) > 0:
            self._timer.sleep(min(left, LOOK))
            yield progress

    def _gave_up(self, error: NotNowError, seconds: float, kept: int) -> str:
        said = tr("{host} sent no usable reply ({why}).", host=self.host, why=error)
        if seconds > LONGEST_WAIT:
            said = ntr(
                "{host} asks you to try again in {n} minute ({why}).",
                "{host} asks you to try again in {n:,} minutes ({why}).",
                round(seconds / 60),
                host=self.host,
                why=error,
            )
        if not kept:
            return said + " " + tr("Nothing was fetched. Check the network and try again.")
        return (
            said
            + " "
            + ntr(
                "{n} PMID was requested, and its record is kept. Start the same request again to resume it.",
                "{n:,} PMIDs were requested, and their records are kept. Start the same request again to resume it.",
                kept,
            )
        )

    def _notes(self, asked: FetchRequest, known: set[str], missing: Sequence[str]) -> tuple[FileProblem, ...]:
        texts = []
        if asked.query and asked.count > len(asked.pmids):
            texts.append(
                tr(
                    "“{query}” matches {count:,} records; the first {n:,} were requested.",
                    query=asked.query,
                    count=asked.count,
                    n=len(asked.pmids),
                )
            )
        if known:
            texts.append(
                ntr(
                    "{n:,} record is already in the project and was not fetched.",
                    "{n:,} records are already in the project and were not fetched.",
                    len(known),
                )
            )
        if missing:
            texts.append(
                ntr(
                    "PubMed has no record of this PMID: {pmids}.",
                    "PubMed has no record of these {n:,} PMIDs: {pmids}.",
                    len(missing),
                    pmids=listed(missing, SHOWN),
                )
            )
        return tuple(FileProblem(self.host, Problem(0, "note", text)) for text in texts)


# Where records fetched from PubMed are kept: `fetched/KEY/` in the project while some are missing, then one file.
#
# `asked.json` holds the request and its PMIDs; each batch is its own file, so that a stopped fetch resumes after the
# last batch. All batches are joined in `fetched/pubmed-TIME.xml.gz`, an ordinary PubMed XML file, which is then
# imported.

FOLDER = "fetched"
ASKED = "asked.json"
_HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n<PubmedArticleSet>\n'
_TAIL = b"\n</PubmedArticleSet>\n"
_TOLD = ".pmids.json"


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A query, or the given PMIDs. `pmids` are fetched, `count` is the number of the query's matches."""

    query: str
    given: tuple[str, ...]
    most: int
    pmids: tuple[str, ...] = ()
    count: int = 0
    at: str = ""

    @property
    def key(self) -> str:
        """The same for the same request."""
        said = json.dumps([self.query, self.given, self.most])
        return hashlib.sha256(said.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A fetch that was stopped: `done` of its PMIDs were requested."""

    asked: FetchRequest
    done: int


@dataclass(frozen=True, slots=True)
class FetchFolder:
    """The folder of one request; it is created when something is stored in it."""

    project: Path
    key: str
    writer: FileWriter = field(repr=False)

    @property
    def path(self) -> Path:
        return self.project / FOLDER / self.key

    def asked(self) -> FetchRequest | None:
        """The request noted by an earlier fetch; None if there is none, or if it is damaged. Raises UserError if the
        disk does not give it: a new search could find other records."""
        try:
            found = json.loads(_text(self.path / ASKED))
            asked = FetchRequest(**{**found, "given": tuple(found["given"]), "pmids": tuple(found["pmids"])})
            datetime.fromisoformat(asked.at)
        except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
            return None
        return asked

    def begin(self, asked: FetchRequest, at: datetime) -> FetchRequest:
        """Note the request. Raises UserError if it cannot be written."""
        noted = FetchRequest(
            asked.query, asked.given, asked.most, asked.pmids, asked.count, at.isoformat(timespec="seconds")
        )
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                tr(
                    "{folder} cannot be created ({why}). Check the folder's permissions and the free disk space.",
                    folder=self.path,
                    why=error.strerror or error,
                )
            ) from error
        self.writer.write({self.path / ASKED: json.dumps(asdict(noted), indent=1).encode()})
        return noted

    def put(self, number: int, asked: Sequence[str], records: PubMedRecords) -> None:
        """Store a batch; it counts as stored when its list exists."""
        told = json.dumps({"asked": list(asked), "found": records.pmids}).encode()
        self.writer.write({self._batch(number): records.xml, self._told(number): told})

    def done(self) -> tuple[list[str], set[str]]:
        """The requested PMIDs, and those of the received records, of all consecutive batches. Raises UserError if the
        disk does not give one."""
        asked, found = list[str](), set[str]()
        for number in self._numbers():
            try:
                told = json.loads(_text(self._told(number)))
                wanted, came = ([str(one) for one in told[name]] for name in ("asked", "found"))
            except (FileNotFoundError, ValueError, KeyError, TypeError, RecursionError):
                continue  # they are fetched again
            asked += wanted
            found.update(came)
        return asked, found

    def next_number(self) -> int:
        return max(self._numbers(), default=-1) + 1

    def join(self, asked: FetchRequest) -> Path:
        """One file of all batches, named by the time of the request; the same records give the same bytes."""
        at = datetime.fromisoformat(asked.at)
        path = self.project / FOLDER / f"pubmed-{at:%Y%m%d-%H%M%S}.xml.gz"
        self.writer.stream(path, self._pieces())
        return path

    def remove(self) -> None:
        """Remove the batches; the joined file stays."""
        with contextlib.suppress(OSError):
            shutil.rmtree(self.path)

    def _pieces(self) -> Iterator[bytes]:
        packer = zlib.compressobj(wbits=31)  # gzip, without a date
        yield packer.compress(_HEAD)
        for number in self._numbers():
            yield packer.compress(self._batch(number).read_bytes() + b"\n")
        yield packer.compress(_TAIL) + packer.flush()

    def _numbers(self) -> list[int]:
        names = (one.name.removesuffix(_TOLD) for one in self.path.glob(f"*{_TOLD}"))
        return sorted(int(name) for name in names if name.isdecimal())

    def _batch(self, number: int) -> Path:
        return self.path / f"{number:06}.xml"

    def _told(self, number: int) -> Path:
        return self.path / f"{number:06}{_TOLD}"


def _text(path: Path) -> str:
    """Raises FileNotFoundError, and UserError if the disk does not give the file."""
    try:
        return read_small(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UserError(
            tr(
                "{path} cannot be read ({why}). The records that were fetched are kept. Check the disk, then start the "
                "fetch again.",
                path=path,
                why=error.strerror or error,
            )
        ) from error


def unfinished(project: Path, writer: FileWriter) -> list[Unfinished]:
    """The stopped fetches, newest first. One that cannot be read is left out: fetching it says why."""
    found = []
    for path in sorted((project / FOLDER).glob(f"*/{ASKED}")):
        folder = FetchFolder(project, path.parent.name, writer)
        with contextlib.suppress(UserError):
            asked = folder.asked()
            if asked is not None:
                found.append(Unfinished(asked, len(folder.done()[0])))
    return sorted(found, key=lambda one: one.asked.at, reverse=True)
