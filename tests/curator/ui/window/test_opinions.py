"""The second opinion in the window: asked where the curator rests, shown beside the linker's, and never in the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from curator.domain.decisions import NilReason, Verdict
from curator.domain.facets import NO, YES, Facet, Facets
from curator.domain.suggestions import Candidate, OpinionPlace, OpinionUse
from curator.settings.file import load
from curator.ui.opinions.opinion_dialog import OpinionDialog
from curator.ui.opinions.opinion_flows import OpinionFlows
from tests.curator.ui.window.fakes import SHIFT, Desk, MakeDesk
from tests.fake_model import FakeModel, Reply, says, serving

Key = Qt.Key


@pytest.fixture
def fake() -> Iterator[FakeModel]:
    with serving() as found:
        yield found


@pytest.fixture
def flows(make_desk: MakeDesk, fake: FakeModel) -> OpinionFlows:
    """At “cardiac arrest”, asked for doubtful mentions; the linker of the tests doubts everything."""
    desk = make_desk()
    desk.bench.navigator.open(1, desk.world.mentions(1)[1])
    server = {"opinion_address": fake.address, "opinion_model": "m", "opinion_seconds": 10}
    desk.window.preferences.keep({"opinion_use": OpinionUse.FRAMED, **server})
    found = desk.window.session.features.opinions
    found.desk = desk  # type: ignore[attr-defined]
    return found


def desk_of(flows: OpinionFlows) -> Desk:
    return flows.desk  # type: ignore[attr-defined, no-any-return]


def line(flows: OpinionFlows) -> str:
    return desk_of(flows).bench.candidates.opinion.words


def chosen(flows: OpinionFlows) -> list[str]:
    """The candidates that are marked as the model's."""
    model = desk_of(flows).bench.candidates.model
    rows = [model.row(number) for number in range(model.rowCount())]
    return [row.candidate.name for row in rows if row is not None and row.opinion]


def shown(desk: Desk) -> list[Candidate]:
    """The candidates in the order of their rows."""
    model = desk.bench.candidates.model
    rows = [model.row(number) for number in range(model.rowCount())]
    return [row.candidate for row in rows if row is not None]


def number_of(desk: Desk, name: str) -> str:
    """What the prompt for the current mention calls a candidate."""
    mention_id = desk.bench.navigator.mention_id
    assert mention_id is not None
    lines = desk.project.opinions.prompt(mention_id).text.splitlines()
    return next(one.split(".")[0] for one in lines if f". {name}" in one)


def test_nothing_is_asked_or_shown_while_it_is_off(make_desk: MakeDesk, fake: FakeModel) -> None:
    desk = make_desk()
    desk.bench.navigator.open(1, desk.world.mentions(1)[1])
    assert not desk.bench.candidates.opinion.isVisible()
    desk.bench.focus_document()
    desk.press(Key.Key_O, SHIFT)
    assert "turned off" in desk.said
    assert not fake.asked


def test_a_doubtful_mention_is_asked_about_and_the_answer_stands_beside_the_linker_s(
    flows: OpinionFlows, fake: FakeModel, qtbot: QtBot
) -> None:
    desk = desk_of(flows)
    fake.usual = says(f'{{"choice": {number_of(desk, "Arrhythmia")}, "reason": "the rhythm"}}')
    model = desk.bench.candidates.model
    order = [one.name for one in shown(desk)]
    qtbot.waitUntil(lambda: line(flows).startswith("◆"))
    agrees = order[0] == "Arrhythmia"
    assert line(flows) == f"◆ m {'agrees' if agrees else 'disagrees'}: Arrhythmia. the rhythm"
    assert chosen(flows) == ["Arrhythmia"]
    row = model.row_of("MESH:D001145")
    assert row is not None
    said = model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert said.endswith("chosen by the language model")
    assert [one.name for one in shown(desk)] == order, "the order stays"
    assert desk.decision("cardiac arrest") is None
    desk.bench.navigator.open(1, desk.world.mentions(1)[2])
    assert chosen(flows) == []
    desk.bench.navigator.open(1, desk.world.mentions(1)[1])
    qtbot.waitUntil(lambda: chosen(flows) == ["Arrhythmia"])
    assert [prompt for prompt in fake.prompts if "[[cardiac arrest]]?" in prompt or "[[cardiac arrest]] of" in prompt]
    wanted = Facets.of({Facet.OPINION: [YES if agrees else NO]})
    assert desk.project.facets.documents(replace(desk.bench.navigator.where, facets=wanted))


def test_nil_is_marked_on_its_row_and_a_failure_is_a_sentence(
    flows: OpinionFlows, fake: FakeModel, qtbot: QtBot
) -> None:
    desk = desk_of(flows)
    fake.replies = [Reply(500, '{"error": {"message": "no memory"}}')] * 2
    qtbot.waitUntil(lambda: "no memory" in line(flows))
    assert chosen(flows) == []
    assert "no memory" not in desk.said, "nobody asked for it"
    desk.bench.focus_document()
    desk.press(Key.Key_O, SHIFT)
    qtbot.waitUntil(lambda: "no memory" in desk.said)
    fake.replies = [says("0")]
    assert desk.project.opinions.known(desk.world.mentions(1)[1]) is None
    desk.bench.focus_document()
    desk.press(Key.Key_O, SHIFT)
    qtbot.waitUntil(lambda: line(flows) == "◆ m disagrees: not in the knowledge base")
    assert desk.bench.candidates.nil_row.accessibleName().endswith("chosen by the language model")
    assert chosen(flows) == []


