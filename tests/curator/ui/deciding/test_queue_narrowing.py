"""Narrowing the queue over a real project: facets, chips, saved filters and lists of work."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from curator.bootstrap import Project
from curator.domain.decisions import Verdict
from curator.domain.facets import Facet, Facets
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.services.ports.queue import QueueFilter
from curator.services.queue import facets
from curator.services.queue.ordering import QueueOrder
from curator.ui.deciding.navigator import Navigator, _following
from curator.ui.queue.facets_panel import range_words, read_range
from curator.ui.queue.queue_panel import QueuePanel
from tests.curator.services.fakes import World, make_world

UNDECIDED = QueueFilter(facets=Facets.of({Facet.STATE: ["undecided"]}))
NIL = QueueFilter(facets=Facets.of({Facet.STATE: ["nil"]}))
CHEMICAL = QueueFilter(facets=Facets.of({Facet.TYPE: ["Chemical"], Facet.STATE: ["undecided"]}))


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """Three documents of four mentions; the first of each, a chemical, is the surest."""
    monkeypatch.setenv("CURATOR_CACHE", str(tmp_path / "cache"))
    made = make_world(tmp_path)
    made.kb()
    made.documents(3)
    with made.store.write() as unit:
        unit.suggestions.save([_suggestion(one) for one in range(1, 13)])
    yield made
    made.project.close()


def _suggestion(mention_id: int) -> Suggestion:
    probability = (0.9, 0.1, 0.6, 0.4)[(mention_id - 1) % 4] + mention_id / 1000
    candidate = Candidate(f"E{mention_id % 4}", "name", (), "name", 1.0, probability=probability)
    return Suggestion(mention_id, (candidate,), NilEstimate(0.1, False, True), Stamp("b", 0))


class Desk:
    """The queue and the navigator, joined as the workbench joins them."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.panel = QueuePanel()
        self.at = Navigator(project.queue, project.suggestions, self.panel)
        self.said: list[str] = []
        self.at.said.connect(self.said.append)
        self.panel.filter_changed.connect(lambda where: self.at.set_filter(where, self.panel.documents))
        self.panel.work_changed.connect(self.at.set_work)
        self.at.work_wanted.connect(self.panel.renew_work)
        self.at.document_changed.connect(lambda: self.panel.set_current(self.document))
        self.at.mention_changed.connect(lambda: self.panel.set_current_mention(self.mention))
        self.take()
        self.panel.set_counts(project.queue.counts())
        self.at.open_first()

    def take(self) -> None:
        """The project's queue, as when the project is opened."""
        one = self.project
        self.panel.set_source(one.queue.under, facets=one.facets, ordering=one.ordering, filters=one.filters)

    @property
    def document(self) -> int | None:
        return self.at.opened.document.id if self.at.opened is not None else None

    @property
    def mention(self) -> int | None:
        return self.at.mention.mention.id if self.at.mention is not None else None

    def decide(self) -> int:
        """As the decider does: on disk, then what is shown, then on."""
        assert self.mention is not None
        change = self.project.curation.decide(self.mention, Verdict.nil())
        self.panel.refresh(change.document_ids)
        self.panel.mark_decided(change.mention_ids, self.project.queue)
        self.at.patch({self.mention: self.project.curation.history(self.mention)[-1]})
        self.at.go_on()
        return self.mention


@pytest.fixture
def desk(qtbot: QtBot, world: World) -> Iterator[Desk]:
    made = Desk(world.project)
    qtbot.addWidget(made.panel)
    made.panel.resize(280, 700)
    made.panel.show()
    qtbot.waitExposed(made.panel)
    yield made
    made.panel.close_work()


def test_facets_show_counts_that_follow_the_others(desk: Desk, qtbot: QtBot) -> None:
    panel = desk.panel
    panel.focus_facets()
    assert panel.facets.hasFocus()
    assert panel.facets.counts(Facet.TYPE) == {"Chemical": 3, "SpecificDisease": 9}
    item = panel.facets.item(Facet.TYPE, "Chemical")
    assert item is not None
    panel.facets.setCurrentItem(item)
    qtbot.keyClick(panel.facets, Qt.Key.Key_Space)
    assert panel.where.facets == Facets.of({Facet.TYPE: ["Chemical"]})
    assert panel.facets.counts(Facet.TYPE) == {"Chemical": 3, "SpecificDisease": 9}
    assert panel.facets.counts(Facet.PROBABILITY) == {"0": 0, "0.5": 0, "0.8": 3}
    assert panel.footer.words == "3 mentions in 3 documents"
    assert panel.chips.words == ("Type: Chemical",)
    assert item is panel.facets.currentItem()
    qtbot.keyClick(panel.facets, Qt.Key.Key_Space)
    assert panel.where == QueueFilter()
    assert panel.chips.isHidden()


