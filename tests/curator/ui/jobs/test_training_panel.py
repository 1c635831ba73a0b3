"""What a running training shows: history, charts, panel, CSV."""

from __future__ import annotations

import csv
import errno
import io
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from curator.domain.jobs import Progress
from curator.ui.jobs.training_panel import TrainingHistory, TrainingPanel, figure_words, figures_line, percent_tick
from curator.ui.kit.line_chart import MOST, Curve, LineChart, Tone, nice_ticks, smoothed, thinned
from curator.ui.kit.theme import DARK, LIGHT, Theme

AT = datetime(2026, 1, 1, 12, 30, 5, tzinfo=UTC)


def history(*events: Progress) -> TrainingHistory:
    made = TrainingHistory()
    for one in events:
        made.take(one, AT)
    return made


def step(number: int, **data: float) -> Progress:
    return Progress("train", number, 10, data={"step": number, **data})


# --- the history ---


def test_figures_become_curves_and_the_rest_is_left_out() -> None:
    told = history(
        Progress("load", 0, 1, "Reading the decisions"),
        step(1, loss=2.0, learning_rate=0.1, other=7.0),
        step(2, loss=1.0, learning_rate=0.2, recall_at_1=0.5),
        Progress("train", 3, 10, data={"loss": "none", "note": True}),
    )
    assert told.curves["loss"] == [(1, 2.0), (2, 1.0)]
    assert told.curves["recall_at_1"] == [(2, 0.5)]
    assert told.curves["nil_aupr"] == []
    assert told.losses == [2.0, 1.0]


def test_the_untrained_figure_is_a_level_line_beside_every_validation() -> None:
    told = history(step(0, recall_at_1=0.5, untrained=0.5), step(5, loss=1.0), step(10, recall_at_1=0.625))
    assert told.curves["recall_at_1"] == [(0, 0.5), (10, 0.625)]
    assert told.curves["untrained"] == [(0, 0.5), (10, 0.5)]


def test_steps_are_counted_where_a_job_does_not() -> None:
    told = history(*(Progress("train", n, 3, data={"loss": 1.0}) for n in range(3)))
    assert [x for x, _ in told.curves["loss"]] == [1, 2, 3]


def test_the_log_has_a_line_for_each_sentence_and_phase() -> None:
    told = history(Progress("load", 0, 2), Progress("load", 1, 2), step(1, loss=1.0), Progress("train", 2, 10, "Half."))
    assert [str(one) for one in told.log] == ["12:30:05  load", "12:30:05  train", "12:30:05  train: Half."]


def test_the_csv_has_what_was_told_and_no_more() -> None:
    told = history(step(1, loss=2.5, epoch=0.5), step(2, loss=1.5, recall_at_1=0.75))
    lines = list(csv.reader(io.StringIO(told.csv())))
    assert lines == [["step", "epoch", "loss", "recall_at_1"], ["1.0", "0.5", "2.5", ""], ["2.0", "", "1.5", "0.75"]]
    assert TrainingHistory().csv() == "\n"


# --- the charts ---


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e6))
def test_ticks_span_the_range_and_are_few(low: float, span: float) -> None:
    high = low + span
    ticks = nice_ticks(low, high)
    assert ticks == sorted(ticks)
    assert len(ticks) <= 6
    if high > low:
        assert ticks[0] <= low + 1e-6 * span + 1e-6 * abs(low)
        assert ticks[-1] >= high - 1e-6 * span - 1e-6 * abs(high)


def test_a_flat_curve_has_one_tick_with_few_digits() -> None:
    assert nice_ticks(0.5, 0.5) == [0.5]
    assert [percent_tick(value) for value in (0.760825, 0.875, 1.0)] == ["76.08 %", "87.5 %", "100 %"]


def test_the_running_mean_is_unbiased_from_its_first_value() -> None:
    means = smoothed([4.0, 2.0], weight=0.5)
    assert means == pytest.approx([4.0, (0.5 * 0.5 * 4 + 0.5 * 2) / (1 - 0.25)])


