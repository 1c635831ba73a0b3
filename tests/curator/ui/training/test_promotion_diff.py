"""The table of what a promotion changes: order, names, filters, the way into a mention."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester, QTest
from pytestqt.qtbot import QtBot

from curator.services.training.bundle_metrics import diff_rows
from curator.ui.training.promotion_diff import PromotionDiff
from tests.curator.services.samples import METRICS

NAMES = {"MESH:D008012": "Lidocaine", "MESH:D006323": "Heart Arrest", "MESH:D001145": "Arrhythmia"}


@pytest.fixture
def diff(qtbot: QtBot) -> PromotionDiff:
    made = PromotionDiff(
        diff_rows(METRICS), name_of=lambda one: NAMES.get(one, one), title_of=lambda one: f"document {one}"
    )
    qtbot.addWidget(made)
    made.resize(700, 300)
    made.show()
    return made


def cells(diff: PromotionDiff) -> list[list[str]]:
    model = diff.table.model()
    return [[model.index(row, column).data() for column in range(6)] for row in range(model.rowCount())]


def test_the_models_are_sound(diff: PromotionDiff) -> None:
    for model in (diff.table.lines, diff.table.model()):
        QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)


def test_rows_name_entities_and_documents(diff: PromotionDiff) -> None:
    rows = cells(diff)
    assert rows[0] == ["✗ becomes wrong", "cardiac arrest", "Heart Arrest", "Heart Arrest", "NIL", "document 1"]
    assert rows[2] == ["✓ becomes right", "blorbitis", "NIL", "Arrhythmia", "NIL", "document 1"]
    assert rows[3] == ["… undecided", "arrhythmia", "", "Heart Arrest", "Arrhythmia", "document 2"]
    assert diff.summary.text().startswith("2 decisions become right, 1 become wrong")


def test_filters_by_kind_and_by_words(diff: PromotionDiff) -> None:
    texts = [diff.kinds.itemText(row) for row in range(diff.kinds.count())]
    assert texts == ["Everything that changes (4)", "Wrong → right (2)", "Right → wrong (1)", "Undecided mentions (1)"]
    for row, expected in ((1, 2), (2, 1), (3, 1), (0, 4)):
        diff.kinds.setCurrentIndex(row)
        assert diff.table.model().rowCount() == expected
    diff.words.setText("HEART")
    assert [row[1] for row in cells(diff)] == ["cardiac arrest", "arrhythmia"]
    diff.kinds.setCurrentIndex(3)
    assert [row[1] for row in cells(diff)] == ["arrhythmia"]


def test_a_header_sorts(diff: PromotionDiff) -> None:
    diff.table.sortByColumn(1, Qt.SortOrder.AscendingOrder)
    assert [row[1] for row in cells(diff)] == sorted(row[1] for row in cells(diff))


def test_enter_opens_the_mention(diff: PromotionDiff, qtbot: QtBot) -> None:
    diff.activateWindow()
    diff.table.setFocus()
    diff.table.setCurrentIndex(diff.table.model().index(3, 0))
    with qtbot.waitSignal(diff.mention_wanted) as wanted:
        QTest.keyClick(diff.table, Qt.Key.Key_Return)
    assert wanted.args == [2, 7]


def test_nothing_changes_is_said(qtbot: QtBot) -> None:
    empty = PromotionDiff([], name_of=str, title_of=str)
    qtbot.addWidget(empty)
    assert empty.summary.text().startswith("No gold decision changes")