def test_a_chip_lifts_its_facet_and_clearing_lifts_all(desk: Desk, qtbot: QtBot) -> None:
    desk.panel.narrow(CHEMICAL)
    assert desk.panel.chips.words == ("State: undecided", "Type: Chemical")
    qtbot.mouseClick(desk.panel.chips.buttons[0], Qt.MouseButton.LeftButton)
    assert desk.panel.where.facets == Facets.of({Facet.TYPE: ["Chemical"]})
    desk.panel.clear()
    assert desk.panel.where == QueueFilter()
    assert desk.panel.footer.words == "3 documents"


def test_steps_walk_over_what_matches_from_document_to_document(desk: Desk) -> None:
    desk.panel.narrow(CHEMICAL)
    desk.at.open(1)
    assert desk.mention == 1
    desk.at.step(1)
    assert (desk.document, desk.mention) == (2, 5)
    desk.at.step(-1)
    assert (desk.document, desk.mention) == (1, 1)
    desk.at.step(-1)
    assert desk.said == ["This is the first document in the queue."]


@pytest.mark.parametrize(
    ("where", "decided", "place", "included"),
    [
        pytest.param(CHEMICAL, [], (1, 1), True, id="a match in the open document"),
        pytest.param(CHEMICAL, [1], (2, 5), True, id="the first match of the queue"),
        pytest.param(QueueFilter(facets=Facets.of({Facet.TYPE: ["SpecificDisease"]})), [], (1, 2), True, id="included"),
        pytest.param(NIL, [7], (2, 7), True, id="decided mentions"),
        pytest.param(NIL, [], (1, 2), False, id="no match at all"),
        pytest.param(QueueFilter(text="3"), [], (3, 9), True, id="another document"),
        pytest.param(QueueFilter(text="1"), [], (1, 2), True, id="this document"),
        pytest.param(QueueFilter(text="nothing like it"), [], (1, 2), False, id="no document"),
    ],
)
def test_a_filter_goes_to_the_first_mention_that_it_includes(
    desk: Desk, where: QueueFilter, decided: list[int], place: tuple[int, int], included: bool
) -> None:
    if decided:
        desk.project.curation.decide_many(decided, Verdict.nil())
    desk.at.open(1, 2)
    desk.panel.narrow(where)
    assert ((desk.document, desk.mention), desk.at.included) == (place, included)
    desk.panel.clear()
    assert ((desk.document, desk.mention), desk.at.included, desk.at.included_here) == (place, True, None)


def test_a_filter_that_is_counted_again_moves_nothing(desk: Desk) -> None:
    desk.panel.narrow(CHEMICAL)
    desk.at.open(1, 2)
    desk.panel.refresh()
    assert (desk.mention, desk.at.included, desk.at.included_here) == (2, False, frozenset({1}))


def test_the_end_of_the_queue_says_how_many_undecided_mentions_are_left(desk: Desk) -> None:
    desk.at.open(3)
    for mention in (9, 10, 11, 12):
        desk.project.curation.decide(mention, Verdict.nil())
    desk.at.reload()
    desk.at.next_undecided()
    assert desk.said[-1] == "8 undecided mentions are left, but none in the documents after this one."
    desk.project.curation.decide_many(list(range(1, 9)), Verdict.nil())
    desk.at.next_undecided()
    assert desk.said[-1] == "No undecided mentions are left."


def test_a_decided_mention_leaves_the_filtered_queue_and_the_next_comes(desk: Desk) -> None:
    desk.panel.narrow(CHEMICAL)
    desk.at.open(1)
    resets: list[None] = []
    desk.panel.model.modelReset.connect(lambda: resets.append(None))
    assert desk.decide() == 5
    assert list(desk.panel.documents or ()) == [2, 3]
    assert desk.panel.footer.words == "2 mentions in 2 of 3 documents"
    assert desk.decide() == 9
    assert desk.decide() == 9  # none is left: it stays, decided
    assert desk.said[-1].startswith("No mention after this one matches the filter")
    assert desk.at.mention is not None
    assert desk.at.mention.decision is not None
    assert resets == []


def test_in_the_plain_queue_a_decision_stays_in_its_document(desk: Desk) -> None:
    assert [desk.decide() for _ in range(3)] == [2, 3, 4]
    assert not desk.at.go_on() or desk.document == 1


