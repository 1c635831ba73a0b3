"""What the window of agreement says of figures that are there, and of those that are not."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pytestqt.qtbot import QtBot

from curator.domain.rounds import Interval
from curator.services.rounds.agreement import AgreementReport, AgreementRow
from curator.ui.people.agreement_window import AgreementWindow

ROW = AgreementRow("all", 3, 0.5, 0.4, 0.4, 0.4, Interval(0.1, 0.7), 0.4, 0.4, 0.9, 0.95)


@pytest.fixture
def window(qtbot: QtBot) -> AgreementWindow:
    made = AgreementWindow("pilot")
    qtbot.addWidget(made)
    return made


def report(row: AgreementRow) -> AgreementReport:
    return AgreementReport("pilot", ("Anna", "Ben"), row, (), (), ())


def test_figures_are_said_with_what_their_brackets_mean(window: AgreementWindow) -> None:
    window.show_report(report(ROW))
    assert "alpha 0.400 (0.100 to 0.700) over 3 mentions" in window.head.text()
    assert window.head.text().endswith("Spans: F1 0.900 exact, 0.950 overlapping.")
    assert "In brackets" in window.explained.text()


def test_figures_that_are_not_there_are_said_in_words(window: AgreementWindow) -> None:
    window.show_report(report(replace(ROW, alpha=None, interval=None, exact=None, overlap=None)))
    assert "–" not in window.head.text()
    assert "Spans cannot be compared yet" in window.head.text()
    assert "brackets" not in window.explained.text()
