"""Translation of sentences: English in the source, translated where they are shown.

`tr` and `ntr` are called when a sentence is shown, never while a module is imported, so that the language can be
chosen after the modules are loaded. Data that stays English inside (commands, settings) is translated by the view that
shows it.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources
from importlib.resources.abc import Traversable

Key = tuple[str, str]
"""(singular, plural); plural is '' for a sentence without a number."""


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Translations of one language; `plural(n)` says which of the forms a number takes."""

    language: str = "en"
    texts: Mapping[Key, tuple[str, ...]] = field(default_factory=dict)
    plural: Callable[[int], int] = lambda n: int(n != 1)

    def find(self, key: Key, n: int = 1) -> str | None:
        """The translated template, None where there is none."""
        forms = self.texts.get(key, ())
        at = self.plural(n) if key[1] else 0
        return forms[at] or None if at < len(forms) else None


ENGLISH = Catalogue()
_now = ENGLISH
"""Of the process, as with gettext: sentences are made in every layer, and one process speaks one language."""


def use(catalogue: Catalogue) -> None:
    """Let every later `tr` and `ntr` of this process speak this language."""
    global _now
    _now = catalogue


def language() -> str:
    """The language that is spoken now, as a code: en, de."""
    return _now.language


def tr(text: str, /, **values: object) -> str:
    """`text` in the user's language, its {names} filled with `values`; as it is where nobody translated it."""
    template = _now.find((text, "")) if text else ""
    found = template if template is not None else text
    return found.format(**values) if values else found


def ntr(one: str, many: str, n: int, /, **values: object) -> str:
    """The form for `n`, which the templates may name {n}."""
    found = _now.find((one, many), n)
    if found is None:
        found = one if n == 1 else many
    return found.format(n=n, **values)


# The catalogues of `resources/locale`: which languages there are beside English, and their sentences.

ENTRY = re.compile(r'^(msgid|msgid_plural|msgstr(?:\[\d+\])?) "(.*)"$|^"(.*)"$')
ESCAPES = {r"\n": "\n", r"\"": '"', r"\\": "\\", r"\t": "\t"}
PLURAL_FORMS = re.compile(r"plural=([^;\n]+);")


def languages() -> list[str]:
    """Codes of the languages there are beside English."""
    return sorted(one.name.removesuffix(".po") for one in _folder().iterdir() if one.name.endswith(".po"))


def catalogue(code: str) -> Catalogue:
    """The translations of a language; English has none, nor a language that there is no file for."""
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


# Errors that are the user's or the environment's; everything else is a bug and keeps its traceback.


class UserError(Exception):
    """A clear sentence: what happened, where (file, line), and what to do next.

    The command line prints it and exits with 2; the window shows it without a traceback.
    """


class UnknownFormatError(UserError):
    """No format knows the file's content."""


class ProjectLockedError(UserError):
    """Another process holds the project's write lock; the message names its process and host."""


class NewerProjectError(UserError):
    """The project was written by a newer version of the program and is left untouched."""


class LinkerUnavailableError(UserError):
    """The linker process is not there (being started, died, or no bundle has been built yet)."""


class InconsistentDataError(Exception):
    """A step contradicts what is stored: an id that does not exist, a second row of one key, a change of the history.

    A bug of the program, not of the user: it keeps its traceback. Nothing of the step was stored.
    """


class CancelledError(Exception):
    """The user cancelled; its own type, shown to nobody."""
