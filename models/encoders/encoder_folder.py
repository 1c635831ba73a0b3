"""Encoder folders, checked before anything is loaded: their files, missing files, and unsupported encoders.

Two layouts are supported: plain transformers (``config.json``, safetensors in one file or in shards, a tokenizer) and
sentence-transformers (the same, possibly in a subfolder, with ``modules.json`` and a pooling folder). Nothing is
downloaded, no code in a folder is run, and no pickled weights are read.
"""

from __future__ import annotations

import hashlib
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.core.file_io import read_json, sha256_file
from models.encoders.encoder_modules import EncoderLayout, read_layout
from models.encoders.pooling import Pooling
from models.errors import ModelError, say

# Encoders named as on the Hugging Face hub, found among files that other programs have downloaded.

HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


def find_folder(chosen: Path | str) -> Path:
    """The folder itself; for a name like "organisation/model" its newest snapshot in the local Hugging Face cache.

    Nothing is downloaded. Raises ModelError if neither exists.
    """
    folder = Path(chosen).expanduser()
    if folder.is_dir():
        return folder
    name = Path(chosen).as_posix()
    if not HUB_NAME.fullmatch(name):
        raise ModelError(
            say("The encoder folder {folder} was not found. Choose the folder of a BERT-family encoder.", folder=folder)
        )
    return _snapshot(name)


def _snapshot(name: str) -> Path:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        return Path(snapshot_download(name, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError, OSError) as error:
        raise ModelError(
            say(
                "The encoder folder {name} was not found, and no Hugging Face encoder of this name is "
                "on this computer. Curator downloads nothing by itself. Download the encoder with: hf "
                "download {name} (then choose it by its name), or choose a folder.",
                name=name,
            )
        ) from error


BERT_FAMILY = frozenset(
    {"albert", "bert", "camembert", "deberta-v2", "distilbert", "electra", "mpnet", "roberta", "xlm-roberta"}
)
POSITIONS_AFTER_PAD = frozenset({"camembert", "mpnet", "roberta", "xlm-roberta"})
TOKENIZER_FILES = ("tokenizer.json", "vocab.txt", "vocab.json", "sentencepiece.bpe.model", "spm.model")
WITHOUT_TOKENIZER_JSON = ("merges.txt", "tokenizer_config.json", "special_tokens_map.json", "added_tokens.json")
OTHER_TOKENIZER_FILES = (*WITHOUT_TOKENIZER_JSON, "spiece.model", "bpe.codes")
WEIGHTS = "model.safetensors"
SHARDS = "model.safetensors.index.json"
PICKLED = ("pytorch_model.bin", "pytorch_model.bin.index.json", "model.pt", "model.bin")
POINTER = b"version https://git-lfs"
REMEDY = "Choose the folder of a BERT-family encoder with safetensors weights."


@dataclass(frozen=True, slots=True)
class EncoderFolder:
    """A checked folder: ``root`` is the chosen folder, ``body`` the folder in it with network and tokenizer.

    ``weights`` are the safetensors files; ``max_tokens`` is the folder's own limit, ``positions`` the network's limit,
    including special tokens.
    """

    root: Path
    body: Path
    config: dict[str, Any]
    weights: tuple[Path, ...]
    layout: EncoderLayout
    max_tokens: int
    positions: int

    @property
    def pooling(self) -> Pooling:
        return self.layout.pooling

    def fingerprint(self, pooling: Pooling) -> str:
        """SHA-256 over weights, tokenizer files and pooling: equal for equal vectors, regardless of the folder's
        location."""
        digest = hashlib.sha256(pooling.value.encode())
        for path in self._telling():
            digest.update(f"{path.name}:{sha256_file(path)}".encode())
        if self.layout.lower_case:
            digest.update(b"lower case")
        return digest.hexdigest()

    def files(self) -> tuple[Path, ...]:
        """Only the files that the encoder is read from: folders often hold the weights in several formats."""
        names = ("config.json", SHARDS, *TOKENIZER_FILES, *OTHER_TOKENIZER_FILES)
        return tuple(dict.fromkeys((*self.weights, *_present(self.body, names), *self.layout.files)))

    def copy_to(self, target: Path) -> None:
        """Copy the files that the encoder is read from; the copy has the same layout and fingerprint."""
        for path in self.files():
            place = target / path.relative_to(self.root)
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place)

    def _telling(self) -> list[Path]:
        first = [self.body / WEIGHTS] if (self.body / WEIGHTS).is_file() else list(self.weights)
        rest = _present(self.body, ("config.json", *TOKENIZER_FILES))
        if not (self.body / TOKENIZER_FILES[0]).is_file():
            rest += _present(self.body, WITHOUT_TOKENIZER_JSON)
        return first + rest


