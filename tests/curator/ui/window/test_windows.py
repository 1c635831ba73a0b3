"""Several windows in one process, what is dropped onto one, and where it stood last time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPoint, QRect, QSize, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox
from pytestqt.qtbot import QtBot

from curator import bootstrap
from curator.domain.decisions import Verdict
from curator.domain.wording import UserError
from curator.project import Project
from curator.settings.file import write_state
from curator.ui.dashboard.suspicious_window import SuspiciousWindow
from curator.ui.files.document_files import DocumentFiles
from curator.ui.files.import_documents import ImportDialog
from curator.ui.files.import_kb import ImportKbDialog
from curator.ui.files.new_project import NewProjectDialog, ProjectWish
from curator.ui.kit.layout_store import (
    STEP,
    SavedLayout,
    cascaded,
    keep_layout,
    layout_of,
    on_screen,
    usual_layout,
)
from curator.ui.shell import windows
from curator.ui.shell.dropping import FileDrops, sorted_out
from curator.ui.shell.main_window import MainWindow
from curator.ui.shell.recent import opened_before, remember
from tests.curator.ui.window.fakes import Desk, make_project
from tests.curator.ui.window.test_main_window_projects import boxes

DEMO = Path(__file__).resolve().parents[4] / "resources" / "demo" / "pubmed"
KB, DOCUMENTS = DEMO / "kb.jsonl", DEMO / "test.pubtator"


@pytest.fixture
def others(window: MainWindow, qtbot: QtBot) -> Iterator[None]:
    yield
    for one in window.windows:
        one.close()


def drop(qtbot: QtBot, window: MainWindow, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    buttons, keys = Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
    window.dropEvent(QDropEvent(QPoint(9, 9), Qt.DropAction.CopyAction, data, buttons, keys))
    QApplication.processEvents()
    qtbot.waitUntil(lambda: not window.drops.scan.busy)


def looked_at(qtbot: QtBot, files: DocumentFiles | None) -> None:
    assert files is not None
    qtbot.waitUntil(lambda: not files.reading)


def shown(kind: type[QDialog]) -> list[QDialog]:
    return [one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible()]


# --- several windows ---


@pytest.mark.usefixtures("others")
def test_each_window_has_its_own_project_and_one_is_never_open_twice(desk: Desk, tmp_path: Path) -> None:
    other = make_project(tmp_path, name="other")
    other.project.close()
    desk.window.windows.open([other.project.folder], beside=desk.window)
    assert len(desk.window.windows) == 2
    [second] = [one for one in desk.window.windows if one is not desk.window]
    assert second.bench is not None
    assert second.bench.project.name == "other"
    second.session.open(desk.project.folder)  # it comes forward where it is
    assert second.bench.project.name == "other"
    assert not shown(QMessageBox)
    second.close()
    assert list(desk.window.windows) == [desk.window]
    bootstrap.open_project(other.project.folder, linker=False).close()
    assert desk.bench.project.name == "p"


@pytest.mark.usefixtures("others")
def test_settings_are_the_same_in_every_window(window: MainWindow) -> None:
    second = window.windows.new(window)
    second.preferences.zoom(3)
    assert window.preferences.settings.font_size == second.preferences.settings.font_size == 15
    window.preferences.zoom(0)
    assert second.preferences.settings.font_size == 12


@pytest.mark.usefixtures("others")
def test_quitting_closes_every_window(window: MainWindow) -> None:
    second = window.windows.new(window)
    window.menus.action("project.quit").trigger()
    assert not window.isVisible()
    assert not second.isVisible()


# --- what was opened before ---


def test_the_menu_lists_projects_also_those_that_are_gone(window: MainWindow, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.curation").mkdir()
        remember(tmp_path / f"{name}.curation")
    (tmp_path / "a.curation").rmdir()
    menu = window.menus.recent
    menu.aboutToShow.emit()
    lines = [(one.text(), one.isEnabled()) for one in menu.actions() if not one.isSeparator()]
    assert lines == [("&1  b", True), ("&2  a (not found)", True), ("&Remove projects that were not found", True)]
    menu.actions()[-1].trigger()
    assert [one.name for one in opened_before()] == ["b"]


# --- what is dropped ---


COPY, MOVE, LINK = Qt.DropAction.CopyAction, Qt.DropAction.MoveAction, Qt.DropAction.LinkAction


@pytest.mark.parametrize(
    ("offered", "proposed", "taken"),
    [(COPY | MOVE | LINK, MOVE, True), (COPY, COPY, True), (COPY | LINK, LINK, True), (MOVE, MOVE, False)],
)
def test_a_file_is_copied_and_never_moved(
    window: MainWindow,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    offered: Qt.DropAction,
    proposed: Qt.DropAction,
    taken: bool,
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(window.drops, "take", asked.append)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "a.txt"))])
    rest = (data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.ShiftModifier)
    events: list[QDropEvent] = []
    for kind, then in (
        (QDragEnterEvent, window.dragEnterEvent),
        (QDragMoveEvent, window.dragMoveEvent),
        (QDropEvent, window.dropEvent),
    ):
        event = kind(QPoint(9, 9), offered, *rest)
        event.setDropAction(proposed)
        event.ignore()
        then(event)
        events.append(event)
    QApplication.processEvents()
    assert [event.isAccepted() for event in events] == [taken] * 3
    assert not taken or {event.dropAction() for event in events} == {COPY}
    assert len(asked) == int(taken)


def test_a_file_over_a_field_goes_to_the_window_and_never_as_text(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, qapp: QApplication
) -> None:
    asked: list[object] = []
    monkeypatch.setattr(desk.window.drops, "take", asked.append)
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile("/a.txt")])
    data.setText("file:///a.txt")
    field = desk.bench.queue.text
    handle = desk.window.windowHandle()
    at = field.mapTo(desk.window, field.rect().center())
    rest = (COPY | MOVE, data, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier)
    watch = FileDrops(qapp)
    try:
        qapp.focusWindowChanged.emit(handle)
        for kind in (QDragEnterEvent, QDragMoveEvent, QDropEvent):
            event = kind(at, *rest)
            event.setDropAction(MOVE)
            QApplication.sendEvent(handle, event)
            assert event.isAccepted()
            assert event.dropAction() is COPY
        QApplication.processEvents()
    finally:
        watch.deleteLater()
        handle.removeEventFilter(watch)
    assert asked == [[Path("/a.txt")]]
    assert not field.text()


def test_every_path_is_sorted_by_its_content(tmp_path: Path) -> None:
    world = make_project(tmp_path)
    world.project.close()
    folder = world.project.folder
    (tmp_path / "notes.bin").write_bytes(b"\x00nothing of ours")
    (tmp_path / "empty").mkdir()
    found = sorted_out(
        [folder, folder / "project.curator", KB, DOCUMENTS, tmp_path / "notes.bin", tmp_path / "empty"],
        bootstrap.document_formats(),
    )
    assert found.projects == (folder, folder / "project.curator")
    assert found.knowledge_bases == (KB,)
    assert found.documents == (DOCUMENTS,)
    assert len(found.wrong) == 2
    assert "notes.bin" in found.wrong[0]


def test_documents_and_a_knowledge_base_go_to_their_dialogs(qtbot: QtBot, desk: Desk) -> None:
    drop(qtbot, desk.window, DOCUMENTS, KB)
    [kb] = shown(ImportKbDialog)
    assert isinstance(kb, ImportKbDialog)
    assert kb.path == KB
    kb.reject()
    [documents] = shown(ImportDialog)
    assert isinstance(documents, ImportDialog)
    looked_at(qtbot, documents.list)
    assert documents.wish.paths == (DOCUMENTS,)
    documents.reject()


@pytest.mark.parametrize("what", ["open", "new", "demo"])
def test_a_project_that_cannot_be_opened_leaves_the_open_one(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    def refuse(*_: object, **__: object) -> Project:
        raise UserError("It cannot be opened.")

    bench, place = desk.bench, desk.project.folder
    other = tmp_path / "other.curation"
    monkeypatch.setattr(bootstrap, "open_project", refuse)
    monkeypatch.setattr(bootstrap, "create_project", refuse)
    if what == "open":
        desk.window.session.open(other)
    elif what == "new":
        desk.window.session._create(ProjectWish(other))
    else:
        monkeypatch.setattr(windows, "demo_folder", lambda _: other)
        desk.window.session.open_demo("pubmed")
    assert [box.text() for box in boxes()] == ["It cannot be opened."]
    assert desk.window.session.bench is bench
    assert desk.project.folder == place
    desk.project.curation.decide(1, Verdict.nil())  # it is still open for writing
    assert len(desk.bench.jobs) == 0, "the demo is not imported into it"
    for box in boxes():
        box.close()


def test_a_list_of_suspicious_gold_is_open_once_and_closes_with_the_project(desk: Desk) -> None:
    records = desk.window.session.features.records
    first = records.show_suspicious()
    assert records.show_suspicious() is first
    assert len([one for one in QApplication.topLevelWidgets() if isinstance(one, SuspiciousWindow)]) == 1
    desk.window.session.close()
    assert not first.isVisible()


def test_closing_a_window_does_not_wait_for_what_it_reads(desk: Desk, qtbot: QtBot) -> None:
    seeing = desk.window.session.features.seeing
    window = seeing.show_decisions()
    worker = window.worker
    qtbot.waitUntil(lambda: not worker.busy)
    gate, ended = threading.Event(), threading.Event()

    def read() -> None:
        gate.wait(30)
        ended.set()

    worker.ask(read, lambda _: None)
    window.close()
    assert not ended.is_set(), "the window waited for it"
    gate.set()
    desk.window.session.close()
    assert ended.is_set(), "the project is closed after what reads it has ended"


def test_without_a_project_files_begin_a_new_one_and_a_project_opens(
    qtbot: QtBot, window: MainWindow, tmp_path: Path
) -> None:
    drop(qtbot, window, DOCUMENTS, KB)
    [dialog] = shown(NewProjectDialog)
    assert isinstance(dialog, NewProjectDialog)
    looked_at(qtbot, dialog.list)
    assert dialog.wish.documents is not None
    assert (dialog.wish.documents.paths, dialog.wish.knowledge_base) == ((DOCUMENTS,), KB)
    dialog.reject()
    world = make_project(tmp_path)
    world.project.close()
    drop(qtbot, window, world.project.folder / "project.curator")
    assert window.bench is not None


def test_what_is_nothing_of_ours_is_said_and_nothing_is_done(qtbot: QtBot, desk: Desk, tmp_path: Path) -> None:
    (tmp_path / "photo.png").write_bytes(b"\x89PNG\r\n")
    drop(qtbot, desk.window, tmp_path / "photo.png", DOCUMENTS)
    [box] = shown(QMessageBox)
    assert isinstance(box, QMessageBox)
    assert "photo.png" in box.text()
    box.accept()
    assert not shown(ImportDialog)


# --- the layout ---


def test_a_project_comes_back_as_it_was_left_and_reset_forgets(desk: Desk) -> None:
    bench, folder = desk.bench, desk.project.folder
    usual = bench.splitter.sizes()
    bench.splitter.setSizes([usual[0] + 60, usual[1] - 60, usual[2]])
    bench.splitter.splitterMoved.emit(1, 1)
    moved = bench.splitter.sizes()
    desk.window.resize(1300, 800)
    desk.window.session.close()
    kept = layout_of(folder).splitters["columns"]
    assert (kept[0], kept[2]) == (moved[0], moved[2])  # the text took what the window gave up
    desk.window.session.open(folder)
    assert desk.window.bench is not None
    restored = desk.window.bench.splitter
    assert restored.sizes()[0] == pytest.approx(moved[0], abs=25)
    desk.window.menus.action("view.reset_layout").trigger()
    assert layout_of(folder) == SavedLayout()
    assert restored.sizes()[0] == pytest.approx(usual[0], abs=25)


@pytest.mark.parametrize(
    ("place", "screens", "seen"),
    [
        (QRect(5, 5, 1000, 700), [QRect(0, 0, 1440, 900)], QRect(5, 5, 1000, 700)),
        (QRect(3000, 100, 2400, 1400), [QRect(0, 0, 1440, 900)], QRect(0, 0, 1440, 900)),
        (QRect(-500, -90, 1000, 700), [QRect(0, 0, 1440, 900)], QRect(0, 0, 1000, 700)),
        (QRect(2000, 50, 1000, 700), [QRect(0, 0, 1440, 900), QRect(1440, 0, 1920, 1080)], QRect(2000, 50, 1000, 700)),
        (QRect(9, 9, 10, 10), [QRect(0, 0, 1440, 900)], QRect(9, 9, 900, 560)),
        (QRect(0, 0, 900, 560), [], None),
    ],
    ids=["fits", "bigger screen", "beyond the edge", "second screen", "too small", "no screen"],
)
def test_a_window_is_brought_to_where_it_can_be_seen(place: QRect, screens: list[QRect], seen: QRect | None) -> None:
    assert on_screen(place, screens, QSize(900, 560)) == seen


@pytest.mark.parametrize("screen", [QRect(0, 27, 1024, 673), QRect(0, 0, 1440, 900), QRect(-1920, 40, 1920, 1040)])
@pytest.mark.parametrize("size", [QSize(1440, 900), QSize(1000, 620), QSize(3000, 2000)])
@pytest.mark.parametrize("corner", [QPoint(0, 0), QPoint(700, 500), QPoint(-5000, -40), QPoint(9000, 9000)])
def test_further_windows_are_cascaded_inside_the_screen(screen: QRect, size: QSize, corner: QPoint) -> None:
    places = [QRect(corner, size)]
    for _ in range(4):
        taken = [one.topLeft() for one in places]
        places.append(cascaded(places[-1], screen, taken, QSize(900, 560)))
        assert screen.contains(places[-1])
        assert places[-1].size().expandedTo(QSize(900, 560)) == places[-1].size()
    corners = [(one.x(), one.y()) for one in places]
    room = min(screen.width() - 900, screen.height() - 560) // STEP
    assert len(set(corners)) >= min(4, room + 1)


def test_a_further_window_goes_a_step_down_and_right() -> None:
    place = cascaded(QRect(100, 100, 1000, 620), QRect(0, 0, 1920, 1080), [QPoint(100, 100)], QSize(900, 560))
    assert place == QRect(100 + STEP, 100 + STEP, 1000, 620)


@pytest.mark.usefixtures("others")
@pytest.mark.parametrize("maximised", [False, True])
def test_three_windows_are_whole_on_the_screen(window: MainWindow, qtbot: QtBot, maximised: bool) -> None:
    screen = window.screen().availableGeometry()
    window.setGeometry(screen)
    if maximised:
        window.showMaximized()
    first = window.windows.new(window)
    second = window.windows.new(first)
    for one in (first, second):
        qtbot.waitUntil(one.isVisible)
        if screen.width() >= 900 and screen.height() >= 560:
            assert screen.contains(one.frameGeometry())
    assert first.pos() != second.pos() or screen.width() < 900 + STEP


@pytest.mark.parametrize(
    "kept",
    [
        None,
        [],
        {"usual": 3},
        {"usual": {"place": [0, 0, 2**31, 600], "splitters": {"a": [10**30]}}},  # which Qt cannot hold
        {"usual": {"place": [1, "x", 2, 3], "splitters": {"a": 7}, "hidden": 1}, "projects": []},
    ],
)
def test_a_damaged_layout_is_no_layout(window: MainWindow, kept: object) -> None:
    write_state("layout.json", kept)
    assert usual_layout() == SavedLayout()
    assert not window.layout_keeper.restore_window()


def test_the_last_layouts_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    for number in range(60):
        keep_layout(SavedLayout(place=(number, 0, 900, 600)), tmp_path / f"{number}.curation")
    assert layout_of(tmp_path / "59.curation").place == (59, 0, 900, 600)
    assert layout_of(tmp_path / "3.curation") == usual_layout()
    latin = tmp_path / "Caf\udce9.curation"  # a name of another system, which is no UTF-8
    keep_layout(SavedLayout(place=(7, 0, 900, 600)), latin)
    remember(latin)
    assert layout_of(latin).place == (7, 0, 900, 600)
    assert opened_before()[0].folder == latin
