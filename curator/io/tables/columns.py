"""The contents of a table's columns: recognised by headings, or given by a heading or a number."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from curator.domain.wording import UserError, ntr, tr
from curator.io.files.atomic import AtomicWriter
from curator.io.files.opening import unreadable
from curator.io.files.source import plain_text
from curator.services.ports.files import DOCUMENT_FIELDS, DocumentOptions, Problem

_OTHER = re.compile(r"[^a-z0-9]")


def key(heading: str) -> str:
    """Letters and digits only, in lower case."""
    return _OTHER.sub("", heading.lower())


def unread_note(headings: Iterable[str]) -> Iterator[Problem]:
    """A note that names these columns, which are not read; none without one."""
    if unread := sorted(headings):
        names = ", ".join(f"“{plain_text(one)[:80]}”" for one in unread)
        text = ntr("The column {names} is not read", "The columns {names} are not read", len(unread), names=names)
        yield Problem(0, "note", text)


def sniffed(headings: Sequence[str], meanings: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    """The likely column of each field: the earliest of `meanings` wins, and each column holds one field."""
    by_key: dict[str, str] = {}
    for one in headings:
        by_key.setdefault(key(one), one)
    found: dict[str, str] = {}
    for field, keys in meanings.items():
        match = next((by_key[name] for name in keys if name in by_key and by_key[name] not in found.values()), None)
        if match is not None:
            found[field] = match
    return found


def place(path: Path, headings: Sequence[str], wanted: str) -> int:
    """The index of a column by its heading or its number from 1. Raises UserError if it does not exist."""
    if wanted in headings:
        return list(headings).index(wanted)
    folded = [one.strip().casefold() for one in headings]
    if wanted.strip().casefold() in folded:
        return folded.index(wanted.strip().casefold())
    if wanted.isdecimal() and 1 <= int(wanted) <= len(headings):
        return int(wanted) - 1
    named = ", ".join(one for one in headings if one.strip())
    raise UserError(tr("{path} has no column {wanted!r}: choose one of {named}", path=path, wanted=wanted, named=named))


# The columns chosen for tables, stored in the user's file by headings, for later tables with the same headings.

MOST = 200


class ColumnMemory:
    """Reads the file on each call, since another window may have written it."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def recall(self, headings: Sequence[str]) -> DocumentOptions | None:
        """The last choice for these headings. Raises UnreadableError: with other columns, the same table would be read
        as other documents."""
        found = next((one for one in reversed(self._entries()) if one.get("headings") == list(headings)), None)
        columns = found.get("columns") if found else None
        if not isinstance(columns, dict):
            return None
        chosen = {str(key): str(one) for key, one in columns.items() if key in DOCUMENT_FIELDS}
        return DocumentOptions(chosen, str(found.get("sheet", "")) if found else "")

    def remember(self, headings: Sequence[str], options: DocumentOptions) -> None:
        """Store a choice. Raises UserError if the file cannot be read or written."""
        kept = [one for one in self._entries() if one.get("headings") != list(headings)]
        kept.append({"headings": list(headings), "columns": dict(options.columns), "sheet": options.sheet})
        with suppress(OSError):  # writing it raises the error
            self._path.parent.mkdir(parents=True, exist_ok=True)
        data = json.dumps(kept[-MOST:], ensure_ascii=False, indent=1)
        AtomicWriter().write({self._path: data.encode("utf-8", "replace")})

    @property
    def is_empty(self) -> bool:
        try:
            return not self._path.is_file()
        except OSError:  # reading it says why
            return False

    def _entries(self) -> list[dict[str, Any]]:
        """The stored choices; none if the file is missing or invalid. Raises UnreadableError."""
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except (FileNotFoundError, ValueError, RecursionError):
            return []
        except OSError as error:
            raise unreadable(self._path, error) from error
        return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []
