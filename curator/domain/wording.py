"""What the user reads, in the user's language: English in the source, translated where it is shown.

`tr` and `ntr` are called when a sentence is shown, never while a module is imported, so that the language can be
chosen after the modules are loaded. Data that stays English inside (commands, settings) is translated by who shows it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

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
