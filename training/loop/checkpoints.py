"""Checkpoints: the state that a training run needs to resume after a crash.

A checkpoint is two files, `NUMBER.safetensors` and `NUMBER.json`; the JSON is written last and holds the hash of both,
so a truncated or damaged file is noticed, and the previous checkpoint is used. Nothing is ever pickled.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from models.core.file_io import atomic_path, sha256_file
from models.errors import ModelError, say

FORMAT = 1
EVERY = 90.0
KEEP = 2
UNREAD = "Checkpoint {number} cannot be read ({error}) and was skipped."
LOST = (
    "The stored state of the training in {folder} cannot be read ({error}). Check the disk and resume the training "
    "again, or discard it and start a new one."
)


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """One checkpoint: `tensors` by name, and `facts` as JSON."""

    tensors: Mapping[str, Tensor]
    facts: Mapping[str, Any]


class Checkpoints:
    """A folder of checkpoints of one run.

    `identity` is everything that a run's weights depend on (recipe, parameters, hashes of data and base, seed, device,
    threads, effective batch), as JSON: a checkpoint of another identity is ignored. `every`: seconds of training after
    which the next one is due. `kept` is stored with each checkpoint and returned by `kept_before`: choices that the job
    makes only once, such as whether the entity tower is trained.
    """

    def __init__(
        self,
        folder: Path,
        *,
        identity: Mapping[str, Any],
        every: float = EVERY,
        keep: int = KEEP,
        kept: Mapping[str, Any] | None = None,
    ) -> None:
        self.folder, self.every, self.keep = folder, every, keep
        self.identity: dict[str, Any] = dict(identity)
        self.kept: dict[str, Any] = dict(kept or {})

    def save(self, saved: Saved) -> None:
        """Write a checkpoint, then remove all but the last `keep`. Raises OSError if it cannot be written; then nothing
        changes."""
        numbers = self._numbers()
        number = numbers[-1] + 1 if numbers else 1
        try:
            tensors = self._write_tensors(number, saved.tensors)
            body = {
                "format": FORMAT,
                "identity": self.identity,
                "tensors": tensors,
                "kept": self.kept,
                "facts": dict(saved.facts),
            }
            self._write_body(number, body)
        except (OSError, SafetensorError) as error:
            self._remove(number)
            raise OSError(str(error)) from error
        for old in self._numbers()[: -self.keep]:
            self._remove(old)

    def load(self) -> tuple[Saved | None, list[str]]:
        """The newest undamaged checkpoint of this identity, and a sentence about each that was skipped. Raises
        ModelError if there is none but the disk did not give one: the run would start over, and replace it."""
        self._tidy()
        notes: list[str] = []
        failed: OSError | None = None
        for number in reversed(self._numbers()):
            try:
                body = self._body(number)
                differing = [] if body is None else _differing(body["identity"], self.identity)
                tensors = None if body is None or differing else self._tensors(number, str(body["tensors"]))
            except OSError as error:
                failed = error
                notes.append(say(UNREAD, number=number, error=error.strerror or error))
                continue
            if differing:
                notes.append(
                    say(
                        "Checkpoint {number} belongs to another run ({differing}) and was ignored.",
                        number=number,
                        differing=", ".join(differing),
                    )
                )
                continue
            if body is not None and tensors is not None:
                return Saved(tensors, body["facts"]), notes
            notes.append(say("Checkpoint {number} is damaged and was skipped.", number=number))
        self._refuse(failed)
        return None, notes

    def kept_before(self) -> dict[str, Any]:
        """`kept` of the newest readable checkpoint whose identity agrees in every key of this one; else empty.

        It reads no tensors, so a job can call it before it has built its networks (and completed the identity). Raises
        ModelError as `load` does.
        """
        failed: OSError | None = None
        for number in reversed(self._numbers()):
            try:
                body = self._body(number)
            except OSError as error:
                failed = error
                continue
            if body is not None and all(body["identity"].get(key) == value for key, value in self._plain().items()):
                return dict(body["kept"])
        self._refuse(failed)
        return {}

    def remove(self) -> None:
        """Remove the folder and everything in it, after the job's end or cancellation."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _refuse(self, failed: OSError | None) -> None:
        if failed is not None:
            raise ModelError(say(LOST, folder=self.folder, error=failed.strerror or failed)) from failed

    def _plain(self) -> dict[str, Any]:
        plain: dict[str, Any] = json.loads(json.dumps(self.identity))
        return plain

    def _numbers(self) -> list[int]:
        """Numbers of all checkpoints that have a JSON file, oldest first."""
        names = (path.stem for path in self.folder.glob("*.json")) if self.folder.is_dir() else ()
        return sorted(int(name) for name in names if name.isdigit())

    def _json(self, number: int) -> Path:
        return self.folder / f"{number:06}.json"

    def _safetensors(self, number: int) -> Path:
        return self.folder / f"{number:06}.safetensors"

    def _write_tensors(self, number: int, tensors: Mapping[str, Tensor]) -> str:
        with atomic_path(self._safetensors(number)) as beside:
            save_file({name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}, beside)
        return sha256_file(self._safetensors(number))

    def _write_body(self, number: int, body: Mapping[str, Any]) -> None:
        """Write the JSON on one line, since mined rows can be millions of numbers."""
        text = _text(body)
        with atomic_path(self._json(number)) as beside:
            beside.write_text(f'{{"hash":"{_hash(text)}","body":{text}}}', encoding="utf-8")

    def _body(self, number: int) -> dict[str, Any] | None:
        """The contents of its JSON; None if it is damaged. Raises OSError."""
        try:
            raw = json.loads(self._json(number).read_text(encoding="utf-8"))
            body: dict[str, Any] = raw["body"]
            whole = raw["hash"] == _hash(_text(body)) and body["format"] == FORMAT
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None
        return body if whole else None

    def _tensors(self, number: int, expected: str) -> dict[str, Tensor] | None:
        path = self._safetensors(number)
        try:
            return load_file(path) if sha256_file(path) == expected else None
        except (FileNotFoundError, SafetensorError):
            return None

    def _tidy(self) -> None:
        """Remove files that a killed process left incomplete."""
        for path in self.folder.glob(".*") if self.folder.is_dir() else ():
            with suppress(OSError):  # a read-only folder
                path.unlink()

    def _remove(self, number: int) -> None:
        """Remove the JSON first: tensors without JSON are not a checkpoint."""
        self._json(number).unlink(missing_ok=True)
        self._safetensors(number).unlink(missing_ok=True)


def _text(body: Mapping[str, Any]) -> str:
    """The value's JSON, which is equal after a round trip through JSON. Keys are not sorted, since integer keys come
    back as strings."""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _differing(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> list[str]:
    """The keys in which two identities differ."""
    plain = json.loads(json.dumps(wanted))
    return sorted(key for key in {*found, *plain} if found.get(key) != plain.get(key))
