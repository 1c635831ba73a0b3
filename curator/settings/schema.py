"""The settings and what a dialog needs to know about each: title, help, kind, range, default."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from curator.domain.errors import UserError


class Theme(StrEnum):
    SYSTEM = "system"
    LIGHT = "light"
    DARK = "dark"


class Device(StrEnum):
    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"


class Kind(StrEnum):
    TEXT = "text"
    INTEGER = "integer"
    CHOICE = "choice"
    FOLDER = "folder"


@dataclass(frozen=True, slots=True)
class Option:
    """The description of one setting. `restart` says when a change is felt ('' at once)."""

    name: str
    title: str
    help: str
    kind: Kind
    default: Any
    minimum: int = 0
    maximum: int = 0
    choices: tuple[str, ...] = ()
    felt: str = ""


def _option(title: str, help_text: str, kind: Kind, default: Any, **more: Any) -> Any:
    return field(default=default, metadata={"title": title, "help": help_text, "kind": kind, **more})


@dataclass(frozen=True, slots=True)
class Settings:
    """Values; `options()` describes them in the order of the dialog."""

    curator_name: str = _option(
        "Curator", "Your name as it stands in each decision; empty means your name on this computer.", Kind.TEXT, ""
    )
    theme: Theme = _option("Theme", "Colours of the window.", Kind.CHOICE, Theme.SYSTEM, choices=tuple(Theme))
    font_size: int = _option("Font size", "Of the document's text, in points.", Kind.INTEGER, 12, minimum=8, maximum=32)
    candidates_shown: int = _option(
        "Candidates shown", "How many candidates the panel lists.", Kind.INTEGER, 10, minimum=3, maximum=64
    )
    device: Device = _option(
        "Device",
        "Where the linker computes; auto takes a GPU when there is one.",
        Kind.CHOICE,
        Device.AUTO,
        choices=tuple(Device),
        felt="when the project is opened next",
    )
    threads: int = _option(
        "Threads",
        "Processor threads of the linker; 0 leaves it to the library.",
        Kind.INTEGER,
        0,
        minimum=0,
        maximum=256,
        felt="when the project is opened next",
    )
    encoder_folder: str = _option(
        "Encoder folder",
        "A BERT-family encoder on this computer; empty means the one that comes with Curator.",
        Kind.FOLDER,
        "",
        felt="when an index is built next",
    )
    link_ahead: int = _option(
        "Documents linked ahead",
        "How many documents are linked before you reach them; 0 links only the open one.",
        Kind.INTEGER,
        200,
        minimum=0,
        maximum=100_000,
    )
    cache_folder: str = _option(
        "Cache folder",
        "Where embeddings are kept; may be emptied at any time. Empty means the usual place.",
        Kind.FOLDER,
        "",
        felt="when the project is opened next",
    )


def options() -> tuple[Option, ...]:
    """What the dialog, the manual's table and the validation derive from."""
    return tuple(_as_option(one.name, one.default, one.metadata) for one in fields(Settings))


def _as_option(name: str, default: Any, metadata: Mapping[str, Any]) -> Option:
    return Option(name=name, default=default, **{k: v for k, v in metadata.items()})


def with_value(settings: Settings, name: str, value: Any) -> Settings:
    """A copy with one checked value. Raises UserError that says what is allowed."""
    option = next((one for one in options() if one.name == name), None)
    if option is None:
        raise UserError(f"There is no setting {name!r}. There are: {', '.join(o.name for o in options())}.")
    return replace(settings, **{name: checked(option, value)})


def checked(option: Option, value: Any) -> Any:
    """The value in its type. Raises UserError that names the setting and what is allowed."""
    if option.kind is Kind.INTEGER:
        if isinstance(value, int) and not isinstance(value, bool) and option.minimum <= value <= option.maximum:
            return value
        raise UserError(
            f"“{option.title}” must be a whole number from {option.minimum} to {option.maximum}, not {value!r}."
        )
    if option.kind is Kind.CHOICE:
        if value in option.choices:
            return type(option.default)(value)
        raise UserError(f"“{option.title}” must be one of {', '.join(option.choices)}, not {value!r}.")
    if isinstance(value, str):
        return value
    raise UserError(f"“{option.title}” must be a text, not {value!r}.")
