"""Counters kept from what decisions change are those that counting the mentions again gives."""

from __future__ import annotations

import random
from typing import Any

from sqlalchemy import select

from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import DocumentState
from curator.domain.suggestions import NilEstimate, Stamp, Suggestion
from curator.storage.curation.counters import recount
from curator.storage.db.schema import DocumentRow
from curator.storage.store import SqlStore
from tests.curator.storage.filler import AT, Filler, document, mention

VERDICTS = (Verdict.link("A"), Verdict.nil(), Verdict.reject(), Verdict.skip(), Verdict(Outcome.CLEARED))
COLUMNS = ("mentions", "linked", "nil", "rejected", "skipped", "stamp_bundle", "stamp_revision")


def rows(unit: Any) -> list[tuple[Any, ...]]:
    table = DocumentRow.__table__.c
    query = select(*(table[name] for name in COLUMNS)).order_by(table.id)
    return [tuple(row) for row in unit.connection.execute(query)]


def filled(fill: Filler) -> list[int]:
    """Four documents; the first two linked by one bundle, the third by two, the fourth only in part."""
    fill.file(*(document(str(n), mentions=[mention(i, i + 2) for i in range(3)]) for n in range(4)))
    ids = [one for _, some in fill.stored for one in some]
    bundles = ["x"] * 6 + ["x", "y", "y"] + ["x"]
    with fill.store.write() as unit:
        nil = NilEstimate(0.1, False, False)
        unit.suggestions.save(
            [Suggestion(one, (), nil, Stamp(bundle, 0)) for one, bundle in zip(ids, bundles, strict=False)]
        )
        unit.mentions.set_deleted([ids[1]], True)
    return ids


def test_counters_and_stamps_are_as_counted_anew(fill: Filler, store: SqlStore) -> None:
    ids, dice = filled(fill), random.Random(7)
    for _ in range(60):
        some = dice.sample(ids, dice.randint(1, 6))
        with store.write() as unit:
            unit.decisions.append(
                some,
                [dice.choice(VERDICTS) for _ in some],
                curator="ada",
                at=AT,
                operation_id=0,
                shown=[None] * len(some),
            )
            kept = rows(unit)
            recount(unit.connection, [one for one, _ in fill.stored])
            assert kept == rows(unit)


def test_a_mention_decided_twice_in_one_step_counts_once(fill: Filler, store: SqlStore) -> None:
    (one, *_) = fill.mentions()
    with store.write() as unit:
        made = unit.decisions.append(
            [one, one], [Verdict.nil(), Verdict.link("A")], curator="ada", at=AT, operation_id=0, shown=[None, None]
        )
        assert rows(unit)[0][1:3] == (1, 0)
        assert unit.decisions.before_many(made) == {made[1].id: made[0]}


def test_what_many_decisions_replaced_is_found_at_once(fill: Filler, store: SqlStore) -> None:
    first, second, third = fill.mentions()
    fill.decide(first, Verdict.nil())
    old = fill.decide(first, Verdict.link("A"))
    with store.write() as unit:
        new = unit.decisions.append(
            [first, second, third], [Verdict.skip()] * 3, curator="ada", at=AT, operation_id=0, shown=[None] * 3
        )
        assert unit.decisions.before_many(new) == {new[0].id: old}
        assert [unit.decisions.before_many([one]) for one in new] == [{new[0].id: old}, {}, {}]


def test_many_are_read_and_set_at_once(fill: Filler, store: SqlStore) -> None:
    ids = filled(fill)
    with store.write() as unit:
        assert unit.mentions.get_many(ids[::-1]) == {one: unit.mentions.get(one) for one in ids}
        assert list(unit.mentions.get_many(ids[::-1])) == ids[::-1]
        assert unit.suggestions.get_many(ids) == {
            one: found for one in ids if (found := unit.suggestions.get(one)) is not None
        }
        documents = [one for one, _ in fill.stored]
        unit.documents.set_states({documents[0]: DocumentState.DONE, documents[2]: DocumentState.IN_PROGRESS})
        states = unit.documents.states(documents)
    assert [states[one] for one in documents] == [
        DocumentState.DONE,
        DocumentState.TODO,
        DocumentState.IN_PROGRESS,
        DocumentState.TODO,
    ]
