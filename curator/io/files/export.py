"""Shared by all writers: the files to write, the check of spans, and which decisions a file can carry."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import NoReturn

from curator.domain.decisions import Outcome
from curator.domain.documents import SourceFile
from curator.domain.wording import UserError, tr
from curator.io.files.atomic import AtomicFiles
from curator.services.ports.files import Carries, ExportDocument, ExportMention, LeftOut, Problem

WrittenSource = tuple[SourceFile, Iterable[ExportDocument]]


class Action(Enum):
    """What to do with a mention's line."""

    KEEP = "keep"  # as in the source
    WRITE = "write"  # with the decision's entities, empty for NIL
    MOVE = "move"  # with its current spans and type, and the source's identifiers
    DROP = "drop"


class ReadOnly:
    """Base of formats that are read only."""

    name: str
    title: str
    can_read = True
    can_write = False
    carries = Carries()
    carries_people = False

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def write(self, files: Iterable[tuple[SourceFile, Iterable[ExportDocument]]], out: Path) -> NoReturn:  # noqa: ARG002
        raise UserError(
            tr("{title} cannot be written: `curator formats` lists the formats that Curator writes", title=self.title)
        )


def action_for(gold: ExportMention, document: str, problems: list[Problem]) -> Action:
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
    problems.append(
        LeftOut(
            0,
            "note",
            tr(
                'document {document}: "{text}" is {state} and was left out',
                document=document,
                text=gold.mention.text,
                state=state,
            ),
            mentions=(gold.mention.id,),
        )
    )
    return Action.DROP


def left_out(gold: ExportMention, text: str) -> LeftOut:
    """The report about a mention that the format cannot represent."""
    return LeftOut(0, "set aside", text, mentions=(gold.mention.id,))


def is_gold(gold: ExportMention) -> bool:
    """Whether the decision is a link or NIL."""
    return gold.decision is not None and gold.decision.verdict.outcome in (Outcome.LINK, Outcome.NIL)


def entity_ids(gold: ExportMention) -> tuple[str, ...]:
    """The decision's entities, empty for NIL."""
    return gold.decision.verdict.entity_ids if gold.decision is not None else ()


def write_streams(
    files: Iterable[WrittenSource],
    out: Path,
    pieces: Callable[[Sequence[WrittenSource]], Iterable[bytes]],
    *,
    format_name: str,
    suffix: str,
    endings: tuple[str, ...],
) -> list[Path]:
    """Write each source file to its target, or all of them to one: `pieces` gives a target's content from its sources.

    Documents are consumed as a stream. On a UserError nothing is changed.
    """
    chosen = list(files)
    names = [file for file, _ in chosen]
    targets = target_paths(out, names, format_name=format_name, suffix=suffix, endings=endings)
    sources = [chosen] if targets == [out] else [[one] for one in chosen]
    with AtomicFiles() as atomic:
        if targets != [out]:
            atomic.folder(out)
        for target, held in zip(targets, sources, strict=True):
            stream = atomic.open(target)
            for piece in pieces(held):
                stream.write(piece)
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
