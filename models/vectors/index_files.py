"""Index files: ``NAME.faiss`` and its header ``NAME.faiss.json``, written atomically, opened memory-mapped.

The header holds the file's size and number of vectors, its source, and its SHA-256. Size and header are checked
whenever it is opened; the hash is compared by ``check_index``, which reads the whole file.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import faiss as faiss_module

from models.core.file_io import atomic_path, read_json, sha256_file, write_json
from models.errors import ModelError, say
from models.vectors.index_plan import IndexKind, IndexPlan

faiss: Any = faiss_module  # its type stubs are out of date
FORMAT = 1
REMEDY = "Rebuild the index from the knowledge base."


class DamagedIndexError(ModelError):
    """An index file that is missing, truncated or altered; it can be rebuilt."""


@dataclass(frozen=True, slots=True)
class IndexHeader:
    """The contents of the header; ``sha256`` is empty in headers of earlier versions, which did not record it."""

    rows: int
    dimension: int
    bytes: int
    source: str
    plan: IndexPlan
    sha256: str = ""


def header_path(path: Path) -> Path:
    return path.with_name(path.name + ".json")


def write_index(index: Any, path: Path, *, plan: IndexPlan, source: str) -> None:
    """Write the file, then its header: a file without a matching header is never accepted."""
    with atomic_path(path) as beside:
        _write(index, beside)
        digest = sha256_file(beside)
    header = IndexHeader(int(index.ntotal), int(index.d), path.stat().st_size, source, plan, digest)
    write_json(header_path(path), {"format": FORMAT, **asdict(header)})


def read_index(path: Path, *, rows: int | None = None, source: str | None = None) -> tuple[Any, IndexHeader]:
    """The memory-mapped FAISS index and its header.

    Raises DamagedIndexError if file and header disagree, ModelError if it has another ``source`` or number of ``rows``.
    """
    header = read_header(path)
    if not path.is_file() or path.stat().st_size != header.bytes:
        raise DamagedIndexError(
            say("The index {path} is damaged: it is missing or truncated. {remedy}", path=path, remedy=say(REMEDY))
        )
    if rows not in (None, header.rows) or source not in (None, header.source):
        raise ModelError(
            say(
                "The index {path} was built from another knowledge base or encoder. {remedy}",
                path=path,
                remedy=say(REMEDY),
            )
        )
    index = _read(path)
    if index.ntotal != header.rows or index.d != header.dimension:
        raise DamagedIndexError(
            say(
                "The index {path} is damaged: it does not contain {rows:,} vectors. {remedy}",
                path=path,
                rows=header.rows,
                remedy=say(REMEDY),
            )
        )
    return index, header


def read_header(path: Path) -> IndexHeader:
    try:
        raw = read_json(header_path(path), what=say("The index's header"), remedy=say(REMEDY))
    except ModelError as error:
        raise DamagedIndexError(str(error)) from error
    try:
        made = raw["plan"]
        measured = int(made.get("probes", 0)), float(made.get("recall", 0.0))
        plan = IndexPlan(IndexKind(made["kind"]), str(made["factory"]), str(made["sentence"]), *measured)
        numbers = (int(raw["rows"]), int(raw["dimension"]), int(raw["bytes"]))
        header = IndexHeader(*numbers, str(raw["source"]), plan, str(raw.get("sha256", "")))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DamagedIndexError(
            say("The index {path} has a damaged header. {remedy}", path=path, remedy=say(REMEDY))
        ) from error
    if raw.get("format") != FORMAT:
        raise DamagedIndexError(
            say("The index {path} has a different version. {remedy}", path=path, remedy=say(REMEDY))
        )
    return header


def check_index(path: Path) -> None:
    """Read the whole file and compare its hash; raises DamagedIndexError if it was altered."""
    header = read_header(path)
    if not path.is_file() or path.stat().st_size != header.bytes:
        raise DamagedIndexError(
            say("The index {path} is damaged: it is missing or truncated. {remedy}", path=path, remedy=say(REMEDY))
        )
    if header.sha256 and sha256_file(path) != header.sha256:
        raise DamagedIndexError(
            say("The index {path} is damaged: it was modified. {remedy}", path=path, remedy=say(REMEDY))
        )


def _name(path: Path) -> str:
    try:
        str(path).encode()
    except UnicodeEncodeError as error:
        raise ModelError(
            say("The name of a folder is not UTF-8: {path}. Rename the folder, then open the project again.", path=path)
        ) from error
    return str(path)


def _write(index: Any, path: Path) -> None:
    try:
        faiss.write_index(index, _name(path))
    except RuntimeError as error:
        raise ModelError(
            say(
                "The index {path} cannot be written ({splitlines}). Check the folder's permissions and "
                "the free disk space.",
                path=path,
                splitlines=str(error).splitlines()[0],
            )
        ) from error


def _read(path: Path) -> Any:
    try:
        return faiss.read_index(_name(path), faiss.IO_FLAG_MMAP_IFC)
    except RuntimeError as error:
        raise DamagedIndexError(
            say(
                "The index {path} is damaged ({splitlines}). {remedy}",
                path=path,
                splitlines=str(error).splitlines()[0],
                remedy=say(REMEDY),
            )
        ) from error
