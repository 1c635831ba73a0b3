"""The demo projects: their knowledge base, documents with gold, and undecided test documents."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs

from curator.domain.documents import Split
from curator.domain.jobs import Progress
from curator.domain.wording import UserError, tr

if TYPE_CHECKING:
    from curator.bootstrap import Project


@dataclass(frozen=True, slots=True)
class World:
    """Files of a demo below `resources/demo/NAME`; `documents` by split, the test ones imported without gold."""

    name: str
    knowledge_base: str
    documents: tuple[tuple[str, Split], ...]


WORLDS = {
    "pubmed": World(
        "pubmed",
        "kb.jsonl",
        (
            ("train.pubtator", Split.TRAIN),
            ("validation.pubtator", Split.VALIDATION),
            ("test.pubtator", Split.TEST),
        ),
    ),
    "wikia": World(
        "wikia",
        "documents",
        (
            ("mentions/train.json", Split.TRAIN),
            ("mentions/val.json", Split.VALIDATION),
            ("mentions/test.json", Split.TEST),
        ),
    ),
}


def world_of(name: str) -> World:
    """The world with this name. Raises UserError that lists the worlds."""
    if name not in WORLDS:
        raise UserError(tr("There is no demo {name!r}. Choose {join}.", name=name, join=" or ".join(WORLDS)))
    return WORLDS[name]


def demo_folder(world: str) -> Path:
    """The folder of the demo project."""
    return Path(platformdirs.user_data_dir("curator")) / "demo" / f"{world}.curation"


def is_filled(project: Project) -> bool:
    """Whether the project has its knowledge base and documents, so that nothing needs to be imported."""
    return project.knowledge.info() is not None and sum(project.queue.counts().documents.values()) > 0


def fill(project: Project, world: World) -> Generator[Progress, None, dict[str, Any]]:
    """Import knowledge base and documents. Closing it cancels the current file."""
    root = Path(str(resources.files("resources") / "demo" / world.name))
    if project.knowledge.info() is None:
        yield from project.importing.knowledge_base(root / world.knowledge_base)
    for name, split in world.documents:
        gold = split is not Split.TEST
        yield from project.importing.documents([root / name], gold=gold, split=split)
    return {"message": tr("The demo project is ready.")}
