"""The rest of an import and its choices, stored in the project so that a stopped import can be resumed.

A running import is stored too, since a killed process cannot store it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from curator.domain.documents import Split
from curator.domain.imports import Changed
from curator.domain.wording import UserError, tr
from curator.services.importing.import_reading import ImportChoices
from curator.services.ports import Store, UnitOfWork

UNFINISHED, DONE, ANSWERED = "import.unfinished", "import.unfinished.done", "import.unfinished.answered"
"""Keys of the project's small values; the number of files that are in has one of its own, since it is written often."""

UNFINISHED_KB = "kb.unfinished"


@dataclass(frozen=True, slots=True)
class UnfinishedImport:
    """`done` of `paths` are in, the rest is not. `batch` is the entry of the list of imports that they share, and
    `format_name` the format that was chosen for them, '' where it is recognised."""

    paths: tuple[Path, ...]
    done: int
    gold: bool
    split: Split
    hold_out: int
    choices: ImportChoices = field(default_factory=ImportChoices)
    batch: int = 0
    format_name: str = ""

    @property
    def inside(self) -> tuple[Path, ...]:
        return self.paths[: self.done]

    @property
    def left(self) -> tuple[Path, ...]:
        return self.paths[self.done :]

    @property
    def words(self) -> str:
        """What is in, as a sentence."""
        if len(self.paths) == 1:
            return tr("The import of {name} was interrupted: nothing was imported.", name=self.paths[0].name)
        return tr(
            "The last import was interrupted: {inside:,} of {all:,} files were imported, the others were not.",
            inside=self.done,
            all=len(self.paths),
        )

    def without(self, paths: Sequence[Path]) -> UnfinishedImport | None:
        """What is left of it when these files came in otherwise; None for nothing."""
        known = {one.absolute() for one in paths}
        left = tuple(one for one in self.left if one not in known)
        return replace(self, paths=self.inside + left) if left else None

    def dump(self) -> str:
        return json.dumps(
            {
                "paths": [str(one) for one in self.paths],
                "gold": self.gold,
                "split": self.split.value,
                "hold_out": self.hold_out,
                "choices": _choices_facts(self.choices),
                "batch": self.batch,
                "format": self.format_name,
            }
        )  # in ASCII, which can hold every name of a file

    @classmethod
    def load(cls, text: str, done: int) -> UnfinishedImport | None:
        if not text:
            return None
        facts = json.loads(text)
        paths = tuple(Path(one) for one in facts["paths"])
        choices = _choices(facts.get("choices", {}))
        split, batch = Split(facts["split"]), facts.get("batch", 0)
        format_name = facts.get("format", "")
        return cls(paths, done, facts["gold"], split, facts["hold_out"], choices, batch, format_name)


class UnfinishedImports:
    """The project's one record of it."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def load(self) -> UnfinishedImport | None:
        with self._store.read() as unit:
            return UnfinishedImport.load(unit.meta.get(UNFINISHED) or "", int(unit.meta.get(DONE) or 0))

    @property
    def is_answered(self) -> bool:
        """Whether the curator knows of it, so that opening the project need not say so again."""
        with self._store.read() as unit:
            return unit.meta.get(ANSWERED) == "yes"

    def put(self, what: UnfinishedImport | None, *, answered: bool = False) -> None:
        """Keep this one, or nothing. Raises UserError where the disk is full."""
        with self._store.read() as unit:
            same = all((unit.meta.get(key) or "") == value for key, value in _values(what, answered).items())
        if not same:
            with self._store.write() as unit:
                _put(unit, what, answered)

    def advance(self, done: int) -> None:
        """So many files are in, if the step of the last one did not say so."""
        with self._store.read() as unit:
            same = unit.meta.get(DONE) == str(done)
        if not same:
            with self._store.write() as unit:
                unit.meta.set(DONE, str(done))

    @staticmethod
    def after(
        done: int, plan: UnfinishedImport, rest: UnfinishedImport | None, *, answered: bool
    ) -> Callable[[UnitOfWork], None]:
        """What the step that makes a file of `plan` visible writes, so that no stop finds one without the other: so
        many are in, or, with the last, what an earlier import left."""
        if done < len(plan.paths):
            return lambda unit: unit.meta.set(DONE, str(done))
        return lambda unit: _put(unit, rest, answered)

    def answer(self) -> None:
        """The curator knows of it."""
        with suppress(UserError), self._store.write() as unit:  # at worst it is reported again
            unit.meta.set(ANSWERED, "yes")


def _put(unit: UnitOfWork, what: UnfinishedImport | None, answered: bool) -> None:
    for key, value in _values(what, answered).items():
        unit.meta.set(key, value)


def _values(what: UnfinishedImport | None, answered: bool) -> dict[str, str]:
    return {
        UNFINISHED: what.dump() if what is not None else "",
        DONE: str(what.done) if what is not None else "",
        ANSWERED: "yes" if answered and what is not None else "",
    }


class UnfinishedKb:
    """The file whose import into the knowledge base is running, or ended with the program."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def load(self) -> Path | None:
        with self._store.read() as unit:
            found = unit.meta.get(UNFINISHED_KB)
        return Path(json.loads(found) if found.startswith('"') else found) if found else None

    def put(self, path: Path) -> None:
        """Raises UserError where the disk is full."""
        with self._store.write() as unit:
            unit.meta.set(UNFINISHED_KB, json.dumps(str(path.absolute())))

    def forget(self) -> None:
        with suppress(UserError), self._store.write() as unit:  # on a full disk: at worst it is reported once more
            unit.meta.set(UNFINISHED_KB, "")


def _choices_facts(choices: ImportChoices) -> dict[str, Any]:
    return {
        "usual": choices.usual.value,
        "of": {str(document): choice.value for document, choice in choices.of.items()},
        "seen": {str(document): seen for document, seen in choices.seen.items()},
    }


def _choices(facts: dict[str, Any]) -> ImportChoices:
    return ImportChoices(
        Changed(facts.get("usual", Changed.KEEP)),
        {int(document): Changed(choice) for document, choice in facts.get("of", {}).items()},
        {int(document): seen for document, seen in facts.get("seen", {}).items()},
    )
