"""The deciding loop: keys in a real window on a real project, and what is on disk afterwards."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from curator.domain.decisions import NilReason, Outcome, RejectReason, SkipReason, Verdict
from curator.domain.documents import DocumentState
from curator.ui.shell.app import AfterPaint
from curator.ui.shell.main_window import MainWindow
from tests.curator.services.fakes import KB
from tests.curator.ui.window.fakes import CTRL, SHIFT, Desk, MakeDesk

Key = Qt.Key


def test_return_links_to_the_first_candidate_and_goes_on(desk: Desk, qtbot: QtBot) -> None:
    assert desk.word == "Lidocaine"
    desk.press(Key.Key_Return)
    decision = desk.decision("Lidocaine")
    assert decision is not None
    assert decision.verdict == Verdict.link("MESH:D008012")
    assert desk.word == "cardiac arrest"
    qtbot.waitUntil(lambda: desk.window.status.words.startswith("saved "))


def test_a_decision_is_called_saved_when_the_disk_has_it_and_not_before(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, seen = threading.Event(), []

    def slowly(path: Path) -> None:
        seen.append(path)
        go_on.wait()

    desk.bench.project.disk.settle()
    monkeypatch.setattr("curator.storage.db.syncing.sync_file", slowly)
    desk.press(Key.Key_Return)
    assert desk.word == "cardiac arrest", "painted at once"
    qtbot.waitUntil(lambda: bool(seen))
    assert not desk.window.status.words.startswith("saved ")
    qtbot.waitUntil(lambda: desk.window.status.words.startswith("saving…"))
    go_on.set()
    qtbot.waitUntil(lambda: desk.window.status.words.startswith("saved "))


def test_a_disk_that_fails_is_shown_until_it_took_the_decision(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(path: Path) -> None:
        raise OSError(5, "Input/output error")

    desk.bench.project.disk.settle()
    monkeypatch.setattr("curator.storage.db.syncing.RETRY", 0.001)
    with monkeypatch.context() as broken:
        broken.setattr("curator.storage.db.syncing.sync_file", fails)
        desk.press(Key.Key_Return)
        qtbot.waitUntil(lambda: desk.window.status.words.startswith("NOT SAVED"))
        assert "Input/output error" in desk.said
        desk.press(Key.Key_Return)
        assert desk.word == "cardiac arrest", "nothing more is accepted"
        assert desk.decision("cardiac arrest") is None
        assert desk.window.status.words.startswith("NOT SAVED")
    qtbot.waitUntil(lambda: desk.window.status.words.startswith("saved "))
    desk.press(Key.Key_Return)
    assert desk.decision("cardiac arrest") is not None


def test_a_decision_records_exactly_what_was_shown(desk: Desk) -> None:
    desk.bench.navigator.set_limit(1)
    desk.press(Key.Key_Tab)  # cardiac arrest has two candidates, one is shown
    desk.press(Key.Key_Return)
    shown = desk.decision("cardiac arrest").shown  # type: ignore[union-attr]
    assert shown is not None
    assert [one.entity_id for one in shown.candidates] == ["MESH:D006323"]


def test_return_marks_nil_where_the_suggestion_says_so(make_desk: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    import dataclasses

    from tests.curator.services import fakes

    plain = fakes.suggestion

    def nil(*args: object) -> object:
        made = plain(*args)  # type: ignore[arg-type]
        return dataclasses.replace(made, nil=dataclasses.replace(made.nil, is_nil=True))

    monkeypatch.setattr(fakes, "suggestion", nil)
    desk = make_desk(asked=True)
    desk.press(Key.Key_Return)
    assert desk.decision("Lidocaine") is None
    assert "NIL is suggested" in desk.said
    desk.press(Key.Key_Return)
    assert desk.decision("Lidocaine").verdict == Verdict.nil()  # type: ignore[union-attr]


def test_digits_choose(desk: Desk) -> None:
    desk.press(Key.Key_Down)
    desk.press(Key.Key_2)
    assert desk.decision("cardiac arrest").verdict == Verdict.link("MESH:D001145")  # type: ignore[union-attr]
    desk.press(Key.Key_9)  # there is no ninth candidate
    assert desk.decision("arrhythmia") is None


@pytest.mark.parametrize(
    ("keys", "verdict"),
    [
        ((Key.Key_N, Key.Key_Return), Verdict.nil()),
        ((Key.Key_N, Key.Key_2), Verdict.nil(NilReason.TOO_GENERAL)),
        ((Key.Key_X, Key.Key_Return), Verdict.reject()),
        ((Key.Key_X, Key.Key_2), Verdict.reject(RejectReason.WRONG_SPAN)),
        ((Key.Key_S, Key.Key_Return), Verdict.skip()),
        ((Key.Key_S, Key.Key_2), Verdict.skip(SkipReason.AMBIGUOUS)),
    ],
)
def test_one_more_key_gives_the_reason(desk: Desk, keys: tuple[Qt.Key, ...], verdict: Verdict) -> None:
    for key in keys:
        desk.press(key)
    assert desk.decision("Lidocaine").verdict == verdict  # type: ignore[union-attr]
    assert desk.word == "cardiac arrest"
    assert desk.bench.document.hasFocus()


def test_escape_leaves_the_reason_and_decides_nothing(desk: Desk) -> None:
    desk.press(Key.Key_N)
    desk.press(Key.Key_Escape)
    assert desk.decision("Lidocaine") is None
    assert desk.bench.line.currentWidget() is desk.bench.bottom


def test_a_reason_asked_for_one_mention_never_goes_to_another(desk: Desk) -> None:
    desk.press(Key.Key_N)
    desk.bench.document.mention_activated.emit(desk.bench.navigator.opened.mentions[2].mention.id)  # type: ignore[union-attr]
    assert desk.bench.reasons.outcome is None
    assert desk.word == "arrhythmia"


def test_a_decided_mention_is_decided_again_and_cleared(desk: Desk) -> None:
    desk.press(Key.Key_Return)
    desk.press(Key.Key_Up)
    desk.press(Key.Key_X)
    desk.press(Key.Key_Return)
    assert desk.decision("Lidocaine").verdict == Verdict.reject()  # type: ignore[union-attr]
    desk.bench.navigator.select(desk.world.mentions(1)[0])
    desk.press(Key.Key_Backspace)
    assert desk.decision("Lidocaine") is None
    outcomes = [one.verdict.outcome for one in desk.project.curation.history(desk.world.mentions(1)[0])]
    assert outcomes == [Outcome.LINK, Outcome.REJECTED, Outcome.CLEARED]


def test_shift_and_digits_make_a_link_of_several(desk: Desk) -> None:
    desk.press(Key.Key_Down)
    desk.press(Key.Key_1, SHIFT)
    desk.press(Key.Key_2, SHIFT)
    assert desk.word == "cardiac arrest"
    assert desk.decision("cardiac arrest").verdict == Verdict.link("MESH:D006323", "MESH:D001145")  # type: ignore[union-attr]
    desk.press(Key.Key_1, SHIFT)
    assert desk.decision("cardiac arrest").verdict == Verdict.link("MESH:D001145")  # type: ignore[union-attr]
    desk.press(Key.Key_2, SHIFT)
    assert desk.decision("cardiac arrest") is None


def test_undo_and_redo_go_to_the_place_across_documents(desk: Desk) -> None:
    desk.press(Key.Key_Return)
    desk.press(Key.Key_PageDown)
    assert desk.document == "2"
    desk.press(Key.Key_Z, CTRL)
    assert desk.document == "1"
    assert desk.word == "Lidocaine"
    assert desk.decision("Lidocaine") is None
    desk.press(Key.Key_PageDown)
    desk.press(Key.Key_Z, CTRL | SHIFT)
    assert desk.word == "Lidocaine"
    assert desk.decision("Lidocaine") is not None


def test_the_last_decision_of_a_document_stays_and_says_what_comes(desk: Desk) -> None:
    for _ in range(4):
        desk.press(Key.Key_N)
        desk.press(Key.Key_Return)
    assert desk.document == "1"
    assert "Ctrl+↵" in desk.said
    desk.press(Key.Key_Return, CTRL)
    assert desk.document == "2"
    assert desk.project.queue.open(1).document.state is DocumentState.DONE


def test_tab_goes_to_the_next_undecided_mention_of_the_documents_behind(desk: Desk) -> None:
    for mention in desk.world.mentions(1):
        desk.project.curation.decide(mention, Verdict.nil())
    desk.bench.navigator.reload()
    desk.press(Key.Key_Tab)
    assert desk.document == "2"


def test_tab_leaves_a_document_whose_only_undecided_mention_is_the_current_one(desk: Desk) -> None:
    *others, last = desk.world.mentions(1)
    for mention in others:
        desk.project.curation.decide(mention, Verdict.nil())
    desk.bench.navigator.reload()
    desk.bench.navigator.select(last)
    desk.press(Key.Key_Tab)
    assert desk.document == "2"


def test_space_searches_the_mention_and_return_links(desk: Desk, qtbot: QtBot) -> None:
    desk.press(Key.Key_Down)
    desk.press(Key.Key_Space)
    assert desk.bench.searching
    qtbot.waitUntil(lambda: not desk.search.worker.busy)
    desk.press(Key.Key_Return)
    assert desk.decision("cardiac arrest").verdict == Verdict.link("MESH:D006323")  # type: ignore[union-attr]
    assert not desk.bench.searching
    assert desk.bench.document.hasFocus()


def test_a_search_begins_with_what_the_document_is_linked_to(make_desk: MakeDesk, qtbot: QtBot) -> None:
    more = [{"id": f"X:{name}", "name": f"Heart {name}", "types": ["Disease"]} for name in ("shock", "tamponade")]
    desk = make_desk(kb=False, index=False)
    desk.world.kb((*KB, *more))
    desk.press(Key.Key_Down)
    found = []
    for linked in ("X:shock", "X:tamponade"):
        desk.project.curation.decide(desk.world.mentions(1)[3], Verdict.link(linked))
        desk.bench.navigator.reload()
        desk.press(Key.Key_Slash)
        QTest.keyClicks(desk.search.line, "hea")
        qtbot.waitUntil(lambda: not desk.search.worker.busy)
        found.append(desk.search.model.found(0))
        desk.press(Key.Key_Escape)
    assert [match.entity.id for match in found if match is not None] == ["X:shock", "X:tamponade"]


def test_plus_adds_an_entity_that_is_searched_for(desk: Desk, qtbot: QtBot) -> None:
    desk.press(Key.Key_1, SHIFT)
    desk.press(Key.Key_Plus)
    QTest.keyClicks(desk.search.line, "arrhythmia")
    qtbot.waitUntil(lambda: not desk.search.worker.busy)
    desk.press(Key.Key_Return)
    assert not desk.bench.searching
    assert desk.decision("Lidocaine").verdict == Verdict.link("MESH:D008012", "MESH:D001145")  # type: ignore[union-attr]


def test_keys_are_typed_into_search_and_filter_and_decide_nothing(desk: Desk) -> None:
    desk.press(Key.Key_Slash)
    QTest.keyClicks(desk.search.line, "nxs12 /?jkm+")
    assert desk.search.line.text() == "nxs12 /?jkm+"
    desk.press(Key.Key_L, CTRL)
    QTest.keyClicks(desk.bench.queue.text, "n 1?")
    assert desk.bench.queue.text.text() == "n 1?"
    desk.press(Key.Key_Backspace)
    desk.press(Key.Key_Delete)
    assert desk.bench.queue.text.text() == "n 1"
    assert desk.project.curation.history(desk.world.mentions(1)[0]) == []
    assert desk.bench.reasons.outcome is None


def test_escape_goes_back_to_the_text_from_everywhere(desk: Desk) -> None:
    for key, modifiers in ((Key.Key_Slash, Qt.KeyboardModifier.NoModifier), (Key.Key_F, CTRL), (Key.Key_L, CTRL)):
        desk.press(key, modifiers)
        assert not desk.bench.document.hasFocus()
        desk.press(Key.Key_Escape)
        assert desk.bench.document.hasFocus()


def test_in_the_queue_arrows_move_there_and_deciding_keys_still_decide(desk: Desk) -> None:
    rows = desk.bench.queue.list
    rows.setFocus()
    desk.press(Key.Key_Down)
    assert rows.currentIndex().row() == 1
    assert desk.word == "Lidocaine"
    desk.press(Key.Key_N)
    desk.press(Key.Key_Return)
    assert desk.decision("Lidocaine").verdict == Verdict.nil()  # type: ignore[union-attr]
    desk.press(Key.Key_Return)  # the queue's: opens the document under the cursor
    assert desk.document == "2"
    assert desk.bench.document.hasFocus()


def test_f6_goes_through_the_parts_of_the_window(desk: Desk) -> None:
    desk.press(Key.Key_F6)
    assert desk.bench.queue.list.hasFocus()
    desk.press(Key.Key_F6)
    assert desk.bench.candidates.list.hasFocus()


def test_m_makes_a_mention_of_the_selection_and_del_deletes_it(desk: Desk, qtbot: QtBot) -> None:
    desk.bench.navigator.select(desk.world.mentions(1)[2])
    desk.press(Key.Key_Left)
    for _ in range(3):
        desk.press(Key.Key_Left, CTRL)
    desk.press(Key.Key_Right, CTRL | SHIFT)
    chosen = desk.bench.document.selection
    assert chosen is not None
    desk.press(Key.Key_M)
    qtbot.waitUntil(desk.bench.types.isVisible)
    desk.press(Key.Key_1, at=desk.bench.types.line)
    assert len(desk.world.mentions(1)) == 5
    assert desk.bench.navigator.mention.mention.spans == (chosen,)  # type: ignore[union-attr]
    desk.press(Key.Key_Delete)
    assert len(desk.world.mentions(1)) == 4
    desk.press(Key.Key_Z, CTRL)
    assert len(desk.world.mentions(1)) == 5
    desk.press(Key.Key_Z, CTRL)
    assert len(desk.world.mentions(1)) == 4


def test_a_click_on_a_candidate_links(desk: Desk) -> None:
    desk.bench.candidates.candidate_chosen.emit("MESH:D008012")
    assert desk.decision("Lidocaine").verdict == Verdict.link("MESH:D008012")  # type: ignore[union-attr]


def test_a_refusal_is_said_and_changes_nothing(desk: Desk) -> None:
    desk.bench.decider.link("MESH:NOWHERE")
    assert "no entity MESH:NOWHERE" in desk.said
    assert desk.word == "Lidocaine"


@pytest.mark.parametrize("opening", [False, True], ids=["first page", "a project is opened"])
def test_projects_are_opened_after_the_first_painting(window: MainWindow, qtbot: QtBot, *, opening: bool) -> None:
    called = list[bool]()
    window.hide()
    if opening:
        window.show_opening(Path("a.curation"))
    AfterPaint(window, lambda: called.append(True))
    assert called == []
    window.show()
    qtbot.waitUntil(lambda: called == [True])
