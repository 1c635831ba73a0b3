"""The dashboard: its filters, its figures, what it saves."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import date, timedelta
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from curator.domain import wording
from curator.domain.documents import Split
from curator.domain.statistics import StatisticsFilter
from curator.services.records.plots import LEARNING
from curator.services.records.statistics import Statistics
from curator.ui.dashboard.dashboard import ALL_TIME, CHOSEN, REFRESH, TIMES, Dashboard, DashboardFilter
from tests.curator.services.records.test_statistics import COUNTS
from tests.curator.services.training.test_bundle_metrics import trained
from tests.curator.ui.window.test_reach import clipped, double_size

TODAY = date(2026, 3, 3)


@pytest.fixture
def dashboard(qtbot: QtBot) -> Dashboard:
    made = Dashboard("Project")
    qtbot.addWidget(made)
    made.show()
    return made


def test_it_says_that_it_counts_until_there_are_figures(dashboard: Dashboard) -> None:
    assert dashboard.state.words == "Counting…"
    assert not dashboard.save.isEnabled()
    assert dashboard.cards == {}
    dashboard.show_statistics(Statistics(COUNTS), at="12:00:00")
    assert dashboard.state.words == "As of 12:00:00"
    assert dashboard.heads["decided"].accessibleName() == "Mentions decided: 40.0 %"
    assert dashboard.cards["nil"].summary.text() == "3 of 116 answers are NIL."


def test_filters_redraw_without_asking_again(dashboard: Dashboard, qtbot: QtBot) -> None:
    dashboard.show_statistics(Statistics(COUNTS), at="12:00:00")
    people = [dashboard.filter.curators.itemText(at) for at in range(dashboard.filter.curators.count())]
    assert people == ["Everybody", "ada", "bob", "Decisions from files"]
    with qtbot.assertNotEmitted(dashboard.wanted):
        dashboard.filter.curators.setCurrentIndex(2)
    assert dashboard.where == StatisticsFilter("bob")
    assert dashboard.cards["progress"].summary.text() == "1 decision, made on one day."
    card = dashboard.cards["progress"]
    dashboard.show_statistics(Statistics(COUNTS), at="12:00:01")  # who is chosen, and the cards, stay
    assert dashboard.where.curator == "bob"
    assert dashboard.cards["progress"] is card


def test_it_asks_anew_by_key_and_button(dashboard: Dashboard, qtbot: QtBot) -> None:
    dashboard.activateWindow()
    with qtbot.waitSignal(dashboard.wanted):
        QTest.keySequence(dashboard, REFRESH)
    with qtbot.waitSignal(dashboard.wanted):
        dashboard.refresh.click()


def test_one_column_where_it_is_narrow(dashboard: Dashboard) -> None:
    dashboard.show_statistics(Statistics(COUNTS), at="12:00:00")
    first, second = list(dashboard.cards.values())[:2]
    dashboard.resize(1200, 700)
    QTest.qWait(0)
    assert first.y() == second.y()
    dashboard.resize(700, 700)
    QTest.qWait(0)
    assert first.x() == second.x()


@pytest.mark.parametrize("width", [1024, 1440])
def test_no_card_is_wider_than_the_window_in_large_letters(qtbot: QtBot, width: int) -> None:
    with double_size():
        dashboard = Dashboard("Project")
        qtbot.addWidget(dashboard)
        dashboard.show()
        dashboard.resize(width, 700)
        dashboard.show_statistics(Statistics(COUNTS), at="12:00:00")
        QTest.qWait(0)
        assert dashboard.width() == width
        assert dashboard.area.horizontalScrollBar().maximum() == 0
        assert clipped(dashboard.area) == []


def test_cards_are_whole_as_soon_as_there_are_figures(dashboard: Dashboard) -> None:
    """Not a turn later: somebody would see them crushed into the height of the window."""
    QTest.qWait(0)
    dashboard.show_statistics(Statistics(COUNTS), at="12:00:00")
    assert all(
        card.isVisible() and card.height() >= card.minimumSizeHint().height() for card in dashboard.cards.values()
    )
    assert clipped(dashboard) == []


def test_a_plot_is_sought_until_there_are_figures(dashboard: Dashboard) -> None:
    dashboard.show_card(LEARNING)
    found = Statistics(COUNTS, (trained(3, links=500, after=0.91),))
    dashboard.show_statistics(found, at="12:00:00")
    card = dashboard.cards[LEARNING]
    assert not card.visibleRegion().isEmpty()
    assert dashboard.focusWidget() is card.view
    dashboard.area.verticalScrollBar().setValue(0)
    dashboard.show_statistics(found, at="12:00:01")
    assert dashboard.area.verticalScrollBar().value() == 0, "once only"


def test_everything_is_saved_as_it_is_filtered(dashboard: Dashboard, tmp_path: Path) -> None:
    dashboard.show_statistics(Statistics(COUNTS), at="12:00:00")
    dashboard.filter.curators.setCurrentIndex(1)
    dashboard.save_to(tmp_path)
    written = json.loads((tmp_path / "figures.json").read_text())
    assert written["filter"]["curator"] == "ada"
    assert (tmp_path / "ranks.svg").is_file()
    assert "saved in" in dashboard.state.words
    dashboard.save_to(tmp_path / "nowhere")
    assert "the folder does not exist" in dashboard.state.words


@pytest.mark.parametrize("words", [str.upper, str], ids=["another language", "English"])
def test_a_period_means_the_same_in_every_language(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, words: Callable[[str], str]
) -> None:
    entries = [ALL_TIME, *TIMES, CHOSEN]
    monkeypatch.setattr(wording, "_now", wording.Catalogue("xx", {(one, ""): (words(one),) for one in entries}))
    found = DashboardFilter(today=lambda: TODAY)
    qtbot.addWidget(found)
    since = []
    for at, one in enumerate(entries):
        assert found.times.itemText(at) == words(one)
        found.times.setCurrentIndex(at)
        since.append(found.where.since)
    assert since == [None, *(TODAY - timedelta(days=days) for days in TIMES.values()), TODAY]


@pytest.mark.parametrize(("code", "shown"), [("en", "3 Mar 2026"), ("de", "03.03.2026")])
def test_days_have_the_form_of_the_language(
    qtbot: QtBot, monkeypatch: pytest.MonkeyPatch, code: str, shown: str
) -> None:
    monkeypatch.setattr(wording, "_now", wording.Catalogue(code, {}))
    found = DashboardFilter(today=lambda: TODAY)
    qtbot.addWidget(found)
    assert found.since.text() == shown


def test_times_are_days_before_today_or_chosen_ones(qtbot: QtBot) -> None:
    found = DashboardFilter(today=lambda: TODAY)
    qtbot.addWidget(found)
    found.show()
    assert found.where == StatisticsFilter()
    assert not found.since.isVisible()
    found.times.setCurrentText("Last 7 days")
    assert found.where == StatisticsFilter(since=date(2026, 2, 25))
    found.times.setCurrentText(CHOSEN)
    assert found.since.isVisible()
    found.since.setDate(found.since.date().addDays(-1))
    assert found.where == StatisticsFilter(since=date(2026, 3, 2), until=TODAY)
    found.splits.setCurrentIndex(3)
    assert found.where.split is Split.TEST