def test_decided_mentions_can_be_gone_through_again(desk: Desk) -> None:
    desk.project.curation.decide_many([2, 7, 8], Verdict.nil())
    desk.panel.narrow(NIL)
    desk.at.open(1)
    visited = [desk.mention]
    for _ in range(2):
        desk.at.next_undecided()
        visited.append(desk.mention)
    assert visited == [2, 7, 8]


def test_documents_step_over_what_holds_no_match(desk: Desk) -> None:
    desk.project.curation.decide(5, Verdict.nil())
    desk.panel.narrow(CHEMICAL)
    desk.at.open(1)
    assert desk.at.step_document(1)
    assert desk.document == 3
    assert not desk.at.step_document(1)
    assert desk.at.step_document(-1)
    assert desk.document == 1


def test_a_list_of_work_hops_between_documents(desk: Desk, qtmodeltester: ModelTester) -> None:
    desk.panel.set_order(QueueOrder.UNCERTAIN)
    qtmodeltester.check(desk.panel.work)
    assert [row.mention_id for row in desk.panel.work.rows] == [2, 6, 10, 4, 8, 12, 3, 7, 11, 1, 5, 9]
    desk.at.open(1, 2)
    desk.at.step(1)
    assert (desk.document, desk.mention) == (2, 6)
    assert desk.decide() == 10
    assert desk.panel.footer.words == "11 of 12 to decide"
    desk.at.step(-1)
    desk.at.step(-1)
    assert (desk.document, desk.mention) == (1, 2)
    desk.at.step(-1)
    assert desk.said[-1] == "This is the first mention in the list."
    desk.at.next_undecided()
    assert desk.mention == 10  # the decided one is passed over


