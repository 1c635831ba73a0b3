"""Every dialog: leaves by Esc, asks for what it should, and its flow does what it says."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QDialog, QWidget
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.domain.documents import Split
from curator.domain.entities import TypeMapping
from curator.domain.jobs import GateVerdict, JobOutcome, JobState
from curator.services.training.evaluation import EvaluationWish, ReplayWish
from curator.settings.schema import OptionKind, Settings, options
from curator.ui.files.document_columns import TypeMappingDialog
from curator.ui.files.fetch_pubmed import FetchPubMedDialog
from curator.ui.files.import_documents import ImportDialog
from curator.ui.files.import_kb import ImportKbDialog
from curator.ui.files.import_report import ImportReportDialog, as_text
from curator.ui.files.imports import ImportsDialog
from curator.ui.files.new_project import NewProjectDialog
from curator.ui.files.save_as import ExportDialog
from curator.ui.jobs.jobs import JobKind
from curator.ui.kit.record_tables import FigureTable
from curator.ui.shell.catalogue import COMMANDS
from curator.ui.shell.keys_overlay import KeysOverlay, keys_words
from curator.ui.shell.main_window import MainWindow
from curator.ui.shell.manual import AboutDialog, Manual
from curator.ui.shell.settings import SettingsDialog
from curator.ui.training.bundles import BundlesDialog, ReasonDialog
from curator.ui.training.detect import DetectDialog
from curator.ui.training.evaluate import EvaluateDialog, FiguresDialog, reports
from curator.ui.training.map_window import MapDialog
from curator.ui.training.retrain import RetrainDialog
from curator.ui.training.retrain_live import RetrainLive
from tests.curator.services.fakes import document, finish
from tests.curator.ui.window.fakes import Desk, MakeDesk
from tests.curator.ui.window.test_main_window_projects import boxes, press_button

Key = Qt.Key


def shown(kind: type[QDialog]) -> list[QDialog]:
    return [one for one in QApplication.topLevelWidgets() if isinstance(one, kind) and one.isVisible()]


OPENERS: dict[str, type[QDialog]] = {
    "project.new": NewProjectDialog,
    "project.import": ImportDialog,
    "project.imports": ImportsDialog,
    "project.import_kb": ImportKbDialog,
    "project.fetch": FetchPubMedDialog,
    "project.types": TypeMappingDialog,
    "project.export": ExportDialog,
    "edit.settings": SettingsDialog,
    "tools.detect": DetectDialog,
    "model.retrain": RetrainDialog,
    "model.history": BundlesDialog,
    "model.map": MapDialog,
    "tools.evaluate": EvaluateDialog,
    "help.manual": Manual,
    "help.about": AboutDialog,
}


def test_escape_leaves_every_dialog_and_changes_nothing(desk: Desk, qtbot: QtBot, subtests: pytest.Subtests) -> None:
    for command, kind in OPENERS.items():
        with subtests.test(command):
            before = len(desk.world.jobs.started)
            desk.window.menus.action(command).trigger()
            [dialog] = shown(kind)
            assert dialog.accessibleName()
            desk.press(Key.Key_Escape, at=dialog)
            qtbot.waitUntil(lambda kind=kind: not shown(kind))
            assert len(desk.world.jobs.started) == before
            assert len(desk.bench.jobs) == 0


# --- import ---


def test_the_report_of_an_import_waits_and_the_type_mapping_behind_it(
    make_desk: MakeDesk, qtbot: QtBot, tmp_path: Path
) -> None:
    desk = make_desk(documents=0)
    path = desk.world.write(document(7).replace("blorbitis\tSpecificDisease\t-1", "blorbitis\tSpecificDisease\tD999"))
    flow = desk.window.session.features.flows
    dialog = flow.import_documents([path])
    qtbot.waitUntil(lambda: not dialog.list.reading)
    assert dialog.files.lines.index(0, 1).data() == "PubTator"
    dialog.split.setCurrentIndex(dialog.split.findData(Split.VALIDATION))
    dialog.gold.setChecked(True)
    with qtbot.waitSignal(desk.bench.jobs.ended):
        dialog.accept()
    assert not shown(ImportReportDialog)
    assert "1 document" in desk.bench.bottom.notice.words.words
    assert desk.bench.bottom.notice.words.words.endswith("(and 1 more)")
    desk.bench.notices.show()
    [report] = shown(ImportReportDialog)
    assert isinstance(report, ImportReportDialog)
    assert "1 document" in report.summary.text()
    report.copy.click()
    assert "D999 is not in the knowledge base" in QGuiApplication.clipboard().text()
    assert f"{path}:" in QGuiApplication.clipboard().text()
    report.reject()
    desk.bench.notices.show()
    [mapping] = shown(TypeMappingDialog)
    mapping.reject()
    assert desk.project.queue.counts().documents_by_split[Split.VALIDATION] == 1
    assert desk.bench.navigator.opened is not None


def test_a_file_that_cannot_be_read_is_refused_in_the_dialog(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    bad = tmp_path / "bad.txt"
    bad.write_bytes(b"\x00\x01no format at all")
    flow = desk.window.session.features.flows
    dialog = flow.import_documents([bad])
    qtbot.waitUntil(lambda: not dialog.list.reading)
    assert str(bad) in dialog.problem.text()
    dialog.accept()
    assert dialog.isVisible()
    dialog.files.selectRow(0)
    dialog.remove.click()
    dialog.accept()
    assert dialog.problem.text() == "Add at least one file."
    dialog.reject()


def test_without_a_knowledge_base_gold_cannot_be_ticked(make_desk: MakeDesk) -> None:
    desk = make_desk(documents=0, kb=False, index=False)
    flow = desk.window.session.features.flows
    dialog = flow.import_documents()
    assert not dialog.gold.isEnabled()
    dialog.reject()


def test_a_knowledge_base_is_imported_and_its_index_built(make_desk: MakeDesk, qtbot: QtBot, tmp_path: Path) -> None:
    desk = make_desk(documents=0, kb=False, index=False)
    path = tmp_path / "kb.jsonl"
    path.write_text('{"id": "X:1", "name": "One", "types": ["T"]}\n', encoding="utf-8")
    flow = desk.window.session.features.flows
    flow.load_knowledge_base(path)
    qtbot.waitUntil(lambda: len(desk.world.jobs.started) == 2 and len(desk.bench.jobs) == 0)
    assert [spec["stages"] for _, spec in desk.world.jobs.started] == [["lexical"], ["lexical", "names"]]
    assert desk.project.knowledge.info() is not None
    built = next(job.outcome for job in desk.bench.jobs.listed if job.kind is JobKind.INDEX)
    assert built is not None
    assert built.message
    assert desk.said == built.message


def test_a_missing_knowledge_base_is_told_in_a_sentence(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    flow = desk.window.session.features.flows
    with qtbot.waitSignal(desk.bench.jobs.ended):
        flow.load_knowledge_base(tmp_path / "gone.jsonl")
    assert not boxes()
    desk.bench.notices.show()
    [box] = boxes()
    assert "gone.jsonl" in box.text()
    press_button(box, "OK")


def test_the_report_as_text_has_file_and_line(desk: Desk) -> None:
    path = desk.world.write("99|t|Title\nnot a line\n\n", name="odd.pubtator")
    report = finish(desk.project.importing.documents([path]))
    assert f"{path}:2: " in as_text(report)


# --- mapping, export, settings ---


def test_the_mapping_is_edited_by_ticks(desk: Desk, qtbot: QtBot) -> None:
    flow = desk.window.session.features.flows
    dialog = flow.edit_type_mapping()
    assert dialog is not None
    names = [dialog.types.item(row).text() for row in range(dialog.types.count())]
    row = next(i for i, words in enumerate(names) if words.startswith("SpecificDisease"))
    dialog.types.setCurrentRow(row)
    ticks = {dialog.entities.item(i).text(): dialog.entities.item(i) for i in range(dialog.entities.count())}
    assert ticks["Disease"].checkState() is Qt.CheckState.Checked
    ticks["Chemical"].setCheckState(Qt.CheckState.Checked)
    dialog.accept()
    wanted = {"Chemical", "Disease"}
    qtbot.waitUntil(lambda: set(desk.project.knowledge.mapping().types_for("SpecificDisease")) == wanted)
    qtbot.waitUntil(lambda: desk.said == "Changed the type mapping")


def test_propose_anew_takes_edits_back(qtbot: QtBot) -> None:
    proposal = TypeMapping({"A": ("X",)})
    dialog = TypeMappingDialog(TypeMapping({"A": ()}), proposal, mention_types={"A": 3}, entity_types=("X", "Y"))
    qtbot.addWidget(dialog)
    dialog.propose.click()
    assert dialog.mapping == proposal


def test_gold_is_exported_where_the_dialog_says(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    desk.press(Key.Key_Return)
    flow = desk.window.session.features.flows
    dialog = flow.export_gold()
    out = tmp_path / "out.pubtator"
    dialog.path.set_path(out)
    with qtbot.waitSignal(desk.bench.jobs.ended):
        dialog.accept()
    assert not boxes()
    assert str(out) in desk.bench.bottom.notice.words.words
    desk.bench.notices.show()
    [box] = boxes()
    assert str(out) in box.text()
    press_button(box, "OK")
    assert "Lidocaine\tChemical\tD008012" in out.read_text(encoding="utf-8")


def test_the_dialog_says_whether_a_file_or_a_folder_is_made(desk: Desk) -> None:
    flow = desk.window.session.features.flows
    dialog = flow.export_gold()
    usual = dialog.path.path
    assert usual is not None
    assert (usual.name, dialog.made.text()) == ("gold.pubtator", "A file is written.")
    dialog.path.set_path(usual.parent)
    assert dialog.made.text() == "A folder is written."
    dialog.formats.setCurrentIndex(dialog.formats.findData("brat"))
    usual = dialog.path.path
    assert usual is not None
    assert (usual.name, dialog.made.text()) == ("gold-brat", "A folder is written.")
    dialog.path.set_path(usual.with_suffix(".zip"))
    assert dialog.made.text() == "A zip archive is written."
    dialog.reject()


def test_the_export_says_what_it_holds_and_what_it_loses_before_it_is_written(desk: Desk, qtbot: QtBot) -> None:
    desk.project.curation.decide_many(desk.world.mentions(1), Verdict.nil())
    flow = desk.window.session.features.flows
    dialog = flow.export_gold()
    qtbot.waitUntil(lambda: dialog.holds.text().startswith("This export writes 2 documents with 8 mentions"))
    assert dialog.holds.text().endswith(": 4 NIL decisions, 4 without a decision.")
    assert not dialog.lost.isVisible()
    dialog.formats.setCurrentIndex(dialog.formats.findData("text"))
    qtbot.waitUntil(dialog.lost.isVisible)
    assert dialog.holds.text().startswith("This export writes 2 documents with 0 mentions: no decision")
    assert "Plain text cannot hold mentions: 8 mentions" in dialog.lost.text()
    dialog.formats.setCurrentIndex(dialog.formats.findData("pubtator"))
    qtbot.waitUntil(lambda: not dialog.lost.isVisible())
    dialog.scopes.setCurrentIndex(dialog.scopes.findData("done"))
    qtbot.waitUntil(lambda: "0 documents" in dialog.holds.text())
    dialog.reject()


def test_export_into_a_missing_folder_is_refused(qtbot: QtBot, tmp_path: Path) -> None:
    dialog = ExportDialog([("pubtator", "PubTator")], place=tmp_path)
    qtbot.addWidget(dialog)
    dialog.path.set_path(tmp_path / "no" / "gold")
    dialog.accept()
    assert "does not exist" in dialog.problem.text()
    dialog.reject()


def test_settings_have_a_field_for_each_option_and_keep_its_value(qtbot: QtBot) -> None:
    dialog = SettingsDialog(Settings(curator_name="Ada", font_size=14))
    qtbot.addWidget(dialog)
    assert list(dialog.fields) == [one.name for one in options() if one.kind is not OptionKind.KEYS]
    assert dialog.settings == Settings(curator_name="Ada", font_size=14)


def test_a_new_project_needs_a_new_name(qtbot: QtBot, tmp_path: Path) -> None:
    (tmp_path / "old.curation").mkdir()
    dialog = NewProjectDialog(place=tmp_path)
    qtbot.addWidget(dialog)
    for name, problem in (("", "name"), ("a/b", "slashes"), ("old", "already exists")):
        dialog.name.setText(name)
        dialog.accept()
        assert problem in dialog.problem.text()
    dialog.name.setText("new")
    assert dialog.check() == ""
    assert dialog.folder == tmp_path / "new.curation"


# --- retraining ---


def retraining(desk: Desk, qtbot: QtBot, recipe: str = "curator") -> RetrainDialog:
    model = desk.window.session.features.model
    dialog = model.retrain()
    dialog.choose(recipe)
    qtbot.waitUntil(lambda: "links" in dialog.learns.text())
    return dialog


def ready_to_train(make_desk: MakeDesk) -> Desk:
    desk = make_desk(documents=0)
    desk.world.documents(8, gold=True, hold_out=1)
    return desk


def test_retrain_says_what_is_missing_before_it_starts(desk: Desk, qtbot: QtBot) -> None:
    dialog = retraining(desk, qtbot)
    assert not dialog.ok.isEnabled()
    assert "at least 20 links" in dialog.problem.text()
    dialog.reject()


def test_retrain_shows_each_recipe_with_its_parameters(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    dialog = retraining(desk, qtbot)
    recipes = desk.project.retraining.recipes()
    for recipe in recipes:
        dialog.choose(recipe.id)
        assert dialog.recipe == recipe
        assert recipe.summary in dialog.description.text()
        assert dialog.values == {one.name: one.default for one in recipe.parameters}
        assert all(field.parent() is not None for field in dialog.fields.values()), "each is laid out"
    qtbot.waitUntil(lambda: dialog.ok.isEnabled())
    assert "21 links" in dialog.learns.text()
    dialog.reject()


@pytest.mark.parametrize("verdict", list(GateVerdict)[:3])
def test_a_retraining_ends_with_a_verdict(make_desk: MakeDesk, qtbot: QtBot, verdict: GateVerdict) -> None:
    desk = ready_to_train(make_desk)
    desk.world.jobs.verdict = verdict.value
    dialog = retraining(desk, qtbot)
    dialog.limited.setChecked(True)
    dialog.minutes.setValue(7)
    dialog.tensorboard.setChecked(True)
    with qtbot.waitSignal(desk.bench.jobs.ended):
        dialog.accept()
    _, spec = desk.world.jobs.started[-1]
    assert spec["max_minutes"] == 7
    assert spec["tensorboard"]
    [live] = shown(RetrainLive)
    assert isinstance(live, RetrainLive)
    new = desk.project.retraining.bundles()[-1]
    assert new.active is (verdict is GateVerdict.PROMOTE)
    assert live.promote.isVisible() is not new.active
    assert live.headline.text().startswith({"promote": "Better", "no_gain": "No gain"}.get(verdict.value, "Worse"))
    if verdict is GateVerdict.NO_GAIN:
        live.promote.click()
        press_button(boxes()[-1], "Use anyway")
        assert desk.project.retraining.bundles()[-1].active
    if verdict is GateVerdict.REFUSED:
        live.promote.click()
        [dialog] = shown(ReasonDialog)
        assert isinstance(dialog, ReasonDialog)
        dialog.accept()
        assert dialog.isVisible(), "not without a reason"
        dialog.line.setText("rare names matter more")
        dialog.accept()
        assert desk.project.retraining.bundles()[-1].active
        assert desk.project.retraining.activations()[-1].reason == "rare names matter more"
    live.reject()


def test_a_failed_retraining_says_why(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = ready_to_train(make_desk)
    desk.world.jobs.outcomes = [JobOutcome(JobState.FAILED, "The disk is full. Free some space.")]
    dialog = retraining(desk, qtbot)
    with qtbot.waitSignal(desk.bench.jobs.ended):
        dialog.accept()
    [live] = shown(RetrainLive)
    assert isinstance(live, RetrainLive)
    assert live.words.text() == "The disk is full. Free some space."
    assert not live.promote.isVisible()
    live.reject()


def test_history_lists_bundles_and_rolls_back(desk: Desk, qtbot: QtBot) -> None:
    model = desk.window.session.features.model
    dialog = model.show_bundles()
    QAbstractItemModelTester(dialog.model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    assert dialog.model.rowCount() == 2
    assert dialog.chosen is not None
    assert dialog.chosen.active
    dialog.rollback.click()
    [box] = boxes()
    former = desk.project.retraining.bundles()[0]
    assert f"Roll back to the linker {former.id} ({former.recipe}, made on " in box.text()
    with qtbot.waitSignal(desk.bench.bridge.changed):
        press_button(box, "Roll back")
    qtbot.waitUntil(lambda: desk.project.retraining.bundles()[0].active)
    assert desk.said == f"Rolled back to linker {desk.project.retraining.bundles()[0].id}"
    dialog.reject()


# --- tools and help ---


def test_an_evaluation_shows_its_figures(desk: Desk, qtbot: QtBot, tmp_path: Path) -> None:
    from curator.domain.decisions import Verdict
    from curator.domain.documents import DocumentState

    desk.project.curation.decide(desk.world.mentions(1)[0], Verdict.link("MESH:D008012"))
    desk.project.curation.set_state(1, DocumentState.DONE)
    estimate = {"value": 0.5, "low": 0.25, "high": 0.75}
    desk.world.jobs.result = {"split": "train", "figures": {"recall@1": estimate}, "mentions": 4, "message": "Half."}
    desk.world.jobs.result["html"] = "<p>Half.</p>"
    model = desk.window.session.features.model
    dialog = model.evaluate()
    dialog.splits.setCurrentIndex(dialog.splits.findData(Split.TRAIN))
    with qtbot.waitSignal(desk.bench.jobs.ended):
        dialog.accept()
    assert not shown(FiguresDialog)
    desk.bench.notices.show()
    [figures] = shown(FiguresDialog)
    [table] = figures.findChildren(FigureTable)
    assert [table.item(3, column).text() for column in range(3)] == ["Recall@1", "50.0 %", "25.0 – 75.0"]
    figures.save_to(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "<p>Half.</p>"
    figures.save_to(tmp_path / "none" / "report.html")
    [box] = boxes()
    assert "does not exist. Create it" in box.text()
    press_button(box, "OK")
    figures.reject()


def test_what_can_be_asked_of_an_evaluation(desk: Desk) -> None:
    model = desk.window.session.features.model
    dialog = model.evaluate()
    lexical, full = desk.project.evaluation.bundles()
    assert dialog.wish == EvaluationWish(Split.TRAIN, full.id), "the first split that has documents"
    dialog.splits.setCurrentIndex(dialog.splits.findData(Split.VALIDATION))
    dialog.against.setCurrentIndex(dialog.against.findData(full.id))
    dialog.accept()
    assert "Comparing a linker with itself" in dialog.problem.text()
    dialog.against.setCurrentIndex(dialog.against.findData(lexical.id))
    dialog.memory.setChecked(False)
    assert dialog.check() == ""
    assert dialog.wish == EvaluationWish(Split.VALIDATION, full.id, lexical.id, memory=False)
    dialog.replay.setChecked(True)
    assert dialog.then.isVisible()
    assert not dialog.against.isVisible()
    dialog.splits.setCurrentIndex(dialog.splits.findData(Split.TRAIN))
    dialog.then.setCurrentIndex(dialog.then.findData(Split.VALIDATION))
    assert dialog.wish == ReplayWish(Split.TRAIN, full.id, Split.VALIDATION, memory=False)
    dialog.reject()


def test_a_report_opens_in_the_browser(qtbot: QtBot) -> None:
    stretch = {"decisions": 30, "recall_at_1": 0.5, "more_keys": 0.25, "more_than_digit": 0.125, "nil_f1": None}
    result = {"split": "train", "replay": {"every": stretch, "last": stretch}, "html": "<p>Curves.</p>"}
    opened: list[QUrl] = []

    def browse(url: QUrl) -> bool:
        opened.append(url)
        return True

    dialog = FiguresDialog(result, open_url=browse)
    qtbot.addWidget(dialog)
    assert dialog.windowTitle() == "Replay of train"
    dialog.show_report.click()
    [url] = opened
    report = Path(url.toLocalFile())
    assert report.read_text(encoding="utf-8") == "<p>Curves.</p>"
    reports().cleanup()  # as when the program ends
    reports.cache_clear()
    assert not report.exists()


def test_an_evaluation_without_gold_is_refused(desk: Desk) -> None:
    model = desk.window.session.features.model
    model.evaluate().accept()
    [box] = boxes()
    assert "No document of the split train" in box.text()
    press_button(box, "OK")


def test_detection_marks_the_open_document(desk: Desk, qtbot: QtBot) -> None:
    for mention in desk.world.mentions(1):
        desk.project.curation.delete_mention(mention)
    desk.bench.navigator.reload()
    desk.press(Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    [dialog] = shown(DetectDialog)
    assert isinstance(dialog, DetectDialog)
    with qtbot.waitSignal(desk.bench.jobs.ended):
        dialog.accept()
    qtbot.waitUntil(lambda: len(desk.bench.navigator.opened.mentions) == 1)  # type: ignore[union-attr]


def test_the_types_to_detect_are_chosen_and_kept(desk: Desk, qtbot: QtBot) -> None:
    model = desk.window.session.features.model
    dialog = model.detect(everywhere=False)
    assert dialog is not None
    info = desk.project.knowledge.info()
    assert info is not None
    usual = desk.project.detection.usual_types()
    assert set(dialog.types) == set(usual or info.types)
    dialog.none.click()
    dialog.accept()
    assert "Tick at least one" in dialog.problem.text()
    dialog.list.item(0).setCheckState(Qt.CheckState.Checked)
    with qtbot.waitSignal(desk.bench.jobs.ended):
        dialog.accept()
    assert desk.world.linker.detected_types == (info.types[0],)
    again = model.detect(everywhere=False)
    assert again is not None
    assert again.types == (info.types[0],)
    again.all.click()
    assert again.types == tuple(info.types)
    again.reject()


def test_the_overlay_names_every_command_with_a_key_and_gives_the_keyboard_back(desk: Desk, qtbot: QtBot) -> None:
    desk.press(Key.Key_Question)
    [overlay] = desk.window.findChildren(KeysOverlay)
    text = " ".join(one.text() for one in overlay.findChildren(QWidget) if hasattr(one, "text"))
    for command in COMMANDS:
        if command.shortcuts and not command.hidden:
            assert command.title.removesuffix("…").replace("&", "&amp;").replace("'", "&#x27;") in text
            assert keys_words(command)
    desk.press(Key.Key_N, at=overlay)  # no key is the window's while it is up
    assert desk.bench.reasons.outcome is None
    desk.press(Key.Key_Escape, at=overlay)
    assert desk.bench.document.hasFocus()


def test_diagnostics_hold_no_text_of_any_document(desk: Desk) -> None:
    desk.press(Key.Key_Return)
    desk.window.menus.action("help.diagnostics").trigger()
    text = QGuiApplication.clipboard().text()
    assert "Python" in text
    assert "blorbitis" not in text
    assert "slowed" not in text


def test_about_says_which_device_serves(desk: Desk) -> None:
    import dataclasses

    desk.world.linker.status = dataclasses.replace(desk.world.linker.status, device="The encoder runs on the GPU X.")
    desk.window.menus.action("help.about").trigger()
    [dialog] = shown(AboutDialog)
    assert isinstance(dialog, AboutDialog)
    assert dialog.device.text() == "The encoder runs on the GPU X."
    assert "LGPL" in " ".join(one.text() for one in dialog.findChildren(QWidget) if hasattr(one, "text"))
    assert "MiniLM" in dialog.notice.toPlainText()
    dialog.reject()


def test_the_first_page_makes_a_project(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    window.welcome.first.click()
    [dialog] = shown(NewProjectDialog)
    assert isinstance(dialog, NewProjectDialog)
    dialog.name.setText("fresh")
    dialog.place.set_path(tmp_path)
    dialog.accept()
    assert window.bench is not None
    assert (tmp_path / "fresh.curation" / "project.sqlite").is_file()
