"""Search in a knowledge base of one million names: the cost of a key while a query is typed.

    .venv/bin/python -m tests.benchmarks.kb_search                       # a million names; some minutes to load
    .venv/bin/python -m tests.benchmarks.kb_search --names 200000 --folder /tmp/kb   # keeps the project there

The names are generated: words in Zipf's proportions, two to six of them, as ontologies have them. Queries are names,
synonyms, words of names, identifiers, restrictions to a type, definitions and misspelt words, each typed letter by
letter as the window would ask: with the types of a mention preferred. The whole of `knowledge.search` is measured, from
the text to the entities, in this process, in clock and CPU time (on a busy machine, clock time depends on the other
work), without warm-up.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from pathlib import Path

from curator.domain.entities import Entity, TypeMapping
from curator.services.knowledge.knowledge import KnowledgeService
from curator.services.ports.storage import Store
from curator.storage import project as storage
from tests.benchmarks.targets import quantile, tell
from tests.curator.services.fakes import context

TYPES = ("Disease", "Chemical", "Gene", "Anatomy", "Organism")
NAMES_EACH = 3
WORDS = 120_000
STARTS = (*"bcdfghklmnprstvz", "br", "cr", "dr", "fl", "gl", "pr", "sp", "st", "tr", "th", "ph", "chl", "hydr")
MIDDLES = (*"aeiouy", "ae", "io", "ea", "ou")
ENDS = (*"nlrstmx", "min", "ase", "osis", "itis", "emia", "oma", "ine", "ol", "ate", "ide", "gen", "ic", "al")
BATCH = 5000


class Speech:
    """Words in Zipf's proportions, always the same."""

    def __init__(self, seed: int = 0) -> None:
        self.random = random.Random(seed)
        self.words = list(dict.fromkeys(self._word() for _ in range(WORDS)))
        self._weights = list(accumulate(1 / (rank + 3) for rank in range(len(self.words))))

    def some(self, number: int) -> str:
        return " ".join(self.random.choices(self.words, cum_weights=self._weights, k=number))

    def _word(self) -> str:
        pick: Callable[[Sequence[str]], str] = self.random.choice
        return "".join(pick(STARTS) + pick(MIDDLES) for _ in range(self.random.randint(1, 3))) + pick(ENDS)


def entities(names: int) -> Iterator[Entity]:
    speech = Speech()
    for number in range(names // NAMES_EACH):
        name, *synonyms = (speech.some(speech.random.randint(1, 5)) for _ in range(NAMES_EACH))
        definition = speech.some(25) + "." if number % 3 == 0 else ""
        kind = TYPES[min(int(speech.random.expovariate(0.7)), len(TYPES) - 1)]
        yield Entity(f"MESH:D{number:07}", name, tuple(synonyms), (kind,), definition)


def load(store: Store, names: int) -> dict[str, float]:
    started = time.perf_counter()
    with store.write() as unit:
        version = unit.kb.begin(name="made")
    batch: list[Entity] = []
    for entity in entities(names):
        batch.append(entity)
        if len(batch) == BATCH:
            _add(store, version, batch)
    _add(store, version, batch)
    loaded = time.perf_counter()
    with store.write() as unit:
        unit.kb.activate(version)
        unit.meta.set_type_mapping(TypeMapping({one: (one,) for one in TYPES}))
    return {"load s": loaded - started, "index s": time.perf_counter() - loaded}


def _add(store: Store, version: int, batch: list[Entity]) -> None:
    if batch:
        with store.write() as unit:
            unit.kb.add(version, batch)
        batch.clear()


def queries(store: Store, each: int) -> Iterator[tuple[str, str]]:
    """(kind, whole query) of the things that people type."""
    chosen = random.Random(1)
    with store.read() as unit:
        info = unit.kb.info()
        assert info is not None
        ids = [f"MESH:D{chosen.randrange(info.entities):07}" for _ in range(each)]
        found = [unit.kb.get(one) for one in ids]
    for entity in found:
        assert entity is not None
        words = chosen.choice(entity.synonyms).split()
        yield "name", entity.name
        yield "synonym", chosen.choice(entity.synonyms)
        yield "words in another order", " ".join(chosen.sample(words, len(words)))
        yield "identifier", entity.id.partition(":")[2]
        yield "of a type", f"{chosen.choice(words)} type:{entity.types[0].lower()}"
        yield "exact characters", f'"{entity.name[1:12]}"'
        yield "definition", f"{words[0]} :: {_defining(entity, chosen)}"
        yield "misspelt", _misspelt(max(words, key=len), chosen)


def _defining(entity: Entity, chosen: random.Random) -> str:
    """A word or two of its definition, or the word that most definitions hold."""
    words = entity.definition.rstrip(".").split() or ["bain"]
    return " ".join(chosen.sample(words, min(2, len(words))))


def _misspelt(word: str, chosen: random.Random) -> str:
    at = chosen.randrange(1, max(2, len(word) - 1))
    return word[:at] + word[at + 1 : at + 2] + word[at : at + 1] + word[at + 2 :]


def measure(store: Store, each: int) -> dict[str, list[tuple[float, float]]]:
    """Milliseconds by the clock and of processor time for every key, by the kind of query."""
    service = KnowledgeService(context(store))
    spent: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for number, (kind, whole) in enumerate(queries(store, each)):
        for end in range(1, len(whole) + 1):
            started, worked = time.perf_counter(), time.process_time()
            service.search(whole[:end], mention_type=TYPES[number % 2])
            spent[kind].append((1000 * (time.perf_counter() - started), 1000 * (time.process_time() - worked)))
    return spent


def _figures(values: list[float]) -> str:
    ranked = sorted(values)
    p50, p95 = (ranked[int(share * (len(ranked) - 1))] for share in (0.5, 0.95))
    return f"p50 {p50:6.1f} p95 {p95:6.1f} worst {ranked[-1]:6.1f} ms"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", type=int, default=1_000_000)
    parser.add_argument("--each", type=int, default=25, help="queries of each kind")
    parser.add_argument("--folder", type=Path, help="where the project is made and kept; used again if it is there")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (options.folder or Path(temporary)) / "bench.curation"
        made = not folder.exists()
        store = storage.create_project(folder, name="bench") if made else storage.open_project(folder)
        if made:
            print({name: round(value, 1) for name, value in load(store, options.names).items()})
        print(f"{(folder / 'project.sqlite').stat().st_size / 2**20:.0f} MiB")
        spent = measure(store, options.each)
        for kind, taken in {**spent, "all": [one for values in spent.values() for one in values]}.items():
            print(
                f"{kind:24} {len(taken):6} keys  clock {_figures([one for one, _ in taken])}"
                f"  processor {_figures([one for _, one in taken])}"
            )
        every = [one for values in spent.values() for one, _ in values]
        tell(f"search of {options.names:,} names while typing, p95 of a key", quantile(every, 0.95), "ms", most=50.0)
        store.close()


if __name__ == "__main__":
    main()
