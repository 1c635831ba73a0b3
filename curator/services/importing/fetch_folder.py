"""Where records fetched from PubMed are kept: `fetched/KEY/` in the project while some are missing, then one file.

`asked.json` says what was asked and which PMIDs that is; each batch is a file of its own, so that a fetch which was
stopped goes on behind the last of them. The file that all become together, `fetched/pubmed-TIME.xml.gz`, is ordinary
PubMed XML and is what the import names.
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

from curator.domain.errors import UserError
from curator.domain.wording import tr
from curator.services.ports import FileWriter
from curator.services.ports.pubmed import PubMedRecords

FOLDER = "fetched"
ASKED = "asked.json"
_HEAD = b'<?xml version="1.0" encoding="UTF-8"?>\n<PubmedArticleSet>\n'
_TAIL = b"\n</PubmedArticleSet>\n"
_TOLD = ".pmids.json"


@dataclass(frozen=True, slots=True)
class FetchRequest:
    """A query, or PMIDs as they were given. `pmids` are what is fetched, `count` what a query matched."""

    query: str
    given: tuple[str, ...]
    most: int
    pmids: tuple[str, ...] = ()
    count: int = 0
    at: str = ""

    @property
    def key(self) -> str:
        """The same for the same question."""
        said = json.dumps([self.query, self.given, self.most])
        return hashlib.sha256(said.encode()).hexdigest()[:12]


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A fetch that was stopped: `done` of its PMIDs were asked for."""

    asked: FetchRequest
    done: int


@dataclass(frozen=True, slots=True)
class FetchFolder:
    """The folder of one question; it is made when something is put into it."""

    project: Path
    key: str
    writer: FileWriter = field(repr=False)

    @property
    def path(self) -> Path:
        return self.project / FOLDER / self.key

    def asked(self) -> FetchRequest | None:
        """What an earlier fetch noted; None where there is none, or none that can be read."""
        try:
            found = json.loads((self.path / ASKED).read_text(encoding="utf-8"))
            asked = FetchRequest(**{**found, "given": tuple(found["given"]), "pmids": tuple(found["pmids"])})
            datetime.fromisoformat(asked.at)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return asked

    def begin(self, asked: FetchRequest, at: datetime) -> FetchRequest:
        """Note what is asked. Raises UserError where nothing can be written."""
        noted = FetchRequest(
            asked.query, asked.given, asked.most, asked.pmids, asked.count, at.isoformat(timespec="seconds")
        )
        try:
            self.path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UserError(
                tr("{folder} cannot be made ({why}).", folder=self.path, why=error.strerror or error)
            ) from error
        self.writer.write({self.path / ASKED: json.dumps(asdict(noted), indent=1).encode()})
        return noted

    def put(self, number: int, asked: Sequence[str], records: PubMedRecords) -> None:
        """Keep a batch; it is there when its list is."""
        told = json.dumps({"asked": list(asked), "found": records.pmids}).encode()
        self.writer.write({self._batch(number): records.xml, self._told(number): told})

    def done(self) -> tuple[list[str], set[str]]:
        """The PMIDs that were asked for, and those of the records that came, of all batches in a row."""
        asked, found = list[str](), set[str]()
        for number in self._numbers():
            told = json.loads(self._told(number).read_text(encoding="utf-8"))
            asked += told["asked"]
            found.update(told["found"])
        return asked, found

    def next_number(self) -> int:
        return max(self._numbers(), default=-1) + 1

    def join(self, asked: FetchRequest) -> Path:
        """One file of all batches, called after when they were asked for; the same bytes for the same records."""
        at = datetime.fromisoformat(asked.at)
        path = self.project / FOLDER / f"pubmed-{at:%Y%m%d-%H%M%S}.xml.gz"
        self.writer.stream(path, self._pieces())
        return path

    def remove(self) -> None:
        """Take the batches away; the file stays."""
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


def unfinished(project: Path, writer: FileWriter) -> list[Unfinished]:
    """The fetches that were stopped, the newest first."""
    found = []
    for path in sorted((project / FOLDER).glob(f"*/{ASKED}")):
        folder = FetchFolder(project, path.parent.name, writer)
        asked = folder.asked()
        if asked is not None:
            found.append(Unfinished(asked, len(folder.done()[0])))
    return sorted(found, key=lambda one: one.asked.at, reverse=True)
