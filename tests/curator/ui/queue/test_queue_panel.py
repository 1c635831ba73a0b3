from dataclasses import replace

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QImage, QPainter, QStandardItemModel
from PySide6.QtWidgets import QPushButton, QStyleOptionViewItem, QWidget
from pytestqt.qtbot import QtBot

from curator.domain.documents import DocumentState, Split
from curator.domain.wording import AwayError
from curator.services.ports.documents import ProjectCounts, QueueRow
from curator.services.ports.queue import QueueFilter
from curator.ui.kit.row_list import PAD, SMALL, scaled
from curator.ui.kit.sizing import FlowRow
from curator.ui.kit.theme import LIGHT
from curator.ui.queue.queue_delegate import QueueDelegate
from curator.ui.queue.queue_model import ROW_ROLE
from curator.ui.queue.queue_panel import QueuePanel
from tests.curator.ui.queue.test_queue_model import Rows

COUNTS = ProjectCounts({DocumentState.TODO: 39, DocumentState.DONE: 1}, {Split.TRAIN: 40}, 100, {})


@pytest.fixture
def panel(qtbot: QtBot) -> QueuePanel:
    widget = QueuePanel()
    qtbot.addWidget(widget)
    widget.resize(280, 600)
    widget.set_source(Rows(40))
    widget.set_counts(COUNTS)
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def test_a_click_opens_a_document(qtbot: QtBot, panel: QueuePanel) -> None:
    where = panel.list.visualRect(panel.model.index(2)).center()
    with qtbot.waitSignal(panel.document_activated, timeout=500) as caught:
        qtbot.mouseClick(panel.list.viewport(), Qt.MouseButton.LeftButton, pos=where)
    assert caught.args == [12]


def test_typing_filters_and_the_footer_counts(qtbot: QtBot, panel: QueuePanel) -> None:
    assert panel.footer.words == "40 documents"
    with qtbot.waitSignal(panel.filter_changed, timeout=2000) as caught:
        qtbot.keyClicks(panel.text, "nothing")
    assert caught.args == [QueueFilter(text="nothing")]
    assert panel.footer.words == "0 of 40 documents"
    assert panel.list.empty_words == "No document matches the filter."
    with qtbot.waitSignal(panel.filter_changed, timeout=2000):
        qtbot.keyClick(panel.text, Qt.Key.Key_Escape)
    assert panel.footer.words == "40 documents"


def test_without_the_server_only_what_is_on_this_computer_is_listed(
    panel: QueuePanel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Rows, "count", lambda _: 3)
    panel.set_away(True)
    assert (panel.model.rowCount(), panel.footer.words) == (3, "3 of 40 on this computer")
    monkeypatch.undo()
    panel.set_away(False)
    assert (panel.model.rowCount(), panel.footer.words) == (40, "40 documents")

    def away(_: object) -> int:
        raise AwayError("away")

    monkeypatch.setattr(Rows, "count", away)
    with pytest.raises(AwayError):
        panel.set_away(True)
    assert (panel.model.rowCount(), panel.footer.words) == (40, "40 documents")
    assert panel.model.row(0) is None  # what is not read yet stays empty


@pytest.mark.parametrize(("count", "words"), [(1, "1 document"), (51, "51 documents"), (1001, "1,001 documents")])
def test_the_footer_counts_in_words(panel: QueuePanel, monkeypatch: pytest.MonkeyPatch, count: int, words: str) -> None:
    monkeypatch.setattr(panel.model, "rowCount", lambda *_: count)
    panel.say()
    assert panel.footer.words == words


def test_the_open_document_is_brought_into_sight(panel: QueuePanel) -> None:
    panel.set_current(45)
    rect = panel.list.visualRect(panel.model.index(35))
    assert panel.list.viewport().rect().contains(rect.center())


def test_the_open_document_is_in_sight_when_a_filter_is_lifted(qtbot: QtBot, panel: QueuePanel) -> None:
    panel.set_current(45)
    panel.narrow(QueueFilter(text="nothing"))
    qtbot.waitUntil(lambda: panel.list.verticalScrollBar().maximum() == 0)
    panel.narrow(QueueFilter())
    rect = panel.list.visualRect(panel.model.index(35))
    assert panel.list.viewport().rect().contains(rect.center())


