"""Small parts of the window by themselves: the bridge, estimates, words, figures, recent projects."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, Qt, QThread
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QListView, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from curator.commands.command import WindowState
from curator.domain.decisions import Change, ChangeKind
from curator.domain.jobs import JobOutcome, JobState, LinkerState, LinkerStatus, Progress
from curator.domain.wording import UserError, percent
from curator.ui.jobs.jobs import JobKind, Jobs, RunningJob, left_words
from curator.ui.jobs.jobs_bar import hints_for, words_of
from curator.ui.kit.key_names import belongs_to
from curator.ui.kit.window_calls import Bridge
from curator.ui.panels.status_line import linker_words
from curator.ui.shell.manual import title_of
from curator.ui.shell.recent import recent_projects, remember
from curator.ui.training.evaluate import comparison_rows, comparison_words, evaluation_rows, gate_rows
from tests.curator.services.fakes import FakeJobs

CHANGE = Change(ChangeKind.IMPORTED, "somebody", "something")


def test_what_a_worker_thread_tells_arrives_in_the_windows_thread(qtbot: QtBot) -> None:
    bridge = Bridge()
    here: list[QThread] = []
    bridge.changed.connect(lambda _: here.append(QThread.currentThread()))
    with qtbot.waitSignal(bridge.changed) as signal:
        worker = threading.Thread(target=bridge.tell_change, args=(CHANGE,))
        worker.start()
    worker.join()
    assert signal.args == [CHANGE]
    assert here == [bridge.thread()]


def test_every_change_is_told_once_and_the_windows_own_steps_at_once(qtbot: QtBot) -> None:
    bridge, told = Bridge(), list[tuple[str, Change]]()
    bridge.stepped.connect(lambda change: told.append(("stepped", change)))
    bridge.changed.connect(lambda change: told.append(("changed", change)))
    step = Change(ChangeKind.DECIDED, "ada", "Linked it")
    bridge.tell_change(CHANGE)
    bridge.tell_change(step)
    assert told == [("stepped", step)]
    worker = threading.Thread(target=bridge.tell_change, args=(step,))
    worker.start()
    worker.join()
    qtbot.waitUntil(lambda: len(told) == 3)
    assert told[1:] == [("changed", CHANGE), ("changed", step)]


def test_a_closed_bridge_tells_nothing(qtbot: QtBot) -> None:
    bridge = Bridge()
    heard: list[object] = []
    bridge.changed.connect(heard.append)
    bridge.tell_change(CHANGE)  # on its way
    bridge.close()
    bridge.tell_change(CHANGE)
    QCoreApplication.processEvents()  # lets queued signals arrive
    assert heard == []


def test_a_job_that_ends_at_once_is_told_after_it_started(qtbot: QtBot) -> None:
    jobs = Jobs(Bridge(), FakeJobs())
    order: list[str] = []
    jobs.changed.connect(lambda: order.append(f"{len(jobs)} running"))

    def launch(progress: object, end: object) -> object:
        end(JobOutcome(JobState.DONE, "done"))  # type: ignore[operator]
        return None

    with qtbot.waitSignal(jobs.ended):
        jobs.start(JobKind.IMPORT, "quick", launch, then=lambda outcome: order.append(outcome.message))  # type: ignore[arg-type]
    assert order == ["1 running", "0 running", "done"]


def test_a_job_that_cannot_start_is_not_running(qtbot: QtBot) -> None:
    jobs = Jobs(Bridge(), FakeJobs())

    def launch(progress: object, end: object) -> object:
        raise UserError("no")

    with pytest.raises(UserError):
        jobs.start(JobKind.TRAIN, "x", launch)  # type: ignore[arg-type]
    assert len(jobs) == 0


def test_time_left_goes_by_the_pace_of_the_present_step() -> None:
    job = RunningJob(1, JobKind.TRAIN, "x", lambda _: None, 0.0)
    job.take(Progress("load", 1, 1), 50.0)
    job.take(Progress("train", 0, 1000), 100.0)
    assert job.seconds_left(100.0) is None
    for second in range(1, 26):
        job.take(Progress("train", 10 * second, 1000, data={"loss": 0.5}), 100.0 + second)
    found = job.seconds_left(125.0)
    assert found is not None
    assert found[0] < 75.0 < found[1] < 90.0
    assert "about 1 min left in this step" in words_of(job, 125.0)
    assert job.history.losses[0] == 0.5
    job.take(Progress("train", 1000, 1000), 140.0)
    assert job.seconds_left(140.0) is None  # the step is done, the job is not


def test_an_index_beside_other_load_says_a_range_within_twenty_seconds() -> None:
    """Half of the names are kept from before, the others take 14 minutes: 12 a second, then 8, and so on."""
    job, done = RunningJob(1, JobKind.INDEX, "x", lambda _: None, 0.0), 10_000
    job.take(Progress("names", 0, 20_000), 0.0)
    job.take(Progress("names", done, 20_000), 0.1)
    for second in range(1, 21):
        done += 14 if second % 2 else 10
        job.take(Progress("names", done, 20_000), float(second))
    words = words_of(job, 20.0)
    low, high = (int(one) for one in words.split("about ")[1].split(" min")[0].split(" to "))
    assert low <= 14 <= high <= 20
    assert words.endswith("min left")


def test_work_that_is_weighed_is_timed_by_its_weight() -> None:
    job = RunningJob(1, JobKind.TRAIN, "x", lambda _: None, 0.0)
    for second in range(21):  # short texts first: half of them are a tenth of the work
        job.take(Progress("encode", 50 * second, 2000, data={"work": second / 200}), float(second))
    found = job.seconds_left(20.0)
    assert found is not None
    assert found[0] < 180.0 < found[1] < 220.0


def test_a_time_budget_ends_the_range() -> None:
    job = RunningJob(1, JobKind.TRAIN, "x", lambda _: None, 0.0)
    for second in range(21):
        job.take(Progress("train", second, 10_000, data={"seconds_left": 100.0 - second}), float(second))
    found = job.seconds_left(20.0)
    assert found is not None
    assert found[0] <= 80.0 <= found[1] <= 160.0


def test_a_training_keeps_all_it_told_and_other_work_its_steps() -> None:
    told: dict[JobKind, list[str]] = {}
    for kind in (JobKind.IMPORT, JobKind.TRAIN):
        job = RunningJob(1, kind, "x", lambda _: None, 0.0)
        for text in ("a.txt", "b.txt", "c.txt"):  # thousands of files, of an import
            job.take(Progress("read", 1, 9, text), 50.0)
        job.take(Progress("write", 0, 9), 50.0)
        told[kind] = [line.text for line in job.history.log]
    assert told == {JobKind.IMPORT: ["a.txt", ""], JobKind.TRAIN: ["a.txt", "b.txt", "c.txt", ""]}


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (None, ""),
        ((8.0, 12.0), "less than a minute left"),
        ((100.0, 118.0), "about 2 min left"),
        ((480.0, 840.0), "about 8 to 14 min left"),
        ((10.0, 200.0), "about 1 to 3 min left"),
        ((5400.0, 10_800.0), "about 1.5 to 3 h left"),
        ((170_000.0, 430_000.0), "about 2 to 5 days left"),
    ],
)
def test_time_left_in_words(seconds: tuple[float, float] | None, words: str) -> None:
    assert left_words(seconds) == words


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (LinkerStatus(LinkerState.OFF, ""), "no index yet"),
        (
            LinkerStatus(LinkerState.READY, "", device="The encoder runs on the processor with 2 threads."),
            "ready (CPU)",
        ),
        (LinkerStatus(LinkerState.READY, "", device="On the GPU NVIDIA X (8 GiB).", on_gpu=True), "ready (GPU)"),
        (LinkerStatus(LinkerState.READY, "", device="The GPU has only 9 MiB free. On the processor."), "ready (CPU)"),
        (LinkerStatus(LinkerState.READY, "", stages=("lexical",)), "lexical only"),
        (LinkerStatus(LinkerState.RESTARTING, ""), "crashed, restarting…"),
    ],
)
def test_the_linker_in_words(status: LinkerStatus, words: str) -> None:
    assert linker_words(status) == words


def test_hints_say_what_return_does() -> None:
    state = WindowState(project=True, writable=True, document=True, mention=True, candidates=3)
    assert hints_for(state)[0] == ("↵", "accept")
    nil = WindowState(project=True, writable=True, document=True, mention=True, candidates=3, nil_suggested=True)
    assert hints_for(nil)[0] == ("↵", "accept NIL")
    decided = WindowState(project=True, writable=True, document=True, mention=True, candidates=3, decided=True)
    assert hints_for(decided)[0] == ("1–9", "choose"), "Enter changes no decision"
    assert hints_for(replace(decided, complete=True))[0] == ("Ctrl+↵", "done, next document")
    assert ("Ctrl+I", "import documents") in hints_for(WindowState(project=True))


@pytest.mark.parametrize(
    ("kind", "key", "ctrl", "kept"),
    [
        (QLineEdit, Qt.Key.Key_N, False, True),
        (QLineEdit, Qt.Key.Key_Return, False, True),
        (QLineEdit, Qt.Key.Key_R, True, False),
        (QListView, Qt.Key.Key_Down, False, True),
        (QListView, Qt.Key.Key_N, False, False),
        (QPushButton, Qt.Key.Key_Space, False, True),
        (QPushButton, Qt.Key.Key_X, False, False),
        (QWidget, Qt.Key.Key_Return, False, False),
        (QLineEdit, Qt.Key.Key_F6, False, False),
    ],
)
def test_whose_key_it_is(qtbot: QtBot, kind: type[QWidget], key: Qt.Key, ctrl: bool, kept: bool) -> None:
    widget = kind()
    qtbot.addWidget(widget)
    modifier = Qt.KeyboardModifier.ControlModifier if ctrl else Qt.KeyboardModifier.NoModifier
    assert belongs_to(widget, QKeyEvent(QEvent.Type.ShortcutOverride, key, modifier)) is kept


def test_figures_of_an_evaluation_and_of_a_gate() -> None:
    assert percent(None) == "–"
    figures = {
        "recall@1": {"value": 0.876, "low": 0.8512, "high": 0.9},
        "NIL F1": {"value": None, "low": None, "high": None},
        "ECE, NIL": {"value": 0.0316, "low": 0.02, "high": 0.05},
    }
    slices = {"single": {"in_kb": 7, "recall_at_1": 0.5, "intervals": {"recall@1": [0.25, 0.75]}}}
    rows = evaluation_rows({"mentions": 1200, "figures": figures, "slices": slices})
    assert rows[0] == ("Decided mentions", "1,200", "")
    assert rows[3:] == [
        ("Recall@1", "87.6 %", "85.1 – 90.0"),
        ("NIL F1", "–", ""),
        ("ECE, NIL", "0.032", "0.020 – 0.050"),
        ("Recall@1, single (7)", "50.0 %", "25.0 – 75.0"),
    ]
    metrics = {
        "old": {"recall": {"1": 0.5}},
        "new": {"recall": {"1": 0.625}},
        "alone": {"before_at_1": 0.1, "after_at_1": 0.2},
    }
    assert gate_rows(metrics) == [
        ("Recall@1 of the whole linker", "50.0 %", "62.5 %"),
        ("The trained part alone, recall@1", "10.0 %", "20.0 %"),
    ]
    assert gate_rows({}) == []


def test_figures_of_a_comparison() -> None:
    def one(this: float | None, other: float | None, *apart: float | None) -> dict[str, object]:
        return {"this": this, "other": other, "difference": dict(zip(("value", "low", "high"), apart, strict=True))}

    against = {
        "bundle": "b1",
        "decisions": {"only_this": 1200, "only_other": 3, "p_value": 0.00001},
        "figures": {
            "recall@1": one(0.9, 0.8, 0.1, -0.002, 0.2),
            "ECE, NIL": one(0.01, 0.03, -0.02, -0.03, 0.0),
            "NIL F1": one(None, 0.5, None, None, None),
        },
    }
    assert comparison_rows(against) == [
        ("Recall@1", "90.0 %", "80.0 %", "+10.0", "−0.2 to +20.0"),
        ("ECE, NIL", "0.010", "0.030", "−0.020", "−0.030 to 0.000"),
    ]
    assert comparison_words(against) == (
        "Compared with linker b1: 1,200 decisions are right only with this linker, 3 only with the other "
        "(McNemar's exact test: p < 0.0001)."
    )


def test_recent_projects_are_those_that_exist_the_last_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path / "config"))
    for name in ("a", "b", "a"):
        folder = tmp_path / f"{name}.curation"
        folder.mkdir(exist_ok=True)
        remember(folder)
    assert [one.name for one in recent_projects()] == ["a.curation", "b.curation"]
    (tmp_path / "a.curation").rmdir()
    assert [one.name for one in recent_projects()] == ["b.curation"]
    (tmp_path / "config" / "recent.json").write_text("{broken", encoding="utf-8")
    assert recent_projects() == []


def test_a_page_of_the_manual_is_called_by_its_heading() -> None:
    assert title_of("keys.md", "text\n# Keys of commands\n") == "Keys of commands"
    assert title_of("keys.md", "no heading") == "keys"
