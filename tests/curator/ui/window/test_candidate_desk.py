"""The panel's lower half in the window: comparing, tinting, unfolding, shuffling."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Outcome
from curator.domain.suggestions import CandidateOrder
from curator.ui.candidates.candidate_contrast import NO_WORDS, word_tints
from curator.ui.deciding.candidate_desk import NO_PAIR
from curator.ui.deciding.decider import NO_FIRST
from curator.ui.kit.theme import DARK
from tests.curator.ui.window.fakes import SHIFT, Desk

K = Qt.Key


@pytest.fixture
def two(desk: Desk, qtbot: QtBot) -> Desk:
    """On a mention with two candidates: "cardiac arrest"."""
    qtbot.waitUntil(lambda: desk.bench.state.candidates > 0)
    while desk.word != "cardiac arrest":
        desk.bench.navigator.step(1)
    assert desk.bench.state.candidates == 2
    return desk


def card_text(desk: Desk) -> str:
    return desk.bench.candidates.contrast.toPlainText()


def test_v_compares_the_first_two_and_weighs_the_words(two: Desk, qtbot: QtBot) -> None:
    panel = two.bench.candidates
    before = panel.list.geometry().topLeft()
    two.press(K.Key_V)
    assert panel.contrasting
    assert "Heart Arrest" in card_text(two)
    assert "Arrhythmia" in card_text(two)
    qtbot.waitUntil(lambda: panel.contrast.contrast is not None)
    first, last = two.bench.navigator.opened.document.text.split()[0], "blorbitis."
    assert f"{first}" in card_text(two)
    assert "×2.7" in card_text(two), "e to the 1.0 that the linker's word adds"
    assert f"Words that favour Arrhythmia: {last}" in card_text(two)
    assert panel.list.geometry().topLeft() == before, "the candidates stay where they are"
    two.press(K.Key_V)
    assert not panel.contrasting


def test_going_on_goes_back_to_the_record_and_takes_the_question_back(two: Desk) -> None:
    two.press(K.Key_V)
    two.bench.navigator.step(1)
    assert not two.bench.candidates.contrasting
    assert two.bench.document.tints == ()


def test_shift_v_tints_the_words_and_takes_the_tints_away(two: Desk, qtbot: QtBot) -> None:
    two.press(K.Key_V, SHIFT)
    assert two.bench.candidates.contrasting
    qtbot.waitUntil(lambda: len(two.bench.document.tints) == 2)
    assert [tint.side for tint in two.bench.document.tints] == [0, 1]
    words = two.bench.document.tints[0].words
    assert words == "Favours Heart Arrest over Arrhythmia: ×2.7 as likely with this word (log odds +1.00)"
    two.press(K.Key_V, SHIFT)
    assert two.bench.document.tints == ()


def test_a_close_call_is_compared_unasked(two: Desk) -> None:
    navigator = two.bench.navigator
    held = two.project.queue.open(1).view(navigator.mention_id).suggestion
    assert held is not None
    for chances, compared in (((0.5, 0.45), True), ((0.5, 0.3), False), ((0.0, 0.0), False)):
        found = (replace(one, probability=chance) for one, chance in zip(held.candidates, chances, strict=True))
        with two.world.store.write() as unit:
            unit.suggestions.save([replace(held, candidates=tuple(found))])
        navigator.reload()
        navigator.step(1)
        navigator.step(-1)
        two.bench.desk.set_close_call(10)
        assert two.bench.candidates.contrasting is compared, chances
        two.bench.desk.set_close_call(0)
        assert not two.bench.candidates.contrasting


def test_a_single_candidate_has_nothing_to_be_compared_with(desk: Desk, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: desk.bench.state.candidates == 1)
    said: list[str] = []
    desk.bench.desk.said.connect(said.append)
    desk.bench.desk.toggle_contrast()
    assert said == [NO_PAIR]
    assert not desk.bench.candidates.contrasting


def test_h_unfolds_what_the_limit_hides_and_decisions_record_it(two: Desk, qtbot: QtBot) -> None:
    navigator, panel = two.bench.navigator, two.bench.candidates
    navigator.set_limit(1)
    assert panel.model.rowCount() == 1
    assert panel.hidden_row.text() == "1 more: show"
    two.press(K.Key_H)
    assert panel.model.rowCount() == 2
    row = panel.model.row(1)
    assert row is not None
    assert row.reason == "below the limit"
    two.press(K.Key_1)
    decision = two.decision("cardiac arrest")
    assert decision is not None
    assert decision.shown is not None
    assert len(decision.shown.candidates) == 2
    assert not navigator.unfolded, "the next mention is folded again"


def test_entities_of_another_type_are_told_and_can_be_linked_to(two: Desk, qtbot: QtBot) -> None:
    two.world.kb(
        (
            {"id": "MESH:D006323", "name": "Heart Arrest", "synonyms": ["Cardiac arrest"], "types": ["Disease"]},
            {"id": "MESH:D001145", "name": "Arrhythmia", "types": ["Disease"]},
            {"id": "X:1", "name": "Cardiac arrest", "types": ["Chemical"]},
        ),
        name="other.jsonl",
    )
    panel = two.bench.candidates
    two.bench.navigator.step(1)
    two.bench.navigator.step(-1)
    qtbot.waitUntil(lambda: panel.hidden_row.text() == "1 of another type: show")
    two.press(K.Key_H)
    row = panel.model.row(panel.model.rowCount() - 1)
    assert row is not None
    assert (row.candidate.entity_id, row.reason) == ("X:1", "of another type")
    two.press(K.Key_H)
    assert panel.model.row(panel.model.rowCount() - 1) != row


def test_shuffled_candidates_are_recorded_as_they_were_seen(two: Desk, qtbot: QtBot) -> None:
    before = [one.entity_id for one in two.bench.navigator.mention.suggestion.candidates]
    two.window.preferences.shuffle_candidates()
    assert two.bench.navigator.candidate_order is CandidateOrder.SHUFFLED
    shown = [one.entity_id for one in two.bench.navigator.mention.suggestion.candidates]
    assert sorted(shown) == sorted(before)
    assert two.bench.state.shuffled
    two.press(K.Key_Return)
    two.bench.decider.choose(0)
    assert two.decision("cardiac arrest") is None, "none is first"
    assert two.bench.bottom.message.words == NO_FIRST
    two.press(K.Key_V)
    assert not two.bench.candidates.contrasting, "that would tell which come first"
    two.press(K.Key_2)
    decision = two.decision("cardiac arrest")
    assert decision is not None
    assert decision.verdict.entity_ids == (shown[1],)
    assert [one.entity_id for one in decision.shown.candidates] == shown
    two.window.preferences.shuffle_candidates()
    assert not two.bench.state.shuffled


def test_the_card_s_words_and_colours_follow_the_answer_and_the_palette(two: Desk, qtbot: QtBot) -> None:
    two.press(K.Key_V)
    card = two.bench.candidates.contrast
    qtbot.waitUntil(lambda: card.contrast is not None)
    card.setPalette(DARK.palette)
    assert DARK.sides[0].ink.name() in card.toHtml()
    assert DARK.sides[1].ink.name() in card.toHtml()
    card.show_words(replace(card.contrast, words=()), "")
    assert NO_WORDS in card.toPlainText()
    assert word_tints(card.contrast, card.pair) == []
    card.show_words(replace(card.contrast, first="another"), "")
    assert NO_WORDS in card.toPlainText(), "an answer about another pair is dropped"


def test_a_hidden_row_is_no_trap_where_nothing_is_hidden(desk: Desk, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: desk.bench.state.candidates > 0)
    desk.press(K.Key_H)
    assert not desk.bench.navigator.unfolded
    desk.press(K.Key_N)
    desk.press(K.Key_Return)
    assert desk.decision("Lidocaine").verdict.outcome is Outcome.NIL


def test_the_way_up_is_looked_for_once_the_curator_rests(two: Desk, qtbot: QtBot) -> None:
    two.world.kb(
        (
            {"id": "MESH:D006323", "name": "Heart Arrest", "types": ["Disease"], "parents": ["P"]},
            {"id": "P", "name": "Heart Diseases", "types": ["Disease"], "parents": ["T"]},
            {"id": "T", "name": "Cardiovascular Diseases", "types": ["Disease"]},
        ),
        name="tree.jsonl",
    )
    two.bench.navigator.step(1)
    two.bench.navigator.step(-1)
    card = two.bench.candidates.card
    qtbot.waitUntil(lambda: "Cardiovascular Diseases › Heart Diseases" in card.toPlainText())
    two.bench.start_search("heart arrest")
    found = two.bench.search.card
    qtbot.waitUntil(lambda: "Cardiovascular Diseases › Heart Diseases" in found.toPlainText())
