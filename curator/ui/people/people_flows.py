"""The *People* commands for an open project: names, rounds, agreement, adjudication."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QWidget

from curator.domain.decisions import Change, ChangeKind
from curator.domain.jobs import JobOutcome, JobState
from curator.domain.rounds import Round, RoundKind
from curator.domain.wording import UserError, ntr, tr
from curator.services.ports.address import SharedAddress
from curator.services.ports.queue import QueueFilter
from curator.ui.bench.workbench import Workbench
from curator.ui.kit.form import ask_file
from curator.ui.kit.labels import Banner
from curator.ui.kit.messages import choose, tell
from curator.ui.people.round_mode import RoundMode

if TYPE_CHECKING:
    from curator.ui.files.save_as import SaveDialog
    from curator.ui.people.agreement_window import AgreementWindow
    from curator.ui.people.i_am import IAmDialog
    from curator.ui.people.rounds import NewRoundDialog, RoundEntry, RoundsDialog

WHO = "Your decisions are saved under the name “{name}”."
BY_LOGIN = "You decide as “{name}”: the owner of this shared project gave your login this name."
IN_ROUND = (
    "You are in the round “{name}” as {curator}. Leave it first (People › Leave the round); then you can continue "
    "under another name."
)
NO_ROUND = "No rounds yet. Create one with People › Rounds."
NONE_CLOSED = "No round is closed yet. Close one with People › Rounds to adjudicate its disagreements."
EXPORT_INTRO = (
    "Writes the round's documents and judgements as JSON lines, without any text. Send the file to a "
    "colleague who has the same documents, or back to the person who collects the judgements."
)
MINE, ALL = "Only my judgements", "Everybody's judgements"


class PeopleFlows(QObject):
    """`rename` saves a new curator's name; `named` shows whether a name was ever entered; `name_held` gives the reason
    why it cannot change now in any window."""

    def __init__(
        self,
        bench: Workbench,
        *,
        rename: Callable[[str], None],
        named: Callable[[], bool],
        name_held: Callable[[], str],
    ) -> None:
        super().__init__(bench)
        self._bench = bench
        self._rename = rename
        self._name_held = name_held
        self._dialog: RoundsDialog | None = None
        self._windows: list[AgreementWindow] = []
        self.who = Banner(tr("Curator's name"), bench)
        self.who.add_button(tr("That is me"), lambda: self._i_am(bench.project.curation.curator))
        self.who.add_button(tr("Another name…"), self.say_who_i_am)
        bench.middle.insertWidget(0, self.who)
        self.mode = RoundMode(bench)
        bench.bridge.changed.connect(self._changed)
        if not named() and not bench.project.read_only and not bench.project.person:
            self.who.say(tr(WHO, name=bench.project.curation.curator))

    @property
    def _window(self) -> QWidget:
        return self._bench.window()

    def start(self) -> None:
        """Return to the curator's round once the window shows the project."""
        if self.mode.active is None:
            self.mode.start()

    # --- names ---

    @property
    def holds_name(self) -> str:
        """The reason why the curator's name cannot change now (a round is active); '' if it can."""
        if self.mode.active is None:
            return ""
        return tr(IN_ROUND, name=self.mode.active.name, curator=self._bench.project.curation.curator)

    def say_who_i_am(self) -> IAmDialog | None:
        """Ask for the name; refused in a round, since another curator's decisions are stored separately."""
        from curator.ui.people.i_am import IAmDialog

        project = self._bench.project
        if held := tr(BY_LOGIN, name=project.person) if project.person else self._name_held():
            self._bench.say(held)
            return None
        dialog = IAmDialog(project.curation.curator, project.people(), self._window)
        dialog.accepted.connect(lambda: self._i_am(dialog.name))
        dialog.open()
        return dialog

    def _i_am(self, name: str) -> None:
        self.who.say("")
        before = self._bench.project.curation.curator
        self._rename(name)
        self._bench.say(tr("Your decisions are now saved under the name “{name}”.", name=name))
        if name != before:
            self.mode.end_adjudication()
            self.mode.start()
        self._bench.state_changed.emit()
        self._bench.focus_document()

    # --- rounds ---

    def show_rounds(self) -> RoundsDialog:
        from curator.ui.people.rounds import RoundsDialog

        project = self._bench.project
        shared = isinstance(project.place, SharedAddress)
        dialog = RoundsDialog(self._rows(), writable=not project.read_only, shared=shared, parent=self._window)
        dialog.new_wanted.connect(self.new_round)
        dialog.import_wanted.connect(self.import_round)
        dialog.enter_wanted.connect(self._enter)
        dialog.close_wanted.connect(self._close)
        dialog.export_wanted.connect(self.export_round)
        dialog.agreement_wanted.connect(self._agree)
        dialog.adjudication_wanted.connect(self._adjudicate)
        dialog.finished.connect(lambda _: self._forget_dialog())
        self._dialog = dialog
        dialog.open()
        return dialog

    def _forget_dialog(self) -> None:
        self._dialog = None

    def _rows(self) -> list[RoundEntry]:
        from curator.ui.people.rounds import RoundEntry

        rounds = self._bench.project.rounds
        active = rounds.active()
        return [RoundEntry(one, tuple(rounds.progress(one.id)), one == active) for one in rounds.all()]

    def _show_rows(self) -> None:
        if self._dialog is not None:
            self._dialog.show_rows(self._rows())

    def new_round(self) -> NewRoundDialog:
        from curator.ui.people.rounds import NewRoundDialog

        project, where = self._bench.project, self._bench.navigator.where
        every = sum(project.queue.counts().documents.values())
        filtered = project.queue.count(where) if where != QueueFilter() else None
        dialog = NewRoundDialog(documents=every, filtered=filtered, parent=self._dialog or self._window)

        def make() -> None:
            rounds = project.rounds
            if dialog.of_queue:
                ids = project.queue.ids(where)[: dialog.count]
            else:
                own = dialog.kind is RoundKind.CONSISTENCY
                ids = rounds.choose_documents(dialog.count, split=dialog.split, decided=own)
            self._do(lambda: rounds.create(dialog.name, ids, kind=dialog.kind))

        dialog.accepted.connect(make)
        dialog.open()
        return dialog

    def _enter(self, found: Round) -> None:
        if self.mode.judging and self.mode.active is not None and self.mode.active.id == found.id:
            self.leave_round()
        elif self._do(lambda: self.mode.enter(found)) and self._dialog is not None:
            self._dialog.accept()
            self._bench.focus_document()

    def leave_round(self) -> None:
        self.mode.leave()
        self._show_rows()

    def _close(self, found: Round) -> None:
        rounds = self._bench.project.rounds
        if found.closed:
            self._do(lambda: rounds.reopen(found.id))
            return
        if self.mode.judging and self.mode.active is not None and self.mode.active.id == found.id:
            self.mode.leave()
        self._do(lambda: rounds.close(found.id))

    def export_round(self, found: Round) -> None:
        """Ask whose judgements to export, then the file."""
        name = self._bench.project.curation.curator
        words = tr(
            "Which judgements of “{name}” should be exported? Curators who are still deciding should "
            "not see those of others.",
            name=found.name,
        )
        choose(
            self._dialog or self._window,
            tr("Export the round"),
            words,
            {
                tr(MINE): lambda: self._export(found, (name,)),
                tr(ALL): lambda: self._export(found, ()),
                tr("Cancel"): _nothing,
            },
        )

    def _export(self, found: Round, curators: tuple[str, ...]) -> None:
        self.ask_place(found, curators)

    def ask_place(self, found: Round, curators: tuple[str, ...]) -> SaveDialog:
        from curator.ui.files.save_as import SaveDialog

        whose = f"-{curators[0]}" if curators else ""
        safe = "".join(ch if ch.isalnum() or ch in "-_ " else "_" for ch in f"{found.name}{whose}").strip()
        place = self._bench.project.folder.parent / f"{safe}.round.jsonl"
        dialog = SaveDialog(
            tr("Export the round"), intro=tr(EXPORT_INTRO), place=place, parent=self._dialog or self._window
        )

        def write() -> None:
            report = self._bench.project.round_files.export(found.name, dialog.out, curators=curators)
            self._bench.say(
                ntr(
                    "Wrote {n} judgement to {path}.",
                    "Wrote {n:,} judgements to {path}.",
                    report.judgements,
                    path=report.path,
                )
            )

        dialog.accepted.connect(lambda: self._do(write))
        dialog.open()
        return dialog

    def import_round(self) -> QFileDialog:
        parent, mode = self._dialog or self._window, QFileDialog.FileMode.ExistingFile
        return ask_file(parent, tr("Import a round"), self.read_round, mode=mode, filters="*.jsonl (*.jsonl)")

    def read_round(self, path: Path) -> None:
        """Read in a worker thread and report the result."""
        files = self._bench.project.round_files

        def work() -> dict[str, Any]:
            report = files.read(path)
            return {"message": report.text, "notes": "\n".join(report.problems)}

        def then(outcome: JobOutcome) -> None:
            notes = str(outcome.result.get("notes", ""))
            self._bench.notices.add_outcome(tr("Import a round"), outcome, details=notes)
            self._show_rows()

        self._bench.jobs.ask(work, then=then)

    # --- agreement and adjudication ---

    def show_agreement(self) -> None:
        """Show the agreement of the only round, or ask for the round."""
        rounds = self._bench.project.rounds.all()
        self._choose_round(tr("Agreement"), rounds, tr(NO_ROUND), lambda one: self._agreement(one.name))

    def _agree(self, found: Round) -> None:
        """Show the figures in their own window, which the dialog would block; it reopens afterwards."""
        if self._dialog is not None:
            self._dialog.accept()
        self._agreement(found.name, then=partial(self._show_round, found.id))

    def _show_round(self, round_id: int) -> None:
        """Show the window of rounds with this one selected."""
        at = next((at for at, row in enumerate(self._rows()) if row.round.id == round_id), 0)
        self.show_rounds().table.go_to(at)

    def _agreement(self, name: str, *, then: Callable[[], None] | None = None) -> None:
        """Open the window at once and fill it from a worker thread: the intervals take a second. `then` is called when
        the curator closes it."""
        from curator.ui.people.agreement_window import AgreementWindow

        service = self._bench.project.agreement

        def work() -> dict[str, Any]:
            return {"report": service.report(name), "consistency": service.consistency()}

        window = AgreementWindow(name, self._window)
        window.export_wanted.connect(lambda text: self._save_csv(window, name, text))

        def closed() -> None:
            if window in self._windows:  # by the curator, not with the project
                self._windows.remove(window)
                if then is not None:
                    then()

        window.finished.connect(closed)
        self._windows.append(window)
        window.show()

        def ended(outcome: JobOutcome) -> None:
            if window not in self._windows:
                return  # closed meanwhile
            if outcome.state is JobState.DONE:
                window.show_report(outcome.result["report"], outcome.result["consistency"])
            else:
                window.show_problem(outcome.message)

        self._bench.jobs.ask(work, then=ended)

    def _save_csv(self, window: QWidget, name: str, text: str) -> None:
        from curator.ui.files.save_as import SaveDialog

        place = self._bench.project.folder.parent / f"agreement-{name}.csv"
        intro = tr("Writes every row of the tables: the round, its pairs, types and documents.")
        dialog = SaveDialog(tr("Export agreement"), intro=intro, place=place, parent=window)

        def write() -> None:
            self._bench.project.save_text(dialog.out, text)
            self._bench.say(tr("Wrote the agreement to {out}.", out=dialog.out))

        dialog.accepted.connect(lambda: self._do(write))
        dialog.open()

    def adjudicate(self) -> None:
        rounds = self._bench.project.rounds.all()
        closed = [one for one in rounds if one.closed and one.kind is not RoundKind.CONSISTENCY]
        self._choose_round(tr("Adjudicate"), closed, tr(NONE_CLOSED), self._adjudicate)

    def _adjudicate(self, found: Round) -> None:
        if self._do(lambda: self.mode.adjudicate(found)) and self._dialog is not None:
            self._dialog.accept()
            self.mode.panel.list.setFocus()

    def _choose_round(self, title: str, rounds: list[Round], nothing: str, then: Callable[[Round], None]) -> None:
        if not rounds:
            tell(self._window, title, nothing)
        elif len(rounds) == 1:
            then(rounds[0])
        else:
            self.show_rounds()

    def close_windows(self) -> None:
        windows, self._windows = self._windows, []
        for window in windows:
            window.close()

    # --- inside ---

    def _changed(self, change: Change) -> None:
        if change.kind is ChangeKind.ROUND:
            self._show_rows()

    def _do(self, act: Callable[[], object]) -> bool:
        try:
            act()
        except UserError as error:
            tell(self._dialog or self._window, tr("Rounds"), str(error), wrong=True)
            return False
        self._show_rows()
        return True


def _nothing() -> None:
    return
