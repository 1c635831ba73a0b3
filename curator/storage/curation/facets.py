"""The queue over mentions: each facet is one SQL expression, from which conditions and the grouped count are made."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import merge
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, literal, literal_column, or_, select

from curator.domain.attributes import Scheme
from curator.domain.decisions import OperationKind, Outcome
from curator.domain.documents import DocumentState, Split
from curator.domain.facets import (
    BETWEEN,
    CANDIDATE_BANDS,
    MARGIN_BANDS,
    NO,
    NONE,
    ON_DOCUMENT,
    OTHERS_BANDS,
    PROBABILITY_BANDS,
    RANK_BANDS,
    SECOND_BANDS,
    SIMILARITY_BANDS,
    UNDECIDED,
    YES,
    Facet,
    FacetCube,
    Facets,
    Range,
    attribute_value,
    by_attribute,
    ranges_of,
)
from curator.services.ports.queue import QueueFilter, WorkRow
from curator.storage.curation.notes import has_value, scheme_in, values_given
from curator.storage.curation.suggestions import EXACT_NAMES
from curator.storage.db.columns import texts_of
from curator.storage.db.dialects import any_of, walked
from curator.storage.db.dialects import weight as weight_of
from curator.storage.db.packing import unpack_shown
from curator.storage.db.rows import AnyRow, Choice, chunks, fold, hidden, unique
from curator.storage.db.schema import (
    CommentRow,
    DecisionRow,
    DocumentRow,
    EffortRow,
    MentionRow,
    OperationRow,
    OpinionRow,
    SuggestionFactsRow,
    SuggestionRow,
)

LEAST = 1e-6
"""The last decimal of stored scores."""
LARGEST = 2**48
"""Larger values continue in another number, since SQLite's integers end at 2**63."""


