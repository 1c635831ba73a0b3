from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QGuiApplication, QImage, QMouseEvent, QRegion
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.domain.decisions import Verdict
from curator.domain.documents import Passage, Span
from curator.services.queue.queue import OpenDocument
from curator.ui.document.document_painter import pen_of
from curator.ui.document.document_view import DocumentView
from curator.ui.kit.mention_state import MentionState, long_form, tooltip
from curator.ui.kit.theme import DARK, LIGHT
from tests.curator.ui.samples import TEXT, decision, document, opened, span, suggestion, view

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def shown(qtbot: QtBot) -> DocumentView:
    widget = DocumentView()
    qtbot.addWidget(widget)
    widget.resize(800, 600)
    widget.show_document(opened())
    widget.show()
    qtbot.waitExposed(widget)
    return widget


def test_the_empty_page_leaves_the_reading_font_as_it_was(qtbot: QtBot) -> None:
    widget = DocumentView()
    qtbot.addWidget(widget)
    font = widget.reading_font
    widget.set_reading_font(font)
    widget.show()
    qtbot.waitExposed(widget)
    widget.grab()
    assert widget.reading_font == font


def long_document(paragraphs: int = 60) -> OpenDocument:
    text = "\n".join(f"Paragraph {i} about lidocaine and its many effects on the heart." for i in range(paragraphs))
    starts = [i for i in range(len(text)) if text.startswith("lidocaine", i)]
    views = tuple(view(n, Span(i, i + 9), text=text) for n, i in enumerate(starts))
    return OpenDocument(document(text, passages=(Passage("section", 0, len(text)),), title=""), views)


def place(widget: DocumentView, where: Span) -> QPoint:
    return widget.rect_of(where).center().toPoint()


def edge(widget: DocumentView, offset: int) -> QPoint:
    rect = widget.rect_of(Span(offset, offset + 1))
    return QPoint(round(rect.left()), round(rect.center().y()))


def hover(widget: DocumentView, place: QPointF, *, held: Qt.MouseButton = Qt.MouseButton.NoButton) -> None:
    """The mouse moves there, `held` being down."""
    kind, on_screen = QEvent.Type.MouseMove, QPointF(widget.viewport().mapToGlobal(place.toPoint()))
    moved = QMouseEvent(kind, place, on_screen, Qt.MouseButton.NoButton, held, Qt.KeyboardModifier.NoModifier)
    QApplication.sendEvent(widget.viewport(), moved)


