"""The settings, with title, help, kind, range and default of each for the dialog."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from curator.domain.entity_pages import checked_pages
from curator.domain.suggestions import CandidateOrder, OpinionPlace, OpinionUse
from curator.domain.wording import UserError, tr

# The choices of settings, and the kinds of fields that show them.


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


T = TypeVar("T")
Choice = TypeVar("Choice", bound=StrEnum)
_NOT_SAVEABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and halves of characters, as JSON escapes allow them."""


def _option(title: str, words: str, kind: OptionKind, **more: Any) -> dict[str, Option]:
    return {"option": Option("", title, words, kind, **more)}


def _number(default: int, title: str, between: tuple[int, int], words: str, felt: str = "") -> int:
    about = _option(title, words, OptionKind.INTEGER, minimum=between[0], maximum=between[1], felt=felt)
    return field(default=default, metadata=about)


def _choice(default: Choice, title: str, words: str, felt: str = "") -> Choice:
    about = _option(title, words, OptionKind.CHOICE, choices=tuple(type(default)), felt=felt)
    return field(default=default, metadata=about)


def _text(title: str, words: str, kind: OptionKind = OptionKind.TEXT, felt: str = "") -> str:
    return field(default="", metadata=_option(title, words, kind, felt=felt))


def _table(kind: OptionKind, title: str, words: str) -> Mapping[str, Any]:
    return field(default_factory=dict, metadata=_option(title, words, kind))


NEXT_OPEN = "the next time the project is opened"
NEXT_START = "the next time Curator starts"
NEXT_INDEX = "the next time an index is built"


