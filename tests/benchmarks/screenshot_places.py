"""Further places of the window for `screenshots --places`, each reached by the keys and menus of a curator.

Not among them: a second window on a small screen, and what depends on time (estimates, the disk).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QWidget

from curator.domain.jobs import JobOutcome, JobState
from curator.services.ports.queue import QueueFilter
from curator.ui.files.new_project import NewProjectDialog

if TYPE_CHECKING:
    from tests.benchmarks.screenshots import Session

Key = Qt.Key
CTRL = Qt.KeyboardModifier.ControlModifier
DEMO = Path(__file__).parents[2] / "resources" / "demo" / "pubmed"
OTHER = "Ben Okafor"
LINKED = "colchicine"
WINDOWS = {
    "decisions": "view.decisions",
    "bundles": "model.history",
    "settings": "edit.settings",
    "shortcuts": "edit.shortcuts",
    "i-am": "people.i_am",
    "rounds-empty": "people.rounds",
    "export": "project.export",
    "import": "project.import",
    "imports": "project.imports",
    "types": "project.types",
    "detect": "tools.detect",
    "evaluate": "tools.evaluate",
    "release": "project.release",
    "fetch": "project.fetch",
    "keys": "help.keys",
    "manual": "help.manual",
    "about": "help.about",
}
"""Windows and dialogs, and the commands that open them."""


def take(session: Session) -> None:
    """Every place; one that is not reached is said and left out."""
    places: tuple[Callable[[Session], None], ...] = (
        _done_question,
        _marks,
        _another_theme,
        _change,
        _held_back,
        _notice,
        _knowledge,
        _windows,
        _round,
        _adjudication,
        _new_project,
    )
    for place in places:
        try:
            place(session)
        except (AssertionError, AttributeError, LookupError, StopIteration) as wrong:
            print(f"Not reached: {place.__name__.strip('_')} ({wrong!r})")
        session.leave()


def _knowledge(session: Session) -> None:
    """The hierarchy in place of the candidates, and all uses of an entity."""
    session.select(lambda one: one.mention.text == LINKED)
    session.command("view.hierarchy")
    session.shot("tree")
    session.press(Key.Key_Escape)
    session.command("mention.uses")
    session.shot("uses", after=1.5)
    session.leave()


def _done_question(session: Session) -> None:
    session.press(Key.Key_Return, modifier=CTRL)
    session.shot("done-question")
    session.press(Key.Key_Escape)


def _marks(session: Session) -> None:
    """A flag and a comment on a mention and on the document."""
    session.go_to("colchicine")
    session.press(Key.Key_F, Key.Key_C)
    session.shot("comment")
    session.type("dose?")
    session.press(Key.Key_Return)
    session.command("queue.flag")
    session.command("queue.comment")
    session.type("title too?")
    session.press(Key.Key_Return)
    session.shot("marks")


def _another_theme(session: Session) -> None:
    """The colours change while a reason is asked for, and come back."""
    session.press(Key.Key_N)
    for theme in ("dark" if session.theme == "light" else "light", session.theme):
        session.command(f"view.{theme}")
    session.shot("reason-after-another-theme")
    session.press(Key.Key_Escape)


def _change(session: Session) -> None:
    """What somebody else decided."""
    preferences = session.hand.window.preferences
    before = preferences.settings.curator_name
    preferences.set_curator(OTHER)
    session.select(lambda one: one.decision is not None)
    session.press(Key.Key_2)
    session.shot("change-question")
    session.press(Key.Key_Escape)
    preferences.set_curator(before)


def _held_back(session: Session) -> None:
    session.hand.window.preferences.step("holdout_percent", 50)
    session.command("queue.next")
    session.select(lambda one: one.decision is None and one.held_out)
    session.shot("held-back")
    session.command("queue.previous")
    session.hand.window.preferences.step("holdout_percent", -50)


def _notice(session: Session) -> None:
    """A training that ended meanwhile."""
    notices = session.hand.bench.notices
    notices.add_outcome(
        "Retraining", JobOutcome(JobState.DONE, "The new bundle serves: Recall@1 rose from 61 to 68 %.")
    )
    session.shot("notice")
    notices.dismiss()


def _windows(session: Session) -> None:
    for name, command in WINDOWS.items():
        session.command(command)
        session.shot(name)
        session.leave()


def _round(session: Session) -> None:
    """Two curators judge the first document; what is refused meanwhile is shown."""
    people = session.hand.window.session.features.people
    rounds, name = session.hand.bench.project.rounds, session.hand.window.preferences.settings.curator_name
    made = rounds.create("pilot", session.hand.bench.project.queue.ids(QueueFilter())[:1])
    session.command("people.rounds")
    session.shot("rounds")
    session.leave()
    for curator, key in ((OTHER, Key.Key_2), (name, Key.Key_1)):
        session.hand.window.preferences.set_curator(curator)
        people.mode.enter(made)
        session.hand.until(lambda: session.hand.bench.candidates.list.model().rowCount() > 0)
        session.press(*[key] * 3)
        if curator == name:
            session.shot("round")
            session.command("people.i_am")
            session.shot("i-am-in-round")
            session.command("edit.settings")
            session.shot("settings-in-round")
            session.leave()
        people.leave_round()
    rounds.close(made.id)


def _adjudication(session: Session) -> None:
    session.command("people.agreement")
    session.shot("agreement")
    session.leave()
    session.command("people.adjudicate")
    session.shot("adjudication")
    session.press(Key.Key_1)
    session.shot("adjudicated")


def _new_project(session: Session) -> None:
    """Page by page, then the first import while it runs and what it reports."""
    session.hand.window.session.new_project(documents=[DEMO / "train.pubtator"], knowledge_base=DEMO / "kb.jsonl")
    dialog = next(one for one in _shown() if isinstance(one, NewProjectDialog))
    dialog.name.setText("chemicals")
    dialog.place.set_path(session.folder)
    for number in range(1, 5):
        session.shot(f"new-project-{number}")
        if number < 4:
            dialog.next.click()
    dialog.ok.click()
    session.hand.rest(0.1)
    session.shot("first-import", after=0.0)
    session.hand.until(lambda: _quiet(session), 60.0)


def _quiet(session: Session) -> bool:
    bench = session.hand.window.bench
    return bench is not None and bench.jobs.shown is None


def _shown() -> list[QWidget]:
    return [one for one in QApplication.topLevelWidgets() if one.isVisible()]
