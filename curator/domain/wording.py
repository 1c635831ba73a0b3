"""Translation of sentences: English in the source, translated where they are shown. Also cells of tables, and errors.

`tr` and `ntr` are called when a sentence is shown, never while a module is imported, so that the language can be chosen
after the modules are loaded. Data with English text (commands, settings) is translated by the view that shows it.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from importlib import resources
from importlib.resources.abc import Traversable
from string import Formatter
from typing import Any

Key = tuple[str, str]
"""(singular, plural); plural is '' for a sentence without a number."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Translations of one language; `plural(n)` is the index of the form for a number."""

    language: str = "en"
    texts: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    plural: Callable[[int], int] = lambda n: int(n != 1)

    def find(self, key: Key, n: int = 1) -> str | None:
        """The translated template, None if there is none."""
        forms = self.texts.get(key, ())
        at = self.plural(n) if key[1] else 0
        return forms[at] or None if at < len(forms) else None


ENGLISH = Catalogue()
_now = ENGLISH
"""Global to the process, as in gettext: sentences are made in every layer, and one process has one language."""


def use(catalogue: Catalogue) -> None:
    """Set the language of every later `tr` and `ntr` in this process."""
    global _now
    _now = catalogue


def language() -> str:
    """The code of the current language, such as en or de."""
    return _now.language


def tr(text: str, /, **values: object) -> str:
    """`text` in the user's language, its {names} filled with `values`; unchanged if there is no translation."""
    template = _now.find((text, "")) if text else ""
    found = template if template is not None else text
    return well_formed(_filled(found, values)) if values else found


def ntr(one: str, many: str, n: int, /, **values: object) -> str:
    """The singular or plural for `n`; the templates may contain {n}."""
    found = _now.find((one, many), n)
    if found is None:
        found = one if n == 1 else many
    return well_formed(_filled(found, {"n": n, **values}))


# Numbers and dates in the format of the current language: 1,000 and 24 Nov 2026, or 1.000 and 24.11.2026.

_SWAPPED = str.maketrans(",.", ".,")
_COMMA = frozenset({"de"})
"""Languages with a comma before decimals and points between thousands."""
_DATES = {"%d %b %Y": "%d.%m.%Y", "%d %b": "%d.%m."}
"""The date format of these languages for each English format."""


def localised(value: float | date, spec: str) -> str:
    """`format(value, spec)` in the language's format, for display; files and JSON use plain `format`. A date's `spec`
    has the English order, as in "%d %b %Y, %H:%M"."""
    if language() not in _COMMA:
        return format(value, spec)
    if isinstance(value, date):
        for english, own in _DATES.items():
            spec = spec.replace(english, own)
        return format(value, spec)
    return format(value, spec).translate(_SWAPPED)


def percent(share: float | None, digits: int = 1) -> str:
    """A share from 0 to 1 in percent, for display; a dash without a value."""
    return "–" if share is None else f"{localised(100 * share, f'.{digits}f')} %"


class _Filling(Formatter):
    """Fills in numbers with a format, such as {n:,}, in the language's format."""

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec and isinstance(value, int | float | date):
            return localised(value, format_spec)
        return str(super().format_field(value, format_spec))


_FILLING = _Filling()


def _filled(template: str, values: Mapping[str, object]) -> str:
    return _FILLING.vformat(template, (), values) if language() in _COMMA else template.format(**values)


UNPAIRED = re.compile(r"[\ud800-\udfff]")
"""Half a character, as JSON escapes allow it: neither UTF-8 files nor databases hold it."""


def well_formed(text: str) -> str:
    """`text` as it can be stored, printed and shown. A byte of a file name that is not UTF-8, which Python reads as
    half a character, appears as `\\xff`."""
    return text if text.isascii() else UNPAIRED.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code - 0xDC00:02x}" if 0xDC80 <= code <= 0xDCFF else f"\\u{code:04x}"


# The catalogues of `resources/locale`: the languages other than English, and their sentences.

ENTRY = re.compile(r'^(msgid|msgid_plural|msgstr(?:\[\d+\])?) "(.*)"$|^"(.*)"$')
ESCAPES = {r"\n": "\n", r"\"": '"', r"\\": "\\", r"\t": "\t"}
PLURAL_FORMS = re.compile(r"plural=([^;\n]+);")


def languages() -> list[str]:
    """Codes of the languages other than English."""
    return sorted(one.name.removesuffix(".po") for one in _folder().iterdir() if one.name.endswith(".po"))


