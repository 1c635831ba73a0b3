"""Keys per decision: a curator who knows the gold goes through BC5CDR's development documents in the real window.

`python -m tests.benchmarks.keys_per_decision PROJECT [--gold FILE] [--documents 60]`: a project with train's
gold as its memory and undecided development documents with stored suggestions (`tests.benchmarks.replay_project` makes
one; a copy is worked on). For documents chosen evenly every key is really sent, its decision is read back from the
project, and the window's own count of keys is compared. For all documents the same keys are counted unsent.

An event is one key press; Shift with a key is one. Ctrl+Enter, which ends a document, is counted for every document.
The hold-out, whose mentions are decided without suggestions on purpose, is off and given apart, and so is propagation:
there a string that occurs again in the document is listed with Shift+Enter, wrong ticks are removed, and Shift+Enter
decides the others with it.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from curator.bootstrap import Project, document_formats, open_project
from curator.domain.decisions import Verdict
from curator.domain.documents import Split
from curator.domain.jobs import LinkerState
from curator.domain.same_string import string_key
from curator.services.ports.queue import QueueFilter
from curator.services.queue.queue import MentionView, OpenDocument
from curator.storage import project as storage
from curator.ui.candidates.search_panel import is_meant
from curator.ui.deciding.kwic_list import CheckMark
from tests.benchmarks.copies import copied
from tests.benchmarks.key_plans import Case, Plan, plan
from tests.benchmarks.real_window import Desk, desk, display
from tests.benchmarks.targets import tell

DEV = Path(__file__).resolve().parents[2].parent / "shared/data/bc5cdr/dev.pubtator.txt"
AVERAGE, ONE_KEY = 1.4, 0.88
LIVE = 1.2
Place = tuple[tuple[int, int], ...]
Gold = Mapping[tuple[str, Place, str], tuple[str, ...]]


@dataclass(slots=True)
class Tally:
    """What was sent or counted. `of_one`: keys of each decision made for itself."""

    keys: int = 0
    decisions: int = 0
    documents: int = 0
    wrong: int = 0
    counted_by_window: int = 0
    of_one: list[int] = field(default_factory=list)
    how: Counter[str] = field(default_factory=Counter)

    @property
    def average(self) -> float:
        return self.keys / max(self.decisions, 1)

    @property
    def one_key(self) -> float:
        return sum(one == 1 for one in self.of_one) / max(len(self.of_one), 1)

    def add(self, found: Plan) -> None:
        self.keys += len(found.keys)
        self.decisions += 1
        self.of_one.append(len(found.keys))
        self.how[found.how] += 1

    def end_document(self) -> None:
        self.keys += 1
        self.documents += 1


def read_gold(path: Path, project: Path) -> Gold:
    """Entity ids of the project by document, spans and type; none where its knowledge base has none of the file's.

    Raises SystemExit where it has not one of all the ids in the file.
    """
    found = {
        (document.external_id, tuple((one.start, one.end) for one in mention.spans), mention.type): mention.ids
        for document in document_formats().recognise(path).open(path)
        for mention in document.mentions
    }
    with storage.open_project(project) as store, store.read() as unit:
        known = unit.kb.resolve({one for ids in found.values() for one in ids})
    if not known:
        raise SystemExit(f"{path}: none of its ids is in the knowledge base of {project}.")
    return {place: tuple(dict.fromkeys(known[one] for one in ids if one in known)) for place, ids in found.items()}


class Answers:
    """What the gold says of a mention of the project, and the plan for what the window shows of it."""

    def __init__(self, project: Project, gold: Gold) -> None:
        self._knowledge = project.knowledge
        self._gold = gold
        self._found: dict[tuple[str, frozenset[str], str], list[str]] = {}

    def verdict(self, opened: OpenDocument, view: MentionView) -> Verdict | None:
        """As `import --gold` would decide; None where the file says nothing."""
        place = tuple((one.start, one.end) for one in view.mention.spans)
        ids = self._gold.get((opened.document.external_id, place, view.mention.type))
        if ids is None:
            return None
        return Verdict.link(*ids) if ids else Verdict.nil()

    def plan(self, view: MentionView, gold: Verdict, *, linked: Collection[str], last: bool) -> Plan:
        """`linked`: what the mentions before it were linked to in this document."""
        here = frozenset(linked)
        search = partial(self._search, view.mention.type, here)
        return plan(Case(view.mention.text, gold, view.suggestion, search, self._knowledge.entity, last))

    def _search(self, mention_type: str, linked: frozenset[str], query: str, also: Collection[str]) -> list[str]:
        """As the window searches for a mention; '' first where it selects no result by itself."""
        asked = (mention_type, linked.union(also), query)
        if asked not in self._found:
            matches = self._knowledge.search(query, mention_type=mention_type, likely=asked[1])
            none = [""] if matches and not is_meant(matches[0], query) else []
            self._found[asked] = none + [one.entity.id for one in matches]
        return self._found[asked]


def documents_of(project: Project, split: Split) -> list[int]:
    """Of the queue, those that still have something to decide."""
    where, found = QueueFilter(split=split), []
    for offset in range(0, project.queue.count(where), 500):
        rows = project.queue.rows(where, offset=offset, limit=500)
        found += [row.document_id for row in rows if row.decided < row.mentions]
    return found


def evenly(items: Sequence[int], number: int) -> list[int]:
    return [items[at * len(items) // number] for at in range(min(number, len(items)))]


def count(project: Project, answers: Answers, documents: Sequence[int]) -> dict[int, Tally]:
    """By the formula: nothing is sent and nothing decided."""
    found = {}
    for document_id in documents:
        tally, opened = Tally(), project.queue.open(document_id)
        linked = set(opened.linked())
        last = next((one.mention.id for one in reversed(opened.mentions) if one.decision is None), None)
        for view in opened.mentions:
            gold = answers.verdict(opened, view)
            if view.decision is None and gold is not None:
                tally.add(answers.plan(view, gold, linked=linked, last=view.mention.id == last))
                linked.update(gold.entity_ids)
        tally.end_document()
        found[document_id] = tally
    return found


def joined(some: Iterator[Tally] | Sequence[Tally]) -> Tally:
    whole = Tally()
    for one in some:
        whole.keys += one.keys
        whole.decisions += one.decisions
        whole.documents += one.documents
        whole.of_one += one.of_one
        whole.how += one.how
    return whole


class Hand:
    """Sends plans to the window."""

    def __init__(self, one: Desk, answers: Answers, *, pause: float = 0.0) -> None:
        self.desk, self.bench, self.answers = one, one.bench, answers
        self.pause = pause  # seconds before each decision, in which the linker takes up the one before
        self.tally = Tally()

    def send(self, key: str) -> None:
        """One key; an answer that a search still owes is waited for, as eyes do."""
        written = "Return" if key == "Enter" else key if len(key) > 1 else key.upper()
        combination = QKeySequence(written)[0]  # type: ignore[index]
        modifier = combination.keyboardModifiers()
        if len(key) == 1 and key.isupper() and self.bench.searching:
            modifier |= Qt.KeyboardModifier.ShiftModifier
        if len(key) == 1 and self.bench.searching:
            self.desk.type(key)
        else:
            self.desk.press(combination.key(), modifier)
        self.desk.until(lambda: not self.bench.search.panel.busy)
        self.tally.keys += 1

    def document(self, document_id: int, *, propagate: bool = False, live: bool = False) -> None:
        at = self.bench.navigator
        linked: list[int] = []
        stop = self.bench.project.events.subscribe(lambda change: linked.extend(change.document_ids))
        at.open(document_id)
        if live:  # the linker answers with what was decided before, while a curator begins to read
            self.desk.until(lambda: document_id in linked, 3)
            at.open(document_id)
        stop()
        self.bench.focus_document()
        while at.opened is not None and at.opened.next_undecided() is not None:
            view = at.mention
            gold = self.answers.verdict(at.opened, view) if view is not None else None
            if view is None or gold is None or (view.decision is not None):
                self.send("Tab")
                continue
            self._decide(at.opened, view, gold, propagate=propagate)
        self.send("Ctrl+Shift+Return")  # mentions without gold stay undecided
        self.tally.documents += 1

    def _decide(self, opened: OpenDocument, view: MentionView, gold: Verdict, *, propagate: bool) -> None:
        last = opened.next_undecided(view.mention.id) == view.mention.id
        found = self.answers.plan(view, gold, linked=opened.linked(), last=last)
        before = self.tally.keys
        self.desk.rest(self.pause)
        if propagate and found.keys == ("Enter",) and _again(opened, view):
            self._others()
        else:
            for key in found.keys:
                self.send(key)
        made = self.bench.project.curation.current([view.mention.id]).get(view.mention.id)
        if made is None:
            raise SystemExit(f"{' '.join(found.keys)} decided nothing about “{view.mention.text}”.")
        self.tally.wrong += set(made.verdict.entity_ids) != set(gold.entity_ids)
        self.tally.decisions += 1
        self.tally.of_one.append(self.tally.keys - before)
        self.tally.how[found.how] += 1

    def _others(self) -> None:
        """List; ticks that the gold contradicts are removed, and what is right is decided."""
        self.send("Shift+Return")
        panel = self.bench.many.others
        if panel.others is None:
            return
        wanted = panel.others.verdict
        rows, at = panel.list.lines, 0
        for line in list(rows.lines):
            row = rows.row(line)
            if row is None or row.context is None or row.mark is not CheckMark.TICKED:
                continue
            if self._is(row.context.document_id, row.context.mention_id, wanted):
                self.tally.decisions += row.context.mention_id != panel.others.this.mention_id
                continue
            while panel.list.currentIndex().row() != line and at < 200:
                self.send("Down" if panel.list.currentIndex().row() < line else "Up")
                at += 1
            self.send("Space")
        self.send("Shift+Return" if panel.ticked else "Escape")

    def _is(self, document_id: int, mention_id: int, wanted: Verdict) -> bool:
        opened = self.bench.project.queue.open(document_id)
        view = opened.view(mention_id)
        gold = self.answers.verdict(opened, view) if view is not None else None
        return gold is not None and gold.outcome is wanted.outcome and set(gold.entity_ids) == set(wanted.entity_ids)


def _again(opened: OpenDocument, view: MentionView) -> bool:
    """Whether the same string stands undecided further on in the document, which the curator sees."""
    key = string_key(view.mention.text)
    return any(
        other.mention.id != view.mention.id and other.decision is None and string_key(other.mention.text) == key
        for other in opened.mentions
    )


def drive(folder: Path, gold: Gold, documents: Sequence[int], *, propagate: bool, live: bool = False) -> Tally:
    """`live`: the documents become train documents and the linker runs, so that what is decided teaches its memory."""
    if live:
        with storage.open_project(folder) as store, store.write() as unit:
            unit.documents.set_split(documents, Split.TRAIN)
    project = open_project(folder, linker=live, curator="ada")
    with desk(project) as one:
        hand = Hand(one, Answers(one.bench.project, gold), pause=0.4 if live else 0.0)
        if live:
            one.until(lambda: project.suggestions.status().state is LinkerState.READY, 300)
        for document_id in documents:
            hand.document(document_id, propagate=propagate, live=live)
        hand.tally.counted_by_window = one.keys_counted()
        return hand.tally


def line(name: str, tally: Tally) -> None:
    """One row of the report."""
    print(
        f"{name}: {tally.decisions:,} decisions in {tally.documents:,} documents, {tally.keys:,} keys,"
        f" {tally.average:.3f} a decision; one key {tally.one_key:.1%}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", type=Path)
    parser.add_argument("--gold", type=Path, default=DEV)
    parser.add_argument("--documents", type=int, default=60, help="so many are really worked through")
    parser.add_argument("--split", default="test", choices=[one.value for one in Split])
    parser.add_argument("--no-window", action="store_true", help="only count")
    parser.add_argument("--live", action="store_true", help="train documents, whose decisions teach the memory at once")
    given = parser.parse_args()
    gold = read_gold(given.gold, given.project)
    with tempfile.TemporaryDirectory() as config, display():
        os.environ["CURATOR_CONFIG_DIR"] = config
        if given.live:
            taught(given.project, gold, Split(given.split), given.documents)
        else:
            report(given.project, gold, Split(given.split), 0 if given.no_window else given.documents)


def _settings(holdout: int) -> None:
    from curator.settings.file import save
    from curator.settings.schema import Settings

    save(Settings(holdout_percent=holdout))


def report(folder: Path, gold: Gold, split: Split, sample_size: int) -> None:
    with copied(folder) as copy:
        project = open_project(copy, linker=False, curator="ada")
        try:
            documents = documents_of(project, split)
            chosen = evenly(documents, sample_size)
            answers = Answers(project, gold)
            _settings(0)
            counted = count(project, answers, documents)
            _settings(2)
            held = joined(list(count(project, answers, documents).values()))
            _settings(0)
        finally:
            project.close()
    every, expected = joined(list(counted.values())), joined([counted[one] for one in chosen])
    line("counted, all documents", every)
    for how, number in every.how.most_common():
        print(f"    {how}: {number:,} ({number / every.decisions:.1%})")
    print(
        f"    keys of a decision that needs more than one: mean "
        f"{statistics.mean([one for one in every.of_one if one > 1] or [0]):.1f}"
    )
    line("with the hold-out of 2 % as by default, counted", held)
    if chosen:
        line("counted, the sample", expected)
        _in_the_window(folder, gold, chosen, expected)
    tell(f"keys per decision, {folder.stem}, all documents", every.average, "keys", most=AVERAGE, note="counted")
    tell("decided with one key, all documents", 100 * every.one_key, "%", least=100 * ONE_KEY, note="counted")


def taught(folder: Path, gold: Gold, split: Split, sample_size: int) -> None:
    """As documents come in by default: each decision answers at the next mention of its string."""
    _settings(0)
    with copied(folder) as copy:
        project = open_project(copy, linker=False, curator="ada")
        chosen = evenly(documents_of(project, split), sample_size)
        project.close()
        sent = drive(copy, gold, chosen, propagate=False, live=True)
    line("sent to the window, with the memory at work", sent)
    for how, number in sent.how.most_common():
        print(f"    {how}: {number:,} ({number / sent.decisions:.1%})")
    tell("keys per decision, real keys, memory at work", sent.average, "keys", most=LIVE)
    tell("decisions by real keys that differ from the gold", sent.wrong, "", most=0)


def _in_the_window(folder: Path, gold: Gold, chosen: Sequence[int], expected: Tally) -> None:
    with copied(folder) as copy:
        sent = drive(copy, gold, chosen, propagate=False)
    line("sent to the window, the sample", sent)
    print(
        f"    {sent.wrong} decisions differ from the gold; the window itself counted {sent.counted_by_window:,} keys "
        f"for its decisions, and {sent.documents} ended the documents"
    )
    agree = "agree" if (sent.keys, sent.decisions) == (expected.keys, expected.decisions) else "DIFFER"
    print(f"    counted and sent {agree}")
    with copied(folder) as copy:
        doubled = drive(copy, gold, chosen, propagate=True)
    line("with the doubled key, the sample", doubled)
    tell("keys per decision, real keys, sample", sent.average, "keys", most=AVERAGE)
    tell("decided with one key, real keys, sample", 100 * sent.one_key, "%", least=100 * ONE_KEY)
    tell("decisions by real keys that differ from the gold", sent.wrong, "", most=0)


if __name__ == "__main__":
    main()
