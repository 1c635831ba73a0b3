"""Imports: what becomes visible and when, gold as decisions, files imported twice, broken files."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from curator.domain.decisions import Change, ChangeKind, Outcome, Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.wording import UserError
from curator.services.ports.queue import QueueFilter
from tests.curator.services.fakes import KB, World, document, finish


def test_documents_come_with_progress_and_a_report(world: World) -> None:
    heard: list[Change] = []
    world.project.events.subscribe(heard.append)
    path = world.write("".join(document(n) for n in range(1, 121)))
    steps = world.project.importing.documents([path], split=Split.VALIDATION)
    first = next(steps)
    assert first.total == path.stat().st_size
    assert world.project.queue.count(QueueFilter()) == 0, "nothing is visible before the file is complete"
    report = finish(steps)
    assert report.counts == {"documents": 120, "mentions": 480}
    assert world.project.queue.count(QueueFilter(split=Split.VALIDATION)) == 120
    assert [one.kind for one in heard] == [ChangeKind.IMPORTED]
    assert world.project.queue.open(1).mentions[0].decision is None, "source ids are no decisions"


def test_cancelling_leaves_nothing(world: World) -> None:
    steps = world.project.importing.documents([world.write("".join(document(n) for n in range(1, 121)))])
    next(steps)
    steps.close()
    assert world.project.queue.count(QueueFilter()) == 0
    world.documents(3, name="b.pubtator")
    assert world.project.queue.count(QueueFilter()) == 3


def test_the_same_file_twice_changes_nothing(world: World) -> None:
    world.documents(2)
    again = world.write(document(1) + document(2), name="copy.pubtator")
    report = finish(world.project.importing.documents([again]))
    assert "already imported as a.pubtator" in report.problems[0].problem.text
    assert world.project.queue.count(QueueFilter()) == 2


def test_gold_becomes_decisions_of_the_file(world: World) -> None:
    world.kb()
    world.documents(gold=True)
    opened = world.project.queue.open(1)
    decisions = [view.decision for view in opened.mentions]
    assert [one and one.verdict for one in decisions] == [
        Verdict.link("MESH:D008012"),
        Verdict.link("MESH:D006323"),
        Verdict.link("MESH:D001145"),  # by its alternate id
        Verdict.nil(),
    ]
    assert {one.curator for one in decisions if one} == {"import:a.pubtator"}
    assert all(one.shown is None for one in decisions if one)
    assert opened.document.state is DocumentState.DONE


def test_ids_that_the_knowledge_base_does_not_know_are_reported(world: World) -> None:
    world.kb()
    text = document(1).replace("D008012\n", "D777777|D008012\n").replace("D006323", "D888888")
    report = finish(world.project.importing.documents([world.write(text)], gold=True))
    first, second, *_ = world.project.queue.open(1).mentions
    assert first.decision is not None
    assert second.decision is not None
    assert first.decision.verdict == Verdict.link("MESH:D008012")
    assert second.decision.verdict.outcome is Outcome.NIL
    assert report.counts["unresolved ids"] == 2
    texts = [one.problem.text for one in report.problems]
    assert any("D777777" in one for one in texts)
    assert any("D888888" in one and "document 1" in one for one in texts)


def test_gold_needs_a_knowledge_base(world: World) -> None:
    with pytest.raises(UserError, match="kb import"):
        world.documents(gold=True)


def test_documents_held_out_are_spread_over_the_file(world: World) -> None:
    ids = world.documents(10, hold_out=3)
    held = [one for one in ids if world.project.queue.open(one).document.split is Split.VALIDATION]
    assert held == [ids[0], ids[3], ids[6]]


def test_a_truncated_file_leaves_what_was_there(world: World) -> None:
    world.documents(2)
    whole = gzip.compress("".join(document(n) for n in range(5, 2000)).encode())
    path = world.folder / "cut.pubtator.gz"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(UserError, match=r"cut\.pubtator\.gz"):
        finish(world.project.importing.documents([path]))
    assert world.project.queue.count(QueueFilter()) == 2


def test_a_wrong_file_among_several_stops_before_anything_is_written(world: World) -> None:
    good = world.write(document(1))
    with pytest.raises(UserError, match="missing"):
        finish(world.project.importing.documents([good, Path("missing.txt")]))
    assert world.project.queue.count(QueueFilter()) == 0


def test_a_knowledge_base_replaces_the_one_before_when_complete(world: World) -> None:
    world.kb()
    world.index()
    assert any(one.active for one in world.project.retraining.bundles())
    many = [{"id": f"X:{n}", "name": f"name {n}", "types": ["T"]} for n in range(4100)]
    path = world.folder / "many.jsonl"

    path.write_text("".join(json.dumps(one) + "\n" for one in many), encoding="utf-8")
    steps = world.project.importing.knowledge_base(path)
    next(steps)
    before = world.project.knowledge.info()
    assert before is not None
    assert before.entities == len(KB)
    report = finish(steps)
    after = world.project.knowledge.info()
    assert after is not None
    assert (after.entities, report.counts["entities"]) == (4100, 4100)
    assert not any(one.active for one in world.project.retraining.bundles()), "no bundle knows the new entities"
    assert world.project.retraining.needs_index()


def test_the_same_knowledge_base_again_keeps_the_bundle(world: World) -> None:
    world.kb()
    world.index()
    world.kb(name="again.jsonl")
    assert any(one.active for one in world.project.retraining.bundles())


def test_a_cancelled_knowledge_base_leaves_the_one_before(world: World) -> None:
    world.kb()
    many = [{"id": f"X:{n}", "name": f"name {n}"} for n in range(4100)]
    path = world.folder / "many.jsonl"

    path.write_text("".join(json.dumps(one) + "\n" for one in many), encoding="utf-8")
    steps = world.project.importing.knowledge_base(path)
    next(steps)
    steps.close()
    info = world.project.knowledge.info()
    assert info is not None
    assert info.name == "kb.jsonl"


GOOD = "{n}|t|Pain here\n{n}|a|\n{n}\t0\t4\tPain\tDisease\tD010146\n\n"
MEDLINE = "PMID- {n}\nTI  - Pain here\nAB  - Of a text.\n\n"
PASSAGE = {"offset": 0, "infons": {"type": "title"}, "text": "Pain here", "annotations": []}


def _bioc(number: int, text: str = "Pain here") -> str:
    return json.dumps({"id": str(number), "infons": {}, "passages": [PASSAGE | {"text": text}]}) + "\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (GOOD.format(n=1) + GOOD.format(n=2).replace("here", "h\0ere") + GOOD.format(n=3), 5),
        (GOOD.format(n=1) + GOOD.format(n=2).replace("D010146", "D\0") + GOOD.format(n=3), 7),
        (GOOD.format(n=1) + GOOD.format(n=2).replace("Disease", "\0") + GOOD.format(n=3), 7),
        (
            GOOD.format(n=1).replace("here", "here " * 20_000)
            + GOOD.format(n=2).replace("2|a|", "2|a|\0")
            + GOOD.format(n=3),
            6,
        ),
        (MEDLINE.format(n=1) + MEDLINE.format(n=2).replace("here", "h\0ere") + MEDLINE.format(n=3), 5),
        (_bioc(1) + _bioc(2, "Pain h\0ere") + _bioc(3), 2),
    ],
    ids=["title", "identifier", "type", "far from the beginning", "medline", "escaped in JSON"],
)
def test_a_record_with_a_nul_character_is_set_aside_with_its_line(world: World, text: str, line: int) -> None:
    report = finish(world.project.importing.documents([world.write(text)]))
    assert report.counts["documents"] == 2
    problems = [one.problem for one in report.problems if one.problem.severity == "set aside"]
    assert [(one.line, "NUL character" in one.text) for one in problems] == [(line, True)]


def test_a_nul_character_outside_of_the_documents_is_not_stored(world: World) -> None:
    text = "junk\0\n" + GOOD.format(n=1)
    finish(world.project.importing.documents([world.write(text)]))
    world.project.exporting.export(world.folder / "out.txt", "pubtator")
    assert (world.folder / "out.txt").read_text(encoding="utf-8") == text.replace("\0", "\ufffd")
