"""Where records fetched from PubMed are kept: `fetched/KEY/` in the project while some are missing, then one file.

`asked.json` holds the request and its PMIDs; each batch is its own file, so that a stopped fetch resumes after the
last batch. All batches are joined in `fetched/pubmed-TIME.xml.gz`, an ordinary PubMed XML file, which is then
imported.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import shutil
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path

from curator.domain.wording import UserError, tr
from curator.foreign_files import read_small
from curator.services.ports.files import FileWriter
from curator.services.ports.pubmed import PubMedRecords

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
