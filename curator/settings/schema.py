"""The settings, with title, help, kind, range and default of each for the dialog."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
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


# The settings of second opinions, in the order in which dialogs show them.

OPINIONS = (
    Option(
        name="opinion_use",
        title="Second opinion",
        help=(
            "Whether a language model is asked about mentions that the linker doubts. Its answer is shown next to the "
            "candidates and never decides anything."
        ),
        kind=OptionKind.CHOICE,
        choices=tuple(OpinionUse),
    ),
    Option(
        name="opinion_address",
        title="Address of the model",
        help=(
            "Of a server on this computer with an OpenAI-compatible interface, such as the llama.cpp server, Ollama, "
            "vLLM or LM Studio. For example, that of Ollama is http://localhost:11434/v1 (see the manual)."
        ),
        kind=OptionKind.TEXT,
    ),
    Option(
        name="opinion_model",
        title="Name of the model",
        help="As the server calls it.",
        kind=OptionKind.TEXT,
    ),
    Option(
        name="opinion_key",
        title="API key of the model",
        help=(
            "Only if the server asks for one. It is sent only to that server and saved in the settings file on this "
            "computer."
        ),
        kind=OptionKind.SECRET,
    ),
    Option(
        name="opinion_place",
        title="Computers that may be asked",
        help=(
            "Warning: on other computers, whoever runs the server can read the texts around your mentions. Leave "
            "this at “this computer only” if your documents are confidential."
        ),
        kind=OptionKind.CHOICE,
        choices=tuple(OpinionPlace),
    ),
    Option(
        name="opinion_below",
        title="Doubtful below",
        help="A mention is doubtful if the linker's answer is less probable than this many per cent.",
        kind=OptionKind.INTEGER,
        maximum=100,
    ),
    Option(
        name="opinion_margin",
        title="Doubtful margin",
        help=(
            "A mention is also doubtful if the first candidate leads by less than this many percentage points of "
            "probability; 0 turns this off."
        ),
        kind=OptionKind.INTEGER,
        maximum=100,
    ),
    Option(
        name="opinion_seconds",
        title="Time for an answer",
        help="Seconds after which a request to the model is given up.",
        kind=OptionKind.INTEGER,
        minimum=1,
        maximum=600,
    ),
)


T = TypeVar("T")
_NOT_SAVEABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""Control characters, and halves of characters, as JSON escapes allow them."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Values; `options()` describes them in the order of the dialog."""

    curator_name: str = ""
    language: Language = Language.SYSTEM
    theme: ThemeChoice = ThemeChoice.SYSTEM
    interface_size: int = 100
    font_size: int = 12
    line_spacing: int = 150
    text_width: int = 72
    snapping: Snapping = Snapping.WORDS
    candidates_shown: int = 10
    same_string: SameString = SameString.ONE
    candidate_order: CandidateOrder = CandidateOrder.RANKED
    enter_least: int = 20
    contrast_margin: int = 10
    device: DeviceChoice = DeviceChoice.AUTO
    threads: int = 0
    encoder_folder: str = ""
    number_format: NumberFormat = NumberFormat.FP32
    index_kind: IndexChoice = IndexChoice.AUTO
    lexical_list: LexicalChoice = LexicalChoice.CHARACTERS
    link_ahead: int = 200
    cache_folder: str = ""
    backup_space: int = 2000
    backup_folder: str = ""
    holdout_percent: int = 0
    ncbi_api_key: str = ""
    page_opening: PageOpening = PageOpening.ASK
    entity_pages: Mapping[str, str] = field(default_factory=dict)
    opinion_use: OpinionUse = OpinionUse.OFF
    opinion_address: str = ""
    opinion_model: str = ""
    opinion_key: str = ""
    opinion_place: OpinionPlace = OpinionPlace.LOCAL
    opinion_below: int = 80
    opinion_margin: int = 20
    opinion_seconds: int = 30
    shortcuts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


