"""The tree's model: read node by node, several places of one entity, cycles, and very many children."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest
from PySide6.QtCore import QModelIndex
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from curator.domain.entities import Entity, TreeNode, TreePage
from curator.domain.wording import UserError
from curator.services.knowledge.hierarchy import TreeWay
from curator.ui.candidates.tree_model import TreeModel

PAGE = 3
BELOW: dict[str | None, Sequence[str]] = {
    None: ("Body", "Mind", *(f"Root {n}" for n in range(5))),
    "Body": ("Heart", "Vessel"),
    "Heart": ("Stroke",),
    "Vessel": ("Stroke",),
    "Mind": ("Round",),
    "Round": ("Mind",),
}


def node(name: str) -> TreeNode:
    return TreeNode(Entity(name, name, (), ("Disease",)), len(BELOW.get(name, ())), len(BELOW.get(name, ())))


class Reader:
    """Answers as the service does, `PAGE` entities at a time; remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str | None, int]] = []
        self.trouble = ""

    def narrower(self, entity_id: str | None, start: int) -> TreePage:
        if self.trouble:
            raise UserError(self.trouble)
        self.asked.append((entity_id, start))
        names = BELOW.get(entity_id, ())
        return TreePage(tuple(map(node, names[start : start + PAGE])), len(names))

    def way(self, entity_id: str) -> TreeWay:
        if entity_id == "Nobody":
            raise UserError("The knowledge base has no entity Nobody.")
        ways = {"Stroke": ("Body", "Vessel", "Stroke"), "Alone": ("Alone",)}
        return TreeWay(tuple(map(node, ways.get(entity_id, (entity_id,)))))


@pytest.fixture
def reader() -> Reader:
    return Reader()


@pytest.fixture
def model(qtbot: QtBot, reader: Reader) -> Iterator[TreeModel]:
    made = TreeModel(reader.narrower, reader.way)
    with qtbot.waitSignal(made.began, timeout=5000):
        made.begin()
    yield made
    made.worker.close()


def names(model: TreeModel, parent: QModelIndex | None = None) -> list[str]:
    above = parent or QModelIndex()
    return [str(model.index(row, 0, above).data()) for row in range(model.rowCount(above))]


def opened(qtbot: QtBot, model: TreeModel, index: QModelIndex) -> QModelIndex:
    assert model.canFetchMore(index)
    with qtbot.waitSignal(model.rowsInserted, timeout=5000):
        model.fetchMore(index)
    return index


def test_the_model_keeps_qt_s_contract(qtbot: QtBot, model: TreeModel, qtmodeltester: ModelTester) -> None:
    opened(qtbot, model, opened(qtbot, model, model.index(0, 0)).model().index(0, 0, model.index(0, 0)))
    qtmodeltester.check(model)


def test_a_node_is_read_when_it_is_opened_and_once(qtbot: QtBot, model: TreeModel, reader: Reader) -> None:
    assert reader.asked == [(None, 0)]
    body = opened(qtbot, model, model.index(0, 0))
    assert names(model, body) == ["Heart", "Vessel"]
    assert not model.canFetchMore(body)
    assert reader.asked == [(None, 0), ("Body", 0)]
    assert model.row(body).counted == "2"  # type: ignore[union-attr]


def test_an_entity_stands_below_each_of_its_parents(qtbot: QtBot, model: TreeModel) -> None:
    body = opened(qtbot, model, model.index(0, 0))
    places = [opened(qtbot, model, model.index(row, 0, body)) for row in range(2)]
    assert [names(model, one) for one in places] == [["Stroke"], ["Stroke"]]
    assert model.index(0, 0, places[1]).parent() == places[1]


def test_a_last_row_reads_more(qtbot: QtBot, model: TreeModel) -> None:
    assert names(model) == ["Body", "Mind", "Root 0", "4 more"]
    last = model.index(3, 0)
    assert model.row(last).node is None  # type: ignore[union-attr]
    assert not model.read_more(model.index(0, 0))
    with qtbot.waitSignal(model.rowsInserted, timeout=5000):
        assert model.read_more(last)
    assert names(model)[-2:] == ["Root 3", "1 more"]
    with qtbot.waitSignal(model.rowsInserted, timeout=5000):
        model.read_more(model.index(model.rowCount() - 1, 0))
    assert names(model)[-1] == "Root 4"


def test_an_entity_above_itself_is_not_opened_again(qtbot: QtBot, model: TreeModel) -> None:
    mind = opened(qtbot, model, model.index(1, 0))
    again = model.index(0, 0, opened(qtbot, model, model.index(0, 0, mind)))
    assert again.data() == "Mind"
    assert not model.hasChildren(again)
    assert "listed above" in model.row(again).facts  # type: ignore[union-attr]


def test_the_way_to_an_entity_is_opened(qtbot: QtBot, model: TreeModel) -> None:
    with qtbot.waitSignal(model.arrived, timeout=5000) as came:
        model.open_at("Stroke")
    index = came.args[0]  # type: ignore[index]
    assert (index.data(), index.parent().data(), index.parent().parent().data()) == ("Stroke", "Vessel", "Body")


def test_an_entity_on_a_later_page_is_put_before_the_row_for_more(qtbot: QtBot, model: TreeModel) -> None:
    with qtbot.waitSignal(model.arrived, timeout=5000):
        model.open_at("Root 3")
    assert names(model) == ["Body", "Mind", "Root 0", "Root 3", "3 more"]
    with qtbot.waitSignal(model.rowsInserted, timeout=5000):
        model.read_more(model.index(4, 0))
    assert names(model) == ["Body", "Mind", "Root 0", "Root 3", "Root 1", "Root 2", "1 more"], "none twice"


def test_what_was_asked_for_last_arrives(qtbot: QtBot, model: TreeModel) -> None:
    came: list[str] = []
    model.arrived.connect(lambda index, _: came.append(index.data()))
    model.open_at("Stroke")
    model.open_at("Alone")
    qtbot.waitUntil(lambda: not model.worker.busy, timeout=5000)
    assert came == ["Alone"]


def test_troubles_are_said_and_it_is_asked_again(qtbot: QtBot, model: TreeModel, reader: Reader) -> None:
    with qtbot.waitSignal(model.troubled, timeout=5000) as said:
        model.open_at("Nobody")
    assert said.args == ["The knowledge base has no entity Nobody."]
    reader.trouble = "The disk is gone."
    with qtbot.waitSignal(model.troubled, timeout=5000) as said:
        model.fetchMore(model.index(0, 0))
    assert said.args == ["The disk is gone."]
    reader.trouble = ""
    opened(qtbot, model, model.index(0, 0))


def test_another_knowledge_base_begins_anew(qtbot: QtBot, model: TreeModel) -> None:
    model.fetchMore(model.index(0, 0))
    model.clear()
    qtbot.waitUntil(lambda: not model.worker.busy, timeout=5000)
    assert model.rowCount() == 0, "an answer about the former one is dropped"
