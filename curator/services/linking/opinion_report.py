"""How often a language model agrees with the linker, and which of the two is right if there is gold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from curator.domain.decisions import Decision, Outcome
from curator.domain.documents import DocumentState
from curator.domain.suggestions import Opinion, Suggestion
from curator.domain.wording import ntr, percent, tr
from curator.services.ports.storage import UnitOfWork

JUDGED = (Outcome.LINK, Outcome.NIL)


@dataclass(frozen=True, slots=True)
class OpinionReport:
    """Numbers of mentions. `gold`: mentions with a link or NIL decision in a done document; the other counts are those
    for which the linker's or the model's answer is right, `only_linker` and `only_model` if the other is wrong.

    `silent`: reasons for missing answers, with numbers. `stopped`: why the rest was left out, '' if nothing was.
    """

    model: str
    answered: int = 0
    agree: int = 0
    nil: int = 0
    gold: int = 0
    linker_right: int = 0
    model_right: int = 0
    only_linker: int = 0
    only_model: int = 0
    silent: Mapping[str, int] = field(default_factory=dict)
    stopped: str = ""

    @property
    def asked(self) -> int:
        return self.answered + sum(self.silent.values())

    @property
    def text(self) -> str:
        """The report as lines of text."""
        if not self.asked:
            return tr("There is no doubtful mention to ask about.")
        lines = [
            ntr("{model} answered for {n:,} mention.", "{model} answered for {n:,} mentions.", self.answered,
                model=self.model)
        ]  # fmt: skip
        if self.answered:
            lines.append(
                tr(
                    "It agrees with the linker on {agree:,} of {n:,} ({share}).",
                    agree=self.agree,
                    n=self.answered,
                    share=percent(self.agree / self.answered, 0),
                )
            )
        lines += [*self._gold_lines(), *self._silent_lines()]
        return "\n".join(lines)

    def _gold_lines(self) -> list[str]:
        if not self.gold:
            return []
        return [
            tr(
                "Of {n:,} with gold, the linker is right on {linker}, the model on {model}.",
                n=self.gold,
                linker=percent(self.linker_right / self.gold),
                model=percent(self.model_right / self.gold),
            ),
            tr(
                "Only the linker is right on {linker:,}, only the model on {model:,}.",
                linker=self.only_linker,
                model=self.only_model,
            ),
        ]

    def _silent_lines(self) -> list[str]:
        lines = [
            ntr("No answer for {n:,} mention: {why}", "No answer for {n:,} mentions: {why}", number, why=why)
            for why, number in self.silent.items()
        ]
        return [*lines, tr("The others were not asked.")] if self.stopped else lines


def report_of(
    unit: UnitOfWork, mention_ids: Sequence[int], *, model: str, silent: Mapping[str, int], stopped: str
) -> OpinionReport:
    """The report about mentions with an opinion and a suggestion."""
    opinions, suggestions = unit.suggestions.opinions(mention_ids), unit.suggestions.get_many(mention_ids)
    both = [one for one in mention_ids if one in opinions and one in suggestions]
    gold = _gold(unit, both)
    tally: Counter[str] = Counter()
    for one in both:
        opinion, suggestion = opinions[one], suggestions[one]
        tally["agree"] += opinion.agrees(suggestion)
        tally["nil"] += opinion.entity_id is None
        if one in gold:
            tally.update(_compared(opinion, suggestion, gold[one]))
    counts = {name: tally[name] for name in ("agree", "nil", "gold", "linker_right", "model_right")}
    only = {name: tally[name] for name in ("only_linker", "only_model")}
    return OpinionReport(model, len(both), **counts, **only, silent=dict(silent), stopped=stopped)


def _gold(unit: UnitOfWork, mention_ids: Sequence[int]) -> dict[int, Decision]:
    found = {key: one for key, one in unit.decisions.current(mention_ids).items() if one.verdict.outcome in JUDGED}
    documents = unit.mentions.documents_of(list(found))
    done = {one for one in set(documents.values()) if unit.documents.get(one).state is DocumentState.DONE}
    return {key: one for key, one in found.items() if documents[key] in done}


def _compared(opinion: Opinion, suggestion: Suggestion, decision: Decision) -> dict[str, int]:
    linker = None if suggestion.expects_nil or not suggestion.candidates else suggestion.candidates[0].entity_id
    linker_right, model_right = _is_right(linker, decision), _is_right(opinion.entity_id, decision)
    return {
        "gold": 1,
        "linker_right": int(linker_right),
        "model_right": int(model_right),
        "only_linker": int(linker_right and not model_right),
        "only_model": int(model_right and not linker_right),
    }


def _is_right(answer: str | None, decision: Decision) -> bool:
    """Whether the answer is right; one of several linked entities is enough."""
    if decision.verdict.outcome is Outcome.NIL:
        return answer is None
    return answer is not None and answer in decision.verdict.entity_ids
