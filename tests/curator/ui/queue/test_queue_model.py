from __future__ import annotations

from collections.abc import Sequence

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from curator.domain.documents import DocumentState, Split
from curator.domain.facets import Facet, Facets
from curator.services.ports.documents import QueueRow
from curator.services.ports.queue import QueueFilter
from curator.services.queue.queue import Direction
from curator.ui.queue.queue_model import CURRENT_ROLE, FEW, PAGE, PAGES, QueueModel


class Rows:
    """A queue of `total` documents that counts what it is asked."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.asked: list[int] = []
        self.done: set[int] = set()
        self.where = QueueFilter()

    def __call__(self, where: QueueFilter) -> Rows:
        """As a list under this filter."""
        self.where = where
        return self

    def rows(self, *, offset: int = 0, limit: int = 500) -> Sequence[QueueRow]:
        self.asked.append(offset)
        return [self.row(i) for i in range(offset, min(offset + limit, self.count()))]

    def rows_of(self, document_ids: Sequence[int]) -> Sequence[QueueRow]:
        return [self.row(one - 10) for one in document_ids]

    def row(self, i: int) -> QueueRow:
        state = DocumentState.DONE if i + 10 in self.done else DocumentState.TODO
        return QueueRow(i + 10, f"PMID{i}", f"Title {i}", Split.TRAIN, state, i % 3, 5)

    def count(self) -> int:
        return 0 if self.where.text == "nothing" else 1 if self.where.state is DocumentState.DONE else self.total

    def neighbour(self, document_id: int | None, direction: Direction) -> int | None:
        raise NotImplementedError

    def next_undecided(self, document_id: int | None) -> tuple[int, int] | None:
        raise NotImplementedError


@pytest.mark.parametrize("total", [0, 1, PAGE, PAGE + 1])
def test_the_model_keeps_qt_s_contract(qapp: QApplication, qtmodeltester: ModelTester, total: int) -> None:
    model = QueueModel(Rows(total))
    model.load(QueueFilter())
    qtmodeltester.check(model)


def test_a_hundred_thousand_documents_cost_the_pages_that_are_looked_at(qapp: QApplication) -> None:
    rows = Rows(100_000)
    model = QueueModel(rows)
    model.load(QueueFilter())
    assert model.rowCount() == 100_000
    assert rows.asked == []
    assert model.index(50_001).data() == "PMID50001"
    assert model.index(50_002).data() == "PMID50002"
    assert rows.asked == [50_000]


def test_only_so_many_pages_are_kept(qapp: QApplication) -> None:
    rows = Rows(100_000)
    model = QueueModel(rows)
    model.load(QueueFilter())
    for page in range(PAGES + 5):
        model.row(page * PAGE)
    rows.asked.clear()
    for page in reversed(range(5, PAGES + 5)):
        model.row(page * PAGE)
    assert rows.asked == []
    for page in range(5):
        model.row(page * PAGE)
    assert rows.asked == [page * PAGE for page in range(5)], "those that nobody has looked at for longest were dropped"


def test_a_document_is_found_by_bisection(qapp: QApplication) -> None:
    rows = Rows(100_000)
    model = QueueModel(rows)
    model.load(QueueFilter())
    assert model.find(77_787) == 77_777
    assert len(rows.asked) <= 18
    assert model.find(5) is None


def test_refreshing_a_document_reads_and_paints_its_row_alone(qtbot: QtBot) -> None:
    rows = Rows(PAGE * 3)
    model = QueueModel(rows)
    model.load(QueueFilter())
    model.row(0)
    model.row(PAGE)
    rows.done.add(PAGE + 15)
    with qtbot.waitSignal(model.dataChanged, timeout=500) as caught:
        model.refresh([PAGE + 15])
    assert [caught.args[0].row(), caught.args[1].row()] == [PAGE + 5, PAGE + 5]
    changed, beside = model.row(PAGE + 5), model.row(PAGE + 6)
    assert changed is not None
    assert beside is not None
    assert (changed.state, beside.state) == (DocumentState.DONE, DocumentState.TODO)
    assert rows.asked == [0, PAGE]


def test_refreshing_many_documents_reads_their_pages_again(qtbot: QtBot) -> None:
    rows = Rows(PAGE * 3)
    model = QueueModel(rows)
    model.load(QueueFilter())
    model.row(0)
    model.row(PAGE)
    rows.done.update(range(10, 10 + FEW + 1))
    with qtbot.waitSignal(model.dataChanged, timeout=500) as caught:
        model.refresh(sorted(rows.done))
    assert [caught.args[0].row(), caught.args[1].row()] == [0, PAGE - 1]
    changed = model.row(FEW)
    assert changed is not None
    assert changed.state is DocumentState.DONE
    assert rows.asked == [0, PAGE, 0]


def test_a_changed_number_of_rows_reads_all_anew(qtbot: QtBot) -> None:
    rows = Rows(10)
    model = QueueModel(rows)
    model.load(QueueFilter())
    rows.total = 12
    with qtbot.waitSignal(model.modelReset, timeout=500):
        model.refresh([10])
    assert model.rowCount() == 12


def test_the_current_document_is_marked(qtbot: QtBot) -> None:
    model = QueueModel(Rows(10))
    model.load(QueueFilter())
    model.row(0)
    with qtbot.waitSignal(model.dataChanged, timeout=500):
        model.set_current(13)
    assert [i for i in range(10) if model.index(i).data(CURRENT_ROLE)] == [3]


def test_a_filter_and_no_source(qapp: QApplication) -> None:
    model = QueueModel(Rows(10))
    model.load(QueueFilter(text="nothing"))
    assert model.rowCount() == 0
    model.set_source(None)
    model.refresh()
    assert (model.rowCount(), model.row(0), model.find(3)) == (0, None, None)


FACETS = QueueFilter(facets=Facets.of({Facet.STATE: ["undecided"]}))


def narrowed() -> QueueModel:
    """Of a hundred documents the even ones from 20 to 30, with one matching mention more than their last digit."""
    model = QueueModel(Rows(100))
    model.load(FACETS, {one: one % 10 + 1 for one in range(20, 31, 2)})
    return model


def test_a_narrowed_queue_keeps_qt_s_contract(qapp: QApplication, qtmodeltester: ModelTester) -> None:
    qtmodeltester.check(narrowed())


def test_documents_come_and_go_with_what_matches(qapp: QApplication) -> None:
    model = narrowed()
    assert (model.rowCount(), model.matching) == (6, 26)
    assert [model.index(i).data() for i in range(6)] == ["PMID10", "PMID12", "PMID14", "PMID16", "PMID18", "PMID20"]
    resets: list[None] = []
    model.modelReset.connect(lambda: resets.append(None))
    model.update_matching([22, 24, 25], {24: 1, 25: 7})
    assert list(model.ids or ()) == [20, 24, 25, 26, 28, 30]
    assert [model.matching_of(one) for one in (22, 24, 25)] == [0, 1, 7]
    assert model.index(2).data() == "PMID15"
    assert model.find(26) == 3
    assert model.find(22) is None
    assert not resets


def test_the_open_document_stays_until_it_is_left(qapp: QApplication) -> None:
    model = narrowed()
    model.set_current(22)
    model.update_matching([22], {})
    assert model.find(22) == 1
    assert "0 matching the filter" in model.index(1).data(int(Qt.ItemDataRole.ToolTipRole))
    model.set_current(24)
    assert model.find(22) is None
    assert model.find(24) == 1
