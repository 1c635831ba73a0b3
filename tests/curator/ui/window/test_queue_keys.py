"""The queue's keys in a real window: facets, orders, flags, comments, discussion, guidelines, the hold-out."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState
from curator.domain.facets import Facet, Facets
from curator.services.ports.queue import QueueFilter
from curator.services.queue.holdout import REASON
from curator.services.queue.ordering import QueueOrder
from tests.curator.ui.window.fakes import SHIFT, Desk, MakeDesk

Key = Qt.Key


def choose(desk: Desk, facet: Facet, value: str) -> None:
    """Go to a value of the unfolded facets and press Space on it."""
    item = desk.bench.queue.facets.item(facet, value)
    assert item is not None
    desk.bench.queue.facets.setCurrentItem(item)
    desk.press(Key.Key_Space)


def test_facets_narrow_the_keys_and_are_lifted_by_one(desk: Desk) -> None:
    desk.press(Key.Key_Q)
    assert desk.bench.queue.facets.hasFocus()
    choose(desk, Facet.TYPE, "Chemical")
    choose(desk, Facet.STATE, "undecided")
    desk.press(Key.Key_Q)
    assert not desk.bench.queue.head.is_unfolded
    desk.bench.focus_document()
    assert desk.word == "Lidocaine"
    desk.press(Key.Key_Return)  # the next of its kind stands in the second document
    assert desk.bench.navigator.opened is not None
    assert desk.bench.navigator.opened.document.id == 2
    assert desk.word == "Lidocaine"
    assert desk.bench.queue.footer.words == "1 mention in 1 of 2 documents"
    desk.press(Key.Key_Q, SHIFT)
    assert desk.bench.queue.where == QueueFilter()
    desk.press(Key.Key_Down)
    assert desk.word == "cardiac arrest"


def test_esc_returns_from_the_facets_to_the_text(desk: Desk) -> None:
    desk.press(Key.Key_Q)
    choose(desk, Facet.TYPE, "Chemical")
    assert desk.bench.queue.facets.hasFocus()
    desk.press(Key.Key_Escape)
    assert desk.bench.document.hasFocus()
    assert desk.bench.queue.where.facets == Facets.of({Facet.TYPE: ["Chemical"]})


def test_the_arrows_start_from_the_open_document_after_a_filter_was_lifted(make_desk: MakeDesk) -> None:
    desk = make_desk(documents=60)
    bench = desk.bench
    bench.queue.narrow(QueueFilter(text="40"))
    bench.navigator.open(40)
    desk.press(Key.Key_Q, SHIFT)
    assert bench.queue.where == QueueFilter()
    assert bench.queue.list.currentIndex().row() == 39
    bench.focus_document()
    desk.press(Key.Key_F6)
    assert bench.queue.list.hasFocus()
    desk.press(Key.Key_Down)
    desk.press(Key.Key_Return)
    assert bench.navigator.opened is not None
    assert bench.navigator.opened.document.id == 41


def test_undo_comes_back_to_what_left_the_filtered_queue(desk: Desk) -> None:
    desk.bench.queue.narrow(QueueFilter(facets=Facets.of({Facet.TYPE: ["Chemical"], Facet.STATE: ["undecided"]})))
    desk.press(Key.Key_Return)
    desk.press(Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert desk.decision("Lidocaine") is None
    assert desk.bench.navigator.opened is not None
    assert desk.bench.navigator.opened.document.id == 1
    assert list(desk.bench.queue.documents or ()) == [1, 2]


def test_the_order_goes_round_and_hops_between_documents(desk: Desk) -> None:
    desk.press(Key.Key_O)
    assert desk.bench.queue.order == QueueOrder.DIVERSE
    rows = desk.bench.queue.work.rows
    assert len(rows) == 8
    desk.bench.navigator.open(rows[0].document_id, rows[0].mention_id)
    desk.press(Key.Key_Return)
    view = desk.bench.navigator.mention
    assert view is not None
    assert view.mention.id == rows[1].mention_id
    assert desk.bench.queue.footer.words == "7 of 8 to decide"
    for order in (QueueOrder.UNCERTAIN, QueueOrder.DOCUMENT):
        desk.press(Key.Key_O)
        assert desk.bench.queue.order == order


def test_flags_comments_and_discussion_by_key(desk: Desk) -> None:
    desk.press(Key.Key_F)
    desk.press(Key.Key_F, SHIFT)
    desk.press(Key.Key_D)
    desk.press(Key.Key_C)
    line = desk.bench.comment_strip.line
    assert line.hasFocus()
    QTest.keyClicks(line, "see fd")  # plain letters are text here, no commands
    desk.press(Key.Key_Return)
    assert desk.bench.document.hasFocus()
    row = desk.world.project.queue.row(1)
    assert (row.flagged, row.comments, row.state) == (True, 1, DocumentState.DISCUSS)
    assert desk.bench.comments.words[0].startswith("see fd\n")
    assert desk.bench.header.words.startswith("1, needs discussion · train · flagged · 1 comment")
    for _ in range(4):
        desk.press(Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    row = desk.world.project.queue.row(1)
    assert (row.flagged, row.comments, row.state) == (False, 0, DocumentState.TODO)
    assert desk.bench.comments.isHidden()


def test_guidelines_open_beside_the_text_and_are_there_again(desk: Desk) -> None:
    desk.press(Key.Key_G)
    panel = desk.bench.guidelines
    assert panel.reader.hasFocus()
    panel.edit.setChecked(True)
    QTest.keyClicks(panel.editor, "# Go")
    desk.press(Key.Key_Escape)
    desk.press(Key.Key_G)
    assert panel.isHidden()
    assert desk.bench.document.hasFocus()
    assert desk.world.project.guidelines.text() == "# Go"


def test_a_mention_of_the_hold_out_is_decided_without_suggestions(
    make_desk: MakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curator.services.queue.holdout.held_out", lambda _, mention, __: mention == 1)
    desk = make_desk()
    assert desk.word == "Lidocaine"
    assert desk.bench.candidates.model.rowCount() == 0
    assert desk.bench.candidates.list.empty_words == REASON.format(key="H")
    assert not desk.bench.aided
    assert desk.bench._meant("heart", lambda: True) == ()  # a search has nothing of the linker either
    desk.press(Key.Key_Return)  # accepts nothing, since nothing is shown
    assert desk.decision("Lidocaine") is None
    desk.bench.decider.link("MESH:D008012")  # as a search does
    decision = desk.decision("Lidocaine")
    assert decision is not None
    assert decision.verdict == Verdict.link("MESH:D008012")
    assert decision.shown is not None
    assert (decision.shown.bundle_id, decision.shown.candidates) == ("", ())
    assert decision.shown.unseen is not None  # what was kept back tells later whether it was right
    assert desk.word == "cardiac arrest"
    assert desk.bench.candidates.model.rowCount() > 0
    assert desk.bench.aided
    desk.press(Key.Key_Up)
    assert desk.bench.candidates.model.rowCount() > 0  # decided: now they may be seen


def test_held_back_suggestions_are_shown_by_a_key_and_the_decision_says_so(
    make_desk: MakeDesk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("curator.services.queue.holdout.held_out", lambda _, mention, __: mention == 1)
    desk = make_desk()
    assert desk.bench.candidates.model.rowCount() == 0
    desk.press(Key.Key_H)
    assert desk.word == "Lidocaine"
    assert desk.bench.candidates.model.rowCount() > 0
    desk.press(Key.Key_Down)
    desk.press(Key.Key_Up)
    assert desk.bench.candidates.model.rowCount() > 0, "what was seen stays seen"
    desk.press(Key.Key_Return)
    decision = desk.decision("Lidocaine")
    assert decision is not None
    assert decision.shown is not None
    assert (decision.shown.revealed, decision.shown.unseen) == (True, None)
    assert decision.shown.candidates
    desk.press(Key.Key_Up)
    assert "on request" in desk.bench.history.model.index(0, 0).data(Qt.ItemDataRole.AccessibleTextRole)
