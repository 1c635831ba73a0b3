"""The choices of settings, and the kinds of fields that show them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class ThemeChoice(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Language(StrEnum):
    SYSTEM = "system"
    ENGLISH = "en"
    GERMAN = "de"


class Snapping(StrEnum):
    WORDS = "words"
    CHARACTERS = "characters"


class DeviceChoice(StrEnum):
    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"


class IndexChoice(StrEnum):
    AUTO = "auto"
    FLAT = "flat"
    SQ8 = "sq8"
    PQ4 = "pq4"


class LexicalChoice(StrEnum):
    CHARACTERS = "characters"
    MERGED = "merged"
    BM25 = "bm25"


class NumberFormat(StrEnum):
    AUTO = "auto"
    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"


class SameString(StrEnum):
    ONE = "one"
    LIST = "list"


class PageOpening(StrEnum):
    ASK = "ask"
    OPEN = "open"
    COPY = "copy"


class OptionKind(StrEnum):
    TEXT = "text"
    INTEGER = "integer"
    CHOICE = "choice"
    FOLDER = "folder"
    SECRET = "secret"  # a text that is shown as dots  # noqa: S105
    PAGES = "pages"  # an address for each prefix of identifiers, one per line
    KEYS = "keys"  # changed in its own dialog


@dataclass(frozen=True, slots=True)
class Option:
    """The description of one setting. `felt` states when a change takes effect ('' at once)."""

    name: str
    title: str
    help: str
    kind: OptionKind
    minimum: int = 0
    maximum: int = 0
    choices: tuple[str, ...] = ()
    felt: str = ""
