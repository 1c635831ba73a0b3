"""What the commands ask for, each in a line or two: the window's implementation of `commands.WindowActions`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication

from curator.domain.decisions import Outcome
from curator.domain.documents import slice_spans
from curator.domain.wording import tr
from curator.ui.text_actions import TextActions

if TYPE_CHECKING:
    from curator.ui.entity_flows import EntityFlows
    from curator.ui.model_flows import ModelFlows
    from curator.ui.people_flows import PeopleFlows
    from curator.ui.preferences import Preferences
    from curator.ui.project_flows import ProjectFlows
    from curator.ui.record_flows import RecordFlows
    from curator.ui.seeing_flows import SeeingFlows
    from curator.ui.session import Session


class Actions(TextActions):
    """Commands are enabled by the window's state, so what needs an open project is only asked for with one."""

    def __init__(self, session: Session, preferences: Preferences) -> None:
        self._session = session
        self._preferences = preferences

    @property
    def _flows(self) -> ProjectFlows:
        assert self._session.flows is not None
        return self._session.flows

    @property
    def _model(self) -> ModelFlows:
        assert self._session.model is not None
        return self._session.model

    @property
    def _people(self) -> PeopleFlows:
        assert self._session.people is not None
        return self._session.people

    @property
    def _records(self) -> RecordFlows:
        assert self._session.records is not None
        return self._session.records

    @property
    def _entities(self) -> EntityFlows:
        assert self._session.entities is not None
        return self._session.entities

    @property
    def _seeing(self) -> SeeingFlows:
        assert self._session.seeing is not None
        return self._session.seeing

    # --- Project ---

    def new_project(self) -> None:
        self._session.new_project()

    def open_project(self) -> None:
        self._session.choose_project()

    def new_window(self) -> None:
        self._session.new_window()

    def open_in_new_window(self) -> None:
        self._session.choose_project(beside=True)

    def close_project(self) -> None:
        self._session.leave(self._session.close)

    def import_documents(self) -> None:
        self._flows.import_documents()

    def show_imports(self) -> None:
        self._flows.imports.show_imports()

    def undo_import(self) -> None:
        self._flows.imports.undo_last()

    def import_knowledge_base(self) -> None:
        self._flows.import_knowledge_base()

    def fetch_from_pubmed(self) -> None:
        self._flows.fetch_from_pubmed()

    def edit_type_mapping(self) -> None:
        self._flows.edit_type_mapping()

    def export_gold(self) -> None:
        self._flows.export_gold()

    def quit(self) -> None:
        self._session.quit()

    # --- Edit ---

    def undo(self) -> None:
        self._bench.decider.undo()

    def redo(self) -> None:
        self._bench.decider.redo()

    def edit_settings(self) -> None:
        self._preferences.edit()

    def edit_shortcuts(self) -> None:
        self._preferences.edit_shortcuts()

    # --- Mention ---

    def step_mention(self, direction: int) -> None:
        self._bench.navigator.step(direction)

    def next_undecided(self) -> None:
        self._bench.navigator.next_undecided()

    def choose(self, rank: int) -> None:
        bench = self._bench
        bench.many.press(lambda: bench.decider.choose(rank))

    def link_also(self, rank: int) -> None:
        self._bench.decider.also_rank(rank)

    def mark_nil(self) -> None:
        self._bench.ask_reason(Outcome.NIL)

    def mark_usual_nil(self) -> None:
        self._bench.many.usual(Outcome.NIL)

    def reject(self) -> None:
        self._bench.ask_reason(Outcome.REJECTED)

    def skip(self) -> None:
        self._bench.ask_reason(Outcome.SKIPPED)

    def clear_decision(self) -> None:
        self._bench.decider.clear()

    def make_entity(self) -> None:
        self._entities.make_for_mention()

    def show_nils(self) -> None:
        self._entities.show_nils()

    def show_kb_update(self) -> None:
        self._entities.show_update()

    def compare_candidates(self) -> None:
        self._bench.desk.toggle_contrast()

    def tint_words(self) -> None:
        self._bench.desk.toggle_tints()

    def show_hidden_candidates(self) -> None:
        self._bench.desk.toggle_hidden()

    def shuffle_candidates(self) -> None:
        self._preferences.shuffle_candidates()
        self._bench.say(self._bench.desk.order_words)

    def search(self) -> None:
        self._bench.start_search()

    def search_mention_text(self) -> None:
        view = self._bench.navigator.mention
        self._bench.start_search(view.mention.text if view is not None else "")

    def search_also(self) -> None:
        self._bench.start_search(adding=True)

    def create_mention(self) -> None:
        bench = self._bench
        selection, opened = bench.document.selection, bench.navigator.opened
        if selection is None or opened is None:
            return
        place = bench.document.rect_of(selection).bottomLeft().toPoint() + QPoint(0, 6)
        bench.types.ask(
            slice_spans(opened.document.text, [selection]),
            bench.known_types(),
            at=bench.document.viewport().mapToGlobal(place),
            usual=bench.usual_type,
        )

    def delete_mention(self) -> None:
        self._bench.decider.delete_mention()

    def list_others(self) -> None:
        self._bench.many.list_others()

    def decide_and_list(self, outcome: Outcome) -> None:
        self._bench.many.usual(outcome, others=True)

    def accept_in_bulk(self) -> None:
        self._bench.many.accept_in_bulk()

    # --- Queue ---

    def step_document(self, direction: int) -> None:
        self._bench.navigator.step_document(direction)

    def mark_done(self, *, anyway: bool) -> None:
        self._bench.decider.mark_done(anyway=anyway)

    def filter_queue(self) -> None:
        self._bench.queue.focus_filter()

    def focus_facets(self) -> None:
        self._bench.queue.focus_facets()

    def clear_filter(self) -> None:
        self._bench.queue.clear()

    def step_order(self) -> None:
        self._bench.queue.step_order()

    def flag_mention(self) -> None:
        self._bench.noter.flag_mention()

    def flag_document(self) -> None:
        self._bench.noter.flag_document()

    def comment_mention(self) -> None:
        self._bench.ask_comment(on_document=False)

    def comment_document(self) -> None:
        self._bench.ask_comment(on_document=True)

    def discuss_document(self) -> None:
        self._bench.noter.discuss()

    def show_guidelines(self) -> None:
        self._bench.toggle_guidelines()

    # --- People and records ---

    def say_who_i_am(self) -> None:
        if self._session.people is not None:
            self._session.people.say_who_i_am()
        else:
            self._preferences.edit()

    def show_rounds(self) -> None:
        self._people.show_rounds()

    def leave_round(self) -> None:
        self._people.leave_round()

    def show_agreement(self) -> None:
        self._people.show_agreement()

    def adjudicate(self) -> None:
        self._people.adjudicate()

    def show_suspicious(self) -> None:
        self._records.show_suspicious()

    def export_audit(self) -> None:
        self._records.export_audit()

    def export_knowledge_base(self) -> None:
        self._records.export_knowledge_base()

    def release(self) -> None:
        self._records.release()

    # --- Model and Tools ---

    def retrain(self) -> None:
        self._model.retrain()

    def resume_training(self) -> None:
        self._model.resume()

    def show_embedding_map(self) -> None:
        self._model.show_map()

    def show_bundles(self) -> None:
        self._model.show_bundles()

    def build_index(self) -> None:
        self._model.build_index(anew=True)

    def calibrate(self) -> None:
        self._model.calibrate()

    def restart_linker(self) -> None:
        self._bench.project.suggestions.restart()

    def cancel_job(self) -> None:
        self._bench.jobs.cancel()

    def detect_mentions(self) -> None:
        self._model.detect(everywhere=False)

    def detect_mentions_everywhere(self) -> None:
        self._model.detect(everywhere=True)

    def evaluate(self) -> None:
        self._model.evaluate()

    def show_result(self) -> None:
        self._bench.notices.show()

    # --- View and Help ---

    def set_theme(self, name: str) -> None:
        self._preferences.set_theme(name)

    def zoom(self, steps: int) -> None:
        self._preferences.zoom(steps)

    def show_dashboard(self) -> None:
        self._seeing.show_dashboard()

    def show_decisions(self) -> None:
        self._seeing.show_decisions()

    def show_jobs(self) -> None:
        self._seeing.show_jobs()

    def go_back(self) -> None:
        self._seeing.go_back()

    def next_pane(self) -> None:
        self._bench.next_pane()

    def show_palette(self) -> None:
        self._session.palette_wanted.emit()

    def reset_layout(self) -> None:
        self._session.reset_wanted.emit()

    def show_manual(self) -> None:
        from curator.ui.manual import Manual  # each of these is loaded when it is asked for

        Manual(self._session.window).show()

    def show_keys(self) -> None:
        from curator.ui.keys_overlay import KeysOverlay

        KeysOverlay(self._session.window, keymap=self._preferences.keymap)

    def copy_diagnostics(self) -> None:
        QGuiApplication.clipboard().setText(self._session.diagnostics())
        self._session.say(tr("Diagnostics are on the clipboard; they hold no text of any document."))

    def about(self) -> None:
        from curator.ui.dialogs.about import AboutDialog

        AboutDialog(device=self._session.device(), parent=self._session.window).open()
