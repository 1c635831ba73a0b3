"""A shared project in the window: its address is asked for, and what others decide appears."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QInputDialog
from pytestqt.qtbot import QtBot

from curator.bootstrap import create_project, open_project
from curator.domain.decisions import SkipReason, Verdict
from curator.domain.wording import AwayError, UserError
from curator.services.ports.address import SharedAddress
from curator.services.ports.storage import Role
from curator.storage.team.people import People
from curator.storage.team.store import SharedStore
from curator.ui.dashboard.conflicts_window import ConflictsWindow
from curator.ui.shell import app
from curator.ui.shell.main_window import MainWindow
from curator.ui.shell.recent import opened_before, remember
from tests.curator.services.fakes import FakeLinker
from tests.curator.ui.window.fakes import WindowJobs
from tests.postgres import Server

TEXT = "1|t|Aspirin and lidocaine\n1|a|Text.\n1\t0\t7\tAspirin\tChemical\n1\t12\t21\tlidocaine\tChemical\n\n"


@pytest.fixture
def place(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[SharedAddress]:
    """Of a project with one document; the window's curator is ada."""
    monkeypatch.setenv("CURATOR_SHARED_DIR", str(tmp_path / "shared"))
    monkeypatch.setattr("curator.project.LinkerProcess", lambda *_: FakeLinker())
    monkeypatch.setattr("curator.project.JobRunner", WindowJobs)
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    monkeypatch.setattr("curator.storage.team.board.AGAIN", 0.05)
    name = server.new_base()
    found = SharedAddress.parse(server.address(name))
    (tmp_path / "d.pubtator").write_text(TEXT)
    project = create_project(found, name="trial", linker=False)
    for _ in project.importing.documents([tmp_path / "d.pubtator"]):
        pass
    project.close()
    yield found
    server.drop(name)


def test_what_others_decide_appears_and_collisions_are_said(
    window: MainWindow, qtbot: QtBot, place: SharedAddress
) -> None:
    window.menus.action("project.open_shared").trigger()
    [dialog] = window.findChildren(QInputDialog)
    dialog.setTextValue(f" {place.text} ")
    dialog.accept()
    bench = window.bench
    assert bench is not None
    assert bench.project.place == place
    assert window.windowTitle().startswith("trial")
    first, second = (one.mention.id for one in bench.navigator.opened.mentions)
    bob = open_project(place, linker=False, curator="bob")
    bob.curation.decide(second, Verdict.nil())
    qtbot.waitUntil(lambda: bench.navigator.opened.view(second).decision is not None, timeout=20_000)
    assert bench.bottom.message.words.startswith("bob: Marked “lidocaine” as NIL")
    bench.project.curation.decide(first, Verdict.nil())
    bob.curation.decide(first, Verdict.skip(SkipReason.UNSURE))
    qtbot.waitUntil(lambda: len(bench.notices) > 0, timeout=20_000)
    assert "bob decided otherwise than you" in bench.bottom.notice.words.words
    action = window.menus.action("people.conflicts")
    assert action.text().replace("&", "") == "Conflicting decisions… (1)"
    action.trigger()
    conflicts = window.findChild(ConflictsWindow)
    qtbot.waitUntil(lambda: conflicts.table.model().rowCount() == 1)
    cells = [conflicts.table.model().index(0, column).data() for column in range(6)]
    assert cells == ["1", "Aspirin", "NIL: not in the knowledge base", "Skipped: unsure", "bob", "theirs"]
    bench.project.curation.decide(first, Verdict.reject())
    qtbot.waitUntil(lambda: conflicts.table.model().index(0, 5).data() == "decided again by you")
    conflicts.close()
    bob.close()


def test_a_login_decides_under_its_own_name(window: MainWindow, server: Server, place: SharedAddress) -> None:
    server.logins("ada", "rita")
    for login, role in (("ada", Role.CURATOR), ("rita", Role.READER)):
        People(place).grant(login, role, name=login.title())
    window.session.open(SharedAddress.parse(server.address(place.base, user="ada")))
    assert window.bench is not None
    assert window.bench.project.curation.curator == "Ada"
    people = window.session.features.people
    assert (people.who.isVisible(), people.say_who_i_am()) == (False, None)
    assert "You decide as “Ada”" in window.bench.bottom.message.words
    window.session.open(SharedAddress.parse(server.address(place.base, user="rita")))
    assert "(read-only)" in window.windowTitle()


def test_a_shared_project_is_created_or_the_dialog_says_why_not(
    window: MainWindow, server: Server, place: SharedAddress
) -> None:
    dialog = window.session.new_project()
    dialog.name.setText("second")
    dialog.on_server.setChecked(True)
    empty = server.new_base()
    for address, problem in (
        ("postgresql://ada:secret@host/base", "must not contain a password"),
        (place.text, "holds the project “trial” already"),
        (server.address("absent"), "There is no database of this name"),
    ):
        dialog.address.setText(address)
        dialog.accept()
        assert problem in dialog.problem.text()
        assert dialog.isVisible()
    dialog.address.setText(server.address(empty))
    dialog.accept()
    assert window.bench is not None
    assert str(window.bench.project.place) == server.address(empty)
    window.session.close()
    server.drop(empty)


def test_a_server_that_is_gone_is_said_in_the_bottom_line(
    window: MainWindow, qtbot: QtBot, place: SharedAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    window.session.open(place)
    app._hook(None, window)(UserError, UserError("No PostgreSQL server answers"), None)
    bench = window.bench
    assert bench is not None
    assert "No PostgreSQL server answers" in bench.bottom.message.words
    said: list[str] = []
    show = window.status.show_kept
    monkeypatch.setattr(
        window.status, "show_kept", lambda number, away: (show(number, away), said.append(window.status.words))
    )
    store = bench.project.curation._store
    assert isinstance(store, SharedStore)
    store.absence.lost(AwayError("gone"))
    assert bench.project.curation.decide(bench.navigator.opened.mentions[0].mention.id, Verdict.nil()).operation_id == 0
    qtbot.waitUntil(lambda: "The server is back" in bench.bottom.message.words, timeout=20_000)
    assert any(one.startswith("server away") for one in said)
    assert any(one.startswith("saved on this computer, not yet shared: 1") for one in said)
    qtbot.waitUntil(lambda: "on this computer" not in window.status.words)


def test_an_address_that_was_opened_before_is_offered_again(window: MainWindow, tmp_path: Path) -> None:
    remember(SharedAddress.parse("postgresql://ada@host/trial"))
    remember(tmp_path)
    menu = window.menus.recent
    menu.aboutToShow.emit()
    assert [one.text() for one in menu.actions()[:2]] == [f"&1  {tmp_path.name}", "&2  trial"]
    assert [one.where for one in opened_before()] == [str(tmp_path.parent), "postgresql://ada@host/trial"]
