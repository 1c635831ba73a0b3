"""What holds for every widget: names for screen readers, both palettes, elided words, nothing left behind."""

import gc
import sys
import weakref
from collections.abc import Callable

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QTextLayout, QTextOption
from PySide6.QtWidgets import QAbstractButton, QAbstractItemView, QComboBox, QLineEdit, QTextBrowser, QWidget
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Outcome
from curator.domain.documents import DocumentState, Split
from curator.services.ports.documents import QueueRow
from curator.ui.bench.mention_editor import TypePicker
from curator.ui.candidates.candidate_panel import CandidatePanel
from curator.ui.candidates.search_panel import SearchPanel
from curator.ui.deciding.reason_strip import ReasonStrip
from curator.ui.document.document_view import DocumentView
from curator.ui.kit.labels import ElidedLabel, StateChip
from curator.ui.kit.mention_state import MentionState
from curator.ui.kit.theme import DARK, LIGHT
from curator.ui.panels.history_panel import HistoryPanel
from curator.ui.queue.document_header import DocumentHeader
from curator.ui.queue.queue_panel import QueuePanel
from tests.curator.ui.candidates.test_search_panel import Search
from tests.curator.ui.panels.test_history_panel import HISTORY
from tests.curator.ui.queue.test_queue_model import Rows
from tests.curator.ui.samples import decision, lookup, opened, span, suggestion, view


def document_view() -> DocumentView:
    made = DocumentView()
    made.show_document(opened(), current=2)
    return made


def candidate_panel() -> CandidatePanel:
    made = CandidatePanel(lookup)
    made.show_mention(view(1, span("FK506"), made=suggestion(1, 64, nil=True)))
    made.set_note("Lexical suggestions only.")
    return made


def queue_panel() -> QueuePanel:
    made = QueuePanel()
    made.set_source(Rows(500))
    made.set_current(12)
    return made


def search_panel() -> SearchPanel:
    made = SearchPanel(Search())
    made.prefill("fk")
    return made


def history_panel() -> HistoryPanel:
    made = HistoryPanel()
    made.show_history(HISTORY)
    return made


def reason_strip() -> ReasonStrip:
    made = ReasonStrip()
    made.ask(Outcome.NIL)
    return made


def header() -> DocumentHeader:
    made = DocumentHeader()
    made.show_row(QueueRow(1, "9041187", "Title", Split.TRAIN, DocumentState.DONE, 3, 4))
    return made


WIDGETS = pytest.mark.parametrize(
    "make",
    [document_view, candidate_panel, queue_panel, search_panel, history_panel, reason_strip, header, TypePicker],
    ids=lambda make: make.__name__,
)
CONTROLS = (QAbstractButton, QAbstractItemView, QComboBox, QLineEdit, QTextBrowser, DocumentView)


@WIDGETS
def test_every_control_has_a_name_for_screen_readers(qtbot: QtBot, make: Callable[[], QWidget]) -> None:
    widget = make()
    qtbot.addWidget(widget)
    controls = [w for w in (widget, *widget.findChildren(QWidget)) if isinstance(w, CONTROLS) and not w.isHidden()]
    inner = [w for w in controls if w.parent() is None or not isinstance(w.parent(), QLineEdit | QComboBox)]
    popups = [w for w in inner if w.window() is not widget.window()]
    corner = "qt_tableview_cornerbutton"  # Qt's own, between two headers that are hidden
    assert not [w for w in inner if w not in popups and w.objectName() != corner and not w.accessibleName()]


@WIDGETS
def test_every_widget_paints_in_both_palettes_and_at_every_size(qtbot: QtBot, make: Callable[[], QWidget]) -> None:
    widget = make()
    qtbot.addWidget(widget)
    pictures = []
    for theme in (LIGHT, DARK):
        widget.setPalette(theme.palette)
        for size in ((900, 700), (300, 200), (40, 30)):
            widget.resize(*size)
            pictures.append(widget.grab().toImage())
    assert pictures[0] != pictures[3]


@WIDGETS
def test_no_widget_outlives_its_last_reference(qtbot: QtBot, make: Callable[[], QWidget]) -> None:
    widget = make()
    gone = weakref.ref(widget)
    widget.deleteLater()
    del widget
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)
    gc.collect()
    assert gone() is None


def test_long_words_are_elided_and_whole_in_the_tooltip(qtbot: QtBot) -> None:
    label = ElidedLabel()
    qtbot.addWidget(label)
    label.set_words("a very long name that will never fit")
    label.resize(60, 20)
    label.grab()
    assert label.toolTip() == "a very long name that will never fit"
    assert label.minimumSizeHint().width() < 60


def test_the_chip_says_its_state(qtbot: QtBot) -> None:
    chip = StateChip()
    qtbot.addWidget(chip)
    chip.set_state(MentionState.NIL)
    assert chip.accessibleName() == "State: NIL"
    chip.resize(chip.sizeHint())
    image = chip.grab().toImage()
    seen = {image.pixelColor(x, y).name() for x in range(image.width()) for y in range(image.height())}
    assert LIGHT.states[MentionState.NIL].tint.name() in seen


def test_the_header_says_document_state_and_counts(qtbot: QtBot) -> None:
    made = header()
    qtbot.addWidget(made)
    assert made.accessibleName() == "9041187, done · train, 3 of 4 decided"


def test_every_part_is_reached_by_tab(qtbot: QtBot) -> None:
    panel = candidate_panel()
    qtbot.addWidget(panel)
    panel.resize(400, 700)
    panel.show()
    qtbot.waitActive(panel)
    panel.list.setFocus()
    reached = {panel.focusWidget()}
    for _ in range(4):
        qtbot.keyClick(panel.focusWidget(), Qt.Key.Key_Tab)
        reached.add(panel.focusWidget())
    assert {panel.list, panel.nil_row, panel.card} <= reached


def test_the_installed_qt_binding_counts_references(qtbot: QtBot) -> None:
    """PySide6 6.12.0 loses a reference to None with every call that returns nothing, on Python before 3.12: painting
    ends the process within minutes. Install another version of PySide6-Essentials."""
    layout, option = QTextLayout("words"), QTextOption()
    before = sys.getrefcount(None)
    for _ in range(200):
        layout.setTextOption(option)
    assert abs(sys.getrefcount(None) - before) < 100


def test_states_and_decisions_agree() -> None:
    from curator.domain.decisions import Verdict
    from curator.ui.kit.mention_state import state_of

    assert state_of(None) is MentionState.UNDECIDED
    assert state_of(decision(1, Verdict(Outcome.CLEARED))) is MentionState.UNDECIDED
    assert state_of(decision(1, Verdict.link("X:1"))) is MentionState.LINKED
    assert state_of(decision(1, Verdict.nil())) is MentionState.NIL
    assert state_of(decision(1, Verdict.reject())) is MentionState.REJECTED
    assert state_of(decision(1, Verdict.skip())) is MentionState.SKIPPED