def test_a_silent_server_holds_up_nothing_and_its_request_ends_when_the_curator_moves_on(
    flows: OpinionFlows, fake: FakeModel, qtbot: QtBot
) -> None:
    desk = desk_of(flows)
    fake.silent = True
    qtbot.waitUntil(fake.arrived.is_set)
    assert line(flows) == "Asking m…"
    desk.project.curation.decide(desk.world.mentions(1)[1], Verdict.nil(NilReason.NOT_IN_KB))
    fake.silent = False
    desk.bench.navigator.open(1, desk.world.mentions(1)[2])
    assert line(flows) == ""
    qtbot.waitUntil(lambda: line(flows).startswith("◆"))
    assert len(fake.asked) == 2
    assert desk.project.opinions.known(desk.world.mentions(1)[1]) is None
    fake.silent = True
    fake.arrived.clear()
    desk.bench.navigator.open(1, desk.world.mentions(1)[3])
    qtbot.waitUntil(fake.arrived.is_set)
    desk.window.session.close()
    assert not flows.worker.busy


def test_it_is_hidden_where_candidates_are_shuffled(flows: OpinionFlows, fake: FakeModel, qtbot: QtBot) -> None:
    desk = desk_of(flows)
    qtbot.waitUntil(lambda: line(flows).startswith("◆"))
    desk.window.preferences.shuffle_candidates()
    assert (line(flows), chosen(flows)) == ("", [])
    desk.window.preferences.shuffle_candidates()
    qtbot.waitUntil(lambda: line(flows).startswith("◆"))
    assert len(fake.asked) == 1


def test_the_queue_is_asked_about_after_a_question(flows: OpinionFlows, fake: FakeModel, qtbot: QtBot) -> None:
    desk = desk_of(flows)
    qtbot.waitUntil(lambda: line(flows).startswith("◆"))
    desk.window.menus.action("tools.opinion_queue").trigger()

    def boxes() -> list[QMessageBox]:
        return [one for one in QApplication.topLevelWidgets() if isinstance(one, QMessageBox) and one.isVisible()]

    qtbot.waitUntil(lambda: bool(boxes()))
    [box] = boxes()
    assert "Ask m about 8 doubtful mentions?" in box.text()
    next(one for one in box.buttons() if one.text() == "Ask").click()
    qtbot.waitUntil(lambda: desk.bench.notices.any)
    assert "m answered for 8 mentions." in desk.bench.bottom.notice.words.words
    assert len(fake.asked) == 8
    assert len(desk.bench.jobs) == 0


def test_the_dialog_lists_models_tests_the_server_and_keeps_what_is_chosen(
    flows: OpinionFlows, fake: FakeModel, qtbot: QtBot
) -> None:
    desk = desk_of(flows)
    qtbot.waitUntil(lambda: line(flows).startswith("◆"))
    desk.window.menus.action("tools.opinion").trigger()
    dialog = next(one for one in QApplication.topLevelWidgets() if isinstance(one, OpinionDialog))
    dialog.list_models.click()
    qtbot.waitUntil(lambda: dialog.model.count() == 2)
    assert dialog.model.currentText() == "m"
    dialog.test.click()
    qtbot.waitUntil(lambda: dialog.state.text().startswith("The model answered after"))
    fake.replies = [says("perhaps the first")]
    dialog.test.click()
    qtbot.waitUntil(lambda: "perhaps the first" in dialog.state.text())
    dialog.address.setText("http://192.0.2.1/v1")
    dialog.test.click()
    qtbot.waitUntil(lambda: "is not this computer" in dialog.state.text())
    assert not dialog.warning.isVisible()
    dialog.place.setCurrentIndex(dialog.place.findData(OpinionPlace.ANY.value))
    assert dialog.warning.isVisible()
    dialog.model.setCurrentText("")
    dialog.accept()
    assert "Enter the address" in dialog.problem.text()
    dialog.model.setCurrentText("Qwen2.5")
    dialog.address.setText(fake.address)
    prompt = dialog.show_prompt()
    assert "[[cardiac arrest]]" in prompt.exact.toPlainText()
    prompt.edit.setPlainText("{mention} {context}")
    assert "{candidates}" in prompt.exact.toPlainText()
    prompt.accept()
    assert "needs the placeholder {candidates}" in prompt.problem.text()
    prompt.edit.setPlainText("Which? {mention} {context} {candidates}")
    prompt.accept()
    assert desk.project.opinions.template().startswith("Which?")
    dialog.accept()
    now = load().settings
    assert (now.opinion_model, now.opinion_place, now.opinion_use) == ("Qwen2.5", OpinionPlace.ANY, OpinionUse.FRAMED)
    qtbot.waitUntil(lambda: line(flows).startswith("◆ Qwen2.5"))
    assert fake.asked[-1]["messages"][0]["content"].startswith("Which?")