@dataclass(frozen=True, slots=True)
class Settings:
    """Each field has the value, and its description, as an `Option`, in the order of the dialog."""

    curator_name: str = _text(
        "Curator", "The name saved with each decision. Leave empty to use your name on this computer."
    )
    language: Language = _choice(
        Language.SYSTEM,
        "Language",
        "Language of the window. If there is no translation for the desktop's language, the window is in English.",
        felt=NEXT_START,
    )
    theme: ThemeChoice = _choice(ThemeChoice.SYSTEM, "Theme", "Colours of the window.")
    interface_size: int = _number(
        100,
        "Size of the interface",
        (70, 200),
        "Size of all text except the document's, in per cent of the desktop's usual size.",
    )
    font_size: int = _number(12, "Font size", (8, 32), "Size of the document's text, in points.")
    line_spacing: int = _number(
        150, "Line spacing", (110, 300), "Line spacing of the document's text, in per cent of the font size."
    )
    text_width: int = _number(
        72, "Text width", (40, 160), "The maximum number of characters in a line of the document's text."
    )
    snapping: Snapping = _choice(
        Snapping.WORDS,
        "Mouse selection",
        "Whether selecting and dragging snap to whole words or to characters. Hold Ctrl to do the other.",
    )
    candidates_shown: int = _number(10, "Candidates shown", (3, 64), "How many candidates the panel lists.")
    same_string: SameString = _choice(
        SameString.ONE,
        "Mentions of the same string",
        "What follows a decision: the next mention, or a list of the other undecided mentions of the same string, "
        "if there are any.",
    )
    candidate_order: CandidateOrder = _choice(
        CandidateOrder.RANKED,
        "Order of candidates",
        "Random order also hides the scores. Use it to evaluate the linker.",
    )
    enter_least: int = _number(
        20,
        "Enter asks again below",
        (0, 100),
        "If the first candidate is less probable than this many per cent, you have to press Enter twice to accept "
        "it. If NIL is suggested or more probable, you always have to.",
    )
    contrast_margin: int = _number(
        10,
        "Compare close candidates",
        (0, 100),
        "Compares the first two candidates automatically if the first leads by less than this many percentage "
        "points of probability; 0 turns this off.",
    )
    device: DeviceChoice = _choice(
        DeviceChoice.AUTO,
        "Device",
        "The device that the linker runs on. Automatic uses a GPU if one has enough free memory.",
        felt=NEXT_OPEN,
    )
    threads: int = _number(
        0, "Threads", (0, 256), "Processor threads of the linker; 0 leaves the number to the library.", felt=NEXT_OPEN
    )
    encoder_folder: str = _text(
        "Encoder folder",
        "The folder of a BERT-family encoder on this computer, or the name of one in the Hugging Face cache. Leave "
        "empty to use the encoder that comes with Curator.",
        kind=OptionKind.FOLDER,
        felt=NEXT_INDEX,
    )
    number_format: NumberFormat = _choice(
        NumberFormat.FP32,
        "Number format",
        "The number format in which names are encoded: fp32 is full precision, bf16 and fp16 are half precision. "
        "Automatic uses bf16 if the processor supports it natively.",
        felt=NEXT_INDEX,
    )
    index_kind: IndexChoice = _choice(
        IndexChoice.AUTO,
        "Kind of index",
        "How vectors are searched: flat compares all exactly, sq8 compares 8-bit codes, pq4 compares 4-bit codes, "
        "then 8-bit codes of the best. Automatic chooses by size, memory and device; the diagnostics show why.",
        felt=NEXT_INDEX,
    )
    lexical_list: LexicalChoice = _choice(
        LexicalChoice.CHARACTERS,
        "Lexical list",
        "How names are found by spelling: by their characters, also by whole words (tf-idf, the two lists combined "
        "by rank), or by whole words only (bm25, a baseline). The names found are always compared letter by letter."
        " When names were also compared by meaning, whole words found nothing more on BC5CDR.",
        felt=NEXT_INDEX,
    )
    link_ahead: int = _number(
        200,
        "Documents linked ahead",
        (0, 100000),
        "How many documents are linked before you reach them; 0 links only the open one.",
    )
    cache_folder: str = _text(
        "Cache folder",
        "Where embeddings are cached; the folder may be emptied at any time. Leave empty to use the default folder.",
        kind=OptionKind.FOLDER,
        felt=NEXT_OPEN,
    )
    backup_space: int = _number(
        2000,
        "Space for backups",
        (0, 1000000),
        "Megabytes that the backups of a project may take. The oldest go first; the newest always stays. 0 turns "
        "backups off.",
    )
    backup_folder: str = _text(
        "Backup folder",
        "Where backups of your projects are written. Leave empty to use the default folder. They are safest on "
        "another disk.",
        kind=OptionKind.FOLDER,
    )
    holdout_percent: int = _number(
        0,
        "Decided without suggestions",
        (0, 50),
        "Percentage of mentions whose suggestions are held back, to measure how much suggestions influence "
        "curators; 0 always shows them.",
    )
    ncbi_api_key: str = _text(
        "NCBI API key",
        "Allows Project › Fetch from PubMed ten requests a second instead of three. The key is sent only to NCBI "
        "and saved in the settings file on this computer, never in a project, log or export.",
        kind=OptionKind.SECRET,
    )
    page_opening: PageOpening = _choice(
        PageOpening.ASK,
        "Pages at the source",
        "What is done with the address when you want to see an entity's page at its source. The site learns which "
        "entity you look up.",
    )
    entity_pages: Mapping[str, str] = _table(
        OptionKind.PAGES,
        "Pages of entities",
        "A line for each prefix of identifiers: the prefix, a blank and an address with {id} where the identifier "
        "goes; * stands for identifiers without a prefix. A line that you delete gets its usual address back.",
    )
    opinion_use: OpinionUse = _choice(
        OpinionUse.OFF,
        "Second opinion",
        "Whether a language model is asked about mentions that the linker doubts. Its answer is shown next to the "
        "candidates and never decides anything.",
    )
    opinion_address: str = _text(
        "Address of the model",
        "Of a server on this computer with an OpenAI-compatible interface, such as the llama.cpp server, Ollama, "
        "vLLM or LM Studio. For example, that of Ollama is http://localhost:11434/v1 (see the manual).",
    )
    opinion_model: str = _text("Name of the model", "As the server calls it.")
    opinion_key: str = _text(
        "API key of the model",
        "Only if the server asks for one. It is sent only to that server and saved in the settings file on this "
        "computer.",
        kind=OptionKind.SECRET,
    )
    opinion_place: OpinionPlace = _choice(
        OpinionPlace.LOCAL,
        "Computers that may be asked",
        "Warning: on other computers, whoever runs the server can read the texts around your mentions. Leave this "
        "at “this computer only” if your documents are confidential.",
    )
    opinion_below: int = _number(
        80,
        "Doubtful below",
        (0, 100),
        "A mention is doubtful if the linker's answer is less probable than this many per cent.",
    )
    opinion_margin: int = _number(
        20,
        "Doubtful margin",
        (0, 100),
        "A mention is also doubtful if the first candidate leads by less than this many percentage points of "
        "probability; 0 turns this off.",
    )
    opinion_seconds: int = _number(
        30, "Time for an answer", (1, 600), "Seconds after which a request to the model is given up."
    )
    shortcuts: Mapping[str, tuple[str, ...]] = _table(
        OptionKind.KEYS, "Shortcuts", "Keys of commands that differ from the defaults. Edit › Shortcuts changes them."
    )


