"""Rounds, adjudication and names in the window, with its own keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.domain.documents import Span
from curator.domain.rounds import Round
from curator.services.ports.queue import QueueFilter
from curator.services.training.suspicious import SuspiciousGold, SuspiciousList
from curator.ui.dashboard.suspicious_window import SuspiciousWindow
from curator.ui.kit.labels import ElidedLabel
from curator.ui.people.agreement_window import AgreementWindow
from curator.ui.people.i_am import IAmDialog
from curator.ui.people.people_flows import PeopleFlows
from curator.ui.people.rounds import NewRoundDialog, RoundsDialog
from tests.curator.ui.window.fakes import Desk, MakeDesk, reopen
from tests.curator.ui.window.test_dialogs import shown

Key = Qt.Key


def people(desk: Desk) -> PeopleFlows:
    return desk.window.session.features.people


def judge_alike_but_once(desk: Desk, *names: str) -> Round:
    """Document 1: the first mention alike, the second apart; closed."""
    project = desk.project
    found = project.rounds.create("pilot", [1])
    first, second, *_ = desk.world.mentions(1)
    for name, verdict in zip(names, (Verdict.link("MESH:D006323"), Verdict.nil()), strict=True):
        curation = project.rounds.seat(found, name).curation
        curation.decide_many([first], Verdict.link("MESH:D008012"))
        curation.decide_many([second], verdict)
    project.rounds.close(found.id)
    return project.rounds.named("pilot")


def test_the_usual_keys_judge_in_a_round_and_the_project_stays(desk: Desk, qtbot: QtBot) -> None:
    bench, project = desk.bench, desk.project
    first = desk.world.mentions(1)[0]
    project.curation.decide(first, Verdict.link("MESH:D006323"))
    mode = people(desk).mode
    mode.enter(project.rounds.create("pilot", [1]))
    assert mode.banner.isVisible()
    assert "0 of 4 judged" in mode.banner.words
    view = bench.navigator.mention
    assert view is not None
    assert (desk.word, view.decision) == ("Lidocaine", None), "what the project decided is not shown"
    qtbot.waitUntil(lambda: bench.navigator.mention is not None and bench.navigator.mention.suggestion is not None)
    desk.press(Key.Key_1)
    assert desk.word == "cardiac arrest"
    assert "1 of 4 judged" in mode.banner.words
    [decision] = project.curation.history(first)
    assert decision.verdict == Verdict.link("MESH:D006323")
    desk.press(Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert "0 of 4 judged" in mode.banner.words
    assert not desk.window.menus.action("mention.delete").isEnabled()
    first_span = bench.navigator.opened.mentions[0].mention.spans  # type: ignore[union-attr]
    bench.document.reshaped.emit(first, (Span(0, 4),))  # the mouse lets go of a handle
    assert "judging in the round “pilot”" in bench.bottom.message.words
    assert project.queue.open(1).mentions[0].mention.spans == first_span
    people(desk).leave_round()
    assert not mode.banner.isVisible()
    assert desk.window.menus.action("mention.delete").isEnabled()
    assert desk.decision("Lidocaine") is not None


def test_disagreements_are_settled_by_number_and_by_the_usual_keys(desk: Desk) -> None:
    found = judge_alike_but_once(desk, "anna", "ben")
    mode = people(desk).mode
    mode.adjudicate(found)
    panel = mode.panel
    assert panel.isVisible()
    assert desk.word == "cardiac arrest"
    assert panel.model.rowCount() == 2
    assert QApplication.focusWidget() is panel.list
    desk.press(Key.Key_2)
    decision = desk.decision("cardiac arrest")
    assert decision is not None
    assert (decision.verdict, decision.note) == (Verdict.nil(), "round “pilot”: as ben judged")
    assert "resolved" in panel.title.words
    panel.adopt.click()
    assert not panel.adopt.isVisible()
    adopted = desk.decision("Lidocaine")
    assert adopted is not None
    assert adopted.note.endswith("all agreed")
    desk.project.curation.undo()
    desk.project.curation.undo()
    mode.end_adjudication()
    mode.adjudicate(found)
    desk.press(Key.Key_Escape)
    assert QApplication.focusWidget() is desk.bench.document
    desk.press(Key.Key_X)
    desk.press(Key.Key_Return)
    anew = desk.decision("cardiac arrest")
    assert anew is not None
    assert anew.note == "round “pilot”: decided again"
    assert "resolved" in panel.title.words


def test_a_verdict_is_taken_only_of_the_mention_that_is_framed(desk: Desk) -> None:
    found = judge_alike_but_once(desk, "anna", "ben")
    mode = people(desk).mode
    mode.adjudicate(found)
    assert mode.panel.title.words.startswith("“cardiac arrest” · 1 of 1")
    assert mode.panel.list.height() < 2.5 * mode.panel.list.visualRect(mode.panel.model.index(0, 0)).height()
    desk.press(Key.Key_Escape)
    desk.press(Key.Key_Up)
    assert desk.word != "cardiac arrest"
    mode.panel.list.setFocus()
    desk.press(Key.Key_2)
    assert desk.decision("cardiac arrest") is None
    assert desk.word == "cardiac arrest"
    assert "Nothing was resolved" in desk.said
    desk.press(Key.Key_2)
    assert desk.decision("cardiac arrest") is not None


def test_an_adjudication_decides_one_mention_at_a_time(desk: Desk) -> None:
    found = judge_alike_but_once(desk, "anna", "ben")
    mode = people(desk).mode
    mode.adjudicate(found)
    desk.press(Key.Key_Escape)
    desk.press(Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert not desk.bench.many.is_open
    assert "decided one at a time" in desk.said
    mode.end_adjudication()
    desk.press(Key.Key_B, Qt.KeyboardModifier.ControlModifier)
    assert desk.bench.many.is_open


def test_an_adjudication_goes_past_damaged_documents(desk: Desk) -> None:
    desk.world.documents(2, first=7, name="more.pubtator")
    project = desk.project
    ids = project.queue.ids(QueueFilter())
    found = project.rounds.create("pilot", ids)
    for name, verdict in (("anna", Verdict.link("MESH:D006323")), ("ben", Verdict.nil())):
        curation = project.rounds.seat(found, name).curation
        curation.decide_many([desk.world.mentions(one)[1] for one in ids], verdict)
    project.rounds.close(found.id)
    mode, navigator = people(desk).mode, desk.bench.navigator
    mode.adjudicate(project.rounds.named("pilot"))
    with desk.world.store.write() as unit:
        unit.connection.exec_driver_sql(
            f"UPDATE document_texts SET text = text || 'x' WHERE document_id IN ({ids[1]}, {ids[2]})"
        )

    def places() -> tuple[int, int]:
        assert mode.panel.judged is not None
        assert navigator.opened is not None
        return mode.panel.judged.document_id, navigator.opened.document.id

    assert places() == (ids[0], ids[0])
    desk.press(Key.Key_2)
    assert places() == (ids[3], ids[3])
    assert "differs from the one imported" in desk.said
    desk.press(Key.Key_2)
    assert mode.panel.judged is None
    assert "differs from the one imported" in desk.said


def test_what_an_adjudication_decided_is_shown_at_once(desk: Desk) -> None:
    bench, project = desk.bench, desk.project
    second = desk.world.mentions(1)[1]
    project.curation.decide(second, Verdict.link("MESH:D006323"))
    found = judge_alike_but_once(desk, "anna", "ben")
    mode = people(desk).mode
    mode.adjudicate(found)
    assert "1–2 adopt a judgement" in bench.bottom.hints.accessibleName()
    assert "choose" not in bench.bottom.hints.accessibleName()
    desk.press(Key.Key_2)
    view = bench.navigator.mention
    assert view is not None
    assert view.decision is not None
    assert view.decision.verdict == Verdict.nil()
    assert [one for one in bench.candidates.findChildren(ElidedLabel) if one.words.startswith("NIL")]
    assert "NIL" in bench.history.model.index(0, 0).data()
    desk.bench.focus_document()
    assert "judgement" not in bench.bottom.hints.accessibleName()


def test_the_usual_keys_lead_to_the_next_disagreement(desk: Desk) -> None:
    """Not past it to the next undecided mention."""
    project, apart = desk.project, Verdict.link("MESH:D006323")
    found = project.rounds.create("pilot", [1])
    second, *_, last = desk.world.mentions(1)[1:]
    for name, verdict in (("anna", apart), ("ben", Verdict.nil())):
        curation = project.rounds.seat(found, name).curation
        for one in (second, last):
            curation.decide_many([one], verdict)
    project.rounds.close(found.id)
    mode = people(desk).mode
    mode.adjudicate(project.rounds.named("pilot"))
    desk.press(Key.Key_Escape)
    desk.press(Key.Key_X)
    desk.press(Key.Key_Return)
    assert mode.panel.judged is not None
    assert mode.panel.judged.mention.id == desk.bench.navigator.mention_id == last


def test_a_round_is_gone_on_with_after_a_restart(make_desk: MakeDesk) -> None:
    desk = make_desk()
    found = desk.project.rounds.create("pilot", [2])
    people(desk).mode.enter(found)
    reopen(desk)
    assert people(desk).mode.judging
    opened = desk.bench.navigator.opened
    assert opened is not None
    assert opened.document.id == 2
    desk.project.rounds.close(found.id)
    people(desk).start()


def test_a_round_whose_documents_are_all_hidden_opens_and_is_left(make_desk: MakeDesk) -> None:
    desk = make_desk()
    found = desk.project.rounds.create("pilot", [1, 2])
    files = [one.record.file.id for one in desk.project.imports.files()]
    desk.project.imports.undo(files)
    people(desk).mode.enter(found)
    assert "none of its documents" in people(desk).mode.banner.words
    reopen(desk)
    assert people(desk).mode.judging
    assert desk.bench.navigator.opened is None
    people(desk).leave_round()
    assert not people(desk).mode.judging


def test_rounds_are_made_entered_and_closed_in_their_dialog(desk: Desk) -> None:
    flows = people(desk)
    dialog = flows.show_rounds()
    assert dialog.empty.isVisible()
    new = flows.new_round()
    new.accept()
    assert new.problem.text().startswith("Enter a name for the round")
    new.line.setText("pilot")
    new.number.setValue(1)
    new.accept()
    [row] = [dialog.table.current]
    assert row is not None
    assert (row.round.name, row.round.documents, row.state) == ("pilot", 1, "still open")
    assert not dialog.settle.isEnabled()
    dialog.enter.click()
    assert flows.mode.judging
    again = flows.show_rounds()
    assert again.enter.text() == "Leave the round"
    again.shut.click()
    assert not flows.mode.judging
    assert again.table.current is not None
    assert again.table.current.state == "closed"
    assert again.settle.isEnabled()
    again.reject()


def test_files_go_out_and_come_back(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    found = judge_alike_but_once(desk, "anna", "ben")
    flows = people(desk)
    save = flows.ask_place(found, ("anna",))
    save.path.set_path(tmp_path / "r.jsonl")
    save.accept()
    assert (tmp_path / "r.jsonl").is_file()
    flows.read_round(tmp_path / "r.jsonl")
    qtbot.waitUntil(lambda: "2 were already there" in desk.bench.bottom.notice.words.words)


def test_another_name_is_felt_at_once(desk: Desk) -> None:
    flows = people(desk)
    assert flows.who.isVisible(), "nobody gave a name on this computer yet"
    dialog = flows.say_who_i_am()
    assert isinstance(dialog, IAmDialog)
    dialog.names.setCurrentText(" ")
    dialog.accept()
    assert dialog.problem.text()
    dialog.names.setCurrentText("Anna  Berg")
    dialog.accept()
    assert desk.window.preferences.settings.curator_name == "Anna Berg"
    assert not flows.who.isVisible()


def test_agreement_is_shown_and_exported(desk: Desk, qtbot: QtBot) -> None:
    judge_alike_but_once(desk, "anna", "ben")
    flows = people(desk)
    flows.show_agreement()
    [window] = desk.window.findChildren(AgreementWindow)
    assert window.isVisible()
    assert not window.export.isEnabled(), "the figures are still calculated"
    qtbot.waitUntil(lambda: window.report is not None)
    assert "over 2 mentions that at least two of anna, ben" in window.head.text()
    assert window.tables["Types"].model().rowCount() == 2
    with qtbot.waitSignal(window.export_wanted) as told:
        window.export.click()
    head, first, *_ = str(told.args[0]).splitlines()
    assert head.startswith("about,part,items,observed")
    assert first.startswith("round,all,2,0.5")
    flows.close_windows()
    assert not window.isVisible()


def test_the_agreement_of_a_round_leads_back_to_the_rounds(desk: Desk, qtbot: QtBot) -> None:
    judge_alike_but_once(desk, "anna", "ben")
    desk.project.rounds.create("another", [2])
    flows = people(desk)
    dialog = flows.show_rounds()
    found = next(one for one in desk.project.rounds.all() if one.name != "another")
    dialog.table.go_to([one.id for one in desk.project.rounds.all()].index(found.id))
    dialog.agree.click()
    [window] = desk.window.findChildren(AgreementWindow)
    qtbot.waitUntil(lambda: window.report is not None)
    window.reject()
    [back] = shown(RoundsDialog)
    assert isinstance(back, RoundsDialog)
    assert back.table.current is not None
    assert back.table.current.round.id == found.id
    back.agree.click()
    flows.close_windows()
    assert not shown(RoundsDialog), "the project is closed"


@pytest.mark.parametrize("writable", [True, False])
def test_suspicious_gold_is_opened_and_kept(qtbot: QtBot, writable: bool) -> None:
    row = SuspiciousGold(1, 2, "arrest", ("MESH:D006323",), 0.1, "NIL", "NIL", 0.7)
    window = SuspiciousWindow(SuspiciousList((row,), "1 of 9.", 9), name_of=str.lower, writable=writable)
    qtbot.addWidget(window)
    window.show()
    assert "1 of 9." in window.words.text()
    assert window.keep.isEnabled() is writable
    with qtbot.waitSignal(window.mention_wanted) as told:
        window.go.click()
    assert told.args == [1, 2]
    if writable:
        with qtbot.waitSignal(window.keep_wanted) as kept:
            window.keep.click()
        assert kept.args == [2]
    window.show_list(SuspiciousList((), "1 of 9.", 9))
    assert "Nothing is left" in window.words.text()


def test_dialogs_cancel_without_doing_anything(desk: Desk) -> None:
    records = desk.window.session.features.records
    flows = people(desk)
    for dialog in (
        records.release(),
        records.export_audit(),
        records.export_knowledge_base(),
        flows.new_round(),
        flows.say_who_i_am(),
    ):
        dialog.reject()
    assert desk.project.rounds.all() == []
    assert isinstance(NewRoundDialog(documents=0), NewRoundDialog)
    assert list(desk.project.folder.parent.glob("*release*")) == []
