"""The search in all documents in the window, by its keys: hits listed, gone to, made into mentions, undone."""

from __future__ import annotations

import threading
from collections.abc import Iterator

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.domain.documents import Span
from curator.services.queue.corpus_search import CorpusQuery, Found, HitChoice
from curator.ui.corpus.corpus_window import CorpusWindow
from tests.curator.services.fakes import KB
from tests.curator.ui.window.fakes import CTRL, SHIFT, Desk, MakeDesk
from tests.curator.ui.window.test_dialogs import shown
from tests.curator.ui.window.test_entities import press, to_front

Key = Qt.Key
LIDOCAINE = str(KB[0]["id"])


def opened(desk: Desk) -> CorpusWindow:
    desk.press(Key.Key_F, CTRL | SHIFT)
    [window] = shown(CorpusWindow)
    assert isinstance(window, CorpusWindow)
    to_front(window)
    return window


def sought(window: CorpusWindow, qtbot: QtBot, text: str, *, hits: int) -> None:
    """Typed and searched for."""
    window.page.form.line.setText(text)
    press(window.page.form.line, Key.Key_Return)
    listed = f"{hits:,} hits" if hits != 1 else "1 hit"
    qtbot.waitUntil(lambda: not window.worker.busy and window.page.count.words.startswith(listed))


def texts(desk: Desk, document: int) -> list[str]:
    return [view.mention.text for view in desk.project.queue.open(document).mentions]