class FacetQueries:
    """The part of `SqlQueue` for facets and orders."""

    def __init__(self, conn: Connection) -> None:
        self._conn = conn

    def cube(self, where: QueueFilter, document_id: int | None = None) -> FacetCube:
        """Counts by all facets, of one document if given; `where.facets` is not applied, the rest is.

        One pass over the mentions, without the wide rows of suggestions. Curators are looked up in the decisions,
        only if there are any. SQLite sorts one number per mention in half the time of 20 words.
        """
        asked = self._conn.execute(select(OpinionRow.mention_id).limit(1)).first() is not None
        scheme = scheme_in(self._conn)
        given = values_given(self._conn) if scheme.shown else None
        attributes = literal("") if given is None else func.coalesce(given.c.given, "")
        code = _Code(where.facets, asked=asked)
        words: list[ColumnElement[Any]] = [MentionRow.type.expression, _CURATOR, attributes]
        columns = [*code.numbers, *words]
        places: list[ColumnElement[Any]] = [literal_column(str(at)) for at in range(1, len(columns) + 1)]
        joined = set(Facet) - set(_NARROW) - (set() if asked else {Facet.OPINION})
        query = _from(select(*columns, func.count()), joined).where(*_living(where)).group_by(*places)
        if given is not None:
            query = query.outerjoin(given, given.c.mention_id == MentionRow.id)
        if document_id is not None:
            query = query.where(MentionRow.document_id == document_id)
        return _cube(self._conn.execute(query).all(), code, scheme)

    def documents(self, where: QueueFilter, among: Sequence[int] | None = None) -> dict[int, int]:
        """Document id -> number of its matching mentions, in queue order; only of `among` if given."""
        query: Any = select(MentionRow.document_id, func.count())
        query = matching(query, where)
        query = query.group_by(MentionRow.document_id).order_by(MentionRow.document_id)
        if among is None:
            return {row[0]: row[1] for row in self._conn.execute(query)}
        found: dict[int, int] = {}
        for part in chunks(unique(among)):
            found |= {row[0]: row[1] for row in self._conn.execute(query.where(MentionRow.document_id.in_(part)))}
        return found

    def mentions(self, where: QueueFilter, document_id: int | None = None) -> list[int]:
        """Ids of matching mentions in queue and text order, of one document if given."""
        query = matching(select(MentionRow.id), where)
        if document_id is not None:
            query = query.where(MentionRow.document_id == document_id)
        place = (MentionRow.document_id, MentionRow.start_pos, MentionRow.end_pos.desc(), MentionRow.id)
        return list(self._conn.execute(query.order_by(*place)).scalars())

    def matches(self, mention_id: int, where: QueueFilter) -> bool:
        """Whether the mention matches the whole filter."""
        query = matching(select(MentionRow.id), where).where(MentionRow.id == mention_id)
        return self._conn.execute(query).first() is not None

    def decided_strings(self) -> dict[tuple[str, str], int]:
        """(text, type) -> number of current link and NIL decisions."""
        query = select(MentionRow.text, MentionRow.type, func.count()).where(~MentionRow.deleted)
        query = query.where(MentionRow.document_id.not_in(hidden()))
        query = query.where(MentionRow.outcome.in_((Outcome.LINK.value, Outcome.NIL.value)))
        query = query.group_by(MentionRow.text, MentionRow.type)
        return {(row[0], row[1]): row[2] for row in self._conn.execute(query)}

    def decision_seconds(self, *, last: int = 500) -> tuple[list[float], list[float]]:
        """Seconds of the last single decisions: of those that linked to the first candidate shown, and of others.

        Seconds of operations that decided one mention: bulk steps and undo do not show a single decision's time.
        """
        query = (
            select(EffortRow.milliseconds, any_of(DecisionRow.entity_ids), any_of(DecisionRow.shown))
            .join(OperationRow, OperationRow.id == EffortRow.operation_id)
            .join(DecisionRow, DecisionRow.operation_id == EffortRow.operation_id)
            .where(OperationRow.kind == OperationKind.DECIDE.value, EffortRow.milliseconds > 0)
            .group_by(EffortRow.operation_id)
            .having(func.count() == 1)
        )
        found: tuple[list[float], list[float]] = ([], [])
        for milliseconds, entity_ids, shown in self._conn.execute(
            query.order_by(EffortRow.operation_id.desc()).limit(last)
        ):
            seen = unpack_shown(shown).candidates if shown else ()
            accepted = bool(seen) and texts_of(entity_ids, "decisions", "entity_ids") == (seen[0].entity_id,)
            found[not accepted].append(milliseconds / 1000)
        return found

    def undecided(self, where: QueueFilter, *, limit: int) -> list[WorkRow]:
        """At most `limit` matching undecided mentions, the least certain suggestions first (those without
        candidates are least certain), unlinked ones last.

        SQLite walks the suggestions by their probability and stops at the limit, upwards for entities and downwards
        for NIL; mentions without suggestions are only searched for if it is not reached.
        """
        entities = self._suggested(where, _SUREST_LAST, limit=limit, nil=False)
        nils = self._suggested(where, _SUREST_FIRST, limit=limit, nil=True)
        found = list(merge(entities, nils, key=lambda row: -1.0 if row.probability is None else row.probability))
        return found[:limit] if len(found) >= limit else found + self._unsuggested(where, limit=limit - len(found))

    def _suggested(self, where: QueueFilter, order: Sequence[Any], *, limit: int, nil: bool) -> list[WorkRow]:
        conditions = [*_living(where), *_chosen(where.facets), MentionRow.outcome.is_(None)]
        query = select(*_WORK).select_from(SuggestionRow).join(MentionRow, MentionRow.id == SuggestionRow.mention_id)
        if {facet for facet, _ in where.facets.chosen} & _OF_DOCUMENT:
            query = query.join(DocumentRow, DocumentRow.id == MentionRow.document_id)
        if {facet for facet, _ in where.facets.chosen} & _OF_FACTS:
            query = query.outerjoin(SuggestionFactsRow, SuggestionFactsRow.mention_id == MentionRow.id)
        if where.facets.values(Facet.OPINION):
            query = query.outerjoin(OpinionRow, OpinionRow.mention_id == MentionRow.id)
        query = (
            query.where(*conditions, SuggestionRow.is_nil.is_(nil)).order_by(*walked(self._conn, order)).limit(limit)
        )
        rows = [_work(row, nil=nil) for row in self._conn.execute(query)]
        return sorted(rows, key=lambda row: row.probability is not None) if nil else rows

    def _unsuggested(self, where: QueueFilter, *, limit: int) -> list[WorkRow]:
        query: Any = select(MentionRow.id, MentionRow.document_id, MentionRow.text, MentionRow.type)
        query = matching(query, where, also={Facet.PROBABILITY})
        query = query.where(MentionRow.outcome.is_(None), SuggestionRow.mention_id.is_(None)).limit(limit)
        rows = self._conn.execute(query)
        return [WorkRow(id_, document, text, kind, "", None, None, False) for id_, document, text, kind in rows]


