"""Shared by all writers: the files to write, the check of spans, and which decisions a file can carry."""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Any

from curator.domain.decisions import Outcome
from curator.domain.documents import SourceFile
from curator.domain.wording import UserError, tr
from curator.io.files.atomic import AtomicFiles, cut, write_error
from curator.io.files.report import Report
from curator.services.ports.files import ExportDocument, ExportMention

WrittenSource = tuple[SourceFile, Iterable[ExportDocument]]


class Action(Enum):
    """What to do with a mention's line."""

    KEEP = "keep"  # as in the source
    WRITE = "write"  # with the decision's entities, empty for NIL
    MOVE = "move"  # with its current spans and type, and the source's identifiers
    DROP = "drop"


def action_for(gold: ExportMention, document: str, problems: Report) -> Action:
    """Linked and NIL mentions are written. Rejected ones leave the file, since no format can say "not an entity".
    Skipped and undecided ones stay as in the source; if the curator added them, they are not gold yet and are left out.
    Mentions left out are noted in `problems`. For a moved or retyped mention, spans and type are written."""
    from_source = gold.mention.record >= 0
    kept = Action.MOVE if gold.reshaped else Action.KEEP
    if gold.unchanged and from_source:
        return kept
    if is_gold(gold):
        return Action.WRITE
    outcome = gold.decision.verdict.outcome if gold.decision is not None else Outcome.CLEARED
    if outcome is not Outcome.REJECTED and from_source:
        return kept
    state = "undecided" if outcome is Outcome.CLEARED else outcome.value
    text = tr(
        'document {document}: "{text}" is {state} and was left out',
        document=document,
        text=gold.mention.text,
        state=state,
    )
    problems.left_out(gold, text, "note")
    return Action.DROP


def is_gold(gold: ExportMention) -> bool:
    """Whether the decision is a link or NIL."""
    return gold.decision is not None and gold.decision.verdict.outcome in (Outcome.LINK, Outcome.NIL)


def entity_ids(gold: ExportMention) -> tuple[str, ...]:
    """The decision's entities, empty for NIL."""
    return gold.decision.verdict.entity_ids if gold.decision is not None else ()


def write_streams(
    files: Sequence[WrittenSource],
    out: Path,
    pieces: Callable[[Sequence[WrittenSource]], Iterable[str | bytes]],
    *,
    format_name: str,
    suffix: str,
    endings: tuple[str, ...],
) -> list[Path]:
    """Write each source file to its target, or all of them to one: `pieces` gives a target's content from its sources.

    Documents are consumed as a stream. On a UserError nothing is changed.
    """
    names = [file for file, _ in files]
    targets = target_paths(out, names, format_name=format_name, suffix=suffix, endings=endings)
    sources = [files] if targets == [out] else [[one] for one in files]
    with AtomicFiles() as atomic:
        if targets != [out]:
            atomic.folder(out)
        for target, held in zip(targets, sources, strict=True):
            stream = atomic.open(target)
            for piece in pieces(held):
                stream.write(piece if isinstance(piece, bytes) else piece.encode("utf-8", "surrogatepass"))
    return targets


def target_paths(
    out: Path, files: Sequence[SourceFile], *, format_name: str, suffix: str, endings: tuple[str, ...] = ()
) -> list[Path]:
    """The file `out` for a single source file, and for several if its name ends with one of `endings`. Otherwise, and
    if `out` is a folder, one file for each in the folder `out`, which the caller creates if it is missing. `.gz` is
    dropped, since exports are plain text; equal names are numbered."""
    if not files:
        raise UserError(tr("nothing to export: the project has none of the requested documents"))
    if not out.is_dir() and (len(files) == 1 or (endings and out.name.lower().endswith(endings))):
        return [out]
    names = [export_name(file, format_name=format_name, suffix=suffix) for file in files]
    return [out / name for name in unique(names)]


def export_name(file: SourceFile, *, format_name: str, suffix: str) -> str:
    """The file's own name for its own format, otherwise its stem plus `suffix`."""
    name = Path(file.name or file.path).name
    name = name[:-3] if name.lower().endswith(".gz") else name
    return name if file.format == format_name else Path(name).stem + suffix