def test_down_goes_from_the_filter_to_the_list(qtbot: QtBot, panel: QueuePanel) -> None:
    panel.focus_filter()
    qtbot.keyClick(panel.text, Qt.Key.Key_Down)
    assert panel.list.currentIndex().row() == 0
    with qtbot.waitSignal(panel.document_activated, timeout=500) as caught:
        qtbot.keyClick(panel.list, Qt.Key.Key_Return)
    assert caught.args == [10]


def test_enter_in_the_filter_opens_the_first_document(qtbot: QtBot, panel: QueuePanel) -> None:
    panel.focus_filter()
    with qtbot.waitSignal(panel.document_activated, timeout=500) as caught:
        qtbot.keyClick(panel.text, Qt.Key.Key_Return)
    assert caught.args == [10]


def test_enter_does_not_wait_for_the_filter(qtbot: QtBot, panel: QueuePanel) -> None:
    panel.focus_filter()
    qtbot.keyClicks(panel.text, "nothing")
    with qtbot.assertNotEmitted(panel.document_activated):
        qtbot.keyClick(panel.text, Qt.Key.Key_Return)


def test_home_and_end_go_to_the_ends(qtbot: QtBot, panel: QueuePanel) -> None:
    qtbot.keyClick(panel.list, Qt.Key.Key_End)
    assert panel.list.currentIndex().row() == 39
    qtbot.keyClick(panel.list, Qt.Key.Key_Home)
    assert panel.list.currentIndex().row() == 0


def test_rows_grow_with_the_font(panel: QueuePanel) -> None:
    before = panel.list.rowHeight(0)
    font = panel.list.font()
    font.setPointSizeF(font.pointSizeF() * 2)
    panel.list.setFont(font)
    assert panel.list.rowHeight(0) > 1.5 * before


def test_without_a_project_it_says_so(panel: QueuePanel) -> None:
    panel.set_source(None)
    assert panel.list.empty_words == "No project is open."
    panel.set_source(Rows(0))
    assert "Import" in panel.list.empty_words


@pytest.mark.parametrize("larger", [1, 2])
def test_marks_of_comments_and_flags_never_cover_the_counts(qtbot: QtBot, larger: int) -> None:
    plain = QueueRow(1, "PMC90000040123456-supplement", "Title", Split.TRAIN, DocumentState.TODO, 10, 35)

    font = QFont()
    font.setPointSizeF(9.0 * larger)

    def drawn(row: QueueRow) -> QImage:
        model = QStandardItemModel(1, 1)
        model.setData(model.index(0, 0), row, ROW_ROLE)
        option = QStyleOptionViewItem()
        option.font = font
        option.palette = LIGHT.palette
        option.rect = QRect(0, 0, 220, 60 * larger)
        image = QImage(option.rect.size(), QImage.Format.Format_RGB32)
        image.fill(QColor("white"))
        painter = QPainter(image)
        QueueDelegate().paint(painter, option, model.index(0, 0))
        painter.end()
        return image

    counts = QFontMetricsF(scaled(font, SMALL)).horizontalAdvance("10/35")
    before, noted = drawn(plain), drawn(replace(plain, flagged=True, comments=2))
    assert noted != before
    left = round(220 - PAD - counts)
    assert noted.copy(left, 0, 220 - left, 60 * larger) == before.copy(left, 0, 220 - left, 60 * larger)


def test_a_row_of_buttons_goes_on_in_a_further_line(qtbot: QtBot) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    buttons = [QPushButton(f"Button number {i}", owner) for i in range(4)]
    row = FlowRow(*buttons)
    owner.setLayout(row)
    wide = row.sizeHint().width()
    assert row.minimumSize().width() < wide / 3
    for width, lines in ((wide, 1), (wide // 2 + 10, 2)):
        owner.resize(width, 300)
        owner.show()
        qtbot.waitExposed(owner)
        row.activate()
        assert len({one.y() for one in buttons}) == lines
        assert all(one.geometry().right() < width and one.width() >= one.minimumSizeHint().width() for one in buttons)
        assert row.heightForWidth(width) == max(one.geometry().bottom() for one in buttons) + 1
