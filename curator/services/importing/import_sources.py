"""The sources at paths: a file, a collection that a format reads as a whole, or the files of a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from threading import Event
from typing import Any, Protocol

from curator.domain.wording import CancelledError, UnknownFormatError, UnreadableError, UserError, ntr, tr
from curator.services.importing.import_report import FileProblem
from curator.services.ports.files import DocumentFormat, FormatRegistry, Problem

SHOWN = 3
MOST_LISTED = 1000
"""Files that are left out and listed one by one; the others are counted."""


@dataclass(frozen=True, slots=True)
class Left:
    """Files of a folder or archive that are not documents, each with the reason."""

    path: Path
    reasons: Mapping[str, str]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self.reasons)

    @property
    def words(self) -> str:
        some = [f"{name} ({reason})" for name, reason in [*self.reasons.items()][:SHOWN]]
        names = ", ".join(some) + (", …" if len(self.reasons) > SHOWN else "")
        return ntr(
            "{n:,} file in it was left out: {names}",
            "{n:,} files in it were left out: {names}",
            len(self.reasons),
            names=names,
        )

    def problems(self) -> Iterator[FileProblem]:
        """One for each file."""
        for name, reason in [*self.reasons.items()][:MOST_LISTED]:
            yield FileProblem(str(self.path / name), Problem(0, "set aside", tr("left out: {reason}", reason=reason)))
        if (more := len(self.reasons) - MOST_LISTED) > 0:
            words = ntr("{n:,} more file was left out", "{n:,} more files were left out", more)
            yield FileProblem(str(self.path), Problem(0, "set aside", words))


class Recogniser(Protocol):
    """The interface of the formats that is used here."""

    def recognise(self, path: Path) -> DocumentFormat: ...

    def files_in(self, path: Path) -> Sequence[Path]: ...

    def unread_in(self, path: Path, form: DocumentFormat) -> Sequence[Path]: ...

    def never_read(self, path: Path) -> Mapping[Path, str]: ...


@dataclass(frozen=True, slots=True)
class Sources:
    """`paths` are read one by one, each as one source; `left` lists files in folders that are not read."""

    paths: tuple[Path, ...] = ()
    left: tuple[Left, ...] = ()


def sources_of(paths: Sequence[Path], formats: Recogniser) -> Sources:
    """Each path itself if a format reads it, else the files in it. Raises UserError if there are none."""
    found: list[Path] = []
    left: list[Left] = []
    for path in paths:
        one = sources_in(path, formats)
        found += one.paths
        left += one.left
    return Sources(tuple(dict.fromkeys(found)), tuple(left))


def sources_in(path: Path, formats: Recogniser) -> Sources:
    """The sources of one path. Raises UserError."""
    found = _sources_in(path, formats)
    folders = dict.fromkeys((path, *found.paths))
    never = {one: reason for folder in folders for one, reason in formats.never_read(folder).items()}
    if not never:
        return found
    left = Left(path, {one.relative_to(path).as_posix(): reason for one, reason in never.items()})
    return replace(found, left=(*found.left, left))


def _sources_in(path: Path, formats: Recogniser) -> Sources:
    try:
        form = formats.recognise(path)
    except UserError as error:
        if isinstance(error, UnreadableError) and not isinstance(error.__cause__, PermissionError):
            raise  # it may be another format than its single files
        inside = formats.files_in(path)
        if not inside:
            raise
        found = _Sorted.of(inside, formats).sources(path)
        if not found.paths:
            raise error from None
        return found
    unread = formats.unread_in(path, form)
    others = _Sorted.of(unread, formats)
    by_exclusion = getattr(form, "by_exclusion", False)
    if not others.marked:
        if by_exclusion:
            others.refuse_unread()
        # the reader of a folder of plain texts reports other files itself
        return (replace(others, unmarked=()) if by_exclusion else others).sources(path, whole=True)
    if by_exclusion:  # a README next to a corpus is not a document
        return _Sorted.of(formats.files_in(path), formats).sources(path)
    if path.is_dir() and not _reads_here(path, formats, set(unread)):
        return _of_children(path, formats)
    return others.sources(path, whole=True)


def _is_of_disk(error: UserError) -> bool:
    """Whether the disk failed, which it may not do the next time. A link to a missing file is not one."""
    return isinstance(error, UnreadableError) and not isinstance(error.__cause__, PermissionError | FileNotFoundError)


def has_source(path: Path, formats: Recogniser) -> bool:
    """Whether `sources_in` would find any; the search stops at the first one."""
    return any(_is_recognised(one, formats) for one in chain((path,), _files_in(path, formats)))


def _files_in(path: Path, formats: Recogniser) -> Iterator[Path]:
    with suppress(UserError):
        yield from formats.files_in(path)


def _is_recognised(path: Path, formats: Recogniser) -> bool:
    try:
        formats.recognise(path)
    except UserError:
        return False
    return True


def _reads_here(folder: Path, formats: Recogniser, unread: set[Path]) -> bool:
    """Whether a format that reads a whole folder reads files in the folder itself, not only in its subfolders."""
    return any(one.parent == folder and one not in unread for one in formats.files_in(folder))


def _of_children(folder: Path, formats: Recogniser) -> Sources:
    """The contents of a mixed folder: its folders as a whole, its files one by one."""
    inside = formats.files_in(folder)  # without links that lead out of the folder
    here = [one for one in inside if one.parent == folder]
    files = _Sorted.of(here, formats).sources(folder, mixed=True)
    paths, left = [*files.paths], [*files.left]
    for child in sorted({folder / one.relative_to(folder).parts[0] for one in inside} - {*here}):
        try:
            found = _sources_in(child, formats)
        except UserError as error:
            left.append(Left(folder, {child.name: _reason(child, error)}))
        else:
            paths += found.paths
            left += found.left
    return Sources(tuple(sorted(paths)), tuple(left))


@dataclass(frozen=True, slots=True)
class _Sorted:
    """Files of a folder or archive: recognised ones, ones without marks of a format, and the reasons for leaving out
    others; `failed` is the error of one that the disk did not give."""

    marked: tuple[Path, ...]
    unmarked: tuple[Path, ...]
    reasons: Mapping[Path, str]
    failed: UserError | None = None

    @classmethod
    def of(cls, paths: Iterable[Path], formats: Recogniser) -> _Sorted:
        marked: list[Path] = []
        unmarked: list[Path] = []
        reasons: dict[Path, str] = {}
        failed: UserError | None = None
        for one in paths:
            try:
                form = formats.recognise(one)
            except UserError as error:
                reasons[one] = _reason(one, error)
                failed = error if _is_of_disk(error) else failed
                continue
            (unmarked if form.by_exclusion else marked).append(form.main_file(one))
        return cls(tuple(dict.fromkeys(marked)), tuple(dict.fromkeys(unmarked)), reasons, failed)

    def refuse_unread(self) -> None:
        """Raises UnreadableError if the disk did not give a file: it may be the only one with marks of a format, next
        to which plain texts are no documents."""
        if self.failed is not None:
            raise self.failed

    def sources(self, path: Path, *, whole: bool = False, mixed: bool = False) -> Sources:
        """The sources. `whole`: a format reads the folder or archive itself; `mixed`: there are documents in its
        folders. Files without any mark of a format are used only if there are no others."""
        alone = not (self.marked or whole or mixed)
        if alone and self.unmarked:
            self.refuse_unread()
        found = self.unmarked if alone else self.marked
        unmarked = () if alone else self.unmarked
        reasons = dict(self.reasons) | dict.fromkeys(unmarked, tr("plain text next to documents in another format"))
        named = {one.relative_to(path).as_posix(): reasons[one] for one in sorted(reasons)}
        return Sources(((path,) if whole else ()) + found, (Left(path, named),) if named else ())


def _reason(path: Path, error: UserError) -> str:
    """Why a file is left out, without its path."""
    if isinstance(error, UnknownFormatError):
        return tr("not in a readable format")
    return str(error).removeprefix(f"{path} ").removeprefix(f"{path}: ")


# Recognising sources, one path at a time, with a counter and a way to stop from another thread.

Counted = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Recognised:
    """The sources at a path, each with the title of its format, and the files left out; or `problem`, the reason why
    there are none."""

    path: Path
    sources: tuple[tuple[Path, str], ...] = ()
    left: tuple[Left, ...] = ()
    problem: str = ""


class FileRecogniser:
    """Asks `formats` once for each file. `count` gets the number of files checked, in the caller's thread; after `stop`
    is set, the next call raises CancelledError."""

    def __init__(self, formats: Recogniser, *, count: Counted | None = None, stop: Event | None = None) -> None:
        self._formats = formats
        self._count = count
        self._stop = stop or Event()
        self._known: dict[Path, DocumentFormat | UserError] = {}

    def recognise(self, path: Path) -> DocumentFormat:
        """The format of a file. Raises UserError like the formats."""
        if self._stop.is_set():
            raise CancelledError
        if path not in self._known:
            self._known[path] = self._ask(path)
            if self._count is not None:
                self._count(len(self._known))
        found = self._known[path]
        if isinstance(found, UserError):
            raise found
        return found

    def files_in(self, path: Path) -> Sequence[Path]:
        return self._formats.files_in(path)

    def unread_in(self, path: Path, form: DocumentFormat) -> Sequence[Path]:
        return self._formats.unread_in(path, form)

    def never_read(self, path: Path) -> Mapping[Path, str]:
        return self._formats.never_read(path)

    def look(self, path: Path) -> Recognised:
        try:
            found = sources_in(path, self)
            titled = tuple((one, self.recognise(one).title) for one in found.paths)
        except UserError as error:
            return Recognised(path, problem=str(error))
        return Recognised(path, titled, found.left)

    def _ask(self, path: Path) -> DocumentFormat | UserError:
        try:
            return self._formats.recognise(path)
        except UserError as error:
            return error


def look(
    paths: Sequence[Path], formats: Recogniser, *, count: Counted | None = None, stop: Event | None = None
) -> tuple[Recognised, ...]:
    """The sources of each path. Raises CancelledError once `stop` is set."""
    looker = FileRecogniser(formats, count=count, stop=stop)
    return tuple(looker.look(one) for one in paths)


# What each registered format can represent, for `curator formats` and the manual's table.

COLUMNS = {
    "mentions": "Mentions",
    "discontinuous": "Discontinuous",
    "several_ids": "Several identifiers",
    "nil": "NIL",
    "relations": "Relations",
    "attributes": "Attributes",
    "own_fields": "Fields of its own",
    "people": "Who and when",
}
"""What a format can represent -> the heading of its column."""


@dataclass(frozen=True, slots=True)
class FormatFacts:
    """One document format. `carries` has a value for each of `COLUMNS`; `people`: whether curators' data are
    written."""

    name: str
    title: str
    read: bool
    written: bool
    carries: dict[str, bool]

    def as_json(self) -> dict[str, Any]:
        return {"name": self.name, "title": self.title, "in": self.read, "out": self.written, **self.carries}


def document_formats(registry: FormatRegistry) -> list[FormatFacts]:
    """Formats by title, those that can be read and written first."""
    facts = [_facts(one) for one in registry.formats()]
    return sorted(facts, key=lambda one: (not (one.read and one.written), not one.read, one.title.lower()))


def _facts(form: DocumentFormat) -> FormatFacts:
    told = asdict(form.carries) | {"people": form.can_write and form.carries_people}
    carries = {name: bool(told[name]) for name in COLUMNS}
    return FormatFacts(form.name, form.title, form.can_read, form.can_write, carries)


def left_behind(source: DocumentFormat, wanted: DocumentFormat) -> bool:
    """Whether relations or special fields of one format's files cannot be written in the other."""
    return (
        source.name != wanted.name
        and source.name not in wanted.carries.takes_from
        and (source.carries.relations or source.carries.own_fields)
    )