def drag(qtbot: QtBot, widget: DocumentView, start: QPoint, end: QPoint) -> None:
    qtbot.mousePress(widget.viewport(), LEFT, pos=start)
    qtbot.mouseMove(widget.viewport(), QPoint((start.x() + end.x()) // 2, end.y()))
    qtbot.mouseMove(widget.viewport(), end)
    qtbot.mouseRelease(widget.viewport(), LEFT, pos=end)


@pytest.mark.parametrize(("words", "mention"), [("tacrolimus", 1), ("FK506", 2), ("acute", 3), ("left", 5)])
def test_a_click_after_emoji_and_accents_hits_the_right_mention(
    qtbot: QtBot, shown: DocumentView, words: str, mention: int
) -> None:
    with qtbot.waitSignal(shown.mention_activated, timeout=500) as caught:
        qtbot.mouseClick(shown.viewport(), LEFT, pos=place(shown, span(words)))
    assert caught.args == [mention]


def test_a_click_beside_every_mention_activates_none(qtbot: QtBot, shown: DocumentView) -> None:
    with qtbot.assertNotEmitted(shown.mention_activated):
        qtbot.mouseClick(shown.viewport(), LEFT, pos=place(shown, span("patients")))


def test_clicking_again_reaches_the_mention_around(qtbot: QtBot, shown: DocumentView) -> None:
    where, seen = place(shown, span("renal")), []
    shown.mention_activated.connect(seen.append)
    shown.mention_activated.connect(shown.set_current)
    for _ in range(3):
        qtbot.mouseClick(shown.viewport(), LEFT, pos=where)
    assert seen == [4, 3, 4]


@pytest.mark.parametrize("words", ["🧬🧬 patients on FK506", "Na\u0308ive", "A 🫀 warning"])
def test_a_dragged_selection_is_in_code_points(qtbot: QtBot, shown: DocumentView, words: str) -> None:
    wanted = span(words)
    with qtbot.waitSignal(shown.selection_changed, timeout=500):
        drag(qtbot, shown, edge(shown, wanted.start), edge(shown, wanted.end))
    assert shown.selection == wanted
    assert TEXT[shown.selection.start : shown.selection.end] == words


def test_a_drag_does_not_activate_a_mention(qtbot: QtBot, shown: DocumentView) -> None:
    with qtbot.assertNotEmitted(shown.mention_activated):
        drag(qtbot, shown, edge(shown, span("patients").start), place(shown, span("FK506")))


def test_white_space_at_the_ends_is_not_selected(qtbot: QtBot, shown: DocumentView) -> None:
    wanted = span("patients")
    drag(qtbot, shown, edge(shown, wanted.start - 1), edge(shown, wanted.end + 1))
    assert shown.selection == wanted


def test_a_double_click_selects_a_word_or_reports_a_mention(qtbot: QtBot, shown: DocumentView) -> None:
    qtbot.mouseDClick(shown.viewport(), LEFT, pos=place(shown, span("patients")))
    assert shown.selection == span("patients")
    with qtbot.waitSignal(shown.mention_double_clicked, timeout=500) as caught:
        qtbot.mouseDClick(shown.viewport(), LEFT, pos=place(shown, span("FK506")))
    assert caught.args == [2]


def test_a_selection_is_made_by_keys_from_the_current_mention(qtbot: QtBot, shown: DocumentView) -> None:
    shown.set_current(2)
    shown.setFocus()
    control_shift = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier
    for _ in range(2):
        qtbot.keyClick(shown, Qt.Key.Key_Right, control_shift)
    assert shown.selection == span("FK506 had")
    qtbot.keyClick(shown, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    qtbot.keyClick(shown, Qt.Key.Key_Left, Qt.KeyboardModifier.ShiftModifier)
    assert shown.selection == span("FK506 ha")
    qtbot.keyClick(shown, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "FK506 ha"
    qtbot.keyClick(shown, Qt.Key.Key_Escape)
    assert shown.selection is None


def test_keys_of_the_window_are_left_to_it(qtbot: QtBot, shown: DocumentView) -> None:
    before = shown.verticalScrollBar().value()
    for key in (Qt.Key.Key_Down, Qt.Key.Key_PageDown, Qt.Key.Key_Space, Qt.Key.Key_1, Qt.Key.Key_Return):
        qtbot.keyClick(shown, key)
    assert shown.verticalScrollBar().value() == before


def test_the_text_does_not_move_when_decisions_and_mentions_change(qtbot: QtBot) -> None:
    widget = DocumentView()
    qtbot.addWidget(widget)
    widget.resize(700, 400)
    widget.show()
    made = long_document()
    widget.show_document(made)
    widget.set_current(30)
    at = widget.verticalScrollBar().value()
    assert at > 0
    decided = [replace(v, decision=decision(v.mention.id, Verdict.nil())) for v in made.mentions]
    widget.update_mentions(decided)
    assert (widget.verticalScrollBar().value(), widget.current) == (at, 30)
    widget.update_mentions(decided[:-5])
    widget.show_document(OpenDocument(made.document, tuple(decided)), current=30)
    assert widget.verticalScrollBar().value() == at
    widget.set_current(31)  # its line stands in sight
    assert widget.verticalScrollBar().value() == at


def test_a_mention_out_of_sight_is_brought_into_it(qtbot: QtBot) -> None:
    widget = DocumentView()
    qtbot.addWidget(widget)
    widget.resize(700, 400)
    widget.show()
    made = long_document()
    widget.show_document(made)
    for mention in (59, 0, 30):
        widget.set_current(mention)
        rect = widget.rect_of(made.mentions[mention].mention.spans[0])
        assert rect.top() >= 0
        assert rect.bottom() <= widget.viewport().height()


def test_a_narrower_window_keeps_the_line_at_the_top(qtbot: QtBot) -> None:
    widget = DocumentView()
    qtbot.addWidget(widget)
    widget.resize(700, 400)
    widget.show()
    made = long_document()
    widget.show_document(made)
    widget.set_current(40)
    widget.scroll_lines(3)
    first = next(v for v in made.mentions if widget.rect_of(v.mention.spans[0]).top() >= 0)
    before = widget.rect_of(first.mention.spans[0]).top()
    widget.resize(420, 400)
    after = widget.rect_of(first.mention.spans[0]).top()
    assert abs(after - before) < 3 * 40  # a few lines above it may have broken in two


def test_a_narrower_window_keeps_the_current_mention_in_sight(qtbot: QtBot) -> None:
    widget = DocumentView()
    qtbot.addWidget(widget)
    widget.resize(700, 400)
    widget.show()
    widget.show_document(long_document())
    inside = [number for number in range(60) if widget.is_in_sight(number)]
    widget.set_current(inside[-2])
    widget.resize(300, 400)
    assert widget.is_in_sight(inside[-2])
    widget.verticalScrollBar().setValue(widget.verticalScrollBar().maximum())
    at = widget.is_in_sight(59)
    widget.resize(420, 400)
    assert at
    assert not widget.is_in_sight(inside[-2]), "who scrolled away from it stays there"


def test_another_document_starts_at_its_top(qtbot: QtBot, shown: DocumentView) -> None:
    made = long_document()
    shown.show_document(OpenDocument(replace(made.document, id=7), made.mentions), current=59)
    assert shown.verticalScrollBar().value() > 0
    shown.show_document(opened())
    assert (shown.verticalScrollBar().value(), shown.current, shown.selection) == (0, None, None)


def test_a_deleted_current_mention_is_no_longer_current(shown: DocumentView) -> None:
    shown.set_current(2)
    shown.update_mentions([v for v in opened().mentions if v.mention.id != 2])
    assert shown.current is None


def colours_under(widget: DocumentView, where: Span) -> set[str]:
    image: QImage = widget.viewport().grab().toImage()
    rect = widget.rect_of(where).toAlignedRect()
    return {
        image.pixelColor(x, y).name()
        for x in range(rect.left(), rect.right())
        for y in range(rect.top(), rect.bottom())
    }


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_each_state_has_its_tint_and_its_line(shown: DocumentView, theme: object) -> None:
    shown.setPalette(theme.palette)  # type: ignore[attr-defined]
    places = {
        MentionState.LINKED: "tacrolimus",
        MentionState.UNDECIDED: "FK506",
        MentionState.NIL: "acute",
        MentionState.REJECTED: "renal",
        MentionState.SKIPPED: "left",
    }
    for state, words in places.items():
        found = colours_under(shown, span(words))
        assert theme.states[state].tint.name() in found, state  # type: ignore[attr-defined]
        others = [theme.states[o].tint.name() for o in MentionState if o is not state]  # type: ignore[attr-defined]
        assert sum(o in found for o in others) <= (1 if state in (MentionState.NIL, MentionState.REJECTED) else 0)


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=["light", "dark"])
def test_mentions_that_the_filter_excludes_are_dimmed(shown: DocumentView, theme: object) -> None:
    shown.setPalette(theme.palette)  # type: ignore[attr-defined]
    tints = {one: theme.states[one].tint.name() for one in MentionState}  # type: ignore[attr-defined]
    linked, undecided = ("tacrolimus", tints[MentionState.LINKED]), ("FK506", tints[MentionState.UNDECIDED])
    included = next(one.mention.id for one in shown._views if one.mention.text == "tacrolimus")
    shown.set_included(frozenset({included}))
    assert linked[1] in colours_under(shown, span(linked[0]))
    assert undecided[1] not in colours_under(shown, span(undecided[0]))
    shown.set_included(None)
    assert undecided[1] in colours_under(shown, span(undecided[0]))


def test_states_are_told_apart_by_their_lines_alone() -> None:
    black = QColor("black")
    pens = [pen_of(s, black) for s in (MentionState.UNDECIDED, MentionState.LINKED, MentionState.NIL)]
    assert len({tuple(pen.dashPattern()) for pen in pens}) == 3


def test_the_current_mention_is_framed(shown: DocumentView) -> None:
    before = shown.viewport().grab().toImage()
    shown.set_current(2)
    framed = shown.viewport().grab().toImage()
    assert framed != before
    shown.set_current(None)
    assert shown.viewport().grab().toImage() == before


def test_a_tooltip_says_type_state_and_long_form_and_escapes_them() -> None:
    made = view(1, span("FK506"), made=suggestion(1, expanded="<b>FK</b>"))
    words = tooltip(made)
    assert "Chemical" in words
    assert "undecided" in words
    assert "long form: &lt;b&gt;FK" in words
    linked = view(1, span("FK506"), verdict=Verdict.link("MESH:D016559"))
    assert "linked: Tacrolimus (MESH:D016559)" in tooltip(linked)


def test_without_a_document_the_view_says_what_to_do(qtbot: QtBot, shown: DocumentView) -> None:
    shown.clear(headline="Nothing here", hint="Import documents")
    assert shown.selection is None
    qtbot.mouseClick(shown.viewport(), LEFT, pos=QPoint(100, 100))
    qtbot.keyClick(shown, Qt.Key.Key_Right)
    assert shown.verticalScrollBar().maximum() == 0


def test_a_title_that_the_text_lacks_is_set_above_it(qtbot: QtBot) -> None:
    widget = DocumentView()
    qtbot.addWidget(widget)
    widget.resize(700, 400)
    text = "The citadel stands over the bay."
    page = document(text, title="Citadel of Umber")
    widget.show_document(OpenDocument(page, (view(1, span("citadel", text), text=text),)))
    widget.show()
    with qtbot.waitSignal(widget.mention_activated, timeout=500) as caught:
        qtbot.mouseClick(widget.viewport(), LEFT, pos=place(widget, span("citadel", text)))
    assert caught.args == [1]
    plain = document(text, title="", id=2)
    high = widget.rect_of(span("citadel", text)).top()
    widget.show_document(OpenDocument(plain, ()))
    assert widget.rect_of(span("citadel", text)).top() < high


def test_a_screen_reader_hears_each_mention(shown: DocumentView, monkeypatch: pytest.MonkeyPatch) -> None:
    from PySide6.QtGui import QAccessible

    heard: list[str] = []
    monkeypatch.setattr(QAccessible, "isActive", lambda: True)
    monkeypatch.setattr(QAccessible, "updateAccessibility", lambda event: heard.append(event.message()))
    first, second = (one.mention for one in opened().mentions[:2])
    for mention_id in (first.id, second.id, second.id):
        shown.set_current(mention_id)
    assert len(heard) == 2, "nothing is said twice"
    assert heard[0].startswith(f"Mention 1 of {len(opened().mentions)}: {first.text}, {first.type}, linked to ")
    assert " ".join(TEXT.split())[:20] in heard[0], "with the words around it"
    assert shown.accessibleDescription() == heard[1]
    shown.clear()
    assert shown.accessibleDescription().startswith("No document is open")


def test_numbers_are_written_with_a_point_in_every_country(qtbot: QtBot) -> None:
    from PySide6.QtCore import QLocale

    from curator.ui.training.parameter_panel import NumberEdit

    before = QLocale()
    QLocale.setDefault(QLocale("de_DE"))
    try:
        edit = NumberEdit(5e-5, minimum=0.0, maximum=1.0)
        qtbot.addWidget(edit)
        for text, value in (("0.5", 0.5), ("0,7", 0.5), ("1e-3", 0.001), ("2", 0.001)):
            edit.setText(text)
            edit.textEdited.emit(text)
            assert edit.value == value
    finally:
        QLocale.setDefault(before)


def test_a_drag_of_an_end_is_shown_and_given_up_with_escape(qtbot: QtBot, shown: DocumentView) -> None:
    shown.set_editable(True)
    shown.set_snapping(True)
    shown.set_current(2)
    rect = shown.rect_of(span("FK506"))
    hover(shown, rect.center())
    with qtbot.assertNotEmitted(shown.reshaped):
        qtbot.mousePress(shown.viewport(), LEFT, pos=QPoint(round(rect.right()), round(rect.center().y())))
        hover(shown, shown.rect_of(span("acute")).center(), held=LEFT)
        assert shown.preview == (span("FK506 had acute"),)
        qtbot.keyClick(shown, Qt.Key.Key_Escape)
        qtbot.mouseRelease(shown.viewport(), LEFT, pos=QPoint(5, 5))
    assert shown.preview == ()
    shown.set_editable(False)
    hover(shown, rect.center())
    assert shown.handles == (), "nothing can be dragged in a project that is only read"


def test_the_mouse_selects_whole_words_where_that_is_wished(qtbot: QtBot, shown: DocumentView) -> None:
    shown.set_snapping(True)
    start = span("patients").start
    drag(qtbot, shown, edge(shown, start + 3), edge(shown, span("FK506").start + 2))
    assert shown.selection == span("patients on FK506")
    drag(qtbot, shown, edge(shown, span("FK506").start + 2), edge(shown, start + 3))
    assert shown.selection == span("patients on FK506")


def test_an_abbreviation_tells_its_long_form_wherever_it_stands() -> None:
    made = (view(1, span("FK506"), made=suggestion(1, expanded="tacrolimus")), view(2, span("acute")))
    assert long_form("FK506", made) == "tacrolimus"
    assert long_form("acute", made) == ""


# --- what is drawn around a mention hides no letter ---

LINES = 'Payload glyphs jumping quickly by (tacrolimus), "tacrolimus"; gypsy tacrolimus. Tacrolimus-like [tacrolimus]'


def drawn(widget: DocumentView) -> QImage:
    return widget.viewport().grab().toImage().convertToFormat(QImage.Format.Format_RGB32)


def crowded_page(qtbot: QtBot, *, points: int, spacing: float) -> tuple[DocumentView, OpenDocument]:
    """Lines full of letters that reach up and down, with mentions between brackets, commas and full stops."""
    text = " ".join([LINES] * 4)
    starts = [i for i in range(len(text)) if text.casefold().startswith("tacrolimus", i)]
    views = tuple(view(n, Span(i, i + 10), text=text) for n, i in enumerate(starts, start=1))
    page = OpenDocument(document(text, passages=(Passage("section", 0, len(text)),), title=""), views)
    widget = DocumentView()
    qtbot.addWidget(widget)
    font = widget.reading_font
    font.setPointSize(points)
    widget.set_reading_font(font)
    widget.set_spacing(spacing, 60)
    widget.resize(900, 700)
    widget.show_document(page)
    widget.show()
    qtbot.waitExposed(widget)
    return widget, page


def differing(one: QImage, other: QImage) -> list[tuple[int, int]]:
    lines = [y for y in range(one.height()) if bytes(one.constScanLine(y)) != bytes(other.constScanLine(y))]
    places = ((x, y) for y in lines for x in range(one.width()))
    return [(x, y) for x, y in places if one.pixel(x, y) != other.pixel(x, y)]


def is_ink(image: QImage, x: int, y: int) -> bool:
    """A letter's stroke, not its soft edge nor the dots of a line."""
    colour = QColor(image.pixel(x, y))
    return colour.lightnessF() < 0.5 and colour.saturationF() < 0.5


def noted_page(page: OpenDocument) -> OpenDocument:
    views = [replace(one, mention=replace(one.mention, flagged=True), comments=2) for one in page.mentions]
    return replace(page, mentions=tuple(views))


@pytest.mark.parametrize("points", [12, 20])
@pytest.mark.parametrize("spacing", [1.5, 1.8])
def test_flags_and_bubbles_hide_no_letters_and_are_whole(qtbot: QtBot, points: int, spacing: float) -> None:
    widget, page = crowded_page(qtbot, points=points, spacing=spacing)
    before = drawn(widget)
    widget.update_mentions(noted_page(page).mentions)
    after = drawn(widget)
    changed = differing(before, after)
    assert [(x, y) for x, y in changed if is_ink(before, x, y)] == []
    flags = sum(QColor(after.pixel(x, y)) == LIGHT.note_ink for x, y in changed)
    bubbles = sum(QColor(after.pixel(x, y)) == LIGHT.accent for x, y in changed)
    assert flags >= 4 * len(page.mentions)
    assert bubbles >= 12 * len(page.mentions)


def test_what_changes_around_a_mention_is_repainted(qtbot: QtBot) -> None:
    widget, page = crowded_page(qtbot, points=12, spacing=1.5)
    before = drawn(widget)
    one = noted_page(page).mentions[4]
    widget.update_mentions([one if old.mention.id == one.mention.id else old for old in page.mentions])
    widget.set_current(one.mention.id)
    rects = widget.painted_of(one.mention.id)
    assert rects
    assert [(x, y) for x, y in differing(before, drawn(widget)) if not any(r.contains(x, y) for r in rects)] == []


def test_a_page_painted_in_strips_is_the_page(qtbot: QtBot) -> None:
    """As when it is scrolled: what reaches into the strip from the lines next to it is painted, too."""
    widget, page = crowded_page(qtbot, points=12, spacing=1.4)
    widget.update_mentions(noted_page(page).mentions)
    whole, strips = drawn(widget), drawn(widget)
    strips.fill(LIGHT.palette.base().color())
    for top in range(0, strips.height(), 5):
        widget.viewport().render(strips, QPoint(0, top), QRegion(0, top, strips.width(), 5))
    assert differing(whole, strips) == []
