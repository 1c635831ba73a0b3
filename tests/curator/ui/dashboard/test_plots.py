"""Plots in the window: what is drawn and told, as a table, and in files."""

from __future__ import annotations

import errno
import json
import xml.etree.ElementTree as ET
from itertools import groupby
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QFont, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from curator.domain.statistics import Plot, Series, Shape, Unit, shares
from curator.domain.wording import UserError
from curator.ui.dashboard.plot_card import KINDS, PlotCard, PlotView, plot_columns
from curator.ui.dashboard.plot_files import save_all, save_plot, svg
from curator.ui.dashboard.plot_painter import ROLES, ink_of
from curator.ui.kit.record_tables import RecordModel
from curator.ui.kit.theme import DARK, LIGHT, contrast

DAYS = ("2026-03-02", "2026-03-03", "2026-03-20")
LINES = Plot(
    "accepted", "First taken", "8 of 11.", "Day", DAYS, (shares("Taken", [(1, 2), (0, 0), (7, 9)]),), Unit.SHARE,
    timed=True, note="How it is made.",
)  # fmt: skip
BARS = Plot(
    "recall", "Recall", "Two bundles.", "Bundle", ("first", "second"),
    (Series("Before", (0.5, 0.6), role="before"), Series("After", (0.7, None), role="after")), Unit.SHARE, Shape.BARS,
)  # fmt: skip
NOTHING = Plot("x", "Nothing", "Nothing yet.", "Day", (), (Series("A", ()),), Unit.COUNT)


def shown(qtbot: QtBot, plot: Plot) -> PlotView:
    view = PlotView(plot)
    qtbot.addWidget(view)
    view.resize(500, 240)
    view.show()
    view.activateWindow()
    return view


def image(view: PlotView) -> QImage:
    return view.grab().toImage()


@pytest.mark.parametrize("plot", [LINES, BARS], ids=["lines", "bars"])
def test_keys_go_from_place_to_place_and_tell_the_values(qtbot: QtBot, plot: Plot) -> None:
    view = shown(qtbot, plot)
    view.setFocus()
    plain = image(view)
    assert view.accessibleDescription() == plot.summary
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.cursor_at == 0
    assert image(view) != plain
    QTest.keyClick(view, Qt.Key.Key_End)
    assert view.cursor_at == len(plot.places) - 1
    last = {"accepted": "20 Mar 2026: Taken 77.8 % (45.3 % to 93.7 %) of 9", "recall": "second: Before 60.0 %; After –"}
    assert view.accessibleDescription() == last[plot.id]
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.cursor_at == len(plot.places) - 1
    QTest.keyClick(view, Qt.Key.Key_Left)
    assert view.cursor_at == len(plot.places) - 2
    QTest.keyClick(view, Qt.Key.Key_Escape)
    assert view.cursor_at is None


def test_the_mouse_tells_what_it_is_on(qtbot: QtBot) -> None:
    view = shown(qtbot, LINES)
    QTest.mouseMove(view, QPoint(490, 120))
    assert view.cursor_at == 2
    view.hide()
    bars = shown(qtbot, BARS)
    seen = []
    for y in range(1, 239, 6):
        QTest.mouseMove(bars, QPoint(200, y))
        seen.append(bars.cursor_at)
    assert [at for at, _ in groupby(seen)] == [None, 0, 1, None]


def test_a_plot_that_shrinks_loses_a_cursor_beyond_its_end(qtbot: QtBot) -> None:
    view = shown(qtbot, LINES)
    view.set_cursor(2)
    view.show_plot(BARS)
    assert view.cursor_at is None
    assert view.accessibleName() == "Recall"
    view.show_plot(NOTHING)
    QTest.keyClick(view, Qt.Key.Key_Right)
    assert view.cursor_at is None


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_inks_stand_out_and_lines_differ_in_more_than_colour(qtbot: QtBot, qapp: QApplication, theme: object) -> None:
    assert theme in (LIGHT, DARK)
    chosen = LIGHT if theme is LIGHT else DARK
    base = chosen.palette.base().color()
    inks = [ink_of(chosen, role, 0) for role in (*ROLES, "before", "after", "")]
    assert all(contrast(ink.line, base) >= 3.0 for ink in inks)
    qapp.setPalette(chosen.palette)
    grey = image(shown(qtbot, LINES)).convertToFormat(QImage.Format.Format_Grayscale8)
    two = Plot("t", "T", "", "Day", DAYS, (Series("A", (1, 1, 1)), Series("B", (1, 1, 1))), Unit.COUNT, timed=True)
    swapped = Plot("t", "T", "", "Day", DAYS, two.series[::-1], Unit.COUNT, timed=True)
    assert not grey.isNull()
    assert image(shown(qtbot, two)) != image(shown(qtbot, swapped))


