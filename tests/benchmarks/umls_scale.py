"""A knowledge base of the UMLS's size: RRF files are made, imported, and searched.

    python -m tests.benchmarks.umls_scale --entities 340000

At 3,400,000 entities there are 7.4 million names, as in the Metathesaurus's English part. The files are created first,
in a separate process, so that the reported memory is only the import's.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import tempfile
import time
from datetime import UTC, datetime
from pathlib import Path

from curator.domain.documents import Mention, MentionOrigin, Span
from curator.io import default_registry
from curator.io.files.moving import moved_text
from curator.services.importing.importing import ImportService
from curator.services.knowledge.knowledge import KnowledgeService
from curator.services.linking.name_linking import link_by_name
from curator.services.ports.storage import Store
from curator.storage import project as storage
from tests.benchmarks.kb_search import Speech
from tests.curator.services.fakes import context

NAMES_EACH = 7.4 / 3.4
TYPES = 127
VOCABULARIES = ("MSH", "SNOMEDCT_US", "NCI", "OMIM", "LNC")


class Now:
    def now(self) -> datetime:
        return datetime.now(UTC)


def make(folder: Path, entities: int) -> None:
    """MRCONSO, MRSTY, MRDEF and MRCUI; a third of the concepts are defined, one in fifty took another's place."""
    speech = Speech()
    pick = speech.random
    files = {
        name: (folder / f"{name}.RRF").open("w", encoding="utf-8") for name in ("MRCONSO", "MRSTY", "MRDEF", "MRCUI")
    }
    for number in range(entities):
        cui = f"C{number:07}"
        count = 1 + (pick.random() < 0.6) + (pick.random() < 0.35) + (pick.random() < 0.22)
        for at in range(count):
            first = "P" if at == 0 else "S"
            name = speech.some(pick.randint(1, 6))
            source = pick.choice(VOCABULARIES)
            files["MRCONSO"].write(
                f"{cui}|ENG|{first}|L{at}|PF|S{at}|Y|A{number}{at}||||{source}|PT|{number}|{name}|0|N||\n"
            )
        kind = number % TYPES
        files["MRSTY"].write(f"{cui}|T{kind:03}|A1.2|Kind {kind}|AT{number}|256|\n")
        if number % 3 == 0:
            files["MRDEF"].write(f"{cui}|A{number}0|AT{number}||NCI|{speech.some(25)}.|N||\n")
        if number % 50 == 0:
            files["MRCUI"].write(f"C9{number:06}|2020AA|SY|||{cui}|Y|\n")
    for file in files.values():
        file.close()


def run(folder: Path) -> None:
    store = storage.create_project(folder / "umls.curation", name="umls")
    importing = ImportService(context(store), default_registry(), mover=moved_text)
    started, worked = time.perf_counter(), time.process_time()
    loaded = started
    steps = importing.knowledge_base(folder)
    try:
        while True:
            progress = next(steps)
            if progress.done < progress.total:
                loaded = time.perf_counter()
    except StopIteration as stop:
        report = stop.value
    spent = time.perf_counter() - started
    names = report.counts["names"]
    busy = time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{report.counts['entities']:,} entities, {names:,} names in {spent:.0f} s, {names / spent:,.0f} names a second"
    )
    print(
        f"of processor time {busy:.0f} s, {names / busy:,.0f} names a second; read and stored by "
        f"{loaded - started:.0f} s; peak {peak:,.0f} MB resident"
    )
    print(f"project.sqlite {(folder / 'umls.curation/project.sqlite').stat().st_size >> 20:,} MB")
    knowledge = KnowledgeService(context(store))
    for query in ("br", "brae", "C0000123", "cross therapy"):
        began = time.perf_counter()
        found = knowledge.search(query)
        print(f"search {query!r}: {len(found)} in {1000 * (time.perf_counter() - began):.0f} ms")
    link(store, folder)
    store.close()


def link(store: Store, folder: Path) -> None:
    """Suggestions by name for a document of 20 mentions, as they are there before the first index."""
    with (folder / "MRCONSO.RRF").open(encoding="utf-8") as file:
        rows = [line.split("|") for line, _ in zip(file, range(20), strict=False)]
    right = 0
    began = time.perf_counter()
    with store.read() as unit:
        for number, row in enumerate(rows):
            found = link_by_name(
                unit, Mention(number, 0, (Span(0, len(row[14])),), row[14], "Disease", MentionOrigin.SOURCE)
            )
            right += bool(found) and found[0].entity_id == f"UMLS:{row[0]}"
    spent = 1000 * (time.perf_counter() - began)
    print(f"20 mentions linked by name in {spent:.0f} ms, {right} of them to the entity that their name was drawn from")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entities", type=int, default=340_000)
    parser.add_argument("--folder", type=Path, help="where the files are; used again if they are there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / "MRCONSO.RRF").exists():
            maker = multiprocessing.get_context("spawn").Process(target=make, args=(folder, options.entities))
            maker.start()
            maker.join()
        run(folder)


if __name__ == "__main__":
    main()
