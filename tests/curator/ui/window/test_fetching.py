"""Fetching from PubMed in the window, against a server of this computer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from curator.services.ports.queue import QueueFilter
from curator.ui.files.fetch_pubmed import FetchPubMedDialog
from curator.ui.files.import_report import ImportReportDialog
from tests.curator.ui.window.fakes import Desk, MakeDesk
from tests.curator.ui.window.test_dialogs import shown
from tests.fake_pubmed import FakePubMed, serving


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakePubMed]:
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("NCBI_API_KEY", "s3cret")
    with serving(5) as found:
        monkeypatch.setenv("CURATOR_EUTILS", found.address)
        yield found


def opened(desk: Desk) -> FetchPubMedDialog:
    desk.window.menus.action("project.fetch").trigger()
    [dialog] = shown(FetchPubMedDialog)
    assert isinstance(dialog, FetchPubMedDialog)
    return dialog


def test_it_is_said_who_is_asked_and_nothing_is_sent_before(fake: FakePubMed, desk: Desk) -> None:
    dialog = opened(desk)
    assert "127.0.0.1" in dialog.note.text()
    assert not dialog.again.isVisible()
    dialog.accept()
    assert dialog.problem.text() == "Enter PMIDs or a query."
    dialog.pmids.setPlainText("12 twelve")
    assert "“twelve” in line 1" in dialog.problem.text()
    dialog.accept()
    assert dialog.isVisible()
    dialog.reject()
    assert fake.asked == []


def test_pmids_from_a_file_are_fetched_and_reported(
    fake: FakePubMed, make_desk: MakeDesk, qtbot: QtBot, tmp_path: Path
) -> None:
    desk = make_desk(documents=0, kb=False, index=False)
    (tmp_path / "pmids.txt").write_text("2\n77\n", encoding="utf-8")
    dialog = opened(desk)
    dialog.read_file(tmp_path / "pmids.txt")
    assert dialog.number.text() == "2 PMIDs"
    with qtbot.waitSignal(desk.bench.jobs.ended):
        dialog.accept()
    desk.bench.notices.show()
    [report] = shown(ImportReportDialog)
    assert isinstance(report, ImportReportDialog)
    assert "1 document" in report.summary.text()
    report.reject()
    assert [row.external_id for row in desk.project.queue.rows(QueueFilter(), limit=9)] == ["2"]


def test_a_query_is_counted_first(fake: FakePubMed, desk: Desk, qtbot: QtBot) -> None:
    dialog = opened(desk)
    dialog.tabs.setCurrentIndex(1)
    assert not dialog.counting.isEnabled()
    dialog.query.setText("catenin")
    dialog.counting.click()
    qtbot.waitUntil(lambda: dialog.found.text() == "5 records match.")
    dialog.counting.click()
    dialog.query.setText("another")  # what comes is of the former one
    assert dialog.found.text() == ""
    dialog.reject()
    qtbot.waitUntil(lambda: len(fake.asked) == 2)


def test_a_stopped_fetch_is_offered(fake: FakePubMed, desk: Desk) -> None:
    from curator.services.importing.fetching import FetchWish

    steps = desk.project.fetching.pubmed(FetchWish(query="catenin", most=4))
    while not fake.fetched():
        next(steps)
    next(steps)
    steps.close()
    dialog = opened(desk)
    assert dialog.again.isVisible()
    dialog.go_on.click()
    assert (dialog.wish.query, dialog.wish.most) == ("catenin", 4)
    dialog.drop.click()
    assert not dialog.again.isVisible()
    assert desk.project.fetching.unfinished() == []
    dialog.reject()
