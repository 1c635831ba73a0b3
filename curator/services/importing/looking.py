"""Recognising what is to be imported, a path at a time, counted and stopped from another thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from curator.domain.errors import CancelledError, UserError
from curator.services.importing.import_sources import Left, Recogniser, sources_in
from curator.services.ports import DocumentFormat

Counted = Callable[[int], None]


@dataclass(frozen=True, slots=True)
class Recognised:
    """The sources behind a path, each with the title of its format, and what of it is left out; or `problem`, a
    sentence that says why there are none."""

    path: Path
    sources: tuple[tuple[Path, str], ...] = ()
    left: tuple[Left, ...] = ()
    problem: str = ""


class FileRecogniser:
    """Asks `formats` once for each file. `count` hears how many files were looked at, in the thread of who asks; once
    `stop` is set, the next question raises CancelledError."""

    def __init__(self, formats: Recogniser, *, count: Counted | None = None, stop: Event | None = None) -> None:
        self._formats = formats
        self._count = count
        self._stop = stop or Event()
        self._known: dict[Path, DocumentFormat | UserError] = {}

    def recognise(self, path: Path) -> DocumentFormat:
        """Raises UserError as the formats do."""
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
    """Of each path. Raises CancelledError once `stop` is set."""
    looker = FileRecogniser(formats, count=count, stop=stop)
    return tuple(looker.look(one) for one in paths)
