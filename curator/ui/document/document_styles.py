"""How paragraphs are set: fonts, distances and the width of the column."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtGui import QFont, QFontMetricsF

COLUMN = 72
"""Characters of a line at most; 60 to 80 read best (Bringhurst, The Elements of Typographic Style, 2.1.2)."""
LINE_HEIGHT = 1.5
SAMPLE = "the quick brown fox jumps over the lazy dog while seven patients slept"


@dataclass(frozen=True, slots=True)
class Style:
    """How one kind of paragraph is set. Sizes in pixels."""

    font: QFont
    line_height: float
    ascent: float
    descent: float
    space_after: float

    @classmethod
    def of(cls, font: QFont, *, line_height: float, space_after: float) -> Style:
        metrics = QFontMetricsF(font)
        size = metrics.height() / 1.17  # the em of common text faces, whatever unit the font was asked for in
        height = max(line_height * size, metrics.height() + 2)
        return cls(font, height, metrics.ascent(), metrics.descent(), space_after * size)


@dataclass(frozen=True, slots=True)
class Styles:
    title: Style
    body: Style
    label: Style

    @classmethod
    def of(cls, font: QFont, *, line_height: float = LINE_HEIGHT) -> Styles:
        """From the reading font, lines `line_height` ems apart. The title is larger and bold, section labels are small
        capitals."""
        title, label = QFont(font), QFont(font)
        title.setPointSizeF(font.pointSizeF() * 1.3)
        title.setWeight(QFont.Weight.DemiBold)
        label.setPointSizeF(font.pointSizeF() * 0.78)
        label.setWeight(QFont.Weight.DemiBold)
        label.setCapitalization(QFont.Capitalization.AllUppercase)
        label.setLetterSpacing(QFont.SpacingType.PercentageSpacing, 106)
        return cls(
            Style.of(title, line_height=line_height * 0.9, space_after=0.9),
            Style.of(font, line_height=line_height, space_after=0.75),
            Style.of(label, line_height=1.5, space_after=0.1),
        )


def column_width(font: QFont, columns: int = COLUMN) -> float:
    """Pixels that so many characters of running text take."""
    return columns * QFontMetricsF(font).horizontalAdvance(SAMPLE) / len(SAMPLE)


def baseline(style: Style, top: float) -> float:
    """Where letters stand in a line that begins at `top`; the same for every line of a style."""
    return top + (style.line_height - style.ascent - style.descent) / 2 + style.ascent
