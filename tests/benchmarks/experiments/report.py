"""The tables of the experiments as Markdown: figures of each setting, differences of each question with intervals."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.benchmarks.experiments.settings import (
    AT_1,
    AT_64,
    NIL,
    PAIR,
    QUESTIONS,
    REPEATED,
    RETRIEVER,
    SEEDS,
    SETTINGS,
    Question,
)
from tests.benchmarks.experiments.worlds import FULL
from training.evaluation.curves import average_precision
from training.evaluation.resampling import Difference, DocumentBootstrap, Estimate, Figure, mcnemar, ratio

Run = Mapping[str, Any]
UNTRAINED_NOTE = (
    "“untrained” by itself is the linker without a memory; as a whole it remembers the train decisions, as all do."
)
CEILING, CEILING_WORDS = 0.94, "not testable at this size"
"""A share that both settings reach leaves no room for a difference."""


def write_report(work: Path) -> str:
    """The report's text, also written to `report.md`."""
    files = sorted((work / "runs").glob("*.json"))
    found = [json.loads(file.read_text(encoding="utf-8")) for file in files]
    untrained = next((one for one in found if one["setting"] == "untrained"), None)
    if untrained is None:
        return "There are no runs yet."
    by_setting: dict[str, list[Run]] = {}
    for one in found:
        by_setting.setdefault(one["setting"], []).append(one)
    world = World(untrained)
    facts = untrained["world"]
    smaller = reductions(found, steps=facts.get("steps", 44), passes=facts.get("passes", 1))
    parts = [
        "# Experiments",
        facts["sentence"],
        smaller if work.name != FULL else "The recipes have the papers' own values.",
        "Figures are percent on the judged documents, which tuned nothing; intervals are 95 %, over 1,000 resamples of "
        "documents; several seeds are averaged mention by mention before they are resampled.",
        "## Each setting by itself, and the whole linker with it inside\n\n" + world.settings(by_setting),
        "## The papers' questions\n\n" + world.questions(by_setting),
        "## Which becomes the default\n\n" + world.defaults(by_setting),
        f"## Again\n\n```\npython -m tests.benchmarks.experiments --world {work.name} --minutes 90\n```\n\n"
        "Runs that are there are kept; the next call makes the others.",
    ]
    text = "\n\n".join(parts) + "\n"
    (work / "report.md").write_text(text, encoding="utf-8")
    return text


def reductions(runs: Sequence[Run], *, steps: int, passes: int) -> str:
    """What is smaller here than in the papers, and which seeds there are."""
    seeds = sorted({one["seed"] for one in runs})
    often = "once" if passes == 1 else f"{passes} times"
    return (
        "Smaller than in the papers: the 6-layer all-MiniLM-L6-v2 as encoder; "
        f"{steps} update steps, about {often} over the mentions (batch {RETRIEVER['batch_size']}; the "
        f"cross-encoder learns from the first {PAIR['candidates']} candidates); {RETRIEVER['mention_tokens']} tokens a "
        f"text; {RETRIEVER['negative_count']} negatives shared by a batch; learning rate "
        f"{RETRIEVER['learning_rate']:g}. "
        f"Seeds {', '.join(map(str, seeds))}; those of {', '.join(REPEATED)} up to {len(SEEDS)}, as far as "
        "they are there (see the column)."
    )


