from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QRectF, Qt
from PySide6.QtGui import QFontMetricsF, QPainter
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.domain.entities import Entity, EntityMatch
from curator.domain.suggestions import NilEstimate
from curator.services.linking.name_linking import BY_NAME
from curator.services.queue.queue import MentionView
from curator.ui.candidates import candidate_delegate
from curator.ui.candidates.candidate_contrast import CandidatePair, pair_html
from curator.ui.candidates.candidate_delegate import BEFORE_TAG, LEAST_NAME, chosen_words
from curator.ui.candidates.candidate_model import Extent
from curator.ui.candidates.candidate_panel import CandidatePanel
from curator.ui.candidates.entity_card import EntityCard, card_html
from curator.ui.kit.labels import ElidedLabel
from curator.ui.kit.row_list import tag_width
from curator.ui.kit.theme import DARK, LIGHT
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


def said(panel: CandidatePanel) -> list[str]:
    """What the lines of the header say."""
    return [one.words for one in panel.findChildren(ElidedLabel) if one.words]


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
    assert "Sirolimus (MESH:D016560) · Anna, 20 Nov 10:42" in said(panel)


def test_an_entity_that_only_a_search_found_is_named_too(panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK, verdict=Verdict.link(PARENT.id)))
    assert any(one.startswith("Macrolides (MESH:D018942)") for one in said(panel))


def test_the_header_says_what_enter_does_and_when_suggestions_are_stale(panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK, made=suggestion(1, expanded="long form of it")))
    assert "↵ links it to Tacrolimus" in said(panel)
    assert "Chemical · long form: long form of it · needs review" in said(panel)
    panel.show_mention(view(1, FK, made=suggestion(1, nil=True)))
    assert "↵ twice marks it NIL: not in the knowledge base" in said(panel)
    panel.show_mention(view(1, FK, stale=True))
    assert "out of date" in " ".join(said(panel))
    panel.set_note("Newer suggestions are here.")
    assert "↵ links it to Tacrolimus" in said(panel), "the note tells of the suggestions"


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
    assert "has not reached" in panel.list.empty_words
    panel.show_mention(view(1, FK, made=suggestion(1, 0)))
    assert "/" in panel.list.empty_words
    assert panel.card.toPlainText() == ""


def test_suggestions_are_withheld_with_the_reason_until_the_next_mention(panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK))
    panel.show_without_suggestions("This mention is decided without help. Search with Space.")
    assert panel.model.rowCount() == 0
    assert panel.highlighted is None
    assert panel.list.empty_words == "This mention is decided without help. Search with Space."
    assert panel.nil_row.second_line == "no estimate yet"
    assert "Tacrolimus" not in " ".join(said(panel))
    panel.show_mention(view(1, FK, stale=True))
    assert panel.model.rowCount() == 0, "the same mention shown again"
    panel.show_mention(view(2, FK))
    assert panel.model.rowCount() == 3


def test_spelling_alone_says_nothing_of_nil(panel: CandidatePanel) -> None:
    found = suggestion(1)
    panel.show_mention(view(1, FK, made=replace(found, stamp=replace(found.stamp, bundle_id=BY_NAME))))
    assert panel.model.rowCount() == len(found.candidates)
    assert panel.nil_row.second_line == "no estimate yet"


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
        "MESH:D018942",
        "MESH:C1",
        "0.45 ahead of Sirolimus",
        "lexical",
        "0.80",
    ):
        assert words in text
    panel.card.show_path(ENTITY.id, (Entity("T", "Lactones"), PARENT))
    assert "Lactones › Macrolides" in panel.card.toPlainText()
    panel.card.show_path(PARENT.id, (Entity("T", "Too late"),))
    assert "Too late" not in panel.card.toPlainText()
    panel.highlight(1)
    assert "no longer holds" in panel.card.toPlainText()


