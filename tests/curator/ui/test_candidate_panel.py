from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.domain.suggestions import NilEstimate
from curator.ui.candidate_panel import CandidatePanel
from curator.ui.entity_card import EntityCard, card_html
from curator.ui.theme import DARK, LIGHT
from tests.curator.ui.samples import ENTITY, PARENT, lookup, span, suggestion, view

FK = span("FK506")


@pytest.fixture
def panel(qtbot: QtBot) -> CandidatePanel:
    widget = CandidatePanel(lookup)
    qtbot.addWidget(widget)
    widget.resize(420, 800)
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def test_a_click_on_a_candidate_chooses_it(qtbot: QtBot, panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK))
    where = panel.list.visualRect(panel.model.index(1, panel.list.modelColumn())).center()
    with qtbot.waitSignal(panel.candidate_chosen, timeout=500) as caught:
        qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert caught.args == ["MESH:D016560"]


def test_enter_chooses_the_highlighted_candidate(qtbot: QtBot, panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK, made=suggestion(1, 64)))
    panel.move_highlight(30)
    with qtbot.waitSignal(panel.candidate_chosen, timeout=500) as caught:
        qtbot.keyClick(panel.list, Qt.Key.Key_Return)
    assert caught.args == ["MESH:D016589"] == [panel.highlighted]


def test_moving_the_highlight_stops_at_the_ends(panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK))
    panel.move_highlight(-5)
    assert panel.highlighted == "MESH:D016559"
    panel.move_highlight(99)
    assert panel.highlighted == "MESH:D016561"


def test_nil_is_chosen_by_its_row(qtbot: QtBot, panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK))
    with qtbot.waitSignal(panel.nil_chosen, timeout=500):
        qtbot.mouseClick(panel.nil_row, Qt.MouseButton.LeftButton)


@pytest.mark.parametrize(
    ("nil", "words"),
    [
        (NilEstimate(0.1, False, True), "not suggested"),
        (NilEstimate(0.8, True, True), "suggested by the linker"),
        (NilEstimate(0.8, True, False), "suggested by the linker · not calibrated here"),
    ],
)
def test_the_nil_row_says_whether_it_is_suggested_and_calibrated(
    panel: CandidatePanel, nil: NilEstimate, words: str
) -> None:
    panel.show_mention(view(1, FK, made=replace(suggestion(1), nil=nil)))
    assert panel.nil_row.second_line == words
    assert words in panel.nil_row.accessibleName()


def test_the_linked_candidate_is_highlighted_and_named(panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK, verdict=Verdict.link("MESH:D016560")))
    assert panel.highlighted == "MESH:D016560"
    assert panel._decided.words == "Sirolimus (MESH:D016560) · Anna, 20 Nov 10:42"


def test_an_entity_that_only_a_search_found_is_named_too(panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK, verdict=Verdict.link(PARENT.id)))
    assert panel._decided.words.startswith("Macrolides (MESH:D018942)")


def test_the_header_says_what_enter_does_and_when_suggestions_are_stale(panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK, made=suggestion(1, expanded="long form of it")))
    assert panel._decided.words == "↵ links it to Tacrolimus"
    assert panel._facts.words == "Chemical · long form: long form of it · to be reviewed"
    panel.show_mention(view(1, FK, made=suggestion(1, nil=True)))
    assert panel._decided.words == "↵ marks it NIL: out of the knowledge base"
    panel.show_mention(view(1, FK, stale=True))
    assert "out of date" in panel._decided.words


def test_the_same_mention_shown_again_keeps_the_highlight(panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK))
    panel.highlight(2)
    panel.show_mention(view(1, FK, stale=True))
    assert panel.highlighted == "MESH:D016561"
    panel.show_mention(view(2, FK))
    assert panel.highlighted == "MESH:D016559"


def test_rows_stay_in_place_from_mention_to_mention(panel: CandidatePanel) -> None:
    tops = set()
    for made in (view(1, FK), view(2, FK, verdict=Verdict.nil()), view(3, FK, stale=True)):
        panel.show_mention(made)
        tops.add(panel.list.mapTo(panel, panel.list.rect().topLeft()).y())
    assert len(tops) == 1


def test_empty_states_say_what_to_do(panel: CandidatePanel) -> None:
    panel.show_mention(None)
    assert panel.highlighted is None
    assert not panel.nil_row.isEnabled()
    panel.show_mention(replace(view(1, FK), suggestion=None))
    assert "has not reached" in panel.list._empty
    panel.show_mention(view(1, FK, made=suggestion(1, 0)))
    assert "/" in panel.list._empty
    assert panel.card.toPlainText() == ""


def test_suggestions_are_withheld_with_the_reason_until_the_next_mention(panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK))
    panel.show_without_suggestions("This mention is decided without help. Search with Space.")
    assert panel.model.rowCount() == 0
    assert panel.highlighted is None
    assert panel.list._empty == "This mention is decided without help. Search with Space."
    assert panel.nil_row.second_line == "no estimate yet"
    assert "Tacrolimus" not in panel._decided.words
    panel.show_mention(view(1, FK, stale=True))
    assert panel.model.rowCount() == 0, "the same mention shown anew"
    panel.show_mention(view(2, FK))
    assert panel.model.rowCount() == 3


def test_a_note_is_shown_and_hidden(panel: CandidatePanel) -> None:
    panel.set_note("Lexical suggestions only.")
    assert panel.note.isVisible()
    panel.set_note("")
    assert not panel.note.isVisible()


def test_the_card_follows_the_highlight(panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK))
    text = panel.card.toPlainText()
    for words in (
        "Tacrolimus",
        "FK506; Fujimycin",
        "A macrolide <lactone> & more.",
        "Macrolides (MESH:D018942)",
        "MESH:C1",
    ):
        assert words in text
    assert "lexical 0.80" in text
    panel.highlight(1)
    assert "no longer holds" in panel.card.toPlainText()


def test_the_card_escapes_what_comes_from_outside() -> None:
    html = card_html(replace(ENTITY, name="<img src=x>"), None, parents={}, theme=LIGHT)
    assert "<img" not in html
    assert "&lt;img" in html


def test_the_card_takes_the_colours_of_the_palette(qtbot: QtBot) -> None:
    card = EntityCard(lookup)
    qtbot.addWidget(card)
    card.show_entity(ENTITY)
    assert LIGHT.muted.name() in card.toHtml()
    card.setPalette(DARK.palette)
    assert DARK.muted.name() in card.toHtml()
