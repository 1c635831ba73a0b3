"""Lists without an entry: what is missing stands where the list would, and what makes the first entry."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from curator.ui.kit.form import EmptyPage, ShowDialog
from tests.curator.ui.window.fakes import Desk, MakeDesk

PAGES: dict[str, Callable[[Desk], ShowDialog]] = {
    "rounds": lambda desk: desk.window.session.features.people.show_rounds(),  # type: ignore[union-attr]
    "imports": lambda desk: desk.window.session.features.flows.imports.show_imports(),  # type: ignore[union-attr]
    "bundles": lambda desk: desk.window.session.features.model.show_bundles(),  # type: ignore[union-attr]
    "errors": lambda desk: desk.window.session.features.model.errors.show_errors(),  # type: ignore[union-attr]
    "decisions": lambda desk: desk.window.session.features.seeing.show_decisions(),  # type: ignore[union-attr]
}


@pytest.mark.parametrize("page", PAGES)
def test_an_empty_list_says_what_makes_the_first_entry_and_nothing_floats(
    make_desk: MakeDesk, qtbot: QtBot, page: str
) -> None:
    desk = make_desk(documents=0, kb=False, index=False)
    dialog = PAGES[page](desk)
    [empty] = dialog.findChildren(EmptyPage)
    qtbot.waitUntil(empty.isVisible)
    table: QWidget = dialog.table  # type: ignore[attr-defined]
    assert not table.isVisible()
    assert empty.headline.text()
    assert empty.words.text()
    assert empty.headline.geometry().bottom() + 12 >= empty.words.geometry().top(), "one below the other"
    others = [one for one in dialog.children() if isinstance(one, QWidget) and one.isVisible() and one is not empty]
    qtbot.waitUntil(lambda: empty.height() > dialog.height() / 2)
    assert not [one for one in others if one.height() > one.sizeHint().height() + 30], "nothing else is stretched"
    dialog.close()
