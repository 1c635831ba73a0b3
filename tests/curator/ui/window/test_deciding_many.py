"""Deciding many at once and bulk acceptance in the real window: keys in, decisions out, and the text beside them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Outcome, Verdict
from curator.services.curating.bulk import BulkOffer
from curator.services.curating.bulk_plan import AuditState, make_plan
from curator.services.curating.propagation import PropagationScope
from curator.services.ports.queue import Chance
from curator.ui.deciding.bulk_panel import offer_words
from curator.ui.deciding.propagation import MOVE_FIRST, NONE
from curator.ui.shell import main_window
from tests.curator.services.bulk_samples import long_world
from tests.curator.ui.window.fakes import CTRL, PLAIN, SHIFT, Desk, MakeDesk

Key = Qt.Key
LIDOCAINE = Verdict.link("MESH:D008012")


def verdicts(desk: Desk, *mention_ids: int) -> list[Verdict | None]:
    found = desk.project.curation.current(mention_ids)
    return [found[one].verdict if one in found else None for one in mention_ids]


def test_the_same_key_pressed_again_and_again_decides_one_mention_each_time(desk: Desk) -> None:
    for _ in range(3):
        desk.press(Key.Key_Return)
    assert not desk.bench.many.is_open, "no list opens by itself"
    assert verdicts(desk, 5) == [None], "nothing is decided in another document"


def test_shift_enter_lists_and_again_decides_the_ticked_in_one_step(desk: Desk) -> None:
    desk.press(Key.Key_Return, SHIFT)
    panel = desk.bench.many.others
    assert desk.bench.many.is_open
    assert panel.ticked == [1, 5]
    assert desk.word == "Lidocaine", "the text shows what is to be decided"
    assert verdicts(desk, 1, 2, 5) == [None, None, None]
    desk.press(Key.Key_Return, SHIFT)
    assert verdicts(desk, 1, 2, 5) == [LIDOCAINE, None, LIDOCAINE]
    assert not desk.bench.many.is_open
    assert desk.word == "cardiac arrest", "and deciding continues"
    assert desk.bench.document.hasFocus()
    [own], [other] = desk.project.curation.history(1), desk.project.curation.history(5)
    assert (own.note, other.note) == ("", "decided with “Lidocaine” of 1")
    desk.press(Key.Key_Z, CTRL)
    assert verdicts(desk, 1, 5) == [None, None]


def test_enter_decides_nothing_in_the_list_before_the_curator_moved_in_it(desk: Desk) -> None:
    desk.press(Key.Key_Return, SHIFT)
    desk.press(Key.Key_Return)
    desk.press(Key.Key_Return)
    assert verdicts(desk, 5) == [None]
    assert desk.said == MOVE_FIRST
    desk.press(Key.Key_Up)
    desk.press(Key.Key_Return)
    assert verdicts(desk, 5) == [LIDOCAINE]


def test_what_is_not_ticked_stays_undecided(desk: Desk) -> None:
    desk.press(Key.Key_Return, SHIFT)
    desk.press(Key.Key_Space)
    assert desk.bench.many.others.ticked == [5]
    desk.press(Key.Key_Return, SHIFT)
    assert verdicts(desk, 1, 5) == [None, LIDOCAINE]
    assert desk.word == "Lidocaine", "it waits"


LISTING = (
    (Key.Key_Return, LIDOCAINE),
    (Key.Key_N, Verdict.nil()),
    (Key.Key_X, Verdict.reject()),
    (Key.Key_S, Verdict.skip()),
)


@pytest.mark.parametrize(("key", "verdict"), LISTING)
def test_shift_and_a_deciding_key_lists_and_decides_nothing_before_it_is_confirmed(
    desk: Desk, key: Key, verdict: Verdict
) -> None:
    desk.press(key, SHIFT)
    assert desk.bench.many.is_open
    assert verdicts(desk, 1, 5) == [None, None]
    desk.press(Key.Key_Escape)
    assert not desk.bench.many.is_open
    assert verdicts(desk, 1, 5) == [None, None]
    assert desk.word == "Lidocaine"
    desk.press(key, SHIFT)
    desk.press(Key.Key_Return, SHIFT)
    assert verdicts(desk, 1) == [verdict]


@pytest.mark.parametrize(("key", "verdict"), LISTING)
def test_a_string_that_occurs_nowhere_else_is_listed_alone(make_desk: MakeDesk, key: Key, verdict: Verdict) -> None:
    desk = make_desk(documents=1)
    desk.press(key, SHIFT)
    assert desk.bench.many.others.ticked == [1]
    assert verdicts(desk, 1) == [None]
    desk.press(Key.Key_Return, SHIFT)
    assert verdicts(desk, 1) == [verdict]


def test_a_decided_mention_is_listed_only_for_another_verdict(desk: Desk) -> None:
    desk.press(Key.Key_Return)
    desk.press(Key.Key_Up)
    desk.press(Key.Key_Return, SHIFT)
    assert desk.bench.many.others.ticked == [5]
    desk.press(Key.Key_Escape)
    assert len(desk.project.curation.history(1)) == 1, "a decided mention is not decided again"
    desk.press(Key.Key_Up)
    desk.press(Key.Key_N, SHIFT)
    assert desk.bench.many.others.ticked == [1, 5]
    assert "Lidocaine" in desk.bench.many.others.list.lines.row(0).words  # type: ignore[union-attr]
    desk.press(Key.Key_Return, SHIFT)
    assert verdicts(desk, 1, 5) == [Verdict.nil(), Verdict.nil()]


def hinted(desk: Desk) -> list[str]:
    return [key for key, _ in desk.bench.bottom.hints.shown]


def test_what_is_said_of_the_list_goes_with_it(desk: Desk) -> None:
    desk.press(Key.Key_Return, SHIFT)
    assert "ticked" in desk.said
    desk.press(Key.Key_Escape)
    assert desk.said == ""
    desk.press(Key.Key_Up)
    desk.press(Key.Key_Return, SHIFT)
    desk.press(Key.Key_Return, SHIFT)
    assert "Lidocaine" in desk.said, "what was decided is said on"


def test_the_bottom_line_names_the_keys_of_the_list_while_it_has_the_keyboard(desk: Desk) -> None:
    usual = hinted(desk)
    assert usual[0] == "↵"
    desk.press(Key.Key_Return, SHIFT)
    assert hinted(desk) == ["⇧↵", "↑↓", "Space", "G", "A", "Esc"]
    desk.bench.document.setFocus()
    assert hinted(desk) == usual, "the text decides again"
    desk.bench.many.others.setFocus()
    desk.press(Key.Key_Escape)
    assert hinted(desk) == usual
    desk.press(Key.Key_B, CTRL)
    assert hinted(desk) == ["⇧↵", "R", "W", "↑↓", "Esc"]


def test_keys_of_letters_in_the_list_are_not_the_windows(desk: Desk) -> None:
    desk.press(Key.Key_Return, SHIFT)
    desk.press(Key.Key_N)
    desk.press(Key.Key_X)
    assert desk.bench.reasons.outcome is None
    assert verdicts(desk, 5) == [None]


def test_n_pressed_again_marks_nil_with_the_usual_reason_and_lists_nothing(desk: Desk) -> None:
    desk.press(Key.Key_N)
    desk.press(Key.Key_N)
    assert desk.bench.reasons.outcome is None
    assert verdicts(desk, 1, 5) == [Verdict.nil(), None]
    assert not desk.bench.many.is_open


def test_0_marks_nil_with_the_usual_reason_and_goes_on(desk: Desk) -> None:
    before = desk.bench.navigator.mention_id
    desk.press(Key.Key_0)
    assert verdicts(desk, 1, 5) == [Verdict.nil(), None]
    assert desk.bench.navigator.mention_id != before
    assert not desk.bench.many.is_open


def test_a_string_that_stands_nowhere_else_is_said_and_nothing_opens(make_desk: MakeDesk) -> None:
    desk = make_desk(documents=1)
    desk.press(Key.Key_Return)
    desk.press(Key.Key_Up)
    desk.press(Key.Key_Return, SHIFT)
    assert not desk.bench.many.is_open
    assert desk.said == NONE.format(text="Lidocaine")


def test_the_setting_lists_after_every_decision_that_has_others(desk: Desk) -> None:
    desk.bench.many.same.always = True
    desk.press(Key.Key_Return)
    assert desk.bench.many.is_open
    desk.press(Key.Key_Return, SHIFT)
    desk.press(Key.Key_Up)
    desk.press(Key.Key_1)
    assert not desk.bench.many.is_open, "all others are decided"


def test_scopes_are_chosen_by_their_letters(desk: Desk) -> None:
    desk.press(Key.Key_Return, SHIFT)
    panel = desk.bench.many.others
    desk.press(Key.Key_D)
    assert panel.others is not None
    assert (panel.others.scope, panel.ticked) == (PropagationScope.DOCUMENT, [1])
    desk.press(Key.Key_P)
    assert (panel.others.scope, panel.ticked) == (PropagationScope.PROJECT, [1, 5])


def test_a_line_is_shown_in_the_text(desk: Desk) -> None:
    desk.press(Key.Key_Return, SHIFT)
    desk.press(Key.Key_Down)
    desk.press(Key.Key_Right)
    assert desk.bench.navigator.opened is not None
    assert (desk.bench.navigator.opened.document.id, desk.bench.navigator.mention_id) == (2, 5)
    desk.press(Key.Key_Escape)
    assert desk.bench.navigator.opened.document.id == 1


def test_bulk_acceptance_without_calibrated_suggestions_says_why_not(desk: Desk, qtbot: QtBot) -> None:
    desk.press(Key.Key_B, CTRL)
    panel = desk.bench.many.bulk_panel
    qtbot.waitUntil(lambda: "can be accepted unchecked" in panel.words.text())
    assert not panel.button.isEnabled()
    desk.press(Key.Key_Escape, at=panel.list)
    assert not desk.bench.many.is_open


def test_a_narrow_window_keeps_its_columns_while_many_are_decided(desk: Desk) -> None:
    desk.window.resize(1024, 700)
    QApplication.processEvents()
    before = desk.bench.splitter.sizes()
    for show in (desk.bench.many.accept_in_bulk, desk.bench.many.list_all):
        show()
        QApplication.processEvents()
        assert desk.bench.many.is_open
        assert desk.bench.splitter.sizes() == before
        assert desk.bench.candidates.width() >= 320


def test_bulk_acceptance_says_beforehand_when_it_does_not_pay() -> None:
    def offer(number: int) -> BulkOffer:
        chances = [Chance(one, one // 10, 0.999, "A") for one in range(1, number + 1)]
        return BulkOffer(make_plan(chances, [], error=0.02, seed=1), number, 0, True)

    few, many = offer(227), offer(3000)
    first = few.plan.sets[0]
    assert first.saved < first.checks
    assert offer_words(few).startswith(
        f"This saves little: you check {first.checks} mentions to accept {first.saved} others. "
        f"Deciding all {first.size} one by one takes about as long."
    )
    assert "saves little" not in offer_words(many)


@pytest.fixture
def long_desk(make_desk: MakeDesk, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """Many mentions, most with a sure suggestion. The window builds no index, whose linker would answer otherwise."""
    monkeypatch.setattr(main_window, "OPENED_MS", 10**8)
    desk = make_desk(documents=0, kb=False, index=False)
    long_world(desk.world, documents=32)
    return desk


def test_leaving_bulk_acceptance_leads_back(long_desk: Desk, qtbot: QtBot) -> None:
    desk = long_desk
    many, at = desk.bench.many, desk.bench.navigator
    many.bulk_panel.error_box.setValue(20.0)
    desk.bench.navigator.open(7)
    desk.press(Key.Key_Down)
    began = at.mention_id
    for key in (Key.Key_Escape, Key.Key_Return):
        desk.press(Key.Key_B, CTRL, at=desk.window)
        qtbot.waitUntil(lambda: many.bulk.audit is not None)
        audit = many.bulk.audit
        assert audit is not None
        been = set()
        for _ in audit.left if key == Key.Key_Return else audit.left[:3]:
            desk.press(Key.Key_R, at=many.bulk_panel.list)
            been.add(at.mention_id)
        assert been - {began}  # which may be in the sample too
        desk.press(key, SHIFT if key == Key.Key_Return else PLAIN, at=many.bulk_panel.list)
        assert not many.is_open
        assert at.opened is not None
        assert (at.opened.document.id, at.mention_id) == (7, began)


@pytest.mark.parametrize("place", ["text", "queue", "candidates", "button"])
def test_the_keys_of_bulk_acceptance_do_not_depend_on_the_focus(long_desk: Desk, qtbot: QtBot, place: str) -> None:
    desk, bench = long_desk, long_desk.bench
    many, panel = bench.many, bench.many.bulk_panel
    panel.error_box.setValue(20.0)
    desk.press(Key.Key_B, CTRL, at=desk.window)
    qtbot.waitUntil(lambda: many.bulk.audit is not None)
    audit = many.bulk.audit
    assert audit is not None
    focus = {
        "text": bench.document,
        "queue": bench.queue.list,
        "candidates": bench.candidates.list,
        "button": panel.close_button,
    }[place]
    focus.setFocus()
    assert hinted(desk) == ["⇧↵", "R", "W", "↑↓", "Esc"]
    desk.press(Key.Key_R)
    assert len(audit.marks) == 1
    assert bench.document.relations == (), "no relation was begun"
    focus.setFocus()
    for key in (Key.Key_1, Key.Key_N, Key.Key_X, Key.Key_0):
        desk.press(key)
        focus.setFocus()
    decided = desk.project.queue.counts().decisions_by_outcome
    assert (decided[Outcome.LINK], decided[Outcome.NIL], bench.reasons.asked) == (1, 0, False)
    line = panel.list.current
    assert line is not None
    assert line.context is not None
    mention = line.context.mention_id
    qtbot.waitUntil(lambda: bench.navigator.mention_id == mention)
    bench.navigator.open(line.context.document_id % 32 + 1)  # as a click in the queue
    focus.setFocus()
    desk.press(Key.Key_W)
    assert len(audit.marks) == 1, "the key goes back to the line"
    assert bench.navigator.mention_id == mention
    desk.press(Key.Key_W)
    assert len(audit.marks) == 2
    focus.setFocus()
    desk.press(Key.Key_Escape)
    assert not many.is_open


def test_a_round_decides_one_mention_at_a_time(desk: Desk) -> None:
    desk.press(Key.Key_Return, SHIFT)
    desk.bench.many.set_alone(True)
    assert not desk.bench.many.is_open
    desk.bench.many.list_all()
    desk.bench.many.accept_in_bulk()
    assert not desk.bench.many.is_open


def test_bulk_acceptance_from_the_sample_to_one_undoable_step(long_desk: Desk, qtbot: QtBot) -> None:
    desk = long_desk
    many = desk.bench.many
    many.bulk_panel.error_box.setValue(20.0)
    qtbot.waitUntil(lambda: desk.window.menus.action("queue.bulk").isEnabled())
    desk.press(Key.Key_B, CTRL, at=desk.window)
    qtbot.waitUntil(lambda: many.bulk.audit is not None)
    audit = many.bulk.audit
    assert audit is not None
    assert not many.bulk_panel.button.isEnabled()
    desk.press(Key.Key_W, at=many.bulk_panel.list)
    desk.press(Key.Key_Up, at=many.bulk_panel.list)
    wrong = next(iter(audit.marks))
    many.bulk_panel.checked.emit(wrong, True)  # as a click on its mark: it was right after all
    for _ in audit.left:
        desk.press(Key.Key_R, at=many.bulk_panel.list)
    assert audit.state is AuditState.PASSED
    assert "Shift+Enter accepts them" in many.bulk_panel.words.text()
    checked, found = len(audit.marks), audit.set
    assert found is not None
    desk.press(Key.Key_Return, at=many.bulk_panel.list)
    assert many.is_open, "Enter alone accepts nothing"
    desk.press(Key.Key_Return, SHIFT, at=many.bulk_panel.list)
    assert desk.project.queue.counts().decisions_by_outcome[Outcome.LINK] == found.size
    assert not many.is_open
    desk.press(Key.Key_Z, CTRL)
    assert desk.project.queue.counts().decisions_by_outcome[Outcome.LINK] == checked
