"""Which sources stand behind paths: a file, a collection that a format reads whole, or the files of a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Protocol

from curator.domain.errors import UserError
from curator.domain.wording import ntr, tr
from curator.services.ports import DocumentFormat

SHOWN = 3
LOOKED_AT = 200
"""Files of a folder that are looked at, evenly spread, for whether they are all of one format."""


@dataclass(frozen=True, slots=True)
class Left:
    """Files of a folder or archive that are no documents."""

    path: Path
    names: tuple[str, ...]

    @property
    def words(self) -> str:
        names = ", ".join(self.names[:SHOWN]) + (", …" if len(self.names) > SHOWN else "")
        return ntr(
            "{n:,} file in it is of no format that can be read, and was left out: {names}",
            "{n:,} files in it are of no format that can be read, and were left out: {names}",
            len(self.names),
            names=names,
        )


class Recogniser(Protocol):
    """What is asked of the formats here."""

    def recognise(self, path: Path) -> DocumentFormat: ...

    def files_in(self, path: Path) -> Sequence[Path]: ...


@dataclass(frozen=True, slots=True)
class Sources:
    """`paths` are read one by one, each as one source; `left` says what of folders is not."""

    paths: tuple[Path, ...] = ()
    left: tuple[Left, ...] = ()


def sources_of(paths: Sequence[Path], formats: Recogniser) -> Sources:
    """Each path as it is where a format reads it, else the files in it. Raises UserError where there is none."""
    found: list[Path] = []
    left: list[Left] = []
    for path in paths:
        one = sources_in(path, formats)
        found += one.paths
        left += one.left
    return Sources(tuple(dict.fromkeys(found)), tuple(left))


def sources_in(path: Path, formats: Recogniser) -> Sources:
    """Of one path. Raises UserError."""
    try:
        form = formats.recognise(path)
    except UserError as error:
        inside = formats.files_in(path)
        if not inside:
            raise
        return _readable(path, inside, formats, error)
    if path.is_dir() and _holds_others(path, form.name, formats):
        return _of_children(path, formats)
    return Sources((path,))


def has_source(path: Path, formats: Recogniser) -> bool:
    """Whether `sources_in` would find any; as soon as there is one, the other files of a folder are not looked at."""
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


def _holds_others(folder: Path, name: str, formats: Recogniser) -> bool:
    """Whether a folder that a format reads whole has files of other formats too, which it would not see."""
    inside = formats.files_in(folder)
    for one in inside[:: max(len(inside) // LOOKED_AT, 1)]:
        try:
            found = formats.recognise(one)
        except UserError:
            continue
        if found.name != name and not getattr(found, "by_exclusion", False):
            return True
    return False


def _of_children(folder: Path, formats: Recogniser) -> Sources:
    """What is in a mixed folder, one by one: its folders as they are, its files each for itself."""
    found: list[Sources] = []
    left: list[Path] = []
    for child in sorted(one for one in folder.iterdir() if not one.name.startswith(".")):
        try:
            found.append(sources_in(child, formats))
        except UserError:
            left.append(child)
    names = tuple(one.name for one in left)
    paths = tuple(path for one in found for path in one.paths)
    return Sources(paths, (*(words for one in found for words in one.left), *([Left(folder, names)] if names else [])))


def _readable(path: Path, inside: Sequence[Path], formats: Recogniser, error: UserError) -> Sources:
    """The files that a format recognises. Files without any mark of a format count only where nothing else is: a README
    beside a corpus is no document."""
    found: list[Path] = []
    unmarked: list[Path] = []
    left: list[Path] = []
    for one in inside:
        try:
            form = formats.recognise(one)
        except UserError:
            left.append(one)
        else:
            (unmarked if getattr(form, "by_exclusion", False) else found).append(one)
    if found:
        left += unmarked
    elif unmarked:
        found = unmarked
    else:
        raise error
    names = tuple(one.relative_to(path).as_posix() for one in sorted(left))
    return Sources(tuple(found), (Left(path, names),) if names else ())


def sources_words(path: Path, sources: Sources, formats: Recogniser) -> str:
    """As what a path is recognised: `PubTator`, or `PubTator, 500 files`."""
    titles = list(dict.fromkeys(formats.recognise(one).title for one in sources.paths[:50]))
    title = ", ".join(titles)
    if sources.paths == (path,):
        return title
    return tr(
        "{title}, {files}",
        title=title,
        files=ntr("{n:,} file", "{n:,} files", len(sources.paths)),
    )
