"""The contrast card: the first two candidates side by side, and the words of the text that distinguish them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape

from PySide6.QtWidgets import QWidget

from curator.domain.documents import Span
from curator.domain.entities import Entity
from curator.domain.suggestions import NOTICEABLE, Contrast, TextRun, WordEffect, apart, names_apart, odds
from curator.domain.wording import localised, tr
from curator.ui.candidates.late_browser import LateBrowser
from curator.ui.document.document_painter import Tint
from curator.ui.kit.theme import StateColours, Theme, theme_of

WEIGHING = "Calculating the influence of each word…"
NO_WORDS = "No word around the mention makes a difference: here the linker relies on names and earlier decisions."
MOST_WORDS = 8
Word = Callable[[Span], str]


@dataclass(frozen=True, slots=True)
class CandidatePair:
    """Two candidates of one mention, by rank."""

    first: Entity
    second: Entity

    @property
    def ids(self) -> tuple[str, str]:
        return self.first.id, self.second.id

    @property
    def sides(self) -> tuple[tuple[Entity, Entity], tuple[Entity, Entity]]:
        """Each candidate with the other."""
        return (self.first, self.second), (self.second, self.first)


class ContrastCard(LateBrowser):
    """API: `show_pair`, `show_words`, `say`. Common parts are dimmed; parts of only one have its colour."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("The first two candidates compared"), parent)
        self._pair: CandidatePair | None = None
        self._words = ""
        self._contrast: Contrast | None = None
        self._text = ""

    @property
    def pair(self) -> CandidatePair | None:
        return self._pair

    @property
    def contrast(self) -> Contrast | None:
        """The weighted words of the current pair."""
        return self._contrast

    def show_pair(self, pair: CandidatePair, *, words: str = "") -> None:
        """Compare two candidates; `words` is shown until the words of the text are known."""
        self._pair, self._words, self._contrast = pair, words, None
        self.render_soon(from_top=True)

    def show_words(self, contrast: Contrast, text: str) -> None:
        """Show the words of the document `text`; results for another pair are dropped."""
        if self._pair is not None and self._pair.ids == (contrast.first, contrast.second):
            self._contrast, self._text = contrast, text
            self.render_soon()

    def say(self, words: str) -> None:
        """Show why there are no weighted words."""
        if self._contrast is None:
            self._words = words
            self.render_soon()

    def html_now(self) -> str:
        theme = theme_of(self.palette())
        if self._pair is None:
            return ""
        words = _aside(self._words, theme) if self._words else ""
        if self._contrast is not None:
            words = words_html(self._contrast, self._pair, self._text, theme)
        return pair_html(self._pair, theme, words=words)


def pair_html(pair: CandidatePair, theme: Theme, *, words: str = "") -> str:
    """Names, types, definitions and synonyms in two columns; `words`, already rich text, are below the names."""
    both = list(zip(pair.sides, theme.sides, strict=True))
    heads = [_head(one, other, rank, side, theme) for rank, ((one, other), side) in enumerate(both, 1)]
    records = [
        [_definition(one, other, side, theme) for (one, other), side in both],
        [_synonyms(one, other, side, theme) for (one, other), side in both],
    ]
    return _columns([heads]) + words + _columns(records)


def _columns(rows: Sequence[Sequence[str]]) -> str:
    cells = (
        "<tr>" + "".join(f"<td width='50%' style='padding:0 10px 5px 0'>{cell}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table width='100%' cellspacing='0' cellpadding='0'>{''.join(cells)}</table>"


def words_html(contrast: Contrast, pair: CandidatePair, text: str, theme: Theme) -> str:
    """The words of the text that support each, strongest first, with how many times likelier each makes it."""
    lines = [
        _word_line(entity, contrast.speaking_for(entity.id), side, text)
        for entity, side in zip((pair.first, pair.second), theme.sides, strict=True)
    ]
    needed = ", ".join(f"“{escape(_quoted(one, text))}”" for one in contrast.needed)
    if needed:
        words = tr("Without {words}, one of the two would not be a candidate.", words=needed)
        lines.append(f"<p style='margin:2px 0'>{words}</p>")
    found = "".join(line for line in lines if line)
    if not found:
        return _aside(NO_WORDS, theme)
    return f"{found}<p style='margin:0; font-size:4px'>&nbsp;</p>"


def word_tints(contrast: Contrast, pair: CandidatePair) -> list[Tint]:
    """The same words as tints of the document, each with its numbers."""
    tints = []
    for one in contrast.words:
        if one.change is None or abs(one.change) < NOTICEABLE:
            continue
        side = 0 if one.change > 0 else 1
        favoured, other = (pair.first, pair.second) if side == 0 else (pair.second, pair.first)
        words = tr(
            "Favours {favoured} over {other}: {times} as likely with this word (log odds {change:+.2f})",
            favoured=favoured.name,
            other=other.name,
            times=_times(one.change),
            change=one.change,
        )
        tints.append(Tint(one.span, side, words))
    return tints


def _aside(words: str, theme: Theme) -> str:
    return f"<p style='margin:2px 0 8px 0; color:{theme.muted.name()}'>{escape(words)}</p>"


def _word_line(entity: Entity, effects: Sequence[WordEffect], side: StateColours, text: str) -> str:
    if not effects:
        return ""
    words = ", ".join(
        f"<b>{escape(_quoted(one, text))}</b>&nbsp;{_times(one.change or 0.0)}" for one in effects[:MOST_WORDS]
    )
    name = f"<span style='color:{side.ink.name()}'>{escape(entity.name)}</span>"
    return f"<p style='margin:2px 0'>{tr('Words that favour {name}: {words}', name=name, words=words)}</p>"


def _quoted(effect: WordEffect, text: str) -> str:
    return text[effect.span.start : effect.span.end]


def _times(change: float) -> str:
    return f"×{localised(odds(change), '.1f')}" if odds(change) < 100 else f"×{localised(odds(change), ',.0f')}"


def _head(one: Entity, other: Entity, rank: int, side: StateColours, theme: Theme) -> str:
    name = f"<span style='color:{side.ink.name()}'><b>{rank} {escape(one.name)}</b></span>"
    types = _pieces(names_apart(one.types, other.types), side, theme, between=", ")
    return f"{name}<br><span style='color:{theme.muted.name()}'>{escape(one.id)}</span> {types}"


def _definition(one: Entity, other: Entity, side: StateColours, theme: Theme) -> str:
    if not one.definition:
        return f"<span style='color:{theme.muted.name()}'>{tr('No definition')}</span>"
    return _pieces(apart(one.definition, other.definition), side, theme)


def _synonyms(one: Entity, other: Entity, side: StateColours, theme: Theme) -> str:
    return _pieces(names_apart(one.synonyms, other.synonyms), side, theme, between="; ")


def _pieces(pieces: Sequence[TextRun], side: StateColours, theme: Theme, *, between: str = "") -> str:
    muted, ink = theme.muted.name(), side.ink.name()
    return escape(between).join(
        f"<span style='color:{muted}'>{escape(piece.text)}</span>"
        if piece.common
        else f"<span style='color:{ink}; font-weight:600'>{escape(piece.text)}</span>"
        for piece in pieces
    )
