"""The error of this package that is shown to users."""

from __future__ import annotations

from typing import Protocol


class ModelError(Exception):
    """An error in the input or the environment; the message says what is wrong, where, and what to do.

    Any other exception from this package is a bug.
    """


# The sentences that this package and `training` show to users, written in English and translated by the calling
# program. Processes started by the window install its translation (`use`); otherwise sentences are in English. Records
# that outlive the run (manifests, checkpoints, logs, reports) stay in English: see `english`.


class One(Protocol):
    """Translates a template and fills its {names}."""

    def __call__(self, text: str, /, **values: object) -> str: ...


class Counted(Protocol):
    """The same for a template with singular and plural, which may contain {n}."""

    def __call__(self, one: str, many: str, n: int, /, **values: object) -> str: ...


class Said(str):
    """A sentence as shown; `english` holds its English text."""

    __slots__ = ("english",)
    english: str

    def __new__(cls, shown: str, own: str = "") -> Said:
        made = super().__new__(cls, shown)
        made.english = own
        return made


class NoMemoryError(ModelError):
    """The memory of the GPU or of the computer ran out."""

    def __init__(self, *, on_gpu: bool) -> None:
        super().__init__(
            say("The GPU has too little free memory. Close other programs that use it, or choose “cpu” as the device.")
            if on_gpu
            else say("There is not enough memory. Close other programs and try again.")
        )
        self.on_gpu = on_gpu


OUT_OF_MEMORY = (
    *("out of memory", "can't allocate memory", "not enough memory", "alloc_failed"),
    "cublas_status_not_initialized",  # without memory for its workspace
)
GPUS = ("cuda", "cublas", "cudnn", "hip out of", "mps backend")
"""How the errors of libraries name what ran out, and where; torch has an exception type for some of them only."""


def is_out_of_memory(error: BaseException) -> bool:
    """Whether the error means that GPU or CPU memory ran out."""
    if isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError":
        return True
    return isinstance(error, RuntimeError) and any(words in str(error).lower() for words in OUT_OF_MEMORY)


def no_memory(error: BaseException) -> NoMemoryError | None:
    """The error to report in the place of one that `is_out_of_memory`, or the reported one; None for any other."""
    if isinstance(error, NoMemoryError):
        return error
    if not is_out_of_memory(error):
        return None
    return NoMemoryError(on_gpu=any(word in str(error).lower() for word in GPUS))


def english(text: str) -> str:
    """The English text of a sentence, for records; any other text unchanged."""
    return text.english if isinstance(text, Said) else text


def use(one: One | None = None, counted: Counted | None = None) -> None:
    """Set the translation of every later `say` and `nsay` in this process; without arguments it is English again."""
    global _one, _counted
    _one, _counted = one or _plain_one, counted or _plain_counted


def say(text: str, /, **values: object) -> str:
    """`text`, its {names} filled with `values`, in the reader's language."""
    shown = _one(text, **values)
    return Said(shown, _plain_one(text, **_english_of(values)))


def nsay(one: str, many: str, n: int, /, **values: object) -> str:
    """The singular or plural for `n`; the templates may contain {n}."""
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
"""Global to the process, as in gettext: sentences are made at every level of the code, and one process has one
language."""