def read_folder(chosen: Path | str) -> EncoderFolder:
    """Check an encoder's folder, or the folder of a Hugging Face name whose files are on this computer.

    Raises ModelError naming everything that is missing, or why this encoder cannot be used.
    """
    root = find_folder(chosen)
    layout = read_layout(root)
    body = root / layout.body
    _check_present(body)
    config: dict[str, Any] = read_json(body / "config.json", what=say("The encoder's config"), remedy=say(REMEDY))
    _check_kind(body, config)
    positions = _positions(config)
    limit = min(layout.max_tokens or _tokenizer_limit(body), positions)
    return EncoderFolder(root, body, config, _weight_files(body), layout, limit, positions)


def _check_present(folder: Path) -> None:
    missing = [] if (folder / "config.json").is_file() else ["config.json"]
    if not _present(folder, (WEIGHTS, SHARDS)):
        missing.append(WEIGHTS)
    if not _present(folder, TOKENIZER_FILES):
        missing.append(say("a tokenizer (tokenizer.json or vocab.txt)"))
    if not missing:
        return
    pickled = _present(folder, PICKLED)
    raise ModelError(
        say(
            "{folder} is not an encoder folder. Missing: {missing}. {remedy}",
            folder=folder,
            missing=", ".join(missing),
            remedy=_how_to_convert(folder, pickled[0]) if pickled and WEIGHTS in missing else say(REMEDY),
        )
    )


def _how_to_convert(folder: Path, pickled: Path) -> str:
    command = (
        f"python -c \"from transformers import AutoModel; AutoModel.from_pretrained(r'{folder}').save_pretrained("
        f"r'{folder}')\""
    )
    return say(
        "Its weights are a pickle file ({name}), which can run any code, so Curator never reads it. If "
        "you trust its source, convert it once outside Curator: {command}",
        name=pickled.name,
        command=command,
    )


def _check_kind(folder: Path, config: Any) -> None:
    kind = config.get("model_type") if isinstance(config, dict) else None
    if kind not in BERT_FAMILY:
        raise ModelError(
            say(
                "{folder} contains a {kind!r} network, which is not of the BERT family. {remedy}",
                folder=folder,
                kind=kind,
                remedy=say(REMEDY),
            )
        )
    own_code = config.get("auto_map")
    if isinstance(own_code, dict) and "AutoModel" in own_code:
        raise ModelError(
            say(
                "{folder} needs its own program code ({AutoModel}), and Curator never runs the code of "
                "an encoder. {remedy}",
                folder=folder,
                AutoModel=own_code["AutoModel"],
                remedy=say(REMEDY),
            )
        )


def _positions(config: dict[str, Any]) -> int:
    """The number of tokens that fit; RoBERTa and similar models count positions starting after the padding token's
    id."""
    positions = int(config.get("max_position_embeddings") or 512)
    if config["model_type"] in POSITIONS_AFTER_PAD:
        positions -= int(config.get("pad_token_id") or 1) + 1
    return positions


def _tokenizer_limit(folder: Path) -> int:
    """The limit in the tokenizer's settings, where newer versions of sentence-transformers store it; else 512."""
    path = folder / "tokenizer_config.json"
    settings = read_json(path, what=say("The tokenizer's settings"), remedy=say(REMEDY)) if path.is_file() else {}
    limit = settings.get("model_max_length") if isinstance(settings, dict) else None
    return limit if isinstance(limit, int) and 0 < limit < 512 else 512  # "no limit" is written as 10 to the 30th


def _weight_files(folder: Path) -> tuple[Path, ...]:
    files = [folder / WEIGHTS]
    if not files[0].is_file():
        index = read_json(folder / SHARDS, what=say("The list of weight files"), remedy=say(REMEDY))
        try:
            files = sorted({folder / Path(str(name)).name for name in index["weight_map"].values()})
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelError(
                say(
                    "The list of weight files {folder} is damaged. {remedy}", folder=folder / SHARDS, remedy=say(REMEDY)
                )
            ) from error
        if missing := [file.name for file in files if not file.is_file()]:
            raise ModelError(
                say(
                    "{folder} is not an encoder folder. Missing: {missing}. {remedy}",
                    folder=folder,
                    missing=", ".join(missing),
                    remedy=say(REMEDY),
                )
            )
    for file in files:
        _check_weights(file)
    return tuple(files)


def _check_weights(file: Path) -> None:
    if not file.name.endswith(".safetensors"):
        raise ModelError(say("{file} is not a safetensors file. {remedy}", file=file, remedy=say(REMEDY)))
    with file.open("rb") as handle:
        if handle.read(len(POINTER)) == POINTER:
            raise ModelError(
                say(
                    "{file} is only a Git LFS pointer to the weights. Download them with: git lfs pull (in {parent})",
                    file=file,
                    parent=file.parent,
                )
            )


def _present(folder: Path, names: tuple[str, ...]) -> list[Path]:
    return [folder / name for name in names if (folder / name).is_file()]