OPTIONS: tuple[Option, ...] = tuple(replace(one.metadata["option"], name=one.name) for one in fields(Settings))


def options() -> tuple[Option, ...]:
    """The options that the dialog, the manual's table and the validation derive from."""
    return OPTIONS


def default(name: str) -> Any:
    return getattr(Settings(), name)


def with_value(settings: Settings, name: str, value: Any) -> Settings:
    """A copy with one checked value. Raises UserError with the allowed values."""
    option = next((one for one in options() if one.name == name), None)
    if option is None:
        raise UserError(
            tr(
                "There is no setting {name!r}. There are: {names}.",
                name=name,
                names=", ".join(o.name for o in options()),
            )
        )
    return replace(settings, **{name: checked(option, value)})


def checked(option: Option, value: Any) -> Any:
    """The value in its type. Raises UserError with the setting and its allowed values."""
    if option.kind is OptionKind.INTEGER:
        if isinstance(value, int) and not isinstance(value, bool) and option.minimum <= value <= option.maximum:
            return value
        raise UserError(
            tr(
                "“{title}” must be a whole number from {minimum} to {maximum}, not {value!r}.",
                title=tr(option.title),
                minimum=option.minimum,
                maximum=option.maximum,
                value=value,
            )
        )
    if option.kind is OptionKind.CHOICE:
        if value in option.choices:
            return type(default(option.name))(value)
        raise UserError(
            tr(
                "“{title}” must be one of {choices}, not {value!r}.",
                title=tr(option.title),
                choices=", ".join(option.choices),
                value=value,
            )
        )
    if option.kind is OptionKind.KEYS:
        keys = _checked_keys(option, value)
        return _saveable(option, keys, *keys, *(one for several in keys.values() for one in several))
    if option.kind is OptionKind.PAGES and (pages := checked_pages(value)) is not None:
        return _saveable(option, pages, *pages, *pages.values())
    if isinstance(value, str):
        return _saveable(option, value, value)
    raise UserError(tr("“{title}” must be a text, not {value!r}.", title=tr(option.title), value=value))


def _saveable(option: Option, value: T, *texts: str) -> T:
    """The value, if files, databases and paths can hold its texts."""
    if not any(_NOT_SAVEABLE.search(one) for one in texts):
        return value
    raise UserError(tr("“{title}” must not contain control characters or invalid characters.", title=tr(option.title)))


def _checked_keys(option: Option, value: Any) -> Mapping[str, tuple[str, ...]]:
    """Command ids, each with its keys in Qt's portable text; no key at all is allowed."""
    if isinstance(value, Mapping) and all(
        isinstance(name, str) and isinstance(keys, list | tuple) and all(isinstance(one, str) for one in keys)
        for name, keys in value.items()
    ):
        return {name: tuple(keys) for name, keys in value.items()}
    raise UserError(
        tr("“{title}” must give each command a list of keys, not {value!r}.", title=tr(option.title), value=value)
    )
