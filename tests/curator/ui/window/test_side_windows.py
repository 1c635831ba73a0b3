"""Windows beside the project's: the history of bundles and a running training."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Change, ChangeKind, Verdict
from curator.ui.jobs.jobs import JobKind, RunningJob
from curator.ui.shell.keys_overlay import KeysOverlay
from curator.ui.training.bundles import BundlesDialog
from curator.ui.training.retrain_live import RetrainLive
from tests.curator.ui.window.fakes import Desk
from tests.curator.ui.window.test_dialogs import shown


def training(number: int) -> RunningJob:
    return RunningJob(number, JobKind.TRAIN, f"Training {number}", lambda _: None, 0.0)


def test_the_history_keeps_its_row_while_the_linker_and_the_curator_work(desk: Desk, qtbot: QtBot) -> None:
    model = desk.window.session.features.model
    dialog = model.show_bundles()
    dialog.table.setCurrentIndex(dialog.model.index(1, 0))
    chosen = dialog.chosen
    with qtbot.waitSignal(desk.bench.bridge.changed):
        desk.project.curation.decide(1, Verdict.nil())
    with qtbot.waitSignal(desk.bench.bridge.changed):
        desk.project.events.emit(Change(ChangeKind.SUGGESTIONS, "linker", "Linked", (1,), (1,)))
    assert dialog.chosen == chosen
    dialog.reject()


def test_there_is_one_history(desk: Desk) -> None:
    model = desk.window.session.features.model
    assert model.show_bundles() is model.show_bundles()
    assert len(shown(BundlesDialog)) == 1
    model.show_bundles().reject()


def test_a_second_training_is_shown_anew(desk: Desk) -> None:
    model = desk.window.session.features.model
    model.show_training(training(1))
    [first] = shown(RetrainLive)
    model.show_training(training(2))
    [second] = shown(RetrainLive)
    assert (first.windowTitle(), second.windowTitle()) == ("Training 1", "Training 2")
    model.show_training(training(2))
    assert shown(RetrainLive) == [second]
    second.close()


def test_they_go_with_the_project(desk: Desk) -> None:
    model = desk.window.session.features.model
    model.show_bundles()
    model.show_training(training(1))
    desk.window.session.close()
    assert not shown(BundlesDialog)
    assert not shown(RetrainLive)


def test_side_columns_leave_room_for_the_text_in_a_narrow_window_until_they_are_moved(desk: Desk) -> None:
    def widths() -> list[int]:
        return desk.bench.splitter.sizes()

    desk.window.resize(1440, 900)
    assert (widths()[0], widths()[2]) == (260, 400)
    desk.window.resize(1024, 700)
    left, text, right = widths()
    assert (left, right) == (220, 320)
    assert text > right
    desk.bench.splitter.moveSplitter(300, 1)
    desk.window.resize(1100, 700)
    assert widths()[0] > 280


def test_the_overlay_of_keys_fits_a_narrow_window(desk: Desk) -> None:
    desk.window.resize(1024, 700)
    desk.window.menus.action("help.keys").trigger()
    [overlay] = desk.window.findChildren(KeysOverlay)
    assert overlay.area.horizontalScrollBar().maximum() == 0
    bar = overlay.area.verticalScrollBar()
    if bar.maximum():  # more keys than a small window has lines: arrows go through them
        desk.press(Qt.Key.Key_Down, at=overlay)
        assert bar.value() > 0
    overlay.leave()
