from dataclasses import replace
from datetime import timedelta

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Outcome, Shown, Verdict
from curator.domain.documents import MentionEdit, MentionShape, Span
from curator.ui.panels.history_panel import HistoryPanel, history_model
from curator.ui.panels.history_rows import DecisionStatus, history_rows
from tests.curator.ui.samples import decision

HISTORY = [
    decision(1, Verdict.nil()),
    decision(1, Verdict(Outcome.CLEARED)),
    decision(1, Verdict.link("X:1"), curator="Ben"),
    replace(decision(1, Verdict.link("MESH:D016560")), shown=None),
    decision(1, Verdict.link("MESH:D016560")),
]


def test_the_newest_comes_first_and_undone_ones_stay() -> None:
    rows = history_rows(HISTORY, {"MESH:D016560": "Sirolimus"})
    assert [row.status for row in rows] == [
        DecisionStatus.CURRENT,
        DecisionStatus.REPLACED,
        DecisionStatus.REPLACED,
        DecisionStatus.REPLACED,
        DecisionStatus.UNDONE,
    ]
    assert [row.what for row in rows] == [
        "Sirolimus (MESH:D016560)",
        "Sirolimus (MESH:D016560)",
        "X:1",
        "undecided again",
        "NIL: not in the knowledge base",
    ]
    assert rows[2].who_and_when == "20 Nov 2026, 10:42:07 · Ben · replaced"


def test_a_row_says_what_was_shown() -> None:
    shown = [row.shown for row in history_rows(HISTORY, {})]
    assert shown == [
        "suggested MESH:D016559 · rank 2 of 3 shown · NIL 0.10",
        "nothing shown",
        "suggested MESH:D016559 · not among 3 shown · NIL 0.10",
        "",
        "suggested MESH:D016559 · 3 shown · NIL 0.10",
    ]


def test_the_model_keeps_qt_s_contract(qapp: QApplication, qtmodeltester: ModelTester) -> None:
    model = history_model()
    qtmodeltester.check(model)
    model.show_rows(history_rows(HISTORY, {}))
    qtmodeltester.check(model)


def test_the_panel_paints_its_rows_and_its_emptiness(qtbot: QtBot) -> None:
    panel = HistoryPanel()
    qtbot.addWidget(panel)
    panel.resize(400, 400)
    panel.show()
    empty = panel.grab().toImage()
    panel.show_history(HISTORY)
    assert panel.grab().toImage() != empty
    panel.show_history([])
    assert panel.grab().toImage() == empty


def test_a_row_is_as_high_as_what_it_says(qtbot: QtBot) -> None:
    panel = HistoryPanel()
    qtbot.addWidget(panel)
    panel.show_history(HISTORY)
    heights = [panel.list.sizeHintForRow(row) for row in range(len(HISTORY))]
    line = panel.list.fontMetrics().height()
    told = [len(panel.model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole).splitlines()) for row in range(5)]
    assert [round((height - heights[3]) / line) for height in heights] == [lines - told[3] for lines in told]
    assert len(set(told)) > 1


def test_a_row_says_what_it_replaced_and_with_which_note() -> None:
    noted = replace(decision(1, Verdict.nil()), note="round “pilot”: as ben judged")
    rows = history_rows([*HISTORY, noted], {"MESH:D016560": "Sirolimus"})
    assert rows[0].more == "in place of Sirolimus (MESH:D016560) · round “pilot”: as ben judged"
    assert [row.replaced for row in rows[3:]] == ["", "NIL: not in the knowledge base", ""]
    kept_back = replace(noted, shown=Shown("", (), unseen=HISTORY[0].shown))
    assert history_rows([kept_back], {})[0].shown == "decided without suggestions"


def test_what_a_mention_was_stands_between_its_decisions(qtbot: QtBot) -> None:
    text = "cardiac arrest and more"
    place, moved = (Span(0, 14),), (Span(8, 14),)
    times = [HISTORY[0].at + timedelta(seconds=n) for n in (1, 2)]
    edits = [
        MentionEdit(1, 1, MentionShape(place, "Disease"), MentionShape(moved, "Disease"), "Ada", times[0], 7),
        MentionEdit(2, 1, MentionShape(moved, "Disease"), MentionShape(moved, "Finding"), "Bo", times[1], 8),
    ]
    panel = HistoryPanel()
    qtbot.addWidget(panel)
    panel.show_history(HISTORY[:1], edits=edits, text=text)
    words = [str(panel.model.index(row, 0).data(Qt.ItemDataRole.ToolTipRole)) for row in range(3)]
    assert words[0].startswith("Type changed to Finding")
    assert words[1].startswith("Moved to “arrest”")
    assert "· Ada" in words[1]
    assert "was “cardiac arrest”, Disease" in words[1]
    assert words[2].startswith("NIL")
    panel.resize(300, 300)
    panel.grab()