def test_hits_are_listed_with_what_is_there_and_enter_goes_to_one(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk()
    desk.project.curation.decide(desk.world.mentions(1)[0], Verdict.link(LIDOCAINE))
    window = opened(desk)
    sought(window, qtbot, "lidocaine", hits=4)
    assert window.page.count.words == "4 hits in 2 documents"
    lines = [window.page.list.lines.index(at).data() for at in range(4)]
    assert "Mention here: Lidocaine, Document: 1, Passage: title" in lines[0]
    assert "Mention here: –, Document: 1, Passage: abstract" in lines[1]
    assert "Mention here: undecided" in lines[2]
    assert [one.startswith("not ticked") for one in lines] == [False, True] * 2
    press(window.page.form.line, Key.Key_Down)
    assert window.page.list.hasFocus()
    press(window.page.list, Key.Key_End, Key.Key_Return)
    assert desk.bench.navigator.opened is not None
    assert desk.bench.navigator.opened.document.id == 2
    assert desk.bench.document.selection == Span(29, 38)
    to_front(desk.window)
    desk.press(Key.Key_F4)
    qtbot.waitUntil(lambda: window.isActiveWindow())
    window.reject()


def test_what_is_selected_is_searched_for_at_once(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk()
    desk.bench.navigator.open(1, desk.world.mentions(1)[0])
    desk.bench.document.select(Span(39, 45))
    window = opened(desk)
    qtbot.waitUntil(lambda: window.page.count.words == "2 hits in 2 documents")
    assert window.page.form.line.text() == "slowed"
    window.reject()


def test_ticked_hits_become_linked_mentions_and_one_undo_takes_them_back(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk()
    window = opened(desk)
    sought(window, qtbot, "lidocaine", hits=4)
    window.page.list.setFocus()
    press(window.page.list, Key.Key_Space)  # a mention already
    assert "a mention is there already" in window.note.text()
    press(window.page.list, Key.Key_A)
    assert window.page.count.words == "4 hits in 2 documents, 2 ticked"
    QTest.keyClick(window.page.list, Key.Key_Return, SHIFT)
    assert window.picker.isVisible()
    QTest.keyClicks(window.picker.line, "Chem")
    QTest.keyClick(window.picker.line, Key.Key_Return)
    assert window.pages.currentWidget() is window.search
    assert "2 new mentions of type Chemical" in window.note.text()
    panel = window.search.panel
    panel.line.setText("Lidocaine")
    qtbot.waitUntil(lambda: panel.model.rowCount() > 0 and not panel.busy)
    press(panel.line, Key.Key_Return)
    assert window.note.text() == "Making 2 mentions…"
    assert window.pages.currentWidget() is window.listing
    qtbot.waitUntil(lambda: "Made 2 mentions from a search, linked to “Lidocaine”" in window.note.text())
    assert texts(desk, 1).count("Lidocaine") == texts(desk, 2).count("Lidocaine") == 2
    made = desk.world.mentions(1)[2]
    assert desk.project.curation.current([made])[made].verdict == Verdict.link(LIDOCAINE)
    qtbot.waitUntil(lambda: all(one.exact for one in hits_of(window)))
    to_front(window)
    QTest.keyClick(window.page.list, Key.Key_Z, CTRL)
    assert texts(desk, 1).count("Lidocaine") == 1
    qtbot.waitUntil(lambda: [one.exact for one in hits_of(window)] == [True, False] * 2)
    window.reject()


def hits_of(window: CorpusWindow) -> list:  # type: ignore[type-arg]
    rows = [window.page.list.lines.row(at) for at in window.page.list.lines.lines]
    return [row.record for row in rows]  # type: ignore[union-attr]


def test_hits_of_which_no_mention_can_be_made_say_so(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk()
    window = opened(desk)
    window.page.form.hits.setCurrentIndex(window.page.form.hits.findData(HitChoice.MENTIONS.value))
    sought(window, qtbot, "lidocaine", hits=2)
    window.page.list.setFocus()
    QTest.keyClick(window.page.list, Key.Key_Return, SHIFT)
    assert window.note.text().startswith("No mention can be made of it: a mention is there already")
    window.reject()


def test_hits_become_nil_or_undecided_mentions(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk()
    window = opened(desk)
    sought(window, qtbot, "slowed", hits=2)
    window.page.list.setFocus()
    press(window.page.list, Key.Key_Space, Key.Key_N)
    QTest.keyClicks(window.picker.line, "1")
    assert window.strip.isVisible()
    assert "1 new mention is NIL" in window.strip.question.words
    press(window.strip, Key.Key_Return)
    qtbot.waitUntil(lambda: "Made 1 mention" in window.note.text())
    made = desk.world.mentions(1)[2]
    assert desk.project.curation.current([made])[made].verdict.reason == "not-in-kb"
    qtbot.waitUntil(lambda: [one.exact for one in hits_of(window)] == [True, False])
    window.page.list.setFocus()
    press(window.page.list, Key.Key_A, Key.Key_M)
    QTest.keyClicks(window.picker.line, "1")
    press(window.strip, Key.Key_Return)
    qtbot.waitUntil(lambda: "slowed" in texts(desk, 2))
    assert not desk.project.curation.current([desk.world.mentions(2)[2]])
    window.reject()


def test_a_wrong_pattern_and_choices_without_hits_say_so(make_desk: MakeDesk, qtbot: QtBot) -> None:
    window = opened(make_desk())
    window.page.form.pattern.setChecked(True)
    window.page.form.line.setText("(heart")
    press(window.page.form.line, Key.Key_Return)
    qtbot.waitUntil(lambda: "character 6: missing )" in window.note.text())
    sought(window, qtbot, r"\w+itis", hits=2)
    assert window.note.text() == ""
    window.page.form.hits.setCurrentIndex(window.page.form.hits.findData(HitChoice.NEW.value))
    qtbot.waitUntil(lambda: not window.worker.busy and "No hit" in window.page.list.empty_words)
    window.page.form.line.setText("(?=a)")
    press(window.page.form.line, Key.Key_Return)
    qtbot.waitUntil(lambda: "only empty" in window.page.list.empty_words)
    window.reject()


def test_hits_are_listed_while_the_search_goes_on_and_another_search_ends_it(make_desk: MakeDesk, qtbot: QtBot) -> None:
    desk = make_desk()
    go_on, ended = threading.Event(), threading.Event()
    [*parts] = desk.project.corpus.search(CorpusQuery("lidocaine"))

    def slow(query: CorpusQuery) -> Iterator[Found]:
        yield from parts
        if query.text == "slow":
            try:
                assert go_on.wait(10)
                yield parts[0]
            finally:
                ended.set()

    window = CorpusWindow(
        slow,
        search=lambda _: [],
        lookup=lambda _: None,
        types=dict,
        writable=True,
        parent=desk.window,
    )
    window.show()
    window.page.form.line.setText("slow")
    press(window.page.form.line, Key.Key_Return)
    qtbot.waitUntil(lambda: len(window.page.list.lines.lines) == 4)
    assert window.page.count.words.endswith("of 2 documents searched")
    window.page.form.line.setText("quick")
    press(window.page.form.line, Key.Key_Return)
    go_on.set()
    qtbot.waitUntil(lambda: ended.is_set() and not window.worker.busy)
    assert window.page.count.words == "4 hits in 2 documents"
    assert len(window.page.list.lines.lines) == 4
    window.reject()
