import itertools

import pytest
from PySide6.QtCore import QPointF, QSizeF
from PySide6.QtGui import QFont, QPainterPath, QPolygonF
from PySide6.QtWidgets import QApplication

from curator.domain.documents import Passage, Span
from curator.ui.document.document_layout import DocumentLayout, Styles, column_width
from curator.ui.document.mention_handles import dragged, handle_at, handles
from curator.ui.document.relation_lines import RelationLine, RelationPair, label_box
from tests.curator.ui.samples import BODY, TEXT, TITLE, document, span


@pytest.fixture
def styles(qapp: QApplication) -> Styles:
    return Styles.of(QFont(qapp.font()))


def laid_out(text: str, passages: tuple[Passage, ...], styles: Styles, width: float = 500) -> DocumentLayout:
    layout = DocumentLayout(text, passages, styles)
    layout.lay_out(width)
    return layout


def test_title_and_passages_become_blocks_with_labels(styles: Styles) -> None:
    layout = laid_out(TEXT, document().passages, styles)
    assert [(b.start, b.end, b.label) for b in layout.blocks] == [
        (0, len(TITLE), ""),
        (len(TITLE) + 1, len(TEXT), "RESULTS"),
    ]
    assert layout.blocks[0].style is styles.title


def test_the_label_of_a_relation_covers_no_letters(styles: Styles) -> None:
    layout = laid_out(TEXT, document().passages, styles, width=2000)
    first, second = (next(layout.pieces(span(words))) for words in (TITLE[:4], "FK506"))
    right, size = first.rect.translated(1000, 0), QSizeF(30, 12)
    assert [layout.inked(one) for one in (first.rect, second.rect, right)] == [True, True, False]
    label = second.rect.translated(0, layout.blocks[1].top - layout.blocks[1].text_top)
    assert layout.inked(label), "the passage's label"
    path = QPainterPath(first.rect.center())
    path.lineTo(right.center())
    line = RelationLine(RelationPair(1, 2, "CID"), path, QPolygonF(), path.boundingRect().adjusted(0, -20, 0, 20))
    box = label_box(line, size, layout.inked)
    assert not layout.inked(box)
    assert line.bounds.contains(box)
    assert label_box(line, size, lambda _: True).center() == path.pointAtPercent(0.5)


def test_text_outside_of_passages_is_shown_too(styles: Styles) -> None:
    layout = laid_out("one two three", (Passage("section", 4, 7),), styles)
    assert [(b.start, b.end) for b in layout.blocks] == [(0, 4), (4, 7), (7, 13)]


@pytest.mark.parametrize("words", ["tacrolimus", "FK506", "🫀", "Na\u0308ive", "ventricular failure."])
def test_a_point_in_a_word_gives_its_code_points_back(styles: Styles, words: str) -> None:
    layout = laid_out(TEXT, document().passages, styles, width=2000)
    wanted = span(words)
    (piece,) = layout.pieces(wanted)
    assert layout.offset_at(QPointF(piece.rect.left() + 1, piece.rect.center().y())) == wanted.start
    assert layout.offset_at(QPointF(piece.rect.right() - 0.5, piece.rect.center().y())) == wanted.end
    inside = layout.offset_at(QPointF(piece.rect.center()), nearest=False)
    assert wanted.start <= inside < wanted.end


def test_a_span_over_a_line_break_has_a_piece_on_each_line(styles: Styles) -> None:
    layout = laid_out(TEXT, document().passages, styles, width=150)
    pieces = list(layout.pieces(Span(0, len(TEXT))))
    assert len(pieces) == sum(block.lines for block in layout.blocks) > 4
    assert [(p.block, p.line) for p in pieces] == list(layout.lines(Span(0, len(TEXT))))
    assert all(p.rect.right() <= 151 for p in pieces)


def test_a_span_may_go_over_a_paragraph(styles: Styles) -> None:
    layout = laid_out(TEXT, document().passages, styles, width=2000)
    assert [p.block for p in layout.pieces(Span(len(TITLE) - 4, len(TITLE) + 5))] == [0, 1]


def test_a_long_word_is_broken_and_still_addressed(styles: Styles) -> None:
    text = "x" * 10_000
    layout = laid_out(text, (Passage("section", 0, len(text)),), styles, width=300)
    (piece,) = layout.pieces(Span(9_000, 9_001))
    assert layout.offset_at(QPointF(piece.rect.left() + 0.5, piece.rect.center().y())) == 9_000


