"""A text that changed under the same id: left alone unless taken, then with its decisions; and the way back."""

from __future__ import annotations

from pathlib import Path

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import Changed, DocumentState, Span
from curator.services.importing.importing import ImportChoices, ImportReport
from curator.services.ports.queue import QueueFilter
from tests.curator.services.fakes import World, finish

OLD = "Lidocaine was given to a patient. The patient had cardiac arrest soon after it. Aspirin was stopped on day 3."
NEW = "In this report lidocaine was given to a patient. The patient had cardiac arrest soon after it. Nothing stopped."
TAKE = ImportChoices(Changed.TAKE)


def record(text: str, *lines: tuple[str, str, str], pmid: str = "7") -> str:
    title = "A case."
    found = []
    for quote, kind, entity in lines:
        at = len(title) + 1 + text.index(quote)
        found.append(f"{pmid}\t{at}\t{at + len(quote)}\t{quote}\t{kind}\t{entity}\n")
    return f"{pmid}|t|{title}\n{pmid}|a|{text}\n{''.join(found)}\n"


FIRST = record(
    OLD,
    ("Lidocaine", "Chemical", "D008012"),
    ("cardiac arrest", "Disease", "D006323"),
    ("Aspirin", "Chemical", "D001241"),
)
SECOND = record(
    NEW,
    ("lidocaine", "Chemical", "D008012"),
    ("cardiac arrest", "Disease", "D006323"),
    ("patient", "Species", "9606"),
)


@pytest.fixture
def decided(world: World) -> World:
    """One document, its three mentions decided by ada."""
    world.kb()
    bring(world, FIRST)
    for mention_id, entity in zip(world.mentions(1), ("MESH:D008012", "MESH:D006323", "MESH:D001145"), strict=True):
        world.project.curation.decide(mention_id, Verdict.link(entity))
    return world


def bring(world: World, text: str, choices: ImportChoices | None = None, *, name: str = "a.pubtator") -> ImportReport:
    report: ImportReport = finish(world.project.importing.documents([world.write(text, name=name)], choices=choices))
    return report


def state(world: World, document_id: int = 1) -> list[tuple[str, str, str]]:
    """Every mention with the text at its place and what was decided."""
    opened = world.project.queue.open(document_id)
    text = opened.document.text
    return [
        (
            " ".join(text[span.start : span.end] for span in one.mention.spans),
            one.mention.type,
            "|".join(one.decision.verdict.entity_ids) if one.decision else "",
        )
        for one in opened.mentions
    ]


def exported(world: World, name: str = "out.txt") -> str:
    out = world.folder / name
    found = world.project.exporting.export(out, "pubtator").paths
    return "\n".join(Path(one).read_text("utf-8") for one in found)


def test_a_changed_text_moves_nothing_unasked(decided: World) -> None:
    before = decided.project.queue.open(1).document
    report = bring(decided, SECOND)
    assert decided.project.queue.open(1).document == before
    assert decided.project.queue.count(QueueFilter()) == 1
    assert report.counts == {"changed, left as they are": 1}
    assert "a different text or different annotations" in report.problems[-1].problem.text
    assert len(decided.project.imports.files()) == 1, "nothing of the file came in"


def test_a_taken_text_brings_its_decisions_along(decided: World) -> None:
    report = bring(decided, SECOND, TAKE)
    assert report.counts["new texts taken"] == 1
    assert report.counts["decisions moved"] == 2
    assert report.counts["decisions without a place"] == 1
    assert decided.project.queue.open(1).document.text.endswith(NEW)
    assert state(decided) == [
        ("lidocaine", "Chemical", "MESH:D008012"),
        ("patient", "Species", ""),
        ("cardiac arrest", "Disease", "MESH:D006323"),
    ]
    [aspirin] = [one for one in decided.project.imports.files() if one.undone is None and one.documents == 0]
    assert aspirin.record.file.name == "a.pubtator", "the first file has no document of its own any more"


def test_what_was_taken_is_written_as_the_new_file_has_it(decided: World) -> None:
    bring(decided, SECOND, TAKE)
    assert exported(decided) == SECOND


def test_undoing_the_import_gives_the_former_text_back(decided: World) -> None:
    before, text = state(decided), exported(decided, "before.txt")
    bring(decided, SECOND, TAKE)
    files = decided.project.imports.last()
    plan = decided.project.imports.plan(files)
    assert (plan.documents, plan.given_back) == ((), (1,))
    decided.project.imports.undo(files)
    assert state(decided) == before
    assert decided.project.queue.open(1).document.text.endswith(OLD)
    assert exported(decided, "after.txt") == text
    report = bring(decided, SECOND, TAKE)
    assert report.counts["new texts taken"] == 1, "and it can be taken again"
    assert state(decided)[0] == ("lidocaine", "Chemical", "MESH:D008012")


