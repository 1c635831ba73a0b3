"""No key decides what its curator did not see: the rule in the whole window, with keys that have a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QWidget
from pytestqt.qtbot import QtBot

from curator.bootstrap import SystemClock
from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import DocumentState
from curator.domain.facets import Facet, Facets
from curator.domain.suggestions import Candidate, NilEstimate
from curator.services.curating.deciding import decide_in
from curator.services.ports.queue import QueueFilter
from curator.ui.deciding.decider import DOCUMENT_DECIDED, EXCLUDED, OUT_OF_SIGHT, SAME, TOO_SOON, TOO_SOON_HERE
from curator.ui.deciding.propagation import TOO_SOON as LIST_TOO_SOON
from curator.ui.entities.entity_form import EntityForm
from curator.ui.kit.sight import SEEN_SECONDS, Sight
from curator.ui.people.people_flows import IN_ROUND
from curator.ui.shell.main_window import DROPPED
from tests.curator.ui.seeing import Clock, seeing
from tests.curator.ui.window.fakes import CTRL, PLAIN, SHIFT, Desk, MakeDesk
from tests.curator.ui.window.test_entities import to_front

Key = Qt.Key
LIDOCAINE = Verdict.link("MESH:D008012")


@pytest.fixture(autouse=True)
def clock(qapp: QApplication) -> Iterator[Clock]:
    made = Clock()
    with seeing(qapp, made):
        yield made


@dataclass
class Person:
    """Presses keys as a display hands them over, so many seconds after what was painted last."""

    desk: Desk
    clock: Clock

    def look(self, seconds: float = 0.3) -> None:
        for _ in range(3):
            QApplication.processEvents()
        self.clock.now += seconds

    def press(self, key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
        window = QApplication.focusWindow() or self.desk.window.windowHandle()
        QTest.keyClick(window, key, modifiers)

    @property
    def said(self) -> str:
        return self.desk.said

    def steps(self) -> int:
        """How many operations were recorded."""
        with self.desk.world.store.read() as unit:
            return unit.operations.next_undo() or 0

    def decided(self) -> int:
        return sum(self.desk.project.queue.counts().decisions_by_outcome.values())


@pytest.fixture
def person(desk: Desk, clock: Clock) -> Person:
    made = Person(desk, clock)
    desk.bench.focus_document()
    made.look(1.0)
    made.look(1.0)
    return made


def test_enter_decides_what_was_seen_and_not_the_mention_that_came_up_meanwhile(desk: Desk, person: Person) -> None:
    person.press(Key.Key_Return)
    assert person.decided() == 1
    person.look(SEEN_SECONDS - 0.02)
    person.press(Key.Key_Return)
    assert person.decided() == 1, "the next mention had only just come up"
    assert person.said == TOO_SOON.format(text=desk.word)
    person.look(0.03)
    person.press(Key.Key_Return)
    assert person.decided() == 2


@pytest.mark.parametrize("every", [0.31, 0.32, 0.33])
def test_a_rhythm_of_enter_decides_one_mention_each_time_and_opens_nothing(person: Person, every: float) -> None:
    for count in range(1, 4):
        person.press(Key.Key_Return)
        assert person.decided() == count
        assert not person.desk.bench.many.is_open
        person.look(every)


def test_keys_faster_than_sight_leave_mentions_undecided_and_never_skip_one(desk: Desk, person: Person) -> None:
    first = desk.bench.navigator.mention_id
    for _ in range(4):
        person.press(Key.Key_Return)
        person.look(1 / 12)
    current = desk.project.curation.current(desk.world.mentions(1))
    assert first in current
    assert len(current) == 2, "1st and 3rd press; 2nd and 4th came too soon"


@pytest.mark.parametrize("key", [Key.Key_1, Key.Key_Backspace, Key.Key_Delete, Key.Key_F])
def test_every_key_about_a_mention_needs_to_have_seen_it(desk: Desk, person: Person, key: Qt.Key) -> None:
    person.press(Key.Key_Return)
    person.press(Key.Key_Up)
    person.look(0.05)
    before = person.steps()
    person.press(key)
    assert person.steps() == before
    assert person.said == TOO_SOON.format(text=desk.word)


@pytest.mark.parametrize(("key", "modifiers"), [(Key.Key_D, PLAIN), (Key.Key_F, SHIFT), (Key.Key_Return, CTRL)])
def test_every_key_about_a_document_needs_to_have_seen_it(
    desk: Desk, person: Person, key: Qt.Key, modifiers: Qt.KeyboardModifier
) -> None:
    person.press(Key.Key_PageDown)
    person.look(0.05)
    before = person.steps()
    person.press(key, modifiers)
    assert person.steps() == before
    assert not desk.bench.reasons.asked
    assert person.said == TOO_SOON_HERE


def test_a_candidate_painted_again_has_been_seen_and_another_in_its_place_has_not(desk: Desk, person: Person) -> None:
    desk.world.linker.manual = True  # no answer to the decision puts the first candidates back
    desk.bench.navigator.set_limit(3)
    person.look(0.05)
    person.press(Key.Key_1)
    assert person.decided() == 1, "the same rows were only painted again"
    person.look()
    view = desk.bench.navigator.mention
    assert view is not None
    assert view.suggestion is not None
    other = replace(view.suggestion.candidates[0], entity_id="MESH:D001145")
    desk.bench.navigator.mention = replace(view, suggestion=replace(view.suggestion, candidates=(other,)))
    desk.bench.navigator.mention_changed.emit()
    person.look(0.05)
    person.press(Key.Key_1)
    assert person.decided() == 1, "another entity stands in the row that the digit names"


def test_a_mention_scrolled_out_of_view_is_brought_back_before_it_is_decided(desk: Desk, person: Person) -> None:
    text = desk.bench.document
    text.is_in_sight = lambda _: False  # type: ignore[method-assign]
    text.viewport().update()
    person.look()
    person.press(Key.Key_Return)
    assert person.decided() == 0
    assert person.said == OUT_OF_SIGHT.format(text=desk.word)


def test_an_entity_is_made_for_no_mention_that_is_scrolled_out_of_view(desk: Desk, person: Person) -> None:
    text = desk.bench.document
    for seen_first in (False, True):
        text.is_in_sight = lambda _, seen=seen_first: seen  # type: ignore[method-assign]
        text.viewport().update()
        person.look()
        person.press(Key.Key_E)
    text.is_in_sight = lambda _: False  # type: ignore[method-assign]
    text.viewport().update()
    person.look()
    assert isinstance(desk.bench.side.currentWidget(), EntityForm), "it opened the second time"
    person.press(Key.Key_Return)
    assert person.decided() == 0
    assert person.said == OUT_OF_SIGHT.format(text=desk.word)
    text.is_in_sight = lambda _: True  # type: ignore[method-assign]
    text.viewport().update()
    person.look()
    person.press(Key.Key_Return)
    assert person.decided() == 1


@pytest.mark.parametrize("key", [Key.Key_N, Key.Key_X, Key.Key_S])
def test_the_strip_of_reasons_takes_its_first_key_when_it_was_seen(person: Person, key: Qt.Key) -> None:
    person.press(key)
    person.look(0.05)
    person.press(Key.Key_Return)
    assert person.decided() == 0
    assert person.said == DROPPED
    assert person.desk.bench.reasons.outcome is not None, "it goes on asking"
    person.look(0.15)
    person.press(Key.Key_Return)
    assert person.decided() == 1


def test_the_list_of_other_mentions_takes_its_step_when_it_was_seen(desk: Desk, person: Person) -> None:
    person.press(Key.Key_Return, SHIFT)
    person.look(0.05)
    person.press(Key.Key_Return, SHIFT)
    assert person.decided() == 0
    assert desk.bench.many.is_open
    person.look(0.15)
    person.press(Key.Key_Return, SHIFT)
    assert person.decided() == 2


def test_a_list_that_is_filled_anew_takes_its_step_when_that_was_seen(desk: Desk, person: Person) -> None:
    person.press(Key.Key_Return, SHIFT)
    person.look()
    panel = desk.bench.many.others
    assert panel.others is not None
    panel.show_others(panel.others)  # as when another mention is decided in the text while the list is open
    person.look(0.05)
    person.press(Key.Key_Down)
    person.press(Key.Key_Return)
    person.press(Key.Key_Return, SHIFT)
    assert person.decided() == 0
    assert not panel.list.moved_in
    assert person.said == LIST_TOO_SOON
    person.look(0.15)
    person.press(Key.Key_Return, SHIFT)
    assert person.decided() == 2


def test_a_dialog_takes_its_first_key_when_it_was_seen(desk: Desk, person: Person) -> None:
    person.press(Key.Key_Comma, CTRL)
    dialog = next(one for one in QApplication.topLevelWidgets() if type(one).__name__ == "SettingsDialog")
    assert QTest.qWaitForWindowActive(dialog)
    person.look(0.05)
    person.press(Key.Key_Escape)
    assert dialog.isVisible()
    person.look(0.15)
    person.press(Key.Key_Escape)
    assert "SettingsDialog" not in [type(one).__name__ for one in QApplication.topLevelWidgets() if one.isVisible()]


def test_every_part_that_can_open_and_take_keys_is_watched(desk: Desk) -> None:
    """A panel, strip, page or popup that is hidden when the project opens."""
    sight = Sight.of_process()
    assert sight is not None

    def is_hidden(widget: QWidget) -> bool:
        around = widget.parentWidget()
        return not widget.isVisibleTo(desk.window) and around is not None and around.isVisibleTo(desk.window)

    def takes_keys(widget: QWidget) -> bool:
        return any(one.focusPolicy() & Qt.FocusPolicy.TabFocus for one in (widget, *widget.findChildren(QWidget)))

    hidden = [one for one in desk.bench.findChildren(QWidget) if is_hidden(one) and takes_keys(one)]
    assert {"ReasonStrip", "CommentStrip", "SearchPane", "FindBar", "AdjudicationPanel", "GuidelinesPanel"} <= {
        type(one).__name__ for one in hidden
    }
    unwatched = [f"{type(one).__name__} {one.objectName()}" for one in hidden if not sight.watches(one)]
    assert not unwatched, "\n".join(unwatched)


# --- doubtful suggestions, and mentions that the filter excludes, take a second press ---

HEART_ARREST = Verdict.link("MESH:D006323")


def suggest(desk: Desk, person: Person, first: float, *, nil: float, is_nil: bool = False) -> None:
    """Make this the suggestion for “cardiac arrest” in the first document, and go there."""
    at = desk.bench.navigator
    view = at.opened.mentions[1]  # type: ignore[union-attr]
    given = [
        Candidate("MESH:D006323", "Heart Arrest", ("Disease",), "Heart Arrest", 0.9, probability=first),
        Candidate("MESH:D001145", "Arrhythmia", ("Disease",), "Arrhythmia", 0.8, probability=(1 - first) / 4),
    ]
    assert view.suggestion is not None
    made = replace(view.suggestion, candidates=tuple(given), nil=NilEstimate(nil, is_nil, True))
    with desk.world.store.write() as unit:
        unit.suggestions.save([made])
    at.reload()
    at.select(view.mention.id)
    person.look()


DOUBTFUL = (
    pytest.param(0.16, 0.1, False, HEART_ARREST, "only 0.16", id="the first is improbable"),
    pytest.param(0.3, 0.6, False, HEART_ARREST, "more probable", id="NIL is more probable"),
    pytest.param(0.3, 0.6, True, Verdict.nil(), "NIL is suggested", id="NIL is suggested"),
)


@pytest.mark.parametrize(("first", "nil", "is_nil", "verdict", "words"), DOUBTFUL)
def test_enter_says_that_a_suggestion_is_doubtful_and_takes_a_second_press(
    desk: Desk, person: Person, first: float, nil: float, is_nil: bool, verdict: Verdict, words: str
) -> None:
    suggest(desk, person, first, nil=nil, is_nil=is_nil)
    assert "twice" in desk.bench.candidates._decided.words
    person.press(Key.Key_Return)
    assert person.decided() == 0
    assert words in person.said
    person.look(0.05)
    person.press(Key.Key_Return)
    assert person.decided() == 0, "what was said had only just come up"
    person.look(SEEN_SECONDS)
    person.press(Key.Key_Return)
    assert desk.decision("cardiac arrest").verdict == verdict  # type: ignore[union-attr]
    assert desk.word == "arrhythmia", "the next mention"


@pytest.mark.parametrize(("first", "nil", "is_nil", "words"), [(0.16, 0.1, False, "only"), (0.3, 0.6, True, "NIL is")])
def test_enter_in_the_list_of_candidates_says_it_too_and_links(
    desk: Desk, person: Person, first: float, nil: float, is_nil: bool, words: str
) -> None:
    suggest(desk, person, first, nil=nil, is_nil=is_nil)
    desk.bench.candidates.list.setFocus()
    person.press(Key.Key_Return)
    assert person.decided() == 0
    assert words in person.said
    person.look()
    person.press(Key.Key_Return)
    assert desk.decision("cardiac arrest").verdict == HEART_ARREST  # type: ignore[union-attr]


def test_a_search_for_an_excluded_mention_stays_for_the_second_press(desk: Desk, person: Person, qtbot: QtBot) -> None:
    desk.bench.queue.narrow(QueueFilter(facets=Facets.of({Facet.TYPE: ["Chemical"]})))
    desk.bench.navigator.select(3)
    desk.bench.focus_document()
    person.look()
    person.press(Key.Key_Slash)
    panel = desk.search
    panel.line.setText("heart arrest")
    qtbot.waitUntil(lambda: panel.model.rowCount() > 0 and not panel.busy)
    for count in range(2):
        assert desk.bench.searching
        person.look()
        person.press(Key.Key_Return)
        assert person.decided() == count
    assert desk.decision("arrhythmia").verdict == HEART_ARREST  # type: ignore[union-attr]


@pytest.mark.parametrize(("first", "nil"), [(0.2, 0.1), (0.5, 0.5), (0.99, 0.01)])
def test_a_first_candidate_that_leads_takes_one_press(desk: Desk, person: Person, first: float, nil: float) -> None:
    suggest(desk, person, first, nil=nil)
    person.press(Key.Key_Return)
    assert person.decided() == 1


def test_a_held_enter_is_no_second_press(desk: Desk, person: Person, clock: Clock) -> None:
    suggest(desk, person, 0.16, nil=0.1)
    window = desk.window.windowHandle()
    person.press(Key.Key_Return)
    for _ in range(20):
        person.look(0.05)
        repeated = QKeyEvent(QEvent.Type.KeyPress, Key.Key_Return, PLAIN, "\r", True)
        QApplication.sendEvent(window, repeated)
    assert person.decided() == 0


@pytest.mark.parametrize("key", [Key.Key_1, Key.Key_0])
def test_keys_that_name_their_answer_take_one_press(desk: Desk, person: Person, key: Qt.Key) -> None:
    suggest(desk, person, 0.16, nil=0.6)
    person.press(key)
    assert person.decided() == 1


def test_what_was_said_of_one_mention_does_not_hold_for_another(desk: Desk, person: Person) -> None:
    suggest(desk, person, 0.16, nil=0.1)
    person.press(Key.Key_Return)
    person.look()
    person.press(Key.Key_Down)
    person.look()
    person.press(Key.Key_Up)
    person.look()
    person.press(Key.Key_Return)
    assert person.decided() == 0
    assert "only 0.16" in person.said


def test_the_second_press_counts_as_a_key(desk: Desk, person: Person) -> None:
    desk.bench.meter.watch()
    suggest(desk, person, 0.16, nil=0.1)
    for _ in range(2):
        person.press(Key.Key_Return)
        person.look()
    desk.project.efforts.flush()
    assert [one.keys for one in desk.project.efforts.spent()] == [2]


@pytest.mark.parametrize("key", [Key.Key_Return, Key.Key_1, Key.Key_0, Key.Key_N, Key.Key_X, Key.Key_S, Key.Key_Delete])
def test_a_mention_that_the_filter_excludes_takes_a_second_press(desk: Desk, person: Person, key: Qt.Key) -> None:
    desk.bench.queue.narrow(QueueFilter(facets=Facets.of({Facet.TYPE: ["Chemical"]})))
    desk.bench.focus_document()
    person.look()
    desk.bench.navigator.select(2)
    person.look()
    before = person.steps()
    person.press(key)
    assert (person.steps(), person.said) == (before, EXCLUDED.format(text="cardiac arrest"))
    assert not desk.bench.reasons.asked
    person.look()
    person.press(key)
    assert person.steps() == before + 1 or desk.bench.reasons.asked


# --- documents ---


def test_a_document_with_undecided_mentions_is_done_only_after_an_answer(desk: Desk, person: Person) -> None:
    document = desk.bench.navigator.opened.document.id  # type: ignore[union-attr]
    state = lambda: desk.project.queue.open(document).document.state  # noqa: E731
    person.press(Key.Key_Return, CTRL)
    assert state() is not DocumentState.DONE
    assert "4 of 4 mentions are undecided" in desk.bench.reasons.question.words
    assert "an export keeps the identifier" in desk.bench.reasons.note.text()
    person.look()
    person.press(Key.Key_Escape)
    assert state() is not DocumentState.DONE
    person.look()
    person.press(Key.Key_Return, CTRL)
    person.look()
    person.press(Key.Key_L)
    assert state() is DocumentState.DONE
    assert person.decided() == 0


@pytest.mark.parametrize(("key", "outcome"), [(Key.Key_N, Outcome.NIL), (Key.Key_X, Outcome.REJECTED)])
def test_the_answer_decides_the_rest_and_undo_takes_it_back(
    desk: Desk, person: Person, key: Qt.Key, outcome: Outcome
) -> None:
    person.press(Key.Key_Return, CTRL)
    person.look()
    person.press(key)
    assert desk.project.queue.counts().decisions_by_outcome[outcome] == 4
    assert desk.project.queue.open(1).document.state is DocumentState.DONE
    for _ in range(2):
        desk.bench.decider.undo()
    assert person.decided() == 0


def test_shift_ctrl_enter_asks_nothing(desk: Desk, person: Person) -> None:
    person.press(Key.Key_Return, CTRL | SHIFT)
    assert desk.project.queue.open(1).document.state is DocumentState.DONE
    person.look(0.05)
    person.press(Key.Key_Return, CTRL | SHIFT)
    assert desk.project.queue.open(2).document.state is not DocumentState.DONE
    assert person.said == TOO_SOON_HERE


# --- decided mentions ---


def decide_as(desk: Desk, curator: str, mention_id: int, verdict: Verdict) -> None:
    with desk.world.store.write() as unit:
        decide_in(unit, [mention_id], [verdict], curator=curator, clock=SystemClock())
    desk.bench.navigator.reload()


def test_enter_on_a_decided_mention_changes_nothing(desk: Desk, person: Person) -> None:
    person.press(Key.Key_Return)
    person.press(Key.Key_Up)
    person.look()
    person.press(Key.Key_Return)
    assert desk.word == "Lidocaine"
    assert len(desk.project.curation.history(1)) == 1
    assert "is already decided: Lidocaine" in person.said


def test_enter_at_the_end_of_a_document_says_how_to_mark_it_as_done(desk: Desk, person: Person) -> None:
    while not desk.bench.state.complete:
        person.look()
        person.press(Key.Key_Return)
    person.look()
    person.press(Key.Key_Return)
    assert person.said == (
        f"{DOCUMENT_DECIDED} Ctrl+↵ marks the document done and opens the next. "
        "4 mentions in other documents are undecided."
    )
    assert desk.bench.bottom.hints.shown[0] == ("Ctrl+↵", "done, next document")
    desk.bench.decider.mark_done()
    desk.bench.navigator.step_document(-1)
    assert not desk.bench.state.complete, "done, so that Ctrl+Return would reopen it"


def test_a_skipped_mention_keeps_its_document_from_being_called_decided(desk: Desk, person: Person) -> None:
    for one in desk.world.mentions(1):
        person.look()
        person.press(Key.Key_S)
        person.look()
        person.press(Key.Key_Return)
        assert desk.bench.project.curation.current([one])[one].verdict.outcome is Outcome.SKIPPED
    assert not desk.bench.state.complete
    assert person.said.startswith("Every mention of this document is decided except 4 that are skipped.")
    person.look()
    person.press(Key.Key_Return)
    assert "is skipped" in person.said
    desk.bench.decider.mark_done()
    assert desk.bench.line.currentWidget() is desk.bench.reasons
    assert desk.bench.reasons.question.words == "4 of 4 mentions are skipped. Mark the document done?"
    assert desk.bench.project.queue.row(1).state is DocumentState.IN_PROGRESS


def test_the_same_decision_again_adds_nothing_to_the_history(desk: Desk, person: Person) -> None:
    person.press(Key.Key_1)
    person.press(Key.Key_Up)
    person.look()
    person.press(Key.Key_1)
    assert len(desk.project.curation.history(1)) == 1
    assert person.said == SAME.format(text="Lidocaine")


@pytest.mark.parametrize("curator", ["import:gold.txt", "Bea"])
def test_what_others_decided_is_changed_after_a_question(desk: Desk, person: Person, curator: str) -> None:
    decide_as(desk, curator, 1, LIDOCAINE)
    desk.bench.navigator.select(1)
    person.look()
    person.press(Key.Key_N)
    person.look()
    person.press(Key.Key_Return)
    assert len(desk.project.curation.history(1)) == 1
    words = desk.bench.reasons.question.words
    assert "Lidocaine" in words
    assert curator in words
    assert "NIL" in words
    person.look(0.05)
    person.press(Key.Key_Return)
    assert len(desk.project.curation.history(1)) == 1, "the question had only just come up"
    person.look(0.15)
    person.press(Key.Key_Return)
    assert [one.verdict.outcome for one in desk.project.curation.history(1)] == [Outcome.LINK, Outcome.NIL]


def test_esc_keeps_what_others_decided(desk: Desk, person: Person) -> None:
    decide_as(desk, "import:gold.txt", 1, LIDOCAINE)
    desk.bench.navigator.select(1)
    person.look()
    person.press(Key.Key_X)
    person.look()
    person.press(Key.Key_Return)
    person.look()
    person.press(Key.Key_Escape)
    assert [one.verdict for one in desk.project.curation.history(1)] == [LIDOCAINE]
    assert desk.bench.document.hasFocus()


# --- names ---


def test_another_name_is_refused_in_a_round(make_desk: MakeDesk) -> None:
    desk = make_desk()
    rounds = desk.project.rounds
    rounds.create("R", [1, 2])
    people = desk.window.session.features.people
    people.mode.enter(rounds.all()[0])
    assert people.say_who_i_am() is None
    assert desk.said == IN_ROUND.format(name="R", curator="ada")
    assert people.mode.judging


def test_the_settings_keep_the_name_in_a_round_and_say_why(make_desk: MakeDesk) -> None:
    desk = make_desk()
    rounds = desk.project.rounds
    rounds.create("R", [1, 2])
    people = desk.window.session.features.people
    people.mode.enter(rounds.all()[0])
    beside = desk.window.windows.new(desk.window)
    for window in (desk.window, beside):  # all windows share the name
        dialog = window.preferences.edit()
        name = dialog.fields["curator_name"]
        said = IN_ROUND.format(name="R", curator="ada")
        assert not name.isEnabled()
        assert name.accessibleDescription() == said
        assert said in [one.text() for one in dialog.findChildren(QLabel)]
        dialog.reject()
    beside.close()
    people.leave_round()
    assert desk.window.preferences.edit().fields["curator_name"].isEnabled()


def test_uses_that_were_never_on_the_screen_are_not_changed(desk: Desk, person: Person) -> None:
    desk.world.documents(40, first=100, name="more.pubtator", gold=True)
    flows = desk.window.session.features.uses
    window = flows.show_uses_of("MESH:D006323")
    assert window is not None
    window.resize(1000, 420)
    for _ in range(100):
        QApplication.processEvents()
        QTest.qWait(10)
        if window.uses is not None:
            break
    person.look(1.0)
    person.look(1.0)
    steps = person.steps()
    to_front(window)
    person.look(1.0)
    person.press(Key.Key_A)
    person.press(Key.Key_N)
    assert not window.strip.isVisible()
    assert "were never on the screen" in window.note.text()
    at = window.page.list.currentIndex().row()
    assert at > 3, "it leads to the first that was not seen"
    for _ in range(12):
        person.look(1.0)
        person.press(Key.Key_PageDown)
    person.look(1.0)
    person.press(Key.Key_N)
    assert window.strip.isVisible()
    assert person.steps() == steps
    window.strip.dismiss()
    window.reject()


def test_hits_that_were_never_on_the_screen_become_no_mentions(desk: Desk, person: Person, qtbot: QtBot) -> None:
    desk.world.documents(40, first=100, name="more.pubtator")
    flows = desk.window.session.features.corpus
    window = flows.show()
    assert window is not None
    window.resize(1000, 420)
    window.page.form.line.setText("slowed")
    qtbot.waitUntil(lambda: window.page.list.lines.rowCount() > 40)  # once typing has rested
    qtbot.waitUntil(lambda: not window.worker.busy)
    window.page.list.setFocus()
    person.look(1.0)
    person.look(1.0)
    to_front(window)
    person.look(1.0)
    person.press(Key.Key_A)
    person.press(Key.Key_N)
    assert not window.picker.isVisible()
    assert "were never on the screen" in window.note.text()
    assert window.page.list.currentIndex().row() > 3, "it leads to the first that was not seen"
    for _ in range(window.page.list.lines.rowCount()):
        person.look(1.0)
        person.press(Key.Key_PageDown)
    person.look(1.0)
    person.press(Key.Key_N)
    assert window.picker.isVisible()
    window.picker.hide()