NEXT_OPEN = "the next time the project is opened"
NEXT_START = "the next time Curator starts"
OPTIONS = (
    Option(
        name="curator_name",
        title="Curator",
        help="The name saved with each decision. Leave empty to use your name on this computer.",
        kind=OptionKind.TEXT,
    ),
    Option(
        name="language",
        title="Language",
        help=(
            "Language of the window. If there is no translation for the desktop's language, the window is in English."
        ),
        kind=OptionKind.CHOICE,
        choices=tuple(Language),
        felt=NEXT_START,
    ),
    Option(
        name="theme", title="Theme", help="Colours of the window.", kind=OptionKind.CHOICE, choices=tuple(ThemeChoice)
    ),
    Option(
        name="interface_size",
        title="Size of the interface",
        help="Size of all text except the document's, in per cent of the desktop's usual size.",
        kind=OptionKind.INTEGER,
        minimum=70,
        maximum=200,
    ),
    Option(
        name="font_size",
        title="Font size",
        help="Size of the document's text, in points.",
        kind=OptionKind.INTEGER,
        minimum=8,
        maximum=32,
    ),
    Option(
        name="line_spacing",
        title="Line spacing",
        help="Line spacing of the document's text, in per cent of the font size.",
        kind=OptionKind.INTEGER,
        minimum=110,
        maximum=300,
    ),
    Option(
        name="text_width",
        title="Text width",
        help="The maximum number of characters in a line of the document's text.",
        kind=OptionKind.INTEGER,
        minimum=40,
        maximum=160,
    ),
    Option(
        name="snapping",
        title="Mouse selection",
        help="Whether selecting and dragging snap to whole words or to characters. Hold Ctrl to do the other.",
        kind=OptionKind.CHOICE,
        choices=tuple(Snapping),
    ),
    Option(
        name="candidates_shown",
        title="Candidates shown",
        help="How many candidates the panel lists.",
        kind=OptionKind.INTEGER,
        minimum=3,
        maximum=64,
    ),
    Option(
        name="same_string",
        title="Mentions of the same string",
        help=(
            "What follows a decision: the next mention, or a list of the other undecided mentions of the "
            "same string, if there are any."
        ),
        kind=OptionKind.CHOICE,
        choices=tuple(SameString),
    ),
    Option(
        name="candidate_order",
        title="Order of candidates",
        help="Random order also hides the scores. Use it to evaluate the linker.",
        kind=OptionKind.CHOICE,
        choices=tuple(CandidateOrder),
    ),
    Option(
        name="enter_least",
        title="Enter asks again below",
        help=(
            "If the first candidate is less probable than this many per cent, you have to press Enter twice to accept "
            "it. If NIL is suggested or more probable, you always have to."
        ),
        kind=OptionKind.INTEGER,
        maximum=100,
    ),
    Option(
        name="contrast_margin",
        title="Compare close candidates",
        help=(
            "Compares the first two candidates automatically if the first leads by less than this many "
            "percentage points of probability; 0 turns this off."
        ),
        kind=OptionKind.INTEGER,
        maximum=100,
    ),
    Option(
        name="device",
        title="Device",
        help="The device that the linker runs on. Automatic uses a GPU if one has enough free memory.",
        kind=OptionKind.CHOICE,
        choices=tuple(DeviceChoice),
        felt=NEXT_OPEN,
    ),
    Option(
        name="threads",
        title="Threads",
        help="Processor threads of the linker; 0 leaves the number to the library.",
        kind=OptionKind.INTEGER,
        maximum=256,
        felt=NEXT_OPEN,
    ),
    Option(
        name="encoder_folder",
        title="Encoder folder",
        help=(
            "The folder of a BERT-family encoder on this computer, or the name of one in the Hugging Face "
            "cache. Leave empty to use the encoder that comes with Curator."
        ),
        kind=OptionKind.FOLDER,
        felt="the next time an index is built",
    ),
    Option(
        name="number_format",
        title="Number format",
        help=(
            "The number format in which names are encoded: fp32 is full precision, bf16 and fp16 are half "
            "precision. Automatic uses bf16 if the processor supports it natively."
        ),
        kind=OptionKind.CHOICE,
        choices=tuple(NumberFormat),
        felt="the next time an index is built",
    ),
    Option(
        name="index_kind",
        title="Kind of index",
        help=(
            "How vectors are searched: flat compares all exactly, sq8 compares 8-bit codes, pq4 compares 4-bit "
            "codes, then 8-bit codes of the best. Automatic chooses by size, memory and device; the diagnostics show "
            "why."
        ),
        kind=OptionKind.CHOICE,
        choices=tuple(IndexChoice),
        felt="the next time an index is built",
    ),
    Option(
        name="lexical_list",
        title="Lexical list",
        help=(
            "How names are found by spelling: by their characters, also by whole words (tf-idf, the two "
            "lists combined by rank), or by whole words only (bm25, a baseline). The names found are always "
            "compared letter by letter. When names were also compared by meaning, whole words found nothing "
            "more on BC5CDR."
        ),
        kind=OptionKind.CHOICE,
        choices=tuple(LexicalChoice),
        felt="the next time an index is built",
    ),
    Option(
        name="link_ahead",
        title="Documents linked ahead",
        help="How many documents are linked before you reach them; 0 links only the open one.",
        kind=OptionKind.INTEGER,
        maximum=100_000,
    ),
    Option(
        name="cache_folder",
        title="Cache folder",
        help=(
            "Where embeddings are cached; the folder may be emptied at any time. Leave empty to use the default folder."
        ),
        kind=OptionKind.FOLDER,
        felt=NEXT_OPEN,
    ),
    Option(
        name="backup_space",
        title="Space for backups",
        help=(
            "Megabytes that the backups of a project may take. The oldest go first; the newest always stays. 0 turns "
            "backups off."
        ),
        kind=OptionKind.INTEGER,
        maximum=1_000_000,
    ),
    Option(
        name="backup_folder",
        title="Backup folder",
        help=(
            "Where backups of your projects are written. Leave empty to use the default folder. They are safest "
            "on another disk."
        ),
        kind=OptionKind.FOLDER,
    ),
    Option(
        name="holdout_percent",
        title="Decided without suggestions",
        help="Percentage of mentions whose suggestions are held back, to measure how much suggestions influence "
        "curators; 0 always shows them.",
        kind=OptionKind.INTEGER,
        maximum=50,
    ),
    Option(
        name="ncbi_api_key",
        title="NCBI API key",
        help=(
            "Allows Project › Fetch from PubMed ten requests a second instead of three. The key is sent "
            "only to NCBI and saved in the settings file on this computer, never in a project, log or "
            "export."
        ),
        kind=OptionKind.SECRET,
    ),
    Option(
        name="page_opening",
        title="Pages at the source",
        help="What is done with the address when you want to see an entity's page at its source. The site learns "
        "which entity you look up.",
        kind=OptionKind.CHOICE,
        choices=tuple(PageOpening),
    ),
    Option(
        name="entity_pages",
        title="Pages of entities",
        help="A line for each prefix of identifiers: the prefix, a blank and an address with {id} where the identifier "
        "goes; * stands for identifiers without a prefix. A line that you delete gets its usual address back.",
        kind=OptionKind.PAGES,
    ),
    *OPINIONS,
    Option(
        name="shortcuts",
        title="Shortcuts",
        help="Keys of commands that differ from the defaults. Edit › Shortcuts changes them.",
        kind=OptionKind.KEYS,
    ),
)
"""One description for each field of `Settings`, in the same order."""


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
