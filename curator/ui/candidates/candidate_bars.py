"""The scores of one candidate as labelled bars: its probability, its lead, and what each stage says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from curator.domain.suggestions import Candidate, Suggestion
from curator.domain.wording import tr
from curator.ui.kit.row_painting import figure
from curator.ui.kit.theme import Theme

NOT_CALIBRATED = "not calibrated here"
STAGES = {
    "lexical": "lexical",
    "preferred": "preferred",
    "names": "names",
    "definition": "definition",
    "memory": "memory",
    "document": "document",
    "ranker": "ranker",
}
"""The linker's own stages; a trained one is called as its recipe."""
WIDTH = 90
"""Pixels of a full bar beside words whose lines are USUAL_LINE pixels high."""
USUAL_LINE = 15


@dataclass(frozen=True, slots=True)
class Bar:
    """`fraction` of the bar that is filled, 0..1; `note` stands behind the figure."""

    label: str
    value: float
    fraction: float
    note: str = ""
    trusted: bool = True


def candidate_bars(candidate: Candidate, suggestion: Suggestion) -> list[Bar]:
    """The probability first. A stage's bar is its share of 1, or of the best candidate's where that is more; of a
    ranker, whose favourite has 0 and others less, what is left of 1."""
    bars = []
    if any(one.probability for one in suggestion.candidates):
        calibrated = suggestion.nil.calibrated
        note = "" if calibrated else tr(NOT_CALIBRATED)
        chance = candidate.probability
        bars.append(Bar(tr("probability"), chance, _share(chance, 1.0), note, trusted=calibrated))
    for stage, value in candidate.scores.items():
        values = [one.scores.get(stage, 0.0) for one in suggestion.candidates]
        full = max(1.0, *values)
        relative = max(values) <= 0.0 and min(values) < 0.0
        bars.append(Bar(stage_words(stage), value, _share(1.0 + value, 1.0) if relative else _share(value, full)))
    return bars


def stage_words(stage: str) -> str:
    return tr(STAGES[stage]) if stage in STAGES else stage


def lead_words(candidate: Candidate, suggestion: Suggestion) -> str:
    """How far the first candidate leads the second, or another one is behind the first."""
    found = suggestion.candidates
    probable = any(one.probability for one in found)
    ordered = sorted(found, key=lambda one: -(one.probability if probable else one.score))
    if len(ordered) < 2:
        return ""
    own, best, second = (one.probability if probable else one.score for one in (candidate, ordered[0], ordered[1]))
    if candidate.entity_id == ordered[0].entity_id:
        return tr("{lead} ahead of {name}", lead=figure(best - second), name=ordered[1].name)
    return tr("{gap} behind {name}", gap=figure(best - own), name=ordered[0].name)


def bars_html(bars: Sequence[Bar], theme: Theme, *, larger: float = 1.0) -> str:
    """A table: label, bar, figure. The bars are cells with a ground, which a text browser paints as they are, so many
    times `larger` than at the usual size of words."""
    return "<table cellspacing='0' cellpadding='0'>" + "".join(_row(bar, theme, larger) for bar in bars) + "</table>"


def _row(bar: Bar, theme: Theme, larger: float) -> str:
    muted, filled = theme.muted.name(), (theme.accent if bar.trusted else theme.muted).name()
    whole = round(WIDTH * larger)
    full = round(whole * bar.fraction)
    cells = "".join(
        f"<td width='{width}' bgcolor='{colour}' style='font-size:{round(6 * larger)}px'>&nbsp;</td>"
        for width, colour in ((full, filled), (whole - full, theme.track.name()))
        if width
    )
    above = round(5 * larger)
    note = f" <span style='color:{muted}'>{escape(bar.note)}</span>" if bar.note else ""
    return (
        f"<tr><td style='padding:0 8px 1px 0; color:{muted}'>{escape(bar.label)}</td>"
        f"<td><table cellspacing='0' cellpadding='0' style='margin-top:{above}px'><tr>{cells}</tr></table></td>"
        f"<td style='padding:0 0 1px 8px'>{figure(bar.value)}{note}</td></tr>"
    )


def _share(value: float, full: float) -> float:
    return min(max(value / full, 0.0), 1.0)
