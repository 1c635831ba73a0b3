"""The one error of this package that is meant for a human reader."""

from __future__ import annotations

from typing import Protocol


class ModelError(Exception):
    """The input or the environment is at fault; the message says what, where, and what to do next.

    Anything else that escapes from this package is a defect of the package.
    """


# What this package and `training` say to a reader: whole sentences in English, translated by whoever runs them.
#
# The processes that the window starts put its own translation here (`use`); everybody else reads English. Records,
# which outlive the run (manifests, checkpoints, logs, reports), stay English: `english` gives a sentence's own words.


class One(Protocol):
    """Translates a template and fills its {names}."""

    def __call__(self, text: str, /, **values: object) -> str: ...


class Counted(Protocol):
    """The same for a template in two numbers, which may name {n}."""

    def __call__(self, one: str, many: str, n: int, /, **values: object) -> str: ...


class Said(str):
    """A sentence as it is shown; `english` holds the words it has in the source."""

    __slots__ = ("english",)
    english: str

    def __new__(cls, shown: str, own: str = "") -> Said:
        made = super().__new__(cls, shown)
        made.english = own
        return made


def english(text: str) -> str:
    """The English of a sentence, for what is kept; any other text as it is."""
    return text.english if isinstance(text, Said) else text


def use(one: One | None = None, counted: Counted | None = None) -> None:
    """Let every later `say` and `nsay` of this process be translated by these; without them it is English again."""
    global _one, _counted
    _one, _counted = one or _plain_one, counted or _plain_counted


def say(text: str, /, **values: object) -> str:
    """`text`, its {names} filled with `values`, in the reader's language."""
    shown = _one(text, **values)
    return Said(shown, _plain_one(text, **_english_of(values)))


def nsay(one: str, many: str, n: int, /, **values: object) -> str:
    """The form for `n`, which the templates may name {n}."""
    shown = _counted(one, many, n, **values)
    return Said(shown, _plain_counted(one, many, n, **_english_of(values)))


def _english_of(values: dict[str, object]) -> dict[str, object]:
    return {name: english(value) if isinstance(value, str) else value for name, value in values.items()}


def _plain_one(text: str, /, **values: object) -> str:
    return text.format(**values) if values else text


def _plain_counted(one: str, many: str, n: int, /, **values: object) -> str:
    return (one if n == 1 else many).format(n=n, **values)


_one: One = _plain_one
_counted: Counted = _plain_counted
"""Of the process, as with gettext: sentences are made at every depth, and one process speaks one language."""
