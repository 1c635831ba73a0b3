"""The manual: its pages in the order of its first one, and a search over all of them."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from curator.ui.shell import manual
from curator.ui.shell.manual import Manual, pages, search

PAGES = {
    "index.md": "# Curator\n\n- [Retrain the linker](retraining.md)\n- [Link a mention](linking.md)\n",
    "linking.md": "# Link a mention\n\n**Enter** takes the *first* suggestion.\n\n"
    + "More.\n\n" * 200
    + "The suggestion ends.\n",
    "retraining.md": "# Retrain the linker\n\nThe linker learns from a mention that you link.\n",
    "zoo.md": "# Words\n\nA link, and far from it a mention.\n",
}


@pytest.fixture
def opened(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> Manual:
    monkeypatch.setattr(manual, "pages", lambda: PAGES)
    made = Manual()
    qtbot.addWidget(made)
    made.show()
    made.activateWindow()
    assert QTest.qWaitForWindowActive(made)
    return made


def names(one: Manual) -> list[str]:
    return [str(one.list.item(row).data(Qt.ItemDataRole.UserRole)) for row in range(one.list.count())]


def tinted(one: Manual) -> list[str]:
    return [mark.cursor.selectedText() for mark in one.page.extraSelections()]


def test_pages_are_in_the_order_in_which_the_first_one_names_them() -> None:
    found = list(pages())
    assert found[0] == "index.md"
    first = pages()["index.md"]
    linked = [name for name in found[1:] if f"({name})" in first]
    assert [first.index(f"({name})") for name in linked] == sorted(first.index(f"({name})") for name in linked)
    assert len(found) == len(set(found))


def test_titles_come_first_then_words_beside_each_other_then_all_words() -> None:
    assert [one.name for one in search(PAGES, "Link mention")] == ["linking.md", "index.md", "retraining.md", "zoo.md"]
    assert [one.name for one in search(PAGES, "a mention")] == ["linking.md", "index.md", "retraining.md", "zoo.md"]
    assert [one.name for one in search(PAGES, "LEARNS from")] == ["retraining.md"]
    assert search(PAGES, "nowhere") == []
    assert search(PAGES, "  ") == []


def test_what_is_found_is_shown_without_markup() -> None:
    (found, *_) = search(PAGES, "takes the first")
    assert "Enter takes the first suggestion." in found.words
    assert search(PAGES, "retraining.md") == [], "an address is not text"


def test_the_search_lists_pages_and_tints_what_it_found(opened: Manual) -> None:
    QTest.keyClicks(opened.line, "suggestion")
    assert names(opened) == ["linking.md"]
    assert opened.count.text() == "1 page"
    assert tinted(opened) == ["suggestion", "suggestion"]
    assert opened.page.textCursor().position() == opened.page.toPlainText().index("suggestion")
    QTest.keyClick(opened.line, Qt.Key.Key_Return)
    assert opened.page.textCursor().position() == opened.page.toPlainText().rindex("suggestion")
    assert opened.page.verticalScrollBar().value() > 0
    QTest.keyClick(opened.line, Qt.Key.Key_Return)
    assert opened.page.verticalScrollBar().value() == 0, "round again"
    assert opened.isVisible()


def test_arrows_go_through_the_pages_while_the_line_is_typed_in(opened: Manual) -> None:
    QTest.keyClicks(opened.line, "linker")
    assert names(opened) == ["retraining.md", "index.md"]
    QTest.keyClick(opened.line, Qt.Key.Key_Down)
    assert opened.list.currentRow() == 1
    QTest.keyClick(opened.line, Qt.Key.Key_Return)
    assert opened.list.currentRow() == 0, "one hit on that page: on to the next page"


def test_nothing_found_is_said_and_an_emptied_line_brings_all_pages_back(opened: Manual) -> None:
    opened.list.setCurrentRow(names(opened).index("zoo.md"))
    QTest.keyClicks(opened.line, "qqq")
    assert names(opened) == []
    assert opened.count.text() == "No page has “qqq”."
    opened.line.clear()
    assert names(opened) == list(PAGES)
    assert tinted(opened) == []
    assert not opened.count.isVisible()


def test_the_first_page_begins_at_its_top_and_the_search_takes_what_is_typed(qtbot: QtBot) -> None:
    made = Manual()
    qtbot.addWidget(made)
    made.resize(900, 300)
    made.show()
    assert QTest.qWaitForWindowActive(made)
    assert made.page.verticalScrollBar().maximum() > 0
    assert made.page.verticalScrollBar().value() == 0
    assert made.focusWidget() is made.line


def test_tables_are_made_after_the_manual_is_shown(qtbot: QtBot) -> None:
    made = Manual()
    qtbot.addWidget(made)
    made.list.setCurrentRow(names(made).index("settings.md"))
    qtbot.waitUntil(lambda: "Mouse selection" in made.page.toPlainText(), timeout=20_000)
    QTest.keyClicks(made.line, "curator check --json")
    assert "command-line.md" in names(made)