def test_what_a_hand_moved_and_made_goes_along_both_ways(decided: World) -> None:
    project = decided.project
    text = project.queue.open(1).document.text
    lidocaine = decided.mentions(1)[0]
    at = text.index("Lidocaine was")
    project.curation.change_mention(lidocaine, (Span(at, at + 13),))
    own = text.index("given")
    project.curation.add_mention(1, (Span(own, own + 5),), "Event")
    before = state(decided)
    bring(decided, SECOND.replace("lidocaine was", "Lidocaine was").replace("lidocaine", "Lidocaine"), TAKE)
    assert ("Lidocaine was", "Chemical", "MESH:D008012") in state(decided)
    assert ("given", "Event", "") in state(decided)
    assert "Lidocaine was\tChemical" in exported(decided), "what was moved by hand is written so"
    project.imports.undo(project.imports.last())
    assert state(decided) == before


def test_decisions_of_gold_follow_the_file_and_those_of_people_do_not(world: World) -> None:
    world.kb()
    finish(world.project.importing.documents([world.write(FIRST)], gold=True))
    lidocaine, arrest, _ = world.mentions(1)
    world.project.curation.decide(arrest, Verdict.nil())
    again = SECOND.replace("D008012", "D006323").replace("Disease\tD006323", "Disease\tD001145")
    finish(world.project.importing.documents([world.write(again)], gold=True, choices=TAKE))
    found = {one.mention.id: one.decision for one in world.project.queue.open(1).mentions}
    verdicts = {one: decision and decision.verdict for one, decision in found.items()}
    assert verdicts[lidocaine] == Verdict.link("MESH:D006323")
    assert verdicts[arrest] == Verdict.nil()
    assert world.project.queue.open(1).document.state is DocumentState.DONE, "the new mention has gold too"


def test_an_unasked_identifier_does_not_overwrite_what_was_decided(world: World) -> None:
    """Gold was taken, then the file states something else without gold: what is written is what was decided."""
    world.kb()
    finish(world.project.importing.documents([world.write(FIRST)], gold=True))
    bring(world, FIRST.replace("D008012", "D006323"), TAKE)
    assert "Lidocaine\tChemical\tD008012" in exported(world)


def test_each_document_is_chosen_for_itself(world: World) -> None:
    world.kb()
    bring(world, FIRST + record(OLD, pmid="8") + record(OLD, pmid="9"))
    choices = ImportChoices(Changed.KEEP, {2: Changed.TAKE, 3: Changed.APART})
    bring(world, SECOND + record(NEW, pmid="8") + record(NEW, pmid="9"), choices)
    texts = [world.project.queue.open(one).document.text for one in world.project.queue.ids(QueueFilter())]
    assert [one.endswith(NEW) for one in texts] == [False, True, False, True]


def test_a_longer_version_of_a_file_brings_only_what_is_new(world: World) -> None:
    bring(world, FIRST)
    report = bring(world, FIRST + record(NEW, pmid="8"))
    assert report.counts == {"documents": 1, "already here": 1}
    assert world.project.queue.count(QueueFilter()) == 2


def test_the_same_number_in_another_file_is_another_document(world: World) -> None:
    bring(world, FIRST)
    other = record("Nothing of this has to do with what stands in any other file of the project.", pmid="7")
    assert bring(world, other, name="b.pubtator").counts["documents"] == 1
    assert bring(world, FIRST + record("More words.", pmid="8"), name="c.pubtator").counts == {
        "documents": 1,
        "already here": 1,
    }


def test_two_records_with_one_id_are_told_apart(world: World) -> None:
    twice = FIRST + record("A second record that bears the same number.", pmid="7")
    bring(world, twice)
    assert bring(world, twice + record("Third.", pmid="9")).counts == {"documents": 1, "already here": 2}


def test_files_of_one_import_that_bring_text_and_mentions_apart_are_joined(world: World) -> None:
    """As a folder of ZESHEL does, whose mentions are in separate files."""
    texts, mentions = world.write(record(OLD), name="texts.pubtator"), world.write(FIRST, name="mentions.pubtator")
    report = finish(world.project.importing.documents([texts, mentions]))
    assert report.counts["mentions added"] == 3
    assert len(state(world)) == 3


def test_mentions_of_another_import_are_not_added_unasked(world: World) -> None:
    bring(world, record(OLD), name="texts.pubtator")
    assert bring(world, FIRST, name="mentions.pubtator").counts == {"changed, left as they are": 1}
    assert state(world) == []
