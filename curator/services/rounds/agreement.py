"""Agreement of a round's curators: over links, over spans, by type, by document and by pair.

*Links* are compared for judgements of link or NIL: a link's value is the set of its entities, NIL is a separate value;
rejected, skipped and absent judgements count as missing. *Attributes* are compared if curators set a value; other
mentions count as missing. *Spans* are the mentions that a curator accepts: everything judged except rejected ones,
including the curator's own additions; they are compared in documents that both judged completely.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations

from curator.domain.decisions import Decision, Outcome, Verdict
from curator.domain.rounds import (
    RESAMPLES,
    Coincidences,
    Interval,
    Judgement,
    RoundKind,
    SpanMatch,
    bootstrap,
    cohen_kappa,
    exact_match,
    fleiss_kappa,
    jaccard_distance,
    krippendorff_alpha,
    masi_distance,
    observed,
    overlap_match,
    same_answer,
)
from curator.domain.wording import guarded_row
from curator.services.core.context import Service
from curator.services.curating.attributes import given_of, scheme_of
from curator.services.ports.storage import UnitOfWork
from curator.services.rounds.adjudication import JudgedDocument, MentionVerdicts, judged_documents
from curator.services.rounds.rounds import named

Item = dict[str, frozenset[str]]
NIL = frozenset({"NIL"})
ALL = "all"
FIGURES = ("items", "observed", "cohen", "fleiss", "alpha", "alpha_jaccard", "alpha_masi", "exact", "overlap")


@dataclass(frozen=True, slots=True)
class AgreementRow:
    """Figures of one part of the round, None if not defined. `items` are mentions with a link or NIL from at least two
    curators. `cohen` is the mean over the pairs of curators; `interval` is that of `alpha`."""

    part: str
    items: int
    observed: float | None
    cohen: float | None
    fleiss: float | None
    alpha: float | None
    interval: Interval | None
    alpha_jaccard: float | None
    alpha_masi: float | None
    exact: float | None
    overlap: float | None


@dataclass(frozen=True, slots=True)
class AgreementReport:
    """`pairs` hold Cohen's kappa of the pair under `cohen`."""

    round: str
    curators: tuple[str, ...]
    whole: AgreementRow
    pairs: tuple[AgreementRow, ...]
    by_type: tuple[AgreementRow, ...]
    by_document: tuple[AgreementRow, ...]
    by_attribute: tuple[AgreementRow, ...] = ()

    def as_csv(self) -> str:
        """One line per row; undefined figures are empty."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("about", "part", *FIGURES, "alpha_low", "alpha_high"))
        for about, row in self.rows:
            figures = [getattr(row, name) for name in FIGURES]
            ends = (row.interval.low, row.interval.high) if row.interval else ("", "")
            writer.writerow(guarded_row((about, row.part, *("" if one is None else one for one in figures), *ends)))
        return out.getvalue()

    @property
    def rows(self) -> Iterator[tuple[str, AgreementRow]]:
        """(subject of the row, the row), in the order of the export."""
        yield "round", self.whole
        parts = {"pair": self.pairs, "type": self.by_type, "document": self.by_document, "attribute": self.by_attribute}
        for kind, rows in parts.items():
            yield from ((kind, row) for row in rows)


@dataclass(frozen=True, slots=True)
class ConsistencyRow:
    """The agreement of a curator's second answers with the first ones. `days` is the median time between the two."""

    curator: str
    period: str
    items: int
    same: int
    kappa: float | None
    days: float

    @property
    def share(self) -> float:
        return self.same / self.items