def test_the_card_escapes_what_comes_from_outside() -> None:
    evil = replace(ENTITY, name="<img src=x>", synonyms=("<b>s</b>",))
    html = card_html(evil, path=(replace(PARENT, name="<img src=y>"),), theme=LIGHT)
    assert "<img" not in html
    assert html.count("&lt;img") == 2
    contrast = pair_html(CandidatePair(evil, replace(PARENT, definition="<img src=z>")), LIGHT)
    assert "<img" not in contrast
    assert "&lt;b&gt;s" in contrast


def test_the_card_says_that_an_entity_was_made_here() -> None:
    assert "created in this project" in card_html(replace(ENTITY, id="NEW:0001"), theme=LIGHT)
    assert "created in this project" not in card_html(ENTITY, theme=LIGHT)


def test_the_card_takes_the_colours_of_the_palette(qtbot: QtBot) -> None:
    card = EntityCard(lookup)
    qtbot.addWidget(card)
    card.show_entity(ENTITY)
    assert LIGHT.muted.name() in card.toHtml()
    card.setPalette(DARK.palette)
    assert DARK.muted.name() in card.toHtml()


def test_hidden_candidates_are_grey_rows_with_their_reason(panel: CandidatePanel) -> None:
    panel.set_extent(
        Extent(limit=2, others=(EntityMatch(PARENT, "Macrolides", 1.0),), gone=frozenset({"MESH:D016559"}))
    )
    panel.show_mention(view(1, FK, verdict=Verdict.link(PARENT.id)))
    rows = [panel.model.row(i) for i in range(panel.model.rowCount())]
    assert [row.reason for row in rows if row] == [
        "no longer in the knowledge base", "", "below the limit", "of another type"
    ]  # fmt: skip
    assert [row.keyed for row in rows if row] == [False, True, False, False]
    assert rows[3] is not None
    assert (rows[3].rank, rows[3].chosen) == (0, True)
    spoken = panel.model.index(3, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == "Macrolides, of another type · MESH:D018942"


def test_a_click_on_a_hidden_candidate_chooses_it_too(qtbot: QtBot, panel: CandidatePanel) -> None:
    panel.set_extent(Extent(others=(EntityMatch(PARENT, "Macrolides", 1.0),)))
    panel.show_mention(view(1, FK))
    where = panel.list.visualRect(panel.model.index(3, panel.list.modelColumn())).center()
    with qtbot.waitSignal(panel.candidate_chosen, timeout=500) as caught:
        qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert caught.args == [PARENT.id]


@pytest.mark.parametrize(
    ("below", "others", "unfolded", "words"),
    [
        (0, 0, False, ""),
        (12, 0, False, "12 more: show"),
        (0, 3, False, "3 of another type: show"),
        (12, 3, False, "12 more, 3 of another type: show"),
        (12, 3, True, "Hide again: 12 more, 3 of another type"),
    ],
)
def test_the_line_below_says_what_is_hidden(
    panel: CandidatePanel, below: int, others: int, unfolded: bool, words: str
) -> None:
    panel.hidden_row.show_counts(below=below, others=others, unfolded=unfolded)
    assert panel.hidden_row.text() == words
    assert panel.hidden_row.isEnabled() == bool(words)
    assert panel.hidden_row.accessibleName()


def test_shuffled_candidates_are_shown_without_any_figure(panel: CandidatePanel) -> None:
    panel.show_mention(view(1, FK))
    plain = panel.list.viewport().grab().toImage()
    panel.set_extent(Extent(blind=True))
    assert panel.list.viewport().grab().toImage() != plain
    for row in range(3):
        words = [panel.model.index(row, c).data() for c in range(panel.model.columnCount())]
        assert not any("0." in word for word in words), words
        assert "score" not in panel.model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert "0.80" not in panel.card.toPlainText()
    assert "Choose by number, or press N if none fits." in said(panel)
    assert "hidden" in panel.nil_row.second_line
    assert "needs review" not in " ".join(said(panel))


def test_a_probability_that_is_not_calibrated_says_so_on_the_card(panel: CandidatePanel) -> None:
    made = suggestion(1)
    probable = replace(made, candidates=tuple(replace(one, probability=one.score) for one in made.candidates))
    panel.show_mention(view(1, FK, made=probable))
    assert "not calibrated here" in panel.card.toPlainText()
    sure = replace(probable, nil=NilEstimate(0.1, False, True))
    panel.show_mention(view(2, FK, made=sure))
    assert "probability" in panel.card.toPlainText()
    assert "not calibrated" not in panel.card.toPlainText()


def test_the_tag_of_the_linked_candidate_gives_way_to_its_name(qapp: QApplication) -> None:
    font = qapp.font()
    name = "Rosuvastatin Calcium"
    whole = QFontMetricsF(font).horizontalAdvance(name)

    def words(room: float) -> str:
        return chosen_words(room, name, font, tag=font)

    assert words(whole + tag_width("✓ linked", font) + BEFORE_TAG) == "✓ linked"
    assert words(whole + tag_width("✓", font) + BEFORE_TAG) == "✓"
    assert words(QFontMetricsF(font).horizontalAdvance(name[:LEAST_NAME])) == ""


# --- what is read without scrolling ---

LONG = "N-methyl-D-aspartate blocker"


def matched_by(name: str) -> MentionView:
    made = suggestion(1, 4)
    first = replace(made.candidates[0], matched=name, decided_times=3, decided_documents=2)
    return view(1, span("tacrolimus"), made=replace(made, candidates=(first, *made.candidates[1:])))


@pytest.mark.parametrize(("width", "letters"), [(320, 22), (400, len(LONG))])
@pytest.mark.parametrize("larger", [1, 2])
def test_the_matched_synonym_is_read_whole_or_for_the_most_part(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, width: int, letters: int, larger: int
) -> None:
    drawn: list[str] = []

    def draw(painter: QPainter, rect: QRectF, words: str, **how: Any) -> float:
        shown = QFontMetricsF(how["font"]).elidedText(words, Qt.TextElideMode.ElideRight, rect.width())
        drawn.append(shown)
        return QFontMetricsF(how["font"]).horizontalAdvance(shown)

    monkeypatch.setattr(candidate_delegate, "draw_words", draw)
    panel = CandidatePanel(lookup)
    qtbot.addWidget(panel)
    font = panel.font()
    font.setPointSizeF(9.0 * larger)
    panel.setFont(font)
    panel.resize(width * larger, 800)
    panel.show_mention(matched_by(LONG))
    panel.show()
    qtbot.waitExposed(panel)
    panel.grab()
    assert any(LONG[:letters] in words for words in drawn), drawn[:6]
    assert LONG in str(panel.model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole))


def test_synonyms_stand_in_the_record_without_scrolling(qtbot: QtBot) -> None:
    many = tuple(f"Synonym number {i}" for i in range(40))
    entity = replace(ENTITY, synonyms=(*many, "FK506"), definition="A macrolide lactone. " * 30)
    panel = CandidatePanel(lambda _: entity)
    qtbot.addWidget(panel)
    panel.resize(400, 690)
    panel.show_mention(view(1, span("tacrolimus")))
    panel.show()
    qtbot.waitExposed(panel)
    words = panel.card.toPlainText()
    assert "and 35 more" in words
    for name in ("FK506", "Synonym number 0", "Synonym number 3"):  # the one that matched comes first
        cursor = panel.card.document().find(name)
        assert not cursor.isNull()
        assert panel.card.cursorRect(cursor).bottom() < panel.card.viewport().height()
    assert words.index("FK506") < words.index("Synonym number 0")
    assert all(name in words for name in many), "all of them are below"


def test_few_synonyms_stand_there_once(qtbot: QtBot) -> None:
    html = card_html(ENTITY, theme=LIGHT)
    assert html.count("Fujimycin") == 1
    assert "more" not in html.split("macrolide")[0]