def test_a_used_up_list_is_made_anew(desk: Desk) -> None:
    desk.panel.narrow(CHEMICAL)
    desk.panel.set_order(QueueOrder.DIVERSE)
    first = [row.mention_id for row in desk.panel.work.rows]
    assert sorted(first) == [1, 5, 9]
    desk.at.open(3, first[-1]) if first[-1] == 9 else desk.at.open(1 + first[-1] // 4, first[-1])
    assert desk.decide() in first[:-1]
    assert len(desk.panel.work.rows) == 2
    desk.decide()
    desk.decide()
    assert desk.said[-1].startswith("No mention after this one matches the filter")


def test_the_order_goes_round_and_back(desk: Desk) -> None:
    orders = []
    for _ in QueueOrder:
        desk.panel.step_order()
        orders.append(desk.panel.order)
    assert set(orders) == set(QueueOrder)
    assert desk.panel.order is QueueOrder.DOCUMENT
    assert desk.panel.view is desk.panel.list


def damage(world: World, document_id: int) -> None:
    with world.store.write() as unit:
        unit.connection.exec_driver_sql(f"UPDATE document_texts SET text = text || 'x' WHERE document_id={document_id}")


@pytest.mark.parametrize("step", ["document", "undecided", "mention", "decision"])
@pytest.mark.parametrize(
    ("where", "order"),
    [(QueueFilter(), QueueOrder.DOCUMENT), (CHEMICAL, QueueOrder.DOCUMENT), (QueueFilter(), QueueOrder.UNCERTAIN)],
)
def test_steps_go_past_a_damaged_document(
    desk: Desk, world: World, where: QueueFilter, order: QueueOrder, step: str
) -> None:
    damage(world, 2)
    desk.panel.narrow(where)
    desk.panel.set_order(order)
    if not where.facets and order is QueueOrder.DOCUMENT:
        world.project.curation.decide_many((2, 3, 4), Verdict.nil())
        if step in ("mention", "decision"):
            return  # these stay within the document
    desk.at.open(1, 2 if order is QueueOrder.UNCERTAIN else 1)
    desk.said.clear()
    steps: dict[str, Callable[[], object]] = {
        "document": lambda: desk.at.step_document(1),
        "undecided": desk.at.next_undecided,
        "mention": lambda: desk.at.step(1),
        "decision": desk.decide,
    }
    steps[step]()
    assert (desk.document, desk.mention) == (3, 10 if order is QueueOrder.UNCERTAIN else 9)
    assert ["differs from the one imported" in one for one in desk.said] == [True]


def test_a_search_that_wraps_around_ends() -> None:
    after: dict[int | None, tuple[int, int] | None] = {None: (2, 5), 2: (3, 9), 3: (2, 5), 4: None}
    assert list(_following(after.__getitem__, None)) == [(2, 5), (3, 9)]
    assert list(_following(after.__getitem__, 3)) == [(2, 5), (3, 9)]
    assert list(_following(after.__getitem__, 4)) == []


def test_damage_is_the_last_that_is_said(desk: Desk, world: World) -> None:
    desk.at.open(1)
    damage(world, 2)
    damage(world, 3)
    assert not desk.at.step_document(1)
    assert "differs from the one imported" in desk.said[-1]
    desk.panel.narrow(CHEMICAL)
    assert desk.decide() == 1  # decided, and still shown
    assert "differs from the one imported" in desk.said[-1]
    damage(world, 1)
    desk.at.close()
    desk.at.open_first()
    assert desk.document is None


def test_filters_are_kept_under_names(desk: Desk, qtbot: QtBot) -> None:
    panel = desk.panel
    panel.narrow(CHEMICAL)
    panel.head.unfold(True)
    line = panel.head.saved.box.lineEdit()
    assert line is not None
    qtbot.keyClicks(line, "drugs to do")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert desk.project.filters.all() == {"drugs to do": CHEMICAL}
    panel.clear()
    panel.head.saved.chosen.emit("drugs to do")
    assert panel.where == CHEMICAL
    qtbot.mouseClick(panel.head.saved.delete, Qt.MouseButton.LeftButton)
    assert desk.project.filters.all() == {}
    assert panel.where == CHEMICAL


def test_a_large_project_is_counted_beside_the_window(
    desk: Desk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facets, "LARGE", 0)
    desk.take()
    desk.panel.head.unfold(True)
    with qtbot.waitSignals([desk.panel.filter_changed, desk.panel.work_changed], timeout=5000):
        desk.panel.narrow(NIL)
        desk.panel.narrow(UNDECIDED)  # the one before is no longer wanted
        assert desk.panel.counting
    assert desk.panel.footer.words == "12 mentions in 3 documents"
    with qtbot.waitSignal(desk.panel.work_changed, timeout=5000, check_params_cb=lambda rows: len(rows) == 12):
        desk.panel.set_order(QueueOrder.DIVERSE)


def test_a_queue_of_another_kind_cannot_be_narrowed(desk: Desk) -> None:
    desk.panel.narrow(CHEMICAL)
    desk.panel.set_source(desk.project.queue.under)
    assert desk.panel.where == QueueFilter()
    assert not desk.panel.head.fold.isEnabled()
    desk.panel.focus_facets()
    desk.panel.step_order()
    assert desk.panel.order is QueueOrder.DOCUMENT


def test_a_range_is_typed_in_its_row_counted_and_cleared(desk: Desk, qtbot: QtBot) -> None:
    panel = desk.panel
    panel.focus_facets()
    panel.facets.ask_range(Facet.PROBABILITY)

    def typed(words: str) -> None:
        line = panel.facets.findChild(QLineEdit)
        assert line is not None
        assert line.accessibleName() == "Probability: from and to"
        qtbot.keyClicks(line, words)
        qtbot.keyClick(line, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: panel.facets.findChild(QLineEdit) is None)

    with qtbot.waitSignal(panel.said) as told:
        typed("nonsense")
    assert "Enter two numbers" in told.args[0]
    assert panel.where == QueueFilter()
    qtbot.keyClick(panel.facets, Qt.Key.Key_Return)
    typed(".6 - ,99")
    ranged = Facets.of({Facet.PROBABILITY: ["0.6..0.99"]})
    qtbot.waitUntil(lambda: panel.where.facets == ranged)
    assert panel.chips.words == ("Probability: .6 to .99",)
    expected = sum(desk.project.facets.documents(panel.where).values())
    assert expected > 0
    qtbot.waitUntil(lambda: panel.facets.counts(Facet.PROBABILITY).get("0.6..0.99") == expected)
    item = panel.facets.item(Facet.PROBABILITY, "0.6..0.99")
    assert item is not None
    panel.facets.setCurrentItem(item)
    qtbot.keyClick(panel.facets, Qt.Key.Key_Space)
    assert panel.where == QueueFilter()


@pytest.mark.parametrize(
    ("typed", "words"),
    [(".37 – .52", ".37 to .52"), ("0.9", "from .9"), ("< .5", "up to .5"), ("3..12", "3 to 12"), ("a .1 .2 .3", None)],
)
def test_a_range_is_read_as_people_write_it(typed: str, words: str | None) -> None:
    within = read_range(typed)
    assert (range_words(within) if within is not None else None) == words
