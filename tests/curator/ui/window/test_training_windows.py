"""Training in the window: cancelled at once, resumed after a crash, judged by what flips; bundles deleted."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.services.training.training_preview import TrainingPreview
from curator.ui.jobs.jobs import JobKind, RunningJob
from curator.ui.kit.form import ShowDialog
from curator.ui.shell import main_window
from curator.ui.training.bundle_flows import BundleFlows
from curator.ui.training.bundles import BundlesDialog, ManifestDialog
from curator.ui.training.map_window import MapDialog
from curator.ui.training.model_flows import ModelFlows
from curator.ui.training.promotion_diff import PromotionDiff
from curator.ui.training.retrain import time_words
from curator.ui.training.retrain_live import RetrainLive
from tests.curator.services.samples import METRICS
from tests.curator.ui.window.fakes import Desk, MakeDesk
from tests.curator.ui.window.test_dialogs import ready_to_train, retraining, shown
from tests.curator.ui.window.test_main_window_projects import boxes, press_button

CRASHED = JobOutcome(JobState.CRASHED, "The process ended; start it again.")


@pytest.fixture(autouse=True)
def _asked_only_by_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """The window does not offer interrupted work by itself while a test does."""
    monkeypatch.setattr(main_window, "OPENED_MS", 10**8)


class Held:
    """A job that ends on request; implements `JobHandle`."""

    def __init__(self, on_progress: Callable[[Progress], None], on_end: Callable[[JobOutcome], None]) -> None:
        self.tell, self.end = on_progress, on_end
        self.cancelled = False

    def cancel(self) -> None:
        self.cancelled = True

    def wait(self, timeout: float | None = None) -> JobOutcome | None:
        return None


def hold_training(desk: Desk) -> list[Held]:
    """From now on trainings run until the test ends them."""
    held: list[Held] = []
    real = desk.world.jobs.start

    def start(kind: str, spec: Mapping[str, Any], *, on_progress: Any, on_end: Any) -> Any:
        if kind != "train":
            return real(kind, spec, on_progress=on_progress, on_end=on_end)
        held.append(Held(on_progress, on_end))
        return held[-1]

    desk.world.jobs.start = start  # type: ignore[method-assign]
    return held


def flows(desk: Desk) -> ModelFlows:
    return desk.window.session.features.model


def train(desk: Desk, qtbot: QtBot) -> RetrainLive:
    dialog = retraining(desk, qtbot)
    dialog.accept()
    [live] = shown(RetrainLive)
    assert isinstance(live, RetrainLive)
    return live


def with_metrics(desk: Desk, metrics: Mapping[str, Any]) -> None:
    """Trainings leave these metrics, in their result and in the manifest."""
    real = desk.world.jobs.work

    def work(kind: str, spec: Mapping[str, Any]) -> JobOutcome:
        outcome = real(kind, spec)
        path = Path(spec["staging"]) / "manifest.json"
        manifest = json.loads(path.read_text(encoding="utf-8")) | {"metrics": metrics}
        path.write_text(json.dumps(manifest), encoding="utf-8")
        return JobOutcome(outcome.state, outcome.message, {**outcome.result, "metrics": metrics})

    desk.world.jobs.work = work  # type: ignore[method-assign]


# --- running and cancelling ---


def test_a_cancel_is_seen_at_once_and_leaves_nothing(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    held = hold_training(desk)
    live = train(desk, qtbot)
    qtbot.waitUntil(lambda: bool(held))
    held[0].tell(Progress("train", 1, 4, data={"loss": 2.0, "step": 1}))
    qtbot.waitUntil(lambda: live.panel.loss.accessibleDescription() == "loss 2.000")
    live.cancel.click()
    assert live.words.text().startswith("Cancelling…"), "in the same turn of the event loop"
    assert not live.cancel.isEnabled()
    assert desk.bench.bottom.job.words.words == "Cancelling…"
    assert held[0].cancelled
    with qtbot.waitSignal(desk.bench.jobs.ended):
        held[0].end(JobOutcome(JobState.CANCELLED, "Cancelled."))
    assert live.headline.text() == "Cancelled."
    assert not live.resume.isVisible()
    assert not list((desk.project.folder / "bundles").glob(".*"))
    live.reject()


def test_the_verdict_is_said_once(qtbot: QtBot) -> None:
    live = RetrainLive(RunningJob(1, JobKind.TRAIN, "Retrain", lambda _: None, 0.0))
    qtbot.addWidget(live)
    result = {"verdict": "no_gain", "bundle": "b", "active": False, "metrics": METRICS}
    live.show_outcome(JobOutcome(JobState.DONE, "No gain: on 21 mentions it is not better.", result))
    assert live.headline.text() == "No gain: the previous linker stays in use."
    assert live.words.text().startswith("On 21 mentions it is not better.")


def test_a_second_training_is_refused_in_a_sentence(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    held = hold_training(desk)
    live = train(desk, qtbot)
    qtbot.waitUntil(lambda: bool(held))
    dialog = retraining(desk, qtbot)
    dialog.accept()
    [box] = boxes()
    assert "already running" in box.text()
    press_button(box, "OK")
    with qtbot.waitSignal(desk.bench.jobs.ended):
        held[0].end(JobOutcome(JobState.CANCELLED, "Cancelled."))
    live.reject()


def test_an_outcome_waits_for_the_closed_window_with_its_curves(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    held = hold_training(desk)
    live = train(desk, qtbot)
    qtbot.waitUntil(lambda: bool(held))
    assert live.export.isHidden(), "there is no curve yet"
    held[0].tell(Progress("train", 1, 4, data={"loss": 2.0, "step": 1}))
    qtbot.waitUntil(lambda: live.panel.loss.accessibleDescription() == "loss 2.000")
    assert live.export.isVisible()
    live.reject()
    with qtbot.waitSignal(desk.bench.jobs.ended):
        held[0].end(JobOutcome(JobState.FAILED, "The disk is full."))
    assert not shown(RetrainLive)
    desk.bench.notices.show()
    [again] = shown(RetrainLive)
    assert isinstance(again, RetrainLive)
    assert again.words.text() == "The disk is full."
    assert again.panel.loss.accessibleDescription() == "loss 2.000"
    again.reject()


# --- after a crash ---


def test_a_crashed_training_can_be_resumed_where_it_is_told(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    desk.world.jobs.outcomes = [CRASHED]
    live = train(desk, qtbot)
    qtbot.waitUntil(lambda: live.resume.isVisible())
    assert "Resume the interrupted training" in live.words.text()
    action = desk.window.menus.action("model.resume")
    qtbot.waitUntil(action.isEnabled)
    with qtbot.waitSignal(desk.bench.jobs.ended):
        live.resume.click()
    [again] = shown(RetrainLive)
    assert isinstance(again, RetrainLive)
    qtbot.waitUntil(lambda: again.headline.text().startswith("Better"))
    qtbot.waitUntil(lambda: not action.isEnabled())
    again.reject()


def interrupted(desk: Desk, qtbot: QtBot) -> QMessageBox:
    desk.world.jobs.outcomes = [CRASHED]
    live = train(desk, qtbot)
    qtbot.waitUntil(lambda: live.resume.isVisible())
    live.reject()
    flows(desk).build_if_needed()  # as on opening the project
    [box] = boxes()
    return box


def test_opening_offers_to_resume(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    box = interrupted(desk, qtbot)
    assert "was interrupted" in box.text()
    with qtbot.waitSignal(desk.bench.jobs.ended):
        press_button(box, "Resume")
    assert desk.project.retraining.interrupted() == []
    for live in shown(RetrainLive):
        live.reject()


@pytest.mark.parametrize(("answer", "left"), [("Discard", 0), ("Later", 1)])
def test_an_interrupted_training_is_discarded_or_waits(
    make_desk: MakeDesk, qtbot: QtBot, answer: str, left: int
) -> None:
    desk = ready_to_train(make_desk)
    press_button(interrupted(desk, qtbot), answer)
    assert len(desk.project.retraining.interrupted()) == left
    assert desk.window.menus.action("model.resume").isEnabled() is bool(left)


# --- what came of it ---


def test_the_outcome_compares_and_opens_what_flips(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    with_metrics(desk, METRICS)
    live = train(desk, qtbot)
    qtbot.waitUntil(lambda: live.tabs.count() == 3)
    assert live.compared.rows == [
        ("Recall@1", "85.0 %", "87.0 %", "+2.0", "+0.4 to +3.6"),
        ("The trained part alone, recall@1", "60.0 %", "80.0 %", "", ""),
    ]
    diff = live.tabs.widget(1)
    assert isinstance(diff, PromotionDiff)
    assert live.tabs.tabText(1) == "&What changes (4)"
    assert diff.table.model().index(0, 3).data() == "Heart Arrest", "entities by their names"
    diff.table.chosen.emit()
    mention = desk.bench.navigator.mention
    assert mention is not None
    assert mention.mention.id == 2
    assert live.rollback.isVisible()
    live.reject()


def test_the_map_opens_a_mention(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    point = {"key": "6", "label": "x", "kind": "mention", "before": [0, 0], "after": [1, 1]}
    with_metrics(desk, {**METRICS, "map": {"points": [point, {**point, "key": "E", "kind": "entity"}]}})
    live = train(desk, qtbot)
    qtbot.waitUntil(lambda: live.map.isVisible())
    live.map.click()
    [dialog] = shown(MapDialog)
    assert isinstance(dialog, MapDialog)
    dialog.mention_wanted.emit(6)
    mention = desk.bench.navigator.mention
    assert mention is not None
    assert mention.mention.id == 6
    dialog.mention_wanted.emit(987654)
    assert desk.said == "That mention is no longer in the project."
    dialog.reject()
    live.reject()


def test_without_a_map_the_command_says_so(desk: Desk) -> None:
    desk.window.menus.action("model.map").trigger()
    [dialog] = shown(MapDialog)
    dialog.reject()


# --- bundles ---


def bundles(desk: Desk) -> BundlesDialog:
    return flows(desk).show_bundles()


def test_disk_use_is_shown_and_shared_files_count_once(desk: Desk, qtbot: QtBot) -> None:
    old, new = desk.project.retraining.bundles()
    (Path(old.path) / "weights").write_bytes(b"w" * 2_000_000)
    os.link(Path(old.path) / "weights", Path(new.path) / "weights")
    dialog = bundles(desk)
    qtbot.waitUntil(lambda: "2.0 MB" in dialog.disk.text())
    assert dialog.model.index(1, 7).data() == "2.0 MB"
    assert dialog.model.index(1, 8).data().endswith("bytes")
    dialog.reject()


def test_an_old_bundle_is_deleted_after_a_question(desk: Desk, qtbot: QtBot) -> None:
    old, new = desk.project.retraining.bundles()
    dialog = bundles(desk)
    assert not dialog.delete.isEnabled(), "the one that serves"
    dialog.table.setCurrentIndex(dialog.model.index(1, 0))
    qtbot.waitUntil(lambda: dialog.model.index(0, 7).data() != "…")
    dialog.delete.click()
    [box] = boxes()
    assert old.id in box.text()
    assert "frees" in box.text()
    with qtbot.waitSignal(desk.bench.bridge.changed):
        press_button(box, "Delete")
    assert [one.id for one in desk.project.retraining.bundles()] == [new.id]
    qtbot.waitUntil(lambda: dialog.model.rowCount() == 1)
    assert dialog.chosen is not None
    assert dialog.chosen.active
    dialog.reject()


def test_nothing_is_deleted_while_something_runs(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    held = hold_training(desk)
    live = train(desk, qtbot)
    qtbot.waitUntil(lambda: bool(held))
    old = desk.project.retraining.bundles()[0]
    flows(desk).bundles.ask_delete(old.id)
    [box] = boxes()
    assert "Background work" in box.text()
    press_button(box, "OK")
    with qtbot.waitSignal(desk.bench.jobs.ended):
        held[0].end(JobOutcome(JobState.CANCELLED, "Cancelled."))
    live.reject()


def test_the_manifest_tells_why_it_serves(desk: Desk) -> None:
    old = desk.project.retraining.bundles()[0]
    desk.project.retraining.promote(old.id, reason="to compare")
    flows(desk).bundles.show_manifest(old.id)
    [dialog] = shown(ManifestDialog)
    assert isinstance(dialog, ManifestDialog)
    text = dialog.text.toPlainText()
    assert "put into use (ada): to compare" in text
    assert '"kb_hash": "kb"' in text
    dialog.reject()


def test_windows_beside_close_with_the_project(desk: Desk, qtbot: QtBot) -> None:
    old = desk.project.retraining.bundles()[0]
    side: BundleFlows = flows(desk).bundles
    side.show_manifest(old.id)
    side.show_changes(old.id)
    side.show_map(old.id)
    bundles(desk)
    desk.window.session.close()
    qtbot.waitUntil(lambda: not shown(ShowDialog))


# --- the dialog ---


def test_two_trainings_are_offered_without_recipes_and_what_is_set_for_others_does_not_count(
    make_desk: MakeDesk, qtbot: QtBot
) -> None:
    dialog = flows(ready_to_train(make_desk)).retrain()
    assert [id_ for id_, radio in dialog.radios.items() if radio.isVisible()] == ["names", "conventions"]
    assert dialog.recipe.id == "names"
    assert not dialog.parameters.isVisible()
    assert not dialog.seed.isVisible()
    dialog.choose("curator")
    assert dialog.tabs.currentIndex() == 1
    assert dialog.parameters.isVisible()
    dialog.seed.setValue(7)
    dialog.limited.setChecked(True)
    assert (dialog.wish.recipe, dialog.wish.seed, dialog.wish.max_minutes) == ("curator", 7, 20.0)
    dialog.tabs.setCurrentIndex(0)
    assert (dialog.wish.recipe, dialog.wish.seed, dialog.wish.max_minutes) == ("names", 0, None)
    dialog.radios["conventions"].click()
    assert dialog.wish.recipe == "conventions"
    dialog.reject()


def test_a_recipe_for_the_context_is_the_second_recommendation_where_names_do_not_decide(
    make_desk: MakeDesk, qtbot: QtBot
) -> None:
    desk = ready_to_train(make_desk)
    dialog = flows(desk).retrain()
    qtbot.waitUntil(dialog.ok.isEnabled)
    context = dialog.radios["pel-pb-quick"]
    assert not context.isVisible()
    dialog.choose("pel-pb-quick")
    assert dialog.tabs.currentIndex() == 1, "one of all recipes"
    dialog.tabs.setCurrentIndex(0)
    assert dialog.recipe.id == "names"
    shown = TrainingPreview(1, 1, 0, 1, 1, 1, context="In 12 % of the links …")
    dialog.show_preview("names", shown)
    assert [id_ for id_, radio in dialog.radios.items() if radio.isVisible()] == [
        "names",
        "pel-pb-quick",
        "conventions",
    ]
    assert (dialog.context.text(), dialog.context.isVisible()) == ("In 12 % of the links …", True)
    context.click()
    assert (dialog.wish.recipe, dialog.tabs.currentIndex()) == ("pel-pb-quick", 0)
    dialog.reject()


def test_what_trains_no_network_needs_two_hundred_links(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    dialog = flows(desk).retrain()
    dialog.choose("conventions")
    qtbot.waitUntil(lambda: "200" in dialog.problem.text())
    assert not dialog.ok.isEnabled()
    assert "evaluated with weights fitted on the others" in dialog.learns.text()
    assert not dialog.fields
    dialog.choose("curator")
    qtbot.waitUntil(dialog.ok.isEnabled)
    dialog.reject()


def test_the_time_of_the_last_run_is_said(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    dialog = retraining(desk, qtbot)
    dialog.choose("pel-pb")
    qtbot.waitUntil(lambda: dialog.takes.text().startswith("Once training runs, the remaining time is measured"))
    assert dialog.expects.text().startswith("This recipe has not run in this project yet")
    dialog.reject()
    shown = TrainingPreview(1, 1, 0, 1, 1, 1, seconds=240.0)
    assert time_words(shown).startswith("The last training with this recipe here took about 4 min.")


def test_published_values_are_taken_by_a_button(desk: Desk, qtbot: QtBot) -> None:
    dialog = retraining(desk, qtbot)
    dialog.choose("pel-pb-quick")
    recipe = dialog.recipe
    assert not dialog.parameters.published.isVisible(), "folded away"
    dialog.parameters.fold.click()
    assert dialog.values == recipe.values(None)
    dialog.parameters.published.click()
    assert dialog.values == recipe.values(recipe.paper)
    dialog.parameters.own.click()
    assert dialog.values == recipe.values(None)
    dialog.reject()


# --- refitting the weights ---


@pytest.mark.parametrize(
    ("verdict", "asked", "told"), [("promote", False, True), ("refused", False, False), ("refused", True, True)]
)
def test_a_refit_that_nobody_requested_reports_only_what_serves(
    make_desk: MakeDesk, qtbot: QtBot, verdict: str, asked: bool, told: bool
) -> None:
    desk = make_desk(documents=0)
    desk.world.index()
    desk.world.documents(67, gold=True)
    desk.world.jobs.verdict = verdict
    said = desk.said
    with qtbot.waitSignal(desk.bench.jobs.ended):
        flows(desk).calibrate(asked=asked)
    assert desk.world.jobs.started[-1][1]["recipe"] == "conventions"
    assert (desk.said != said) is told
