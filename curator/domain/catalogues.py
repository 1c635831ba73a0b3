"""The catalogues of `resources/locale`: which languages there are beside English, and their sentences."""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterator
from importlib import resources
from importlib.resources.abc import Traversable

from curator.domain.wording import ENGLISH, Catalogue, Key

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