class AgreementService(Service):
    def report(self, name: str, *, resamples: int = RESAMPLES, seed: int = 0) -> AgreementReport:
        """The report. Raises UserError for an unknown round. Seconds for thousands of mentions: call it from a worker
        thread."""
        with self._store.read() as unit:
            found = named(unit, name)
            documents = list(judged_documents(unit, found.id))
            attributes = _attributes(unit, found.id)
            titles = {one.document_id: unit.documents.row(one.document_id).external_id for one in documents}
        curators = tuple(sorted({name for one in documents for item in one.mentions for name in item.verdicts}))
        figures = _Figures(curators, resamples=resamples, seed=seed)
        types = sorted({item.mention.type for one in documents for item in one.mentions})
        return AgreementReport(
            found.name,
            curators,
            figures.row(ALL, documents),
            tuple(_Figures(pair, resamples=resamples, seed=seed).pair(documents) for pair in combinations(curators, 2)),
            tuple(figures.row(one, _of_type(documents, one)) for one in types),
            tuple(figures.row(titles[one.document_id], [one], interval=False) for one in documents),
            tuple(figures.attribute(name, items) for name, items in attributes.items()),
        )

    def consistency(self) -> list[ConsistencyRow]:
        """Each curator's self-agreement: in total, then by month of the second answer."""
        pairs: dict[str, list[_Repeated]] = {}
        with self._store.read() as unit:
            for found in unit.rounds.all():
                if found.kind is RoundKind.CONSISTENCY:
                    for one in unit.rounds.current(found.id):
                        repeated = _repeated(unit, one)
                        if repeated is not None:
                            pairs.setdefault(one.curator, []).append(repeated)
        return [row for name in sorted(pairs) for row in _consistency_rows(name, pairs[name])]


class _Figures:
    """Calculates rows for some curators."""

    def __init__(self, curators: Sequence[str], *, resamples: int, seed: int) -> None:
        self._curators = tuple(curators)
        self._resamples = resamples
        self._seed = seed

    def pair(self, documents: Sequence[JudgedDocument]) -> AgreementRow:
        return self.row(" – ".join(self._curators), documents)

    def row(self, part: str, documents: Sequence[JudgedDocument], *, interval: bool = True) -> AgreementRow:
        by_document = [_items(one.mentions, self._curators) for one in documents]
        items = [item for group in by_document for item in group]
        parts = [Coincidences.of(group) for group in by_document]
        exact, overlap = self._spans(documents)
        return AgreementRow(
            part,
            sum(len(item) > 1 for item in items),
            observed(items),
            _mean(cohen_kappa(items, one, other) for one, other in combinations(self._curators, 2)),
            fleiss_kappa(items, self._curators),
            Coincidences.together(parts).alpha(),
            self._interval([one for one in parts if one.values]) if interval else None,
            krippendorff_alpha(items, jaccard_distance),
            krippendorff_alpha(items, masi_distance),
            exact.f1,
            overlap.f1,
        )

    def attribute(self, name: str, documents: Sequence[Sequence[Item]]) -> AgreementRow:
        """The row of one attribute, from its values by document, without figures of sets and spans."""
        items = [item for group in documents for item in group]
        people = sorted({name for item in items for name in item})
        parts = [Coincidences.of(group) for group in documents]
        return AgreementRow(
            name,
            sum(len(item) > 1 for item in items),
            observed(items),
            _mean(cohen_kappa(items, one, other) for one, other in combinations(people, 2)),
            fleiss_kappa(items, people),
            Coincidences.together(parts).alpha(),
            self._interval([one for one in parts if one.values]),
            *(None,) * 4,
        )

    def _interval(self, parts: Sequence[Coincidences]) -> Interval | None:
        def alpha(drawn: Sequence[Coincidences]) -> float | None:
            return Coincidences.together(drawn).alpha()

        return bootstrap(parts, alpha, resamples=self._resamples, seed=self._seed)

    def _spans(self, documents: Sequence[JudgedDocument]) -> tuple[SpanMatch, SpanMatch]:
        exact = overlap = SpanMatch(0, 0, 0)
        for document in documents:
            complete = [name for name in self._curators if name in document.complete]
            marks = {name: _marks(document.mentions, name) for name in complete}
            for one, other in combinations(complete, 2):
                exact += exact_match(marks[one], marks[other])
                overlap += overlap_match(marks[one], marks[other])
        return exact, overlap


@dataclass(frozen=True, slots=True)
class _Repeated:
    before: Verdict
    after: Verdict
    at: datetime
    days: float


