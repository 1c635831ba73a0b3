"""The right end of the menu bar leaves room for the menus."""

from __future__ import annotations

from datetime import UTC, datetime

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QMainWindow, QToolButton
from pytestqt.qtbot import QtBot

from curator.domain.jobs import LinkerState, LinkerStatus
from curator.ui.panels.status_line import StatusLine


def test_what_has_no_room_next_to_the_menus_is_hidden_but_for_trouble(qtbot: QtBot) -> None:
    window = QMainWindow()
    qtbot.addWidget(window)
    bar = window.menuBar()
    for title in ("Project", "Edit", "Mention", "Annotate", "Queue"):
        bar.addMenu(title)
    line = StatusLine(window)
    bar.setCornerWidget(line, Qt.Corner.TopRightCorner)
    window.resize(1400, 300)
    window.show()
    qtbot.waitExposed(window)
    line.show_curator("Ada Lovelace")
    line.show_saved(datetime(2026, 1, 1, tzinfo=UTC))
    line.show_linker(LinkerStatus(LinkerState.READY, ""))

    def shown() -> list[str]:
        parts = [*line.findChildren(QToolButton), *line.findChildren(QLabel)]
        return [one.text().partition(" ")[0] for one in parts if not one.isHidden()]

    assert shown() == ["Ada", "saved", "linker:"]
    titles = sum(bar.actionGeometry(one).width() + 6 for one in bar.actions()) + 6
    window.resize(titles + line.sizeHint().width() - 10, 300)
    qtbot.waitUntil(lambda: shown() == ["saved", "linker:"])
    assert "Ada Lovelace" in line.toolTip()
    window.resize(titles + 40, 300)
    qtbot.waitUntil(lambda: shown() == [])
    line.show_unsaved("The disk is full.")
    assert shown() == ["NOT"]
    window.resize(1400, 300)
    qtbot.waitUntil(lambda: shown() == ["Ada", "NOT", "linker:"])
