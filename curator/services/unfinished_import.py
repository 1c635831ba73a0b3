"""What of an import of several files is still to come: kept in the project, so that a stopped one can go on."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from curator.domain.documents import Split

UNFINISHED = "import.unfinished"
"""Key of the project's small values."""


@dataclass(frozen=True, slots=True)
class UnfinishedImport:
    """`done` of `paths` are in, the rest is not."""

    paths: tuple[Path, ...]
    done: int
    gold: bool
    split: Split
    hold_out: int

    @property
    def inside(self) -> tuple[Path, ...]:
        return self.paths[: self.done]

    @property
    def left(self) -> tuple[Path, ...]:
        return self.paths[self.done :]

    def dump(self) -> str:
        paths = [str(one.absolute()) for one in self.paths]
        facts = {"paths": paths, "done": self.done, "gold": self.gold, "hold_out": self.hold_out}
        return json.dumps({**facts, "split": self.split.value}, ensure_ascii=False)

    @classmethod
    def load(cls, text: str) -> UnfinishedImport | None:
        if not text:
            return None
        facts = json.loads(text)
        paths = tuple(Path(one) for one in facts["paths"])
        return cls(paths, facts["done"], facts["gold"], Split(facts["split"]), facts["hold_out"])
