"""The rest of an import and its choices, stored so that a stopped import can be resumed.

A running import is also stored, since a killed process could not store it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from curator.domain.documents import Split
from curator.domain.imports import Changed
from curator.domain.wording import UserError, tr
from curator.services.importing.import_reading import ImportChoices
from curator.services.ports.storage import Store, UnitOfWork

UNFINISHED, DONE, ANSWERED = "import.unfinished", "import.unfinished.done", "import.unfinished.answered"
"""Keys of project-wide values; the number of imported files has its own key, since it is written often."""

UNFINISHED_KB = "kb.unfinished"


@dataclass(frozen=True, slots=True)
class UnfinishedImport:
    """`done` of `paths` are imported. `batch` is their common entry in the list of imports, and `format_name` their
    chosen format, '' if it is recognised."""

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
        """The imported files, as a sentence."""
        if len(self.paths) == 1:
            return tr("The import of {name} was interrupted: nothing was imported.", name=self.paths[0].name)
        return tr(
            "The last import was interrupted: {inside:,} of {all:,} files were imported, the others were not.",
            inside=self.done,
            all=len(self.paths),
        )

    def without(self, paths: Sequence[Path]) -> UnfinishedImport | None:
        """The remaining import after these files were imported otherwise; None if nothing remains."""
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
        )  # in ASCII, which can represent every file name

    @classmethod
    def load(cls, text: str, done: str) -> UnfinishedImport | None:
        """None without a record, or for one that this program did not write: the project may be a stranger's."""
        if not text:
            return None
        try:
            facts = json.loads(text)
            paths = tuple(Path(one) for one in facts["paths"])
            choices = _choices(facts.get("choices", {}))
            split, batch = Split(facts["split"]), int(facts.get("batch", 0))
            gold, hold_out, format_name = bool(facts["gold"]), int(facts["hold_out"]), str(facts.get("format", ""))
            return cls(paths, int(done or 0), gold, split, hold_out, choices, batch, format_name)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError):
            return None


class UnfinishedImports:
    """The record of an unfinished import: in the project, or, for a shared project, in memory.

    In a shared project, others would see a record of files on this computer, and of an import that may be running.
    After the program ended, the same files are imported again there, which leaves out those that are in the project.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._own: dict[str, str] | None = None if store.team is None else {}

    def load(self) -> UnfinishedImport | None:
        values = self._stored()
        return UnfinishedImport.load(values[UNFINISHED], values[DONE])

    @property
    def is_answered(self) -> bool:
        """Whether it was reported to the curator, so that opening the project does not report it again."""
        return self._stored()[ANSWERED] == "yes"

    def put(self, what: UnfinishedImport | None, *, answered: bool = False) -> None:
        """Store this import, or remove the record. Raises UserError if the disk is full."""
        self._set(_values(what, answered))

    def advance(self, done: int) -> None:
        """Record the number of imported files, unless the last file's step did."""
        self._set({DONE: str(done)})

    def after(
        self, done: int, plan: UnfinishedImport, rest: UnfinishedImport | None, *, answered: bool
    ) -> Callable[[UnitOfWork], None]:
        """Writes values in the step that makes a file of `plan` visible, so that both are stored together: the number
        of imported files, or, after the last, an earlier import's record."""
        if self._own is not None:  # its values follow the step
            return lambda _: None
        values = {DONE: str(done)} if done < len(plan.paths) else _values(rest, answered)
        return lambda unit: _put(unit, values)

    def answer(self) -> None:
        """Mark it as reported to the curator."""
        with suppress(UserError):  # at worst it is reported again
            self._set({ANSWERED: "yes"})

    def _stored(self) -> Mapping[str, str]:
        keys = (UNFINISHED, DONE, ANSWERED)
        if self._own is not None:
            return {key: self._own.get(key, "") for key in keys}
        with self._store.read() as unit:
            return {key: unit.meta.get(key) or "" for key in keys}

    def _set(self, values: Mapping[str, str]) -> None:
        if self._own is not None:
            self._own.update(values)
        elif not values.items() <= self._stored().items():
            with self._store.write() as unit:
                _put(unit, values)


def _put(unit: UnitOfWork, values: Mapping[str, str]) -> None:
    for key, value in values.items():
        unit.meta.set(key, value)


def _values(what: UnfinishedImport | None, answered: bool) -> dict[str, str]:
    return {
        UNFINISHED: what.dump() if what is not None else "",
        DONE: str(what.done) if what is not None else "",
        ANSWERED: "yes" if answered and what is not None else "",
    }


class UnfinishedKb:
    """The file whose import into the knowledge base is running, or ended with the program. A shared project has none:
    another client may be importing."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def load(self) -> Path | None:
        if self._store.team is not None:
            return None
        with self._store.read() as unit:
            found = unit.meta.get(UNFINISHED_KB)
        return Path(json.loads(found) if found.startswith('"') else found) if found else None

    def put(self, path: Path) -> None:
        """Store the file. Raises UserError if the disk is full."""
        self._set(json.dumps(str(path.absolute())))

    def forget(self) -> None:
        with suppress(UserError):  # on a full disk: at worst it is reported again
            self._set("")

    def _set(self, value: str) -> None:
        if self._store.team is None:
            with self._store.write() as unit:
                unit.meta.set(UNFINISHED_KB, value)


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
