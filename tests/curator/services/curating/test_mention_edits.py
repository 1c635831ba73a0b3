"""Mentions moved, retyped and joined: what stays, what is refused, what undo brings back, what exports say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curator.domain.decisions import ChangeKind, RejectReason, Verdict
from curator.domain.documents import Mention, MentionShape, Span
from curator.domain.wording import UserError
from tests.curator.services.fakes import World, document, finish, make_world

LIDOCAINE = Verdict.link("MESH:D008012")
ARREST = Span(14, 28)  # "cardiac arrest"


def mention(world: World, mention_id: int) -> Mention:
    view = world.project.queue.open(1).view(mention_id)
    assert view is not None
    return view.mention


def exported(world: World) -> list[str]:
    world.project.exporting.export(world.folder / "out.txt", "pubtator")
    return (world.folder / "out.txt").read_text(encoding="utf-8").split("\n")


def test_a_moved_mention_keeps_its_decision_and_its_history_says_what_it_was(filled: World) -> None:
    curation = filled.project.curation
    curation.decide(2, Verdict.link("MESH:D006323"))
    before = filled.project.queue.open(1).document.revision
    change = curation.change_mention(2, [Span(22, 28)])
    moved = mention(filled, 2)
    assert (moved.spans, moved.text, moved.record) == ((Span(22, 28),), "arrest", 3)
    assert change.kind is ChangeKind.MENTIONS
    assert change.text == "Moved the mention “cardiac arrest” to “arrest”"
    view = filled.project.queue.open(1).view(2)
    assert view is not None
    assert view.decision is not None
    assert filled.project.queue.open(1).document.revision == before + 1
    (edit,) = curation.edits(2)
    assert (edit.before.spans, edit.after.spans, edit.curator) == ((ARREST,), (Span(22, 28),), "ada")


def test_a_moved_mentions_suggestion_is_stale_and_asked_anew(filled: World) -> None:
    filled.index()
    finish(filled.project.suggestions.link_split(None))
    filled.project.curation.change_mention(2, [Span(22, 28)])
    view = filled.project.queue.open(1).view(2)
    assert view is not None
    assert view.stale
    filled.project.suggestions.request([1])
    renewed = filled.project.queue.open(1).view(2)
    assert renewed is not None
    assert not renewed.stale


def test_parts_retyping_and_joining_are_undone_and_redone_exactly(filled: World) -> None:
    curation = filled.project.curation
    seen = [filled.project.queue.open(1).mentions]
    for act in (
        lambda: curation.change_mention(2, [Span(0, 9), Span(22, 28)]),
        lambda: curation.retype_mention(2, "Chemical"),
        lambda: curation.join_mentions(3, 4),
        lambda: curation.change_mention(2, [ARREST]),
    ):
        act()
        seen.append(filled.project.queue.open(1).mentions)
    assert mention(filled, 3).text == "arrhythmia blorbitis"
    assert filled.project.queue.open(1).view(4) is None
    for wanted in seen[-2::-1]:
        assert curation.undo() is not None
        assert filled.project.queue.open(1).mentions == wanted
    for wanted in seen[1:]:
        assert curation.redo() is not None
        assert filled.project.queue.open(1).mentions == wanted
    assert len(curation.edits(2)) == 9, "each way back is appended, nothing is taken away"
    assert curation.edits(2)[0].before == MentionShape((ARREST,), "SpecificDisease")


REFUSED: tuple[tuple[list[Span], str], ...] = (
    ([], "at least one character"),
    ([Span(0, 999)], "is not within the text"),
    ([Span(0, 9), Span(4, 12)], "must not overlap"),
    ([Span(28, 29)], "only white space"),
    ([Span(0, 9), Span(28, 29)], "One part"),
    ([ARREST], "is already at exactly this position"),
)


def test_what_cannot_be_a_mention_is_refused_and_nothing_changes(filled: World) -> None:
    for spans, said in REFUSED:
        with pytest.raises(UserError, match=said):
            filled.project.curation.change_mention(2, spans)
    assert mention(filled, 2).spans == (ARREST,)
    assert filled.project.curation.edits(2) == []
    assert not filled.project.curation.can_undo()


def test_two_mentions_never_stand_at_one_place_with_one_type(filled: World) -> None:
    curation = filled.project.curation
    curation.add_mention(1, [Span(22, 28)], "SpecificDisease")
    with pytest.raises(UserError, match="already exists at exactly this position"):
        curation.change_mention(2, [Span(22, 28)])
    with pytest.raises(UserError, match="already has the type SpecificDisease"):
        curation.retype_mention(2, "SpecificDisease")
    with pytest.raises(UserError, match="needs a type"):
        curation.retype_mention(2, " ")
    with pytest.raises(UserError, match="one document"):
        curation.join_mentions(2, 2)
    curation.delete_mention(2)
    with pytest.raises(UserError, match="was deleted"):
        curation.change_mention(2, [Span(0, 3)])


def test_a_moved_or_retyped_source_mention_is_exported_as_it_is_now(world: World) -> None:
    world.kb()
    world.documents(gold=True)
    curation = world.project.curation
    curation.change_mention(2, [Span(22, 28)])
    curation.retype_mention(4, "Symptom")
    curation.change_mention(3, [Span(46, 59)])
    curation.decide(3, Verdict.nil())
    lines = document(1).split("\n")
    lines[3] = "1\t22\t28\tarrest\tSpecificDisease\tD006323"
    lines[4] = "1\t46\t59\tan arrhythmia\tSpecificDisease\t-1"
    lines[5] = "1\t65\t74\tblorbitis\tSymptom\t-1"
    assert exported(world) == lines
    for _ in range(4):
        curation.undo()
    assert exported(world) == document(1).split("\n")
    assert world.project.exporting.export(world.folder / "out.txt", "pubtator").unchanged == 4


def test_an_undecided_moved_mention_keeps_the_files_identifiers_and_a_rejected_one_goes(filled: World) -> None:
    filled.project.curation.change_mention(1, [Span(0, 4)])
    filled.project.curation.change_mention(2, [Span(22, 28)])
    filled.project.curation.decide(2, Verdict.reject(RejectReason.WRONG_SPAN))
    lines = exported(filled)
    assert lines[2] == "1\t0\t4\tLido\tChemical\tD008012"
    assert not any("\tarrest\t" in line for line in lines)


def test_a_source_mention_of_several_parts_is_left_out_of_pubtator_and_named(filled: World) -> None:
    filled.project.curation.change_mention(2, [Span(0, 9), Span(22, 28)])
    report = filled.project.exporting.export(filled.folder / "out.txt", "pubtator")
    assert any("discontinuous" in one.text for one in report.problems)
    assert "\n1\t14\t" not in (filled.folder / "out.txt").read_text(encoding="utf-8")


def test_what_is_exported_after_a_move_is_read_back_at_its_new_place(filled: World, tmp_path: Path) -> None:
    filled.project.curation.change_mention(2, [Span(22, 44)])  # over the line break between title and abstract
    filled.project.exporting.export(tmp_path / "again.pubtator", "pubtator")
    (tmp_path / "other").mkdir()
    other = make_world(tmp_path / "other")
    finish(other.project.importing.documents([tmp_path / "again.pubtator"]))
    views = other.project.queue.open(1).mentions
    other.project.close()
    assert [one.mention.spans for one in views][1] == (Span(22, 44),)
    assert views[1].mention.text == "arrest\nLidocaine slowe"


def test_a_moved_zeshel_mention_is_written_in_tokens(world: World) -> None:
    folder = world.folder / "z"
    for name in ("mentions", "documents"):
        (folder / name).mkdir(parents=True)
    page = {"title": "Umber", "text": "Umber the old citadel stands", "document_id": "A1"}
    (folder / "documents" / "w.json").write_text(json.dumps(page) + "\n", encoding="utf-8")
    one = {
        "category": "LOW_OVERLAP",
        "text": "citadel",
        "end_index": 3,
        "context_document_id": "A1",
        "label_document_id": "A1",
        "mention_id": "0123456789ABCDEF",
        "corpus": "w",
        "start_index": 3,
    }
    path = folder / "mentions" / "m.json"
    path.write_text(json.dumps(one) + "\n", encoding="utf-8")
    world.kb()
    finish(world.project.importing.documents([path]))
    world.project.curation.change_mention(1, [Span(10, 21)])
    world.project.exporting.export(world.folder / "out", "zeshel")
    written = json.loads((world.folder / "out" / "mentions" / "m.json").read_text(encoding="utf-8"))
    changed = {"text": "old citadel", "start_index": 2, "end_index": 3}
    assert {k: v for k, v in written.items() if k != "category"} == {
        k: v for k, v in (one | changed).items() if k != "category"
    }