def test_the_table_has_every_figure(qtmodeltester: ModelTester) -> None:
    model: RecordModel[int] = RecordModel(plot_columns(LINES))
    model.show_rows(range(3))
    qtmodeltester.check(model)
    rows = [[model.index(row, column).data().strip() for column in range(model.columnCount())] for row in range(3)]
    assert rows[0] == ["2 Mar 2026", "50.0 %", "9.5 %", "90.5 %", "2"]
    assert rows[1] == ["3 Mar 2026", "–", "–", "–", "0"]
    assert model.columns[4].heading == "Taken, cases"
    model.show_rows(range(2), columns=plot_columns(BARS))
    qtmodeltester.check(model)
    assert (model.rowCount(), model.columnCount()) == (2, 3)


def test_svg_holds_the_words_as_text(qtbot: QtBot) -> None:
    tree = ET.fromstring(svg(LINES, QFont()))
    words = {"".join(one.itertext()).strip() for one in tree.iter("{http://www.w3.org/2000/svg}text")}
    assert {"First taken", "8 of 11.", "2 Mar 2026", "20 Mar 2026"} <= words
    assert tree.find("{http://www.w3.org/2000/svg}desc").text == "8 of 11. How it is made."  # type: ignore[union-attr]


def test_plots_are_saved_as_what_their_names_say(qtbot: QtBot, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for ending in ("svg", "csv", "json"):
        save_plot(LINES, tmp_path / f"p.{ending}", QFont())
    assert (tmp_path / "p.svg").read_bytes().startswith(b"<?xml")
    assert (tmp_path / "p.csv").read_text() == LINES.csv()
    assert json.loads((tmp_path / "p.json").read_text())["id"] == "accepted"
    with pytest.raises(UserError, match="must end in"):
        save_plot(LINES, tmp_path / "p.png", QFont())
    with pytest.raises(UserError, match="the folder does not exist"):
        save_plot(LINES, tmp_path / "nowhere" / "p.csv", QFont())
    assert save_all([LINES, BARS, NOTHING], {"figures": {}}, tmp_path, QFont()) == 2
    assert {"accepted.svg", "accepted.csv", "recall.svg", "figures.json"} <= {one.name for one in tmp_path.iterdir()}
    before = {one.name: one.read_bytes() for one in tmp_path.iterdir()}
    monkeypatch.setattr("curator.io.files.atomic.os.fsync", full_disk)
    with pytest.raises(UserError, match="the disk is full"):
        save_all([LINES], {"figures": {"later": 1}}, tmp_path, QFont())
    assert {one.name: one.read_bytes() for one in tmp_path.iterdir()} == before, "whole or not at all"


def full_disk(_descriptor: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_card_turns_into_a_table_and_back(qtbot: QtBot, tmp_path: Path) -> None:
    said: list[str] = []
    card = PlotCard(LINES, tell=said.append)
    qtbot.addWidget(card)
    card.show()
    assert card.view.isVisible()
    assert not card.note.isVisible()
    card.switch.click()
    assert (card.table.isVisible(), card.view.isVisible(), card.note.isVisible()) == (True, False, True)
    card.save_to(tmp_path / "a.svg")
    assert said == [f"“First taken” is saved as {tmp_path / 'a.svg'}."]
    card.save_to(tmp_path / "a.gif")
    assert "must end in" in said[-1]
    card.show_plot(NOTHING)
    assert not card.save.isEnabled()
    assert not card.faces.isVisible()
    assert card.summary.text() == "Nothing yet."


def test_each_kind_of_file_is_asked_for_by_name(qtbot: QtBot) -> None:
    card = PlotCard(LINES, tell=print)
    qtbot.addWidget(card)
    assert [action.text() for action in card.save.menu().actions()] == [words for words, _ in KINDS.values()]
    dialog = card.ask_place("csv")
    assert (dialog.defaultSuffix(), dialog.nameFilters()) == ("csv", ["Comma-separated values (*.csv)"])
    dialog.reject()