@pytest.mark.parametrize("odd", ["\u00a0", "\u2028", "\u2029", "\r", "\0", "\ud800", "\t"])
def test_odd_characters_shift_nothing(styles: Styles, odd: str) -> None:
    text = f"before {odd} target after"
    layout = laid_out(text, (Passage("section", 0, len(text)),), styles)
    wanted = span("target", text)
    (piece,) = layout.pieces(wanted)
    assert layout.offset_at(QPointF(piece.rect.left() + 1, piece.rect.center().y())) == wanted.start


def test_right_to_left_words_are_hit(styles: Styles) -> None:
    text = "dose of אספירין was given"
    layout = laid_out(text, (Passage("section", 0, len(text)),), styles)
    wanted = span("אספירין", text)
    (piece,) = layout.pieces(wanted)
    assert wanted.start <= layout.offset_at(piece.rect.center(), nearest=False) < wanted.end


def test_a_caret_steps_over_graphemes_and_paragraphs(styles: Styles) -> None:
    layout = laid_out(TEXT, document().passages, styles)
    heart = TEXT.index("🫀")
    assert layout.step(heart, by_word=False, forward=True) == heart + 1
    accented = TEXT.index("a\u0308")
    assert layout.step(accented, by_word=False, forward=True) == accented + 2
    assert layout.step(len(TITLE), by_word=False, forward=True) == len(TITLE) + 1
    assert layout.step(len(TITLE) + 1, by_word=False, forward=False) == len(TITLE)
    assert layout.step(len(TEXT), by_word=False, forward=True) == len(TEXT)
    assert layout.step(span("FK506").start, by_word=True, forward=True) == span("FK506").end + 1


def test_a_word_is_found_around_a_place(styles: Styles) -> None:
    layout = laid_out(TEXT, document().passages, styles)
    assert layout.word_at(span("renal").start + 2) == span("renal")
    assert layout.word_at(TEXT.index(" acute")) is None


def test_lines_are_one_and_a_half_high_and_the_column_60_to_80_characters_wide(
    styles: Styles, qapp: QApplication
) -> None:
    text = BODY.replace("🧬", "x") * 20
    layout = laid_out(text, (Passage("section", 0, len(text)),), styles, width=column_width(styles.body.font))
    starts = layout.blocks[0].line_starts
    lengths = [b - a for a, b in itertools.pairwise(starts)]
    assert all(55 <= n <= 85 for n in lengths)
    assert sum(lengths) / len(lengths) == pytest.approx(70, abs=8)
    assert (
        styles.body.line_height >= 1.45 * styles.body.font.pointSizeF() * qapp.primaryScreen().logicalDotsPerInch() / 72
    )


def test_the_top_of_a_line_follows_new_widths(styles: Styles) -> None:
    text = "word " * 200
    layout = laid_out(text, (), styles, width=900)
    wide = layout.y_of(900)
    layout.lay_out(300)
    assert layout.y_of(900) > wide
    assert layout.y_of(900) == layout.blocks[0].text_top + layout.line_of(900)[1] * layout.blocks[0].style.line_height


def test_an_empty_text_has_no_blocks(styles: Styles) -> None:
    layout = laid_out(" \n ", (), styles)
    assert layout.blocks == []
    assert layout.offset_at(QPointF(3, 3)) == 0


def test_handles_stand_at_both_ends_of_each_part_and_one_is_hit_near_it(styles: Styles) -> None:
    layout = laid_out(TEXT, document().passages, styles)
    spans = (span("left"), span("ventricular failure"))
    found = handles(layout, spans)
    assert [(one.part, one.at_end) for one in found] == [(0, False), (0, True), (1, False), (1, True)]
    assert found[0].x < found[1].x
    near = QPointF(found[1].x + 2, found[1].line.center().y())
    assert handle_at(found, near) is found[1]
    assert handle_at(found, near + QPointF(30, 0)) is None
    assert dragged(TEXT, spans, found[1], span("left").start, snap=False)[0].end == span("left").start + 1
    assert dragged(TEXT, spans, found[1], span("right").start + 2, snap=True)[0] == span("left or right")
