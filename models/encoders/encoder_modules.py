"""``modules.json`` of sentence-transformers: where the network is, how it pools, and which modules are unsupported.

Skipping a module would give other vectors than the encoder's authors intended, so an unsupported module is an error
that names it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.core.file_io import read_json, write_json
from models.encoders.pooling import Pooling
from models.errors import ModelError, say

MODULES = "modules.json"
SETTINGS = "sentence_bert_config.json"
PROMPTS = "config_sentence_transformers.json"
HARMLESS = frozenset({"Dropout", "Normalize"})  # neither changes cosines in inference
REMEDY = "Choose an encoder that ends in mean or [CLS] pooling."


@dataclass(frozen=True, slots=True)
class EncoderLayout:
    """How a folder is laid out: ``body`` is relative to it, ``max_tokens`` is 0 if it sets no limit.

    ``files`` describe the layout and are part of a copy.
    """

    body: str = ""
    pooling: Pooling = Pooling.CLS
    max_tokens: int = 0
    lower_case: bool = False
    files: tuple[Path, ...] = ()


def read_layout(folder: Path) -> EncoderLayout:
    """The layout of a folder; without ``modules.json`` it is a plain layout that pools by [CLS], as for SapBERT.

    Raises ModelError for modules and poolings that cannot be reproduced.
    """
    if not (folder / MODULES).is_file():
        limit, lower_case = _settings(folder)
        return EncoderLayout("", Pooling.CLS, limit, lower_case, _files(folder, "", ()))
    places = _modules(folder)
    body = places["Transformer"]
    limit, lower_case = _settings(folder / body)
    _check_prompt(folder)
    pooling = _pooling(folder / places["Pooling"]) if "Pooling" in places else Pooling.MEAN
    listed = [f"{places[kind]}/config.json" for kind in ("Pooling", *HARMLESS) if kind in places]
    return EncoderLayout(body, pooling, limit, lower_case, _files(folder, body, tuple(listed)))


def write_layout(folder: Path, pooling: Pooling, *, dimension: int, max_tokens: int) -> None:
    """Describe a folder with the network at its top level, so that sentence-transformers reads the same encoder."""
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    ]
    write_json(folder / MODULES, modules)
    write_json(folder / SETTINGS, {"max_seq_length": max_tokens})
    modes = {
        "word_embedding_dimension": dimension,
        "pooling_mode_cls_token": pooling is Pooling.CLS,
        "pooling_mode_mean_tokens": pooling is Pooling.MEAN,
    }
    write_json(folder / "1_Pooling" / "config.json", modes)


def _modules(folder: Path) -> dict[str, str]:
    """The path of each kind of module."""
    listed = read_json(folder / MODULES, what=say("The list of modules"), remedy=say(REMEDY))
    try:
        kinds = {_kind(str(module["type"])): str(module.get("path") or "") for module in listed}
    except (KeyError, TypeError, AttributeError) as error:
        raise ModelError(
            say("The list of modules {folder} is damaged. {remedy}", folder=folder / MODULES, remedy=say(REMEDY))
        ) from error
    if unknown := sorted(kinds.keys() - {"Transformer", "Pooling"} - HARMLESS):
        raise ModelError(
            say(
                "{folder} has the module {unknown} in addition to its transformer, which is not "
                "supported: without it, the vectors would differ from those that its authors intended. "
                "{remedy}",
                folder=folder,
                unknown=", ".join(unknown),
                remedy=say(REMEDY),
            )
        )
    if outside := [path for path in kinds.values() if Path(path).is_absolute() or ".." in Path(path).parts]:
        raise ModelError(
            say(
                "{folder} refers to {outside}, which is outside the folder. {remedy}",
                folder=folder / MODULES,
                outside=outside[0],
                remedy=say(REMEDY),
            )
        )
    if "Transformer" not in kinds:
        raise ModelError(say("{folder} lists no transformer. {remedy}", folder=folder / MODULES, remedy=say(REMEDY)))
    return kinds


def _kind(name: str) -> str:
    """The module's last name; in full if it is not from sentence-transformers."""
    return name.rpartition(".")[2] if name.startswith("sentence_transformers.") else name


def _pooling(folder: Path) -> Pooling:
    modes = read_json(folder / "config.json", what=say("The pooling settings"), remedy=say(REMEDY))
    asked = _asked(modes) if isinstance(modes, dict) else set()
    if asked == {"cls"}:
        return Pooling.CLS
    if asked == {"mean"}:
        return Pooling.MEAN
    found = " and ".join(sorted(asked)) or "none"
    raise ModelError(
        say(
            "{folder} requires pooling other than mean or cls ({found}). {remedy}",
            folder=folder,
            found=found,
            remedy=say(REMEDY),
        )
    )


def _asked(modes: dict[str, Any]) -> set[str]:
    """The requested poolings, from either version of the folder's settings."""
    named = modes.get("pooling_mode")
    if named:
        return {str(mode) for mode in (named if isinstance(named, list) else [named])}
    prefix, suffixes = "pooling_mode_", ("_tokens", "_token")
    on = {key.removeprefix(prefix) for key, value in modes.items() if key.startswith(prefix) and value is True}
    return {key.removesuffix(suffixes[0]).removesuffix(suffixes[1]) for key in on}


def _settings(folder: Path) -> tuple[int, bool]:
    """The limit in tokens (0: none) and whether texts are lower-cased before the tokenizer sees them."""
    if not (folder / SETTINGS).is_file():
        return 0, False
    settings = read_json(folder / SETTINGS, what=say("The encoder's settings"), remedy=say(REMEDY))
    if not isinstance(settings, dict):
        return 0, False
    limit = settings.get("max_seq_length")
    return (limit if isinstance(limit, int) and limit > 0 else 0), settings.get("do_lower_case") is True


def _check_prompt(folder: Path) -> None:
    """Raises ModelError for a prompt that must precede every text."""
    if not (folder / PROMPTS).is_file():
        return
    settings = read_json(folder / PROMPTS, what=say("The encoder's prompts"), remedy=say(REMEDY))
    prompt = settings.get("default_prompt_name") if isinstance(settings, dict) else None
    if prompt:
        raise ModelError(
            say(
                "{folder} puts the prompt {prompt!r} before every text, which is not supported. {remedy}",
                folder=folder,
                prompt=prompt,
                remedy=say(REMEDY),
            )
        )


def _files(folder: Path, body: str, listed: tuple[str, ...]) -> tuple[Path, ...]:
    names = (MODULES, PROMPTS, SETTINGS, f"{body}/{SETTINGS}" if body else SETTINGS, *listed)
    return tuple(dict.fromkeys(folder / name for name in names if (folder / name).is_file()))