def label(verdict: Verdict) -> frozenset[str] | None:
    """The value of a link or NIL; None if it is missing for links."""
    if verdict.outcome is Outcome.LINK:
        return frozenset(verdict.entity_ids)
    return NIL if verdict.outcome is Outcome.NIL else None


def _attributes(unit: UnitOfWork, round_id: int) -> dict[str, list[list[Item]]]:
    """Attribute name -> for each document of the round the values of its mentions by curator; attributes that nobody
    set are absent."""
    scheme, curators = scheme_of(unit), unit.attributes.curators(round_id)
    found: dict[str, list[list[Item]]] = {}
    for document_id in unit.rounds.document_ids(round_id) if curators and scheme.shown else ():
        ids = [one.mention.id for one in unit.rounds.mentions(round_id, document_id)]
        given = {name: given_of(unit, ids, round_id=round_id, curator=name) for name in curators}
        items: dict[tuple[str, int], Item] = {}
        for name, mentions in given.items():
            for mention, pairs in mentions.items():
                for one, value in pairs:
                    items.setdefault((one.name, mention), {})[name] = frozenset({value.name})
        for one in scheme.shown:
            here = [item for (name, _), item in items.items() if name == one.name]
            if here:
                found.setdefault(one.name, []).append(here)
    return found


def _items(mentions: Iterable[MentionVerdicts], curators: Sequence[str]) -> list[Item]:
    items = []
    for one in mentions:
        item: Item = {}
        for name in curators:
            verdict = one.verdicts.get(name)
            value = label(verdict) if verdict is not None else None
            if value is not None:
                item[name] = value
        if item:
            items.append(item)
    return items


def _marks(mentions: Iterable[MentionVerdicts], curator: str) -> list[tuple[str, tuple[tuple[int, int], ...]]]:
    held = [one for one in mentions if _holds(one.verdicts.get(curator))]
    return [(one.mention.type, tuple((span.start, span.end) for span in one.mention.spans)) for one in held]


def _holds(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.outcome is not Outcome.REJECTED


def _of_type(documents: Sequence[JudgedDocument], mention_type: str) -> list[JudgedDocument]:
    return [
        JudgedDocument(
            one.document_id, tuple(item for item in one.mentions if item.mention.type == mention_type), one.complete
        )
        for one in documents
    ]


def _mean(values: Iterable[float | None]) -> float | None:
    known = [one for one in values if one is not None]
    return sum(known) / len(known) if known else None


def _repeated(unit: UnitOfWork, judgement: Judgement) -> _Repeated | None:
    """The curator's own decision before the second answer."""
    history = unit.decisions.history(judgement.mention_id)
    own: list[Decision] = [one for one in history if one.curator == judgement.curator and one.at < judgement.at]
    own = [one for one in own if one.verdict.outcome is not Outcome.CLEARED]
    if not own:
        return None
    days = (judgement.at - own[-1].at).total_seconds() / 86400
    return _Repeated(own[-1].verdict, judgement.verdict, judgement.at, days)


def _consistency_rows(curator: str, pairs: Sequence[_Repeated]) -> Iterator[ConsistencyRow]:
    yield _consistency_row(curator, ALL, pairs)
    months = sorted({f"{one.at.astimezone():%Y-%m}" for one in pairs})
    for month in months:
        yield _consistency_row(curator, month, [one for one in pairs if f"{one.at.astimezone():%Y-%m}" == month])


def _consistency_row(curator: str, period: str, pairs: Sequence[_Repeated]) -> ConsistencyRow:
    items = [{"first": _key(one.before), "second": _key(one.after)} for one in pairs]
    days = sorted(one.days for one in pairs)
    same = sum(same_answer(one.before, one.after) for one in pairs)
    kappa = cohen_kappa(items, "first", "second")
    return ConsistencyRow(curator, period, len(pairs), same, kappa, days[len(days) // 2])


def _key(verdict: Verdict) -> tuple[str, frozenset[str]]:
    return verdict.outcome.value, frozenset(verdict.entity_ids)