_ORDER = {facet: at for at, facet in enumerate(Facet)}


class _Code:
    """The values of a mention for all facets except free words, as digits of one number, or of several numbers for many
    ranges."""

    def __init__(self, facets: Facets, *, asked: bool) -> None:
        digits = [one for one in {**_CHOICES, **_NARROW}.items() if asked or one[0] is not Facet.OPINION]
        for facet, values in facets.chosen:
            for one in ranges_of(facet, values):
                within = _within(_NARROW_NUMBERS[facet], one)
                digits.append((facet, Choice(((within, BETWEEN + one.key),), "")))
        self.numbers: list[ColumnElement[Any]] = []
        self._places: list[tuple[int, tuple[str, ...], int, int]] = []
        weight = LARGEST
        for facet, choice in digits:
            if weight >= LARGEST:
                self.numbers.append(weight_of(0))
                weight = 1
            self.numbers[-1] += choice.at * weight_of(weight)
            self._places.append((_ORDER[facet], choice.values, len(self.numbers) - 1, weight))
            weight *= len(choice.values)

    def key(self, numbers: Sequence[int]) -> list[str]:
        """The values encoded in the numbers, in the facets' order. A range is joined to the band of its facet."""
        found = [""] * len(_ORDER)
        found[_ORDER[Facet.OPINION]] = NONE
        for place, values, at, weight in self._places:
            value = values[numbers[at] // weight % len(values)]
            found[place] = value if values[-1] else found[place] + value
        return found


def _cube(rows: Iterable[Any], code: _Code, scheme: Scheme) -> FacetCube:
    """The cube, with attribute values instead of the mentions' ids."""
    known: dict[str, str] = {}
    cells = []
    for *numbers, kind, curator, ids, mentions in rows:
        if ids not in known:
            known[ids] = _attribute_values(scheme, set(map(int, ids.split()))) if scheme.shown else ""
        key = code.key(numbers)
        key[_ORDER[Facet.TYPE]], key[_ORDER[Facet.CURATOR]], key[_ORDER[Facet.ATTRIBUTE]] = kind, curator, known[ids]
        cells.append((tuple(key), mentions))
    return FacetCube(tuple(cells))


def _attribute_values(scheme: Scheme, ids: set[int]) -> str:
    values = [(one.name, next((value.name for value in one.shown if value.id in ids), None)) for one in scheme.shown]
    return BETWEEN.join(attribute_value(name, value) for name, value in values)


def document_condition(facets: Facets) -> ColumnElement[bool]:
    """Documents with a mention that matches the facets."""
    chosen = matching(select(MentionRow.document_id), QueueFilter(facets=facets))
    return DocumentRow.id.in_(chosen)


def undecided_condition(facets: Facets) -> ColumnElement[bool]:
    """Documents with an undecided matching mention."""
    chosen = matching(select(MentionRow.document_id), QueueFilter(facets=facets))
    return DocumentRow.id.in_(chosen.where(MentionRow.outcome.is_(None)))


_commented = select(CommentRow.mention_id).where(CommentRow.mention_id.is_not(None), ~CommentRow.deleted)
_document_commented = select(CommentRow.document_id).where(CommentRow.mention_id.is_(None), ~CommentRow.deleted)
_CURATOR: ColumnElement[Any] = func.coalesce(
    select(DecisionRow.curator).where(DecisionRow.id == MentionRow.decision_id).scalar_subquery(), ""
)
_linked_ranks = Choice.bands(SuggestionFactsRow.decided_rank, RANK_BANDS)
_CHOICES: dict[Facet, Choice] = {
    Facet.STATE: Choice(
        ((MentionRow.outcome.is_(None), UNDECIDED), *Choice.of(MentionRow.outcome, Outcome).steps), [*Outcome][-1]
    ),
    Facet.PROBABILITY: Choice.bands(SuggestionRow.probability, PROBABILITY_BANDS),
    Facet.MARGIN: Choice.bands(SuggestionRow.margin, MARGIN_BANDS),
    Facet.NIL: Choice(((SuggestionRow.mention_id.is_(None), NONE), (SuggestionRow.is_nil.expression, YES)), NO),
    Facet.OPINION: Choice(
        (
            (or_(OpinionRow.mention_id.is_(None), SuggestionRow.mention_id.is_(None)), NONE),
            (and_(OpinionRow.entity_id.is_(None), SuggestionRow.is_nil), YES),
            (and_(OpinionRow.entity_id == SuggestionRow.first, ~SuggestionRow.is_nil), YES),
        ),
        NO,
    ),
    Facet.SECOND: Choice.bands(SuggestionFactsRow.second, SECOND_BANDS),
    Facet.OTHERS: Choice.bands(SuggestionFactsRow.others, OTHERS_BANDS),
    Facet.CANDIDATES: Choice.bands(SuggestionFactsRow.candidates, CANDIDATE_BANDS),
    Facet.MATCHED: Choice(
        (
            (SuggestionFactsRow.matched.is_(None), NONE),
            *Choice.of(SuggestionFactsRow.matched, EXACT_NAMES).steps,
        ),
        NO,
    ),
    Facet.EXACT: Choice.bands(SuggestionFactsRow.exact_rank, RANK_BANDS),
    Facet.SIMILARITY: Choice.bands(SuggestionFactsRow.similarity, SIMILARITY_BANDS),
    Facet.ALIKE: Choice.bands(SuggestionFactsRow.alike, SIMILARITY_BANDS),
    Facet.RANK: Choice(
        ((MentionRow.outcome.is_distinct_from(Outcome.LINK.value), NO), *_linked_ranks.steps), _linked_ranks.otherwise
    ),
    Facet.FLAG: Choice(((MentionRow.flagged.expression, YES), (DocumentRow.flagged.expression, ON_DOCUMENT)), NO),
    Facet.COMMENT: Choice(
        ((MentionRow.id.in_(_commented), YES), (MentionRow.document_id.in_(_document_commented), ON_DOCUMENT)), NO
    ),
    Facet.SPLIT: Choice.of(DocumentRow.split, Split),
    Facet.DOCUMENT: Choice.of(DocumentRow.state, DocumentState),
}
_EXPRESSIONS: dict[Facet, ColumnElement[Any]] = {
    **{facet: choice.value for facet, choice in _CHOICES.items()},
    Facet.TYPE: MentionRow.type.expression,
    Facet.CURATOR: _CURATOR,
}
_NARROW: dict[Facet, Choice] = {
    Facet.PROBABILITY: Choice.bands(SuggestionFactsRow.probability, PROBABILITY_BANDS),
    Facet.MARGIN: Choice.bands(SuggestionFactsRow.margin, MARGIN_BANDS),
    Facet.NIL: Choice(
        ((SuggestionFactsRow.mention_id.is_(None), NONE), (SuggestionFactsRow.is_nil.expression, YES)), NO
    ),
}
"""The same from the narrow table: counting reads every row, while a small selection reads the index of suggestions."""
_LINK_RANK = case((MentionRow.outcome == Outcome.LINK.value, func.nullif(SuggestionFactsRow.decided_rank, 0)))
_NUMBERS: dict[Facet, ColumnElement[Any]] = {
    Facet.PROBABILITY: SuggestionRow.probability.expression,
    Facet.MARGIN: SuggestionRow.margin.expression,
    Facet.SECOND: SuggestionFactsRow.second.expression,
    Facet.OTHERS: SuggestionFactsRow.others.expression,
    Facet.CANDIDATES: SuggestionFactsRow.candidates.expression,
    Facet.EXACT: func.nullif(SuggestionFactsRow.exact_rank, 0),
    Facet.SIMILARITY: SuggestionFactsRow.similarity.expression,
    Facet.ALIKE: SuggestionFactsRow.alike.expression,
    Facet.RANK: _LINK_RANK,
}
"""The numbers compared with ranges; None is in no range."""
_NARROW_NUMBERS: dict[Facet, ColumnElement[Any]] = {
    **_NUMBERS,
    Facet.PROBABILITY: SuggestionFactsRow.probability.expression,
    Facet.MARGIN: SuggestionFactsRow.margin.expression,
}
_ORDERED: tuple[Any, ...] = (
    SuggestionRow.probability,
    SuggestionRow.margin,
    SuggestionRow.is_nil,
    SuggestionRow.first,
    SuggestionRow.mention_id,
)
_SUREST_LAST = tuple(one.asc().nulls_first() for one in _ORDERED)
_SUREST_FIRST = tuple(one.desc().nulls_last() for one in _ORDERED)
"""The order of the index of suggestions."""
_WORK = (
    MentionRow.id,
    MentionRow.document_id,
    MentionRow.text,
    MentionRow.type,
    func.coalesce(SuggestionRow.first, ""),
    SuggestionRow.probability,
    SuggestionRow.margin,
)


def _work(row: AnyRow, *, nil: bool) -> WorkRow:
    mention_id, document_id, text, kind, first, probability, margin = row
    sure = 1 - probability if nil and probability is not None else probability
    return WorkRow(mention_id, document_id, text, kind, "NIL" if nil else first, sure, margin, nil)


_SUGGESTED = {Facet.PROBABILITY, Facet.MARGIN, Facet.NIL, Facet.OPINION}
_OF_FACTS = {
    *(Facet.SECOND, Facet.OTHERS, Facet.CANDIDATES, Facet.MATCHED, Facet.EXACT, Facet.SIMILARITY, Facet.ALIKE),
    Facet.RANK,
}
_OF_DOCUMENT = {Facet.FLAG, Facet.SPLIT, Facet.DOCUMENT}


def matching(query: Select[Any], where: QueueFilter, *, also: set[Facet] | None = None) -> Select[Any]:
    """The query for mentions that match the whole filter, with the joins that its facets need."""
    chosen = {facet for facet, _ in where.facets.chosen}
    return _from(query, chosen | (also or set())).where(*_living(where), *_chosen(where.facets))


def _chosen(facets: Facets) -> list[ColumnElement[bool]]:
    plain = [_one_of(facet, values) for facet, values in facets.chosen if facet is not Facet.ATTRIBUTE]
    attributes = by_attribute(facets.values(Facet.ATTRIBUTE)).values()
    return [*plain, *(or_(*(has_value(MentionRow.id, one) for one in values)) for values in attributes)]


def _one_of(facet: Facet, values: Sequence[str]) -> ColumnElement[bool]:
    """The condition: one of the values, or a number in one of the ranges among them."""
    within = [_within(_NUMBERS[facet], one) for one in ranges_of(facet, values)]
    return or_(_EXPRESSIONS[facet].in_(values), *within) if within else _EXPRESSIONS[facet].in_(values)


def _within(number: ColumnElement[Any], one: Range) -> ColumnElement[bool]:
    """False without a number. Stored numbers have six decimals: smaller differences do not count."""
    ends = []
    if one.low is not None:
        ends.append(number >= one.low - LEAST / 2)
    if one.high is not None:
        ends.append(number <= one.high + LEAST / 2)
    return and_(number.is_not(None), *ends)


def _from(query: Select[Any], facets: set[Facet]) -> Select[Any]:
    query = query.select_from(MentionRow)
    if facets & _OF_DOCUMENT:
        query = query.join(DocumentRow, DocumentRow.id == MentionRow.document_id)
    if facets & _SUGGESTED:
        query = query.outerjoin(SuggestionRow, SuggestionRow.mention_id == MentionRow.id)
    if facets & _OF_FACTS:
        query = query.outerjoin(SuggestionFactsRow, SuggestionFactsRow.mention_id == MentionRow.id)
    if Facet.OPINION in facets:
        query = query.outerjoin(OpinionRow, OpinionRow.mention_id == MentionRow.id)
    return query


def _living(where: QueueFilter) -> list[ColumnElement[bool]]:
    """The condition: not deleted, visible, and in a document that matches the filter's own fields."""
    conditions: list[ColumnElement[bool]] = [~MentionRow.deleted, MentionRow.document_id.not_in(hidden())]
    of_document = []
    if where.state is not None:
        of_document.append(DocumentRow.state == where.state.value)
    if where.split is not None:
        of_document.append(DocumentRow.split == where.split.value)
    if text := fold(where.text):
        of_document.append(DocumentRow.search_text.contains(text, autoescape=True))
    if of_document:
        conditions.append(MentionRow.document_id.in_(select(DocumentRow.id).where(*of_document).correlate(None)))
    return conditions
