"""The quality of a project's suggestions by spelling before its first index.

    .venv/bin/python -m tests.benchmarks.names_bc5cdr --documents 120

BC5CDR's development set with MeSH and MEDIC as they are imported; nothing is trained, fitted or remembered. A mention
counts as linked if one of its gold entities is in the knowledge base, and is right if the first candidate is gold.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from curator.domain.entities import TypeMapping
from curator.io import default_registry
from curator.io.files.moving import moved_text
from curator.services.importing.importing import ImportService
from curator.services.linking.name_linking import link_by_name
from curator.services.ports.storage import Store
from curator.storage import project as storage
from tests.benchmarks.linker_bc5cdr import DATA
from tests.curator.services.fakes import context


def filled(folder: Path) -> Store:
    """A project with the knowledge base, the development set and its gold."""
    store = storage.create_project(folder / "names.curation", name="names")
    importing = ImportService(context(store), default_registry(), mover=moved_text)
    for _ in importing.knowledge_base(DATA / "kb" / "mesh_medic.jsonl.gz"):
        pass
    for _ in importing.documents([DATA / "bc5cdr" / "dev.pubtator.txt"], gold=True):
        pass
    with store.write() as unit:
        unit.meta.set_type_mapping(TypeMapping({one: (one,) for one in ("Chemical", "Disease")}))
    return store


def measure(store: Store, documents: int) -> None:
    """The first `documents`, one mention after the other."""
    right = suggested = linked = asked = 0
    seconds = 0.0
    with store.read() as unit:
        for document in unit.documents.ids()[:documents]:
            decided = unit.decisions.current_of_document(document)
            for mention in unit.mentions.of_document(document):
                decision = decided.get(mention.id)
                gold = set(unit.kb.resolve(decision.verdict.entity_ids).values()) if decision is not None else set()
                began = time.perf_counter()
                found = link_by_name(unit, mention)
                seconds += time.perf_counter() - began
                asked += 1
                if gold:
                    linked += 1
                    suggested += bool(found)
                    right += bool(found) and found[0].entity_id in gold
    print(
        f"{linked:,} linked mentions in {documents} documents: a suggestion for {suggested / linked:.1%}, the first "
        f"right for {right / suggested:.1%} of those, {right / linked:.1%} of all; {1000 * seconds / asked:.1f} ms each"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=120)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store = filled(Path(folder))
        measure(store, options.documents)
        store.close()


if __name__ == "__main__":
    main()
