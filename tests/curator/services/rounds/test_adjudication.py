"""From two curators' judgements over agreement and exchange to the project's decisions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from curator.domain.decisions import Outcome, SkipReason, Verdict
from curator.domain.documents import Span
from curator.domain.rounds import Round
from curator.domain.wording import UserError
from curator.services.ports.queue import QueueFilter
from curator.services.rounds.rounds import adjudicated_by
from tests.curator.services.fakes import World, make_world

LIDOCAINE, ARREST, ARRHYTHMIA = (Verdict.link(f"MESH:{one}") for one in ("D008012", "D006323", "D001145"))
EXTRA = Span(39, 45)


@pytest.fixture
def judged(filled: World) -> Round:
    """Document 1: agreed, apart, apart over NIL, both skipped; ada alone made a mention. Document 2: ada alone."""
    one, two = filled.project.queue.ids(QueueFilter())
    found = filled.project.rounds.create("pilot", [one, two])
    verdicts = {
        "ada": [LIDOCAINE, ARREST, Verdict.nil(), Verdict.skip()],
        "ben": [LIDOCAINE, ARRHYTHMIA, ARRHYTHMIA, Verdict.skip(SkipReason.AMBIGUOUS)],
    }
    for name, given in verdicts.items():
        curation = filled.project.rounds.seat(found, name).curation
        for mention, verdict in zip(filled.mentions(one), given, strict=True):
            curation.decide_many([mention], verdict)
    ada = filled.project.rounds.seat(found, "ada").curation
    ada.decide_many([ada.add_mention(one, [EXTRA], "Chemical").mention_ids[0]], Verdict.nil())
    ada.decide_many([filled.mentions(two)[0]], LIDOCAINE)
    return found


def test_an_open_round_is_not_adjudicated(filled: World, judged: Round) -> None:
    with pytest.raises(UserError, match="still open"):
        filled.project.adjudication.of(judged.id)
    filled.project.rounds.close(judged.id)
    filled.project.rounds.create("lonely", [1])
    filled.project.rounds.close(2)
    with pytest.raises(UserError, match="Only one curator"):
        filled.project.adjudication.of(2)


def test_disagreements_become_decisions_until_none_is_left(filled: World, judged: Round) -> None:
    project, service = filled.project, filled.project.adjudication
    project.rounds.close(judged.id)
    found = service.of(judged.id)
    assert [one.mention.text for one in found.left] == ["cardiac arrest", "slowed", "arrhythmia", "blorbitis"]
    assert [found.left[1].verdicts[name] for name in ("ada", "ben")] == [Verdict.nil(), None]
    assert (found.agreed, found.done) == (1, False)
    arrest, slowed, arrhythmia, blorbitis = (one.mention.id for one in found.left)

    service.settle(judged.id, arrest, "ben")
    assert service.of(judged.id).next(arrest).mention.id == slowed  # type: ignore[union-attr]
    service.settle(judged.id, slowed, "ben")  # who did not mark it
    decisions = {view.mention.id: view.decision for view in project.queue.open(1).mentions}
    assert decisions[arrest].verdict == ARRHYTHMIA  # type: ignore[union-attr]
    assert decisions[slowed].verdict.outcome is Outcome.REJECTED  # type: ignore[union-attr]
    assert decisions[slowed].note == "round “pilot”: as ben judged"  # type: ignore[union-attr]

    seat = service.seat(judged, project.suggestions).curation
    seat.decide_many([arrhythmia], ARRHYTHMIA)
    seat.decide_many([blorbitis], Verdict.nil())
    assert service.adopt_agreed(judged.id).text == "Adopted 1 mention that all curators of “pilot” agree on"
    found = service.of(judged.id)
    assert (found.left, found.done, found.next()) == ((), True, None)
    assert all(adjudicated_by(view.decision.note) for view in project.queue.open(1).mentions)  # type: ignore[union-attr]
    with pytest.raises(UserError, match="There is no decision left to adopt"):
        service.adopt_agreed(judged.id)
    with pytest.raises(UserError, match="partly adjudicated"):
        project.rounds.reopen(judged.id)
    project.curation.undo()
    project.curation.undo()
    assert [one.mention.id for one in service.of(judged.id).left] == [blorbitis]


def test_a_mention_of_the_round_comes_into_the_text_when_it_is_decided_anew(filled: World, judged: Round) -> None:
    project, service = filled.project, filled.project.adjudication
    project.rounds.close(judged.id)
    made = next(one.mention.id for one in service.of(judged.id).left if one.mention.text == "slowed")
    assert made not in filled.mentions(1)
    seat = service.seat(judged, project.suggestions)
    assert seat.queue.open(1).view(made) is not None
    seat.curation.decide_many([made], LIDOCAINE)
    assert made in filled.mentions(1)
    project.curation.undo()
    project.curation.undo()
    assert made not in filled.mentions(1)


@pytest.mark.parametrize("act", ["delete", "join"])
def test_relations_follow_a_mention_that_is_edited_while_adjudicating(filled: World, judged: Round, act: str) -> None:
    """As they do outside of an adjudication: joined mentions keep them, and the step names those that a deletion
    takes along."""
    project = filled.project
    _, arrest, arrhythmia, blorbitis = filled.mentions(1)
    project.relations.add(arrest, arrhythmia, "causes")
    project.rounds.close(judged.id)
    editing = project.adjudication.seat(judged, project.suggestions).editing
    assert editing is not None
    if act == "join":
        editing.join_mentions(blorbitis, arrhythmia)
        assert [one.mention_ids for one in project.relations.of_document(1)][1:] == [(arrest, blorbitis)]
    else:
        assert editing.delete_mention(arrhythmia).text == "Deleted the mention “arrhythmia” and its relation"
        assert [one.with_mention for one in project.relations.history(arrest)] == [False, True]
    project.curation.undo()
    assert [one.mention_ids for one in project.relations.of_document(1)][1:] == [(arrest, arrhythmia)]


def test_comments_and_flags_stay_in_sight(filled: World, judged: Round) -> None:
    project = filled.project
    made = project.rounds.seat(judged, "ada").queue.open(1).mentions[2].mention
    assert made.text == "slowed"
    project.notes.flag_document(1)
    for mention in (None, filled.mentions(1)[0], made.id):
        project.notes.comment(1, "why?", mention_id=mention)
    project.rounds.close(judged.id)
    for queue, number in (
        (project.adjudication.seat(judged, project.suggestions).queue, 1),
        (project.rounds.seat(judged, "ada").queue, 1),
        (project.rounds.seat(judged, "ben").queue, 0),  # others' comments could give their judgements away
    ):
        opened = queue.open(1)
        assert opened.flagged
        assert len(opened.comments) == len(opened.mentions[0].comments) == number
    adjudicated = project.adjudication.seat(judged, project.suggestions).queue.open(1)
    assert [len(one.comments) for one in adjudicated.mentions if one.mention.id == made.id] == [1]


def test_agreement_tells_links_and_spans_apart(filled: World, judged: Round) -> None:
    report = filled.project.agreement.report("pilot", resamples=50)
    assert report.curators == ("ada", "ben")
    # links: lidocaine together, arrest and arrhythmia apart; skipped and alone are missing
    assert (report.whole.items, report.whole.observed) == (3, pytest.approx(1 / 3))
    # po 1/3, pe = 1/9 (lidocaine) + 0 + 0 ... ada: L, A, NIL; ben: L, R, R
    assert report.whole.cohen == pytest.approx((1 / 3 - 1 / 9) / (1 - 1 / 9))
    # alpha by hand: two coincidences agree of n 6, margins L 2, A 1, NIL 1, R 2: 1 - 5 * 4 / (36 - 10)
    assert report.whole.alpha == pytest.approx(1 - 5 * 4 / 26)
    # document 1 only: ada holds 5 spans, ben 4 of them
    assert report.whole.exact == report.whole.overlap == pytest.approx(8 / 9)
    assert {row.part: row.items for row in report.by_type} == {"Chemical": 1, "SpecificDisease": 2}
    assert [row.part for row in report.by_document] == ["1", "2"]
    assert report.by_document[1].alpha is None
    assert [row.part for row in report.pairs] == ["ada – ben"]
    assert [kind for kind, _ in report.rows] == ["round", "pair", "type", "type", "document", "document"]


def test_a_colleague_s_file_brings_the_judgements_and_is_read_twice_without_harm(
    filled: World, judged: Round, tmp_path: Path
) -> None:
    out = tmp_path / "pilot.jsonl"
    written = filled.project.round_files.export("pilot", out, curators=("ada",))
    assert (written.documents, written.judgements) == (2, 6)
    (tmp_path / "other").mkdir()
    other = make_world(tmp_path / "other")
    try:
        other.kb()
        other.documents(2)
        report = other.project.round_files.read(out)
        assert (report.made, report.documents, report.judgements, report.curators) == (True, 2, 6, ["ada"])
        assert other.project.round_files.read(out).judgements == 0
        found = other.project.rounds.named("pilot")
        ada = other.project.rounds.seat(found, "ada").queue.open(1)
        assert [one.mention.text for one in ada.mentions if one.decision] == [
            "Lidocaine",
            "cardiac arrest",
            "slowed",
            "arrhythmia",
            "blorbitis",
        ]
        assert all(one.decision is None for one in other.project.rounds.seat(found, "ben").queue.open(1).mentions)
        assert len(other.mentions(1)) == 4
    finally:
        other.project.close()


def test_files_that_are_none_say_so_and_change_nothing(filled: World, judged: Round, tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    filled.project.round_files.export("pilot", path)
    lines = path.read_text(encoding="utf-8").splitlines()
    wrong = {**json.loads(lines[-1]), "outcome": "perhaps"}
    cases = {
        "not a round exported by Curator": "{}",
        "line 1: this is not JSON": "pilot",
        f"line {len(lines) + 1}: this is not a line": "\n".join([*lines, json.dumps(wrong)]).replace("pilot", "new"),
        "newer version of Curator": lines[0].replace('"version": 1', '"version": 9'),
    }
    for match, text in cases.items():
        path.write_text(text, encoding="utf-8")
        with pytest.raises(UserError, match=match):
            filled.project.round_files.read(path)
    assert [one.name for one in filled.project.rounds.all()] == ["pilot"]
    moved = json.loads(lines[-1]) | {"sha256": "0" * 64}
    path.write_text("\n".join([lines[0], json.dumps(moved)]), encoding="utf-8")
    assert "it has a different text" in filled.project.round_files.read(path).problems[0]
