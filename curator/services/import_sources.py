"""Which sources stand behind paths: a file, a collection that a format reads whole, or the files of a folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from curator.domain.errors import UserError
from curator.domain.wording import ntr, tr
from curator.services.ports import FormatRegistry

SHOWN = 3


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


@dataclass(frozen=True, slots=True)
class Sources:
    """`paths` are read one by one, each as one source; `left` says what of folders is not."""

    paths: tuple[Path, ...] = ()
    left: tuple[Left, ...] = ()


def sources_of(paths: Sequence[Path], formats: FormatRegistry) -> Sources:
    """Each path as it is where a format reads it, else the files in it. Raises UserError where there is none."""
    found: list[Path] = []
    left: list[Left] = []
    for path in paths:
        one = sources_in(path, formats)
        found += one.paths
        left += one.left
    return Sources(tuple(dict.fromkeys(found)), tuple(left))


def sources_in(path: Path, formats: FormatRegistry) -> Sources:
    """Of one path. Raises UserError."""
    try:
        formats.recognise(path)
    except UserError as error:
        inside = formats.files_in(path)
        if not inside:
            raise
        return _readable(path, inside, formats, error)
    return Sources((path,))


def _readable(path: Path, inside: Sequence[Path], formats: FormatRegistry, error: UserError) -> Sources:
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


def sources_words(path: Path, sources: Sources, formats: FormatRegistry) -> str:
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