class FreeNames:
    """Gives each name only once. The search for a free name continues where the last search for this name ended: a file
    may have a hundred thousand documents with the same id."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._last: dict[str, int] = {}

    def take(self, wanted: str, further: Callable[[int], str], *, key: Callable[[str], str] = str) -> str:
        """`wanted`, or else the first of `further(2)`, `further(3)`, … that is free. Names with the same `key` are
        equal."""
        number, name = self._last.get(key(wanted), 1), wanted
        while key(name) in self._taken:
            number += 1
            name = further(number)
        self._taken.add(key(name))
        self._last[key(wanted)] = number
        return name


def _numbered(stem: str, rest: str, number: int) -> str:
    return f"{stem}-{number}{rest}"


def unique(names: Sequence[str]) -> list[str]:
    """`a.txt`, `a.txt` -> `a.txt`, `a-2.txt`."""
    free = FreeNames()
    result = []
    for name in names:
        stem, dot, rest = name.partition(".")
        result.append(free.take(name, partial(_numbered, stem, dot + rest)))
    return result


# --- a file for each document ---


class DocumentWriter:
    """Writes the documents of one source file, each into files of its own."""

    def __init__(self, file: SourceFile, problems: Report) -> None:
        self.file = file
        self.problems = problems

    def pieces(self, item: ExportDocument, name: str) -> Iterable[tuple[str, bytes]]:
        """The files of one document; `name` is its file name without an ending."""
        raise NotImplementedError

    def rest(self) -> Iterable[tuple[str, bytes]]:
        """Files that belong to no document."""
        return ()


Chosen = Sequence[tuple[DocumentWriter, Iterable[ExportDocument]]]


def write_documents(chosen: Chosen, out: Path, problems: Report, *, suffixes: tuple[str, ...] = ()) -> list[Path]:
    """Write into the folder or the zip archive `out`, each source file in its own folder if there are several.

    A single document is written to the file `out` if that ends with one of `suffixes`.
    """
    if out.name.lower().endswith(suffixes) and suffixes and not out.is_dir():
        return [_single(chosen, out)]
    names = [Path(export_name(one.file, format_name="", suffix="")).stem or "documents" for one, _ in chosen]
    return write_files(out, _pieces(chosen, unique(names) if len(chosen) > 1 else [""], problems))


def _pieces(chosen: Chosen, folders: Sequence[str], problems: Report) -> Iterator[tuple[str, bytes]]:
    for (writer, items), folder in zip(chosen, folders, strict=True):
        taken = FreeNames()
        for item in items:
            name = _name(item, taken, problems)
            for path, content in writer.pieces(item, name):
                yield f"{folder}/{path}" if folder else path, content
        for path, content in writer.rest():
            yield f"{folder}/{path}" if folder else path, content


def _name(item: ExportDocument, taken: FreeNames, problems: Report) -> str:
    """A unique file name for each document; names that differ from the document's id are noted."""
    wanted = item.document.external_id
    safe = safe_name(wanted)
    name = taken.take(safe, lambda number: f"{safe}-{number}", key=str.casefold)
    if name != wanted:
        problems.repaired(tr("document {wanted} was written as {name}", wanted=wanted, name=name))
    return name


def _single(chosen: Chosen, out: Path) -> Path:
    first = list(islice(((writer, item) for writer, items in chosen for item in items), 2))
    if len(first) != 1:
        raise UserError(tr("{out} can store only one document: choose a folder or a .zip archive for several", out=out))
    writer, item = first[0]
    content = next(iter(writer.pieces(item, out.stem)))[1]
    return write_files(out.parent, [(out.name, content)])[0]


def extra_of(file: SourceFile, format_name: str) -> dict[str, Any]:
    """The data that a reader of the format stored for its writer."""
    return dict(json.loads(file.extra)) if file.format == format_name and file.extra else {}


# --- folders and archives ---

LONGEST_NAME = 250
"""The most bytes of a file's name, including its ending; file systems allow 255."""
DEVICE = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
"""Names that Windows reserves for devices, with any ending."""


def write_files(out: Path, pieces: Iterable[tuple[str, bytes]]) -> list[Path]:
    """Write the named files into the zip archive `out` (a name that ends with .zip) or the folder `out`; all or none.

    Names are relative, parts separated by `/`. Returns the archive, or the files. Raises UserError.
    """
    if out.suffix.lower() == ".zip" and not out.is_dir():
        return [_write_zip(out, pieces)]
    written: list[Path] = []
    with AtomicFiles() as atomic:
        atomic.folder(out)
        for name, content in pieces:
            target = out.joinpath(*PurePosixPath(safe_name(name, LONGEST_NAME)).parts)
            _make_folders(atomic, out, target.parent)
            atomic.put(target, content)
            written.append(target)
    return written


def safe_name(name: str, most: int = 200) -> str:
    """`name` as a relative path that cannot leave its folder: `../a` becomes `_/a`, and no part is empty, hidden, or
    longer than `most` bytes, so that a number and an ending can be added. The result is the same on every system: no
    part is a name that Windows reserves for a device, or ends with characters that Windows removes."""
    cleaned = "".join("_" if ch in '\\:*?"<>|' or ord(ch) < 32 else ch for ch in name)
    parts = [part for part in cleaned.split("/") if part.strip()]
    shown = ("_" + part.lstrip(".") if part.startswith(".") else part for part in parts)
    return "/".join(_for_windows(cut(part, most)) for part in shown) or "_"


def _for_windows(part: str) -> str:
    if part[-1] in ". ":
        part = part[:-1] + "_"
    return "_" + part if DEVICE.fullmatch(part) else part


def _write_zip(out: Path, pieces: Iterable[tuple[str, bytes]]) -> Path:
    with AtomicFiles() as atomic:
        stream = atomic.open(out)
        with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in pieces:
                # dated 1980, so that the same content is the same archive
                member = zipfile.ZipInfo(safe_name(name, LONGEST_NAME))
                member.compress_type = zipfile.ZIP_DEFLATED
                member.external_attr = 0o644 << 16
                archive.writestr(member, content)
    return out


def _make_folders(atomic: AtomicFiles, out: Path, folder: Path) -> None:
    missing = []
    try:
        while folder != out and not folder.is_dir():
            missing.append(folder)
            folder = folder.parent
    except OSError as error:  # the path is too long
        raise write_error(folder, error) from error
    for one in reversed(missing):
        atomic.folder(one)