def catalogue(code: str) -> Catalogue:
    """The translations of a language; empty for English and for a language without a file."""
    if code not in languages():
        return ENGLISH
    texts = dict(read_po((_folder() / f"{code}.po").read_text(encoding="utf-8")))
    head = texts.pop(("", ""), ("",))[0]
    rule = PLURAL_FORMS.search(head)
    plural = gettext.c2py(rule[1]) if rule is not None else ENGLISH.plural
    return Catalogue(code, texts, plural)


def _folder() -> Traversable:
    return resources.files("resources") / "locale"


def read_po(text: str) -> Iterator[tuple[Key, tuple[str, ...]]]:
    """The entries of a .po file that have a translation; comments, contexts and fuzzy marks are not used here."""
    for block in re.split(r"\n\s*\n", text):
        parts: dict[str, str] = {}
        name = ""
        for line in block.splitlines():
            found = ENTRY.match(line)
            if found is None:
                continue
            name = found[1] or name
            parts[name] = parts.get(name, "") + _plain(found[2] if found[1] else found[3])
        if "msgid" in parts:
            forms = tuple(parts[one] for one in sorted(parts) if one.startswith("msgstr"))
            yield (parts["msgid"], parts.get("msgid_plural", "")), forms


def _plain(text: str) -> str:
    return re.sub(r"\\[n\"\\t]", lambda found: ESCAPES[found[0]], text)


# Errors of the user or the environment; everything else is a bug and keeps its traceback.


class UserError(Exception):
    """A clear sentence: what happened, where (file, line), and what to do next.

    The command line prints it and exits with 2; the window shows it without a traceback.
    """


class AwayError(UserError):
    """The server of a shared project does not answer: nothing of a step was saved there, or this is not known."""


class UnableError(AwayError):
    """The server answers, but cannot save any step at the moment: its disk is full, for example."""


class UnknownFormatError(UserError):
    """No format knows the file's content."""


class UnreadableError(UserError):
    """The disk did not give a file. Its content is not known: it is neither set aside nor taken for another format."""


class UnwritableProjectError(UserError):
    """The project cannot be opened for writing: no permission, a full or read-only disk, no locks, a link in it. It can
    be opened read-only."""


class ProjectLockedError(UnwritableProjectError):
    """Another process holds the project's write lock; the message names its process and host."""


class NewerProjectError(UserError):
    """The project was written by a newer version of the program and is left untouched."""


class DamagedProjectError(UserError):
    """The project's database is missing, cannot be read or was changed; a backup may have its data."""


class MissingStepsError(DamagedProjectError):
    """The database is intact but lacks steps that were saved; it can be used without them."""


class DamagedTextError(UserError):
    """A document's text is not the one that was imported; the other documents can be used."""


class LinkerUnavailableError(UserError):
    """The linker process is not available (it is starting, it died, or no bundle has been built yet)."""


class InconsistentDataError(Exception):
    """A step contradicts what is stored: an id that does not exist, a duplicate key, a change of the history.

    A bug of the program, not of the user: it keeps its traceback. Nothing of the step was stored.
    """


class CancelledError(Exception):
    """The user cancelled; it has its own type and is not shown."""


class ProjectClosedError(RuntimeError):
    """The project was closed: a bug, except in a thread whose result is no longer needed."""


# Cells of CSV and TSV files. Spreadsheets treat a cell that begins with = + - or @ as a formula, even in quotes, and a
# formula can open web pages and programs. Such a cell gets an apostrophe before it, which spreadsheets show as text.

_NUMBER = r"\s*(?:\d[\d.,]*|[.,]\d+)(?:[eE][+-]?\d+)?\s*%?"
_FORMULA = re.compile(rf"'+[=@＝＠+＋\-－\t\r\n]|[=@＝＠\t\r\n]|[+＋\-－](?!$|{_NUMBER}$)")
"""It also matches a cell that already looks guarded, since its author may have written the apostrophe."""


def guarded(cell: str) -> str:
    """The cell in a form that spreadsheets do not treat as a formula. Numbers and single signs do not change."""
    return f"'{cell}" if _FORMULA.match(cell) else cell


def unguarded(cell: str) -> str:
    """The input of `guarded`: the cell without the apostrophe before the beginning of a formula."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def guarded_row(values: Iterable[object]) -> list[object]:
    """A row for a `csv.writer`, with its texts guarded."""
    return [guarded(one) if isinstance(one, str) else one for one in values]
