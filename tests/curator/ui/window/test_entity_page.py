"""An entity's page at its source: asked the first time, the answer remembered, and a sentence where there is none."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QMessageBox

from curator.domain.decisions import Verdict
from curator.domain.entities import EntityDraft
from curator.settings.file import load
from curator.settings.schema import PageOpening
from curator.ui.entities.use_flows import UseFlows
from tests.curator.services.fakes import KB
from tests.curator.ui.window.fakes import Desk
from tests.curator.ui.window.test_entities import to_front

Key = Qt.Key
ARREST = str(KB[1]["id"])
ADDRESS = "https://meshb.nlm.nih.gov/record/ui?ui=D006323"


@pytest.fixture
def flows(desk: Desk) -> UseFlows:
    """At “cardiac arrest”; no browser is started."""
    found = desk.window.session.features.uses
    desk.opened = []  # type: ignore[attr-defined]
    found.opener.open_url = lambda url: desk.opened.append(url.toString()) or True  # type: ignore[attr-defined]
    desk.bench.navigator.open(1, desk.world.mentions(1)[1])
    to_front(desk.window)
    desk.bench.focus_document()
    return found


def question() -> QMessageBox:
    [box] = [one for one in QApplication.topLevelWidgets() if isinstance(one, QMessageBox) and one.isVisible()]
    return box


def click(words: str) -> None:
    next(one for one in question().buttons() if words in one.text()).click()
    QApplication.processEvents()


def said(desk: Desk) -> str:
    return desk.said


def test_the_first_time_it_asks_with_the_address_and_remembers_the_answer(desk: Desk, flows: UseFlows) -> None:
    desk.press(Key.Key_P)
    assert ADDRESS in question().text()
    assert desk.opened == []  # type: ignore[attr-defined]
    click("Open the browser")
    assert desk.opened == [ADDRESS]  # type: ignore[attr-defined]
    assert load().settings.page_opening is PageOpening.OPEN
    assert said(desk) == f"Opened {ADDRESS} in the browser."
    to_front(desk.window)
    desk.bench.focus_document()
    desk.press(Key.Key_P)
    assert desk.opened == [ADDRESS, ADDRESS]  # type: ignore[attr-defined]


def test_the_address_can_be_copied_instead_and_cancelling_changes_nothing(desk: Desk, flows: UseFlows) -> None:
    flows.open_page()
    click("Cancel")
    assert load().settings.page_opening is PageOpening.ASK
    flows.open_page()
    click("Copy the address")
    assert QGuiApplication.clipboard().text() == ADDRESS
    assert load().settings.page_opening is PageOpening.COPY
    assert desk.opened == []  # type: ignore[attr-defined]


def test_without_a_browser_the_address_is_copied(desk: Desk, flows: UseFlows) -> None:
    desk.window.preferences.set_page_opening(PageOpening.OPEN)
    flows.opener.open_url = lambda _: False
    flows.open_page()
    assert QGuiApplication.clipboard().text() == ADDRESS
    assert "No browser could be started" in said(desk)


def test_an_entity_that_was_made_here_has_no_page_and_a_sentence_says_so(desk: Desk, flows: UseFlows) -> None:
    mention = desk.world.mentions(1)[3]
    desk.project.provisional.make(EntityDraft("Blorbitis", ("Disease",)), [mention])
    desk.bench.navigator.open(1, mention)
    assert desk.project.curation.current([mention])[mention].verdict == Verdict.link("NEW:0001")
    flows.opener.open("NEW:0001", desk.window)
    assert "made in this project" in said(desk)


def test_without_a_highlighted_entity_it_is_said(desk: Desk, flows: UseFlows) -> None:
    desk.bench.navigator.close()
    flows.open_page()
    assert "No entity is highlighted" in said(desk)


def test_the_menu_of_a_candidate_leads_to_its_uses_and_its_page(desk: Desk, flows: UseFlows) -> None:
    menu = flows.show_menu(ARREST, desk.bench.candidates.list, QPoint(0, 0))
    words = [one.text() for one in menu.actions() if one.text()]
    assert words == ["All uses of the entity…", "Page in MeSH Browser…", f"Copy {ARREST}"]
    menu.actions()[-1].trigger()
    assert QGuiApplication.clipboard().text() == ARREST
    menu.close()


def test_own_addresses_of_the_settings_are_used(desk: Desk, flows: UseFlows) -> None:
    preferences = desk.window.preferences
    dialog = preferences.edit()
    lines = dialog.fields["entity_pages"]
    assert "OMIM https://omim.org/entry/{id}" in lines.toPlainText()  # type: ignore[attr-defined]
    lines.setPlainText("MESH https://mesh.example/")  # type: ignore[attr-defined]
    dialog.accept()
    assert "has no {id}" in dialog.problem.text()
    lines.setPlainText("MESH https://mesh.example/{id}")  # type: ignore[attr-defined]
    dialog.accept()
    preferences.set_page_opening(PageOpening.OPEN)
    flows.open_page()
    assert desk.opened == ["https://mesh.example/D006323"]  # type: ignore[attr-defined]