class World:
    """The judged mentions of all runs."""

    def __init__(self, untrained: Run) -> None:
        self.untrained = untrained
        self.nil = np.asarray(untrained["world"]["nil"], dtype=bool)
        self.ranks = {AT_1: 1, AT_64: int(untrained["world"].get("many", 64))}
        self.bootstrap = DocumentBootstrap(np.asarray(untrained["world"]["document"], dtype=np.int64))

    def label(self, figure: str) -> str:
        """The figure's name with the rank that counts in this world."""
        return f"recall@{self.ranks[figure]}" if figure in self.ranks else figure

    def figures(self, runs: Sequence[Run], part: str = "alone") -> dict[str, Figure]:
        """Means over seeds."""
        hits = {
            name: np.mean([np.asarray(one[part]["ranks"]) <= rank for one in runs], axis=0)
            for name, rank in self.ranks.items()
        }
        found = {name: ratio(value * ~self.nil, ~self.nil) for name, value in hits.items()}
        if part == "alone" and self.nil.any():
            found[NIL] = _mean(
                [average_precision(-np.asarray(one[part]["first"]), self.nil) for one in runs if "first" in one[part]]
            )
        if part == "whole":
            found["right in all"] = ratio(np.mean([one[part]["right"] for one in runs], axis=0), np.ones(len(self.nil)))
        return {name: figure for name, figure in found.items() if figure is not None}

    def settings(self, runs: Mapping[str, Sequence[Run]]) -> str:
        rows = [
            [
                "setting",
                "seeds",
                "steps",
                AT_1,
                self.label(AT_64),
                NIL,
                "held-out r@1 before → after",
                "whole: r@1",
                "whole: right in all",
                "s",
            ]
        ]
        for name in ("untrained", *(one.name for one in SETTINGS)):
            own = runs.get(name)
            if not own:
                continue
            alone = self.bootstrap.estimates(self.figures(own))
            inside = self.bootstrap.estimates(self.figures(own, "whole"))
            held_out = own[0].get("held_out")
            before_after = "–"
            if held_out:
                before_after = f"{100 * held_out['before_at_1']:.1f} → {100 * held_out['after_at_1']:.1f}"
            rows.append(
                [
                    name,
                    str(len(own)),
                    str(own[0]["run"]["steps"]) if "run" in own[0] else "–",
                    *(_said(alone.get(figure)) for figure in (AT_1, AT_64, NIL)),
                    before_after,
                    _said(inside[AT_1]),
                    _said(inside["right in all"]),
                    f"{own[0]['seconds']:.0f}" if "seconds" in own[0] else "–",
                ]
            )
        return f"{_table(rows)}\n\n{UNTRAINED_NOTE}"

    def questions(self, runs: Mapping[str, Sequence[Run]]) -> str:
        rows = [["question", "figure", "better", "worse", "difference", "McNemar p", "published", "here"]]
        for one in QUESTIONS:
            if one.better not in runs or one.worse not in runs:
                rows.append([one.text, self.label(one.figure), "–", "–", "not run", "–", one.published, "–"])
                continue
            rows.append(self._question(one, runs[one.better], runs[one.worse]))
        return _table(rows) + self._over_best(runs)

    def _question(self, question: Question, better: Sequence[Run], worse: Sequence[Run]) -> list[str]:
        this, other = self.figures(better), self.figures(worse)
        if question.figure not in this:
            return [
                question.text,
                self.label(question.figure),
                "–",
                "–",
                "no NIL mentions",
                "–",
                question.published,
                "–",
            ]
        found = self.bootstrap.differences(
            {question.figure: this[question.figure]}, {question.figure: other[question.figure]}
        )[question.figure]
        return [
            f"{question.text} ({len(better)} and {len(worse)} seeds)",
            self.label(question.figure),
            f"{question.better}: {_percent(found.this)}",
            f"{question.worse}: {_percent(found.other)}",
            _said(found.difference),
            self._mcnemar(question, better[0], worse[0]),
            question.published,
            _verdict(found),
        ]

    def _mcnemar(self, question: Question, better: Run, worse: Run) -> str:
        if question.figure not in self.ranks:
            return "–"
        rank = self.ranks[question.figure]
        this, other = (np.asarray(one["alone"]["ranks"])[~self.nil] <= rank for one in (better, worse))
        return f"{mcnemar(this, other).p_value:.3g}"

    def _over_best(self, runs: Mapping[str, Sequence[Run]]) -> str:
        """Re-rankers, all their seeds, over the one retriever that is best on the held-out documents."""
        lines = []
        for own in runs.values():
            if "over_best" not in own[0] or own[0]["over"] not in runs:
                continue
            retriever = runs[own[0]["over"]][0]
            pair = [{"alone": one["over_best"]} for one in own if "over_best" in one], [retriever]
            after, before = ({AT_1: self.figures(each)[AT_1]} for each in pair)
            found = self.bootstrap.differences(after, before)[AT_1]
            lines.append(
                f"- {own[0]['setting']} ({len(pair[0])} seeds) over the first 16 of {retriever['setting']}: recall@1 "
                f"{_percent(found.this)} against {_percent(found.other)}, {_said(found.difference)}: {_verdict(found)}"
            )
        return "\n\n" + "\n".join(lines) if lines else ""

    def defaults(self, runs: Mapping[str, Sequence[Run]]) -> str:
        """Whole linkers against the untrained one, by what the held-out documents chose."""
        base = self.figures([self.untrained], "whole")
        rows = [["setting", "whole linker − untrained, recall@1", "right in all", "verdict of the gate"]]
        for name, own in runs.items():
            if name == "untrained":
                continue
            found = self.bootstrap.differences(self.figures(own, "whole"), base)
            verdicts = ", ".join(sorted({str(one["verdict"]) for one in own}))
            rows.append([name, _said(found[AT_1].difference), _said(found["right in all"].difference), verdicts])
        return _table(rows)


def _mean(figures: Sequence[Figure]) -> Figure | None:
    return (lambda weights: np.mean([one(weights) for one in figures], axis=0)) if figures else None


def _said(estimate: Estimate | None) -> str:
    if estimate is None or estimate.value is None:
        return "–"
    between = (
        ""
        if estimate.low is None or estimate.high is None
        else f" ({100 * estimate.low:.1f} … {100 * estimate.high:.1f})"
    )
    return f"{100 * estimate.value:.1f}{between}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _verdict(found: Difference) -> str:
    """Whether the interval leaves out 0; where both figures are near the top, nothing can be shown at this size."""
    low, high = found.difference.low, found.difference.high
    if low is None or high is None:
        return "no difference" if not found.difference.value else "no interval"
    if low <= 0 <= high:
        both = (found.this, found.other)
        return CEILING_WORDS if all(one is not None and one >= CEILING for one in both) else "undecided"
    return "holds" if low > 0 else "the opposite"


def _table(rows: Sequence[Sequence[str]]) -> str:
    head, *body = rows
    lines = ["| " + " | ".join(row) + " |" for row in body]
    return "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *lines])
