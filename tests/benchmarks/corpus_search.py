"""Measures a search of the documents until its first hits and its end.

`python -m tests.benchmarks.corpus_search PROJECT [--documents 100000] [--times 5]`: in a copy of the project. With
`--documents`, its documents are repeated up to that number, without their mentions. Each query is timed until the first
report with a hit (or the end if there is none), and until the end. The first search of a project also checks for texts
with U+0000; the median is that of later ones.
"""

from __future__ import annotations

import argparse
import sqlite3
import statistics
import time
from contextlib import closing
from pathlib import Path

from curator.services.queue.corpus_search import CorpusQuery, CorpusSearch
from curator.storage import project as storage
from tests.benchmarks.copies import copied
from tests.benchmarks.targets import tell
from tests.curator.services.fakes import context

NOTHING = CorpusQuery("zebrafish swim bladder")
QUERIES = (
    CorpusQuery("hypertension"),
    CorpusQuery("the"),
    NOTHING,
    CorpusQuery("TGF-β3-coated"),
    CorpusQuery(r"\bzebrafish (?:larva|embryo)s?\b", pattern=True),
    CorpusQuery(r"\b\w+itis\b", pattern=True),
    CorpusQuery(r"\b(?:lidocaine){e<=1}\b", pattern=True),
)
SMALL, SMALL_MS, LARGE_MS = 1_500, 150.0, 1_000.0


def repeat(database: Path, wanted: int) -> None:
    """Copies of the documents, texts and passages, under ids of their own."""
    with closing(sqlite3.connect(database)) as conn, conn:
        conn.execute("PRAGMA synchronous = OFF")
        number, highest = conn.execute("SELECT count(*), max(id) FROM documents").fetchone()
        tables = (("documents", "id"), ("document_texts", "document_id"), ("passages", "document_id"))
        for copy in range(1, (wanted + number - 1) // number):
            step = copy * highest
            for table, key in tables:
                columns = [row[1] for row in conn.execute(f"PRAGMA table_info({table})")]
                values = [f"{one} + {step}" if one == key else one for one in columns]
                changed = {"external_id": f"external_id || '-{copy}'", "mentions": "0", "linked": "0", "nil": "0"}
                if table == "documents":
                    values = [changed.get(one, value) for one, value in zip(columns, values, strict=True)]
                sql = f"INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(values)} FROM {table}"
                conn.execute(f"{sql} WHERE {key} <= {highest}")


def timed(search: CorpusSearch, query: CorpusQuery) -> tuple[float, float, float, int]:
    """Milliseconds to the first hits and to the end, those of the processor to the end, and the number of hits."""
    began, worked, first, number = time.perf_counter(), time.process_time(), 0.0, 0
    for found in search.search(query):
        number = found.number
        if number and not first:
            first = 1000 * (time.perf_counter() - began)
    end = 1000 * (time.perf_counter() - began)
    return first or end, end, 1000 * (time.process_time() - worked), number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("project", type=Path)
    parser.add_argument("--documents", type=int, default=0)
    parser.add_argument("--times", type=int, default=5)
    chosen = parser.parse_args()
    with copied(chosen.project) as folder:
        if chosen.documents:
            repeat(folder / "project.sqlite", chosen.documents)
        store = storage.open_project(folder)
        with store.read() as unit:
            documents = len(unit.documents.ids())
        search = CorpusSearch(context(store))
        print(f"the very first search: {timed(search, NOTHING)[1]:.0f} ms")
        most = SMALL_MS if documents <= SMALL else LARGE_MS
        for query in QUERIES:
            times = [timed(search, query) for _ in range(chosen.times)]
            first, end, worked = (statistics.median([one[at] for one in times]) for at in range(3))
            note = f"{times[0][3]:,} hits; the end after {end:.0f} ms, {worked:.0f} ms of a processor"
            tell(f"“{query.text}” in {documents:,} documents, first hits", first, "ms", most=most, note=note)
        store.close()


if __name__ == "__main__":
    main()