def test_a_hundred_thousand_steps_are_drawn_as_a_few(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    monkeypatch.setattr("curator.ui.kit.line_chart.smoothed", lambda values: drawn.append(len(values)) or list(values))
    chart = LineChart("Loss", words=figure_words)
    qtbot.addWidget(chart)
    chart.show_curves(Curve("loss", [(float(n), 1.0 / (n + 1)) for n in range(100_000)], smooth=True))
    chart.grab()
    assert drawn
    assert max(drawn) <= MOST + 2


def test_thinning_keeps_both_ends() -> None:
    points = [(float(n), float(n)) for n in range(1001)]
    few = thinned(points, 100)
    assert len(few) <= 102
    assert (few[0], few[-1]) == (points[0], points[-1])
    assert thinned([], 10) == []


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("points", [[], [(1.0, 2.0)], [(1.0, 3.0), (2.0, 1.0), (9.0, 2.0)]])
def test_a_chart_paints_whatever_it_gets(qtbot: QtBot, theme: Theme, points: list[tuple[float, float]]) -> None:
    chart = LineChart("Loss", words=figure_words)
    qtbot.addWidget(chart)
    chart.setPalette(theme.palette)
    chart.resize(320, 160)
    chart.show_curves(Curve("a", points, smooth=True), Curve("b", [(x, y + 1) for x, y in points], tone=Tone.SECOND))
    picture = chart.grab().toImage()
    colours = {theme.accent.rgb()} & _colours(picture)
    assert bool(colours) == bool(points)
    assert chart.is_empty is not bool(points)


def _colours(picture: QImage) -> set[int]:
    return {picture.pixel(x, y) for x in range(picture.width()) for y in range(picture.height())}


def test_a_long_title_leaves_the_values_their_room(qtbot: QtBot) -> None:
    """Where title and values have no room beside each other, the picture is that of a title cut short."""
    pictures = []
    long = "Recall of a part by itself on the documents held out"
    for title in (long, long[:-3]):
        chart = LineChart(title, words=figure_words)
        qtbot.addWidget(chart)
        chart.resize(320, 160)
        chart.show_curves(Curve("@1", [(1.0, 0.5), (2.0, 0.6)]), Curve("untrained", [(1.0, 0.5), (2.0, 0.5)]))
        pictures.append(chart.grab().toImage())
    assert pictures[0] == pictures[1]


def test_a_chart_tells_its_newest_value(qtbot: QtBot) -> None:
    chart = LineChart("Loss", words=figure_words)
    qtbot.addWidget(chart)
    points = [(1.0, 3.0)]
    chart.show_curves(Curve("loss", points))
    points.append((2.0, 1.25))
    chart.grown()
    assert chart.accessibleDescription() == "loss 1.250"


def test_the_mouse_finds_the_nearest_step(qtbot: QtBot) -> None:
    chart = LineChart("Loss", words=figure_words)
    qtbot.addWidget(chart)
    chart.resize(400, 200)
    chart.show_curves(Curve("loss", [(1.0, 3.0), (5.0, 1.0)]))
    chart.show()
    plain = chart.grab().toImage()
    QTest.mouseMove(chart, QPointF(80, 100).toPoint())
    assert chart.grab().toImage() != plain


# --- the panel ---


@pytest.fixture
def panel(qtbot: QtBot) -> TrainingPanel:
    made = TrainingPanel()
    qtbot.addWidget(made)
    made.resize(700, 500)
    made.show()
    return made


def test_only_figures_that_came_are_drawn(panel: TrainingPanel) -> None:
    told = history(step(1, loss=2.0, learning_rate=0.1))
    panel.show_history(told)
    assert [one.isVisible() for one in panel.small] == [False, False, True]
    QTest.qWait(0)
    assert panel.loss.y() == panel.rate.y()
    told.take(step(2, loss=1.0, recall_at_1=0.5, recall_at_64=0.75, nil_aupr=0.25, throughput=31.4, epoch=1), AT)
    panel.grown()
    assert all(one.isVisible() for one in panel.small)
    assert panel.recall.accessibleDescription() == "@1 50.0 %, @64 75.0 %"
    assert panel.figures.text() == "step 2 · pass 1 · 31 mentions per second"


def test_before_the_first_figure_the_log_has_all_the_room(panel: TrainingPanel) -> None:
    panel.show_history(history(Progress("load", 0, 1, "One.")))
    assert not panel.loss.isVisible()
    assert panel.log.isVisible()


def test_without_other_figures_the_loss_has_the_whole_width(panel: TrainingPanel, qtbot: QtBot) -> None:
    panel.show_history(history(Progress("train", 1, 2, data={"loss": 0.5})))
    qtbot.waitUntil(lambda: panel.loss.width() > panel.width() - 20)


def test_the_log_grows_and_is_not_written_twice(panel: TrainingPanel) -> None:
    told = history(Progress("load", 0, 1, "One."))
    panel.show_history(told)
    told.take(Progress("load", 1, 1, "Two."), AT)
    panel.grown()
    panel.grown()
    lines = panel.log.toPlainText().splitlines()
    assert [line.split()[-1] for line in lines] == ["One.", "Two."]


def test_curves_are_exported(
    panel: TrainingPanel, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = history(step(1, loss=2.0))
    panel.show_history(told)
    panel.export(tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text(encoding="utf-8") == told.csv()
    with qtbot.waitSignal(panel.refused) as refused:
        panel.export(tmp_path / "none" / "out.csv")
    assert "the folder does not exist" in refused.args[0]
    (tmp_path / "out.csv").write_text("older")
    monkeypatch.setattr("curator.io.files.atomic.os.fsync", full_disk)
    with qtbot.waitSignal(panel.refused) as refused:
        panel.export(tmp_path / "out.csv")
    assert "the disk is full" in refused.args[0]
    assert (tmp_path / "out.csv").read_text() == "older"


def full_disk(_descriptor: int) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_nothing_known_is_an_empty_line() -> None:
    assert figures_line(TrainingHistory()) == ""


def test_the_tab_key_leaves_the_log(panel: TrainingPanel) -> None:
    panel.activateWindow()
    panel.log.setFocus()
    QTest.keyClick(panel.log, Qt.Key.Key_Tab)
    assert "\t" not in panel.log.toPlainText()


# --- the log ---


def long_lines(number: int) -> list[Progress]:
    return [Progress(f"phase {n}", n, number, f"{n} " + "a long sentence " * 30) for n in range(number)]


@pytest.mark.parametrize("shown_first", [True, False])
def test_the_log_shows_its_newest_lines(qtbot: QtBot, shown_first: bool) -> None:
    told = history(*long_lines(40))
    panel = TrainingPanel()
    qtbot.addWidget(panel)
    panel.resize(400, 500)
    if shown_first:
        panel.show()
    panel.show_history(told)
    panel.set_charts(False)
    panel.show()
    across, down = panel.log.horizontalScrollBar(), panel.log.verticalScrollBar()
    qtbot.waitUntil(lambda: down.maximum() > 0)
    assert across.maximum() == 0, "long lines are wrapped"
    assert down.value() == down.maximum()
    told.take(Progress("last", 1, 1, "the last " + "words " * 90), AT)
    panel.grown()
    assert down.value() == down.maximum()
    down.setValue(0)
    told.take(Progress("behind it", 1, 1, "one more"), AT)
    panel.grown()
    assert down.value() == 0, "who reads further up is left there"
    panel.show_history(history(*long_lines(30)))
    assert down.value() == down.maximum()


def test_the_newest_line_stays_in_sight_where_the_log_gets_lower(qtbot: QtBot) -> None:
    panel = TrainingPanel()
    qtbot.addWidget(panel)
    panel.resize(400, 700)
    panel.set_charts(False)
    panel.show_history(history(*long_lines(3)))
    panel.show()
    down = panel.log.verticalScrollBar()
    qtbot.waitUntil(lambda: down.maximum() == 0)
    panel.resize(400, 160)
    qtbot.waitUntil(lambda: down.maximum() > 0)
    assert down.value() == down.maximum()
    down.setValue(0)
    panel.resize(400, 130)
    assert down.value() == 0, "who reads further up is left there"
