"""Mentions of one string with the text around them, read at once; the input of bulk acceptance."""

from __future__ import annotations

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState, Passage, SourceDocument, SourceMention, Span, Split
from curator.domain.facets import Facet, Facets
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.domain.wording import UserError
from curator.services.ports.queue import QueueFilter
from curator.storage.curation.mentions_in_context import AROUND
from curator.storage.store import SqlStore
from tests.curator.storage.filler import AT, Filler

BEFORE = "\U0001fac0 " + "x" * 100 + " of acute "
TEXT = f"{BEFORE}Heart attacks\u00a0and heart-attack, or heart attack."


def source(external_id: str, *, types: tuple[str, str, str] = ("Disease", "Disease", "Disease")) -> SourceDocument:
    words = ("Heart attacks", "heart-attack", "heart attack.")
    spans = [Span(TEXT.index(one), TEXT.index(one) + len(one.rstrip("."))) for one in words]
    mentions = tuple(
        SourceMention((span,), TEXT[span.start : span.end], type_) for span, type_ in zip(spans, types, strict=True)
    )
    return SourceDocument(external_id, "t", TEXT, (Passage("abstract", 0, len(TEXT)),), mentions)


def suggestion(mention_id: int, probability: float, *, nil: bool = False, bundle: str = "b") -> Suggestion:
    found = (Candidate("A", "Myocardial Infarction", (), "a", 0.5, probability=probability),)
    return Suggestion(mention_id, found, NilEstimate(0.125, nil, True), Stamp(bundle, 0), "long form")


@pytest.fixture
def ids(fill: Filler) -> list[int]:
    fill.file(source("1"), source("2", types=("Disease", "Chemical", "Disease")))
    return [one for _, some in fill.stored for one in some]


def test_variants_of_the_string_and_the_same_type_are_found_in_text_order(ids: list[int], store: SqlStore) -> None:
    with store.read() as unit:
        assert unit.queue.identical(ids[2]) == [ids[0], ids[1], ids[3], ids[5]]
        assert unit.queue.identical(ids[2], document_id=1) == ids[:2]
        assert unit.queue.identical(ids[4]) == []
        with pytest.raises(UserError, match="no mention 99"):
            unit.queue.identical(99)


def test_only_what_the_filter_shows_is_found_in_it(ids: list[int], store: SqlStore, fill: Filler) -> None:
    fill.decide(ids[3], Verdict.nil())
    with store.write() as unit:
        unit.documents.set_state(1, DocumentState.DONE)
        unit.mentions.set_deleted([ids[1]], True)
    undecided = Facets.of({Facet.STATE: ["undecided"]})
    with store.read() as unit:
        assert unit.queue.identical(ids[2]) == [ids[0], ids[3], ids[5]]
        assert unit.queue.identical(ids[2], where=QueueFilter(state=DocumentState.DONE)) == [ids[0]]
        assert unit.queue.identical(ids[2], where=QueueFilter(facets=undecided)) == [ids[0], ids[5]]


def test_a_context_is_cut_at_code_points_and_carries_suggestion_and_decision(
    ids: list[int], store: SqlStore, fill: Filler
) -> None:
    fill.decide(ids[1], Verdict.link("A"))
    with store.write() as unit:
        unit.suggestions.save([suggestion(ids[0], 0.75), suggestion(ids[1], 0.5, bundle="old")])
    with store.read() as unit:
        second, first, last = unit.queue.contexts([ids[1], ids[0], ids[5]], bundle_id="b")
    assert (first.left, first.text) == (BEFORE[-AROUND:], "Heart attacks")
    assert first.right.startswith("\u00a0and heart-attack")
    assert first.verdict is None
    assert first.head is not None
    assert (first.head.entity_id, first.head.name, first.head.probability) == ("A", "Myocardial Infarction", 0.75)
    assert (first.head.nil_score, first.head.expanded, first.head.fresh) == (0.125, "long form", True)
    assert (second.verdict, second.curator, second.right) == (Verdict.link("A"), "ada", ", or heart attack.")
    assert second.head is not None
    assert not second.head.fresh
    assert last.head is None


def test_chances_are_of_undecided_mentions_with_fresh_suggestions_of_an_entity(
    ids: list[int], store: SqlStore, fill: Filler
) -> None:
    fill.decide(ids[4], Verdict.nil())
    with store.write() as unit:
        made = [suggestion(ids[0], 0.25), suggestion(ids[1], 0.75), suggestion(ids[2], 0.9, nil=True)]
        made += [suggestion(ids[3], 0.9, bundle="old"), suggestion(ids[4], 0.9)]
        unit.suggestions.save(made)
    with store.read() as unit:
        found = unit.queue.chances(QueueFilter(), bundle_id="b")
        assert [(one.mention_id, one.probability) for one in found] == [(ids[1], 0.75), (ids[0], 0.25)]
        assert unit.queue.unsuggested(QueueFilter(), bundle_id="b") == 2
        assert unit.queue.tried(bundle_id="b") == []


def test_what_was_suggested_for_decided_mentions_of_validation_is_judged(
    ids: list[int], store: SqlStore, fill: Filler
) -> None:
    for one, verdict in zip(
        ids, (Verdict.link("B", "A"), Verdict.nil(), Verdict.skip(), Verdict.link("A")), strict=False
    ):
        fill.decide(one, verdict)
    with store.write() as unit:
        unit.documents.set_split([1], Split.VALIDATION)
        unit.suggestions.save([suggestion(one, 0.5 + one / 100) for one in ids[:4]])
    with store.read() as unit:
        tried = unit.queue.tried(bundle_id="b")
    assert [(round(one.probability, 2), one.right) for one in tried] == [(0.52, False), (0.51, True)]


def test_uses_say_what_their_suggestion_gives_the_entity(ids: list[int], store: SqlStore, fill: Filler) -> None:
    for one in ids:
        fill.decide(one, Verdict.link("A"))
    odd = 'x","chance":[1],"ids":["A"'  # a name that looks like what the suggestion is stored as
    second = (Candidate("B", odd, (), odd, 0.5, probability=0.75), Candidate("A", "a", (), odd, 0.4, probability=0.125))
    nil = NilEstimate(0.125, False, True)
    with store.write() as unit:
        unit.suggestions.save(
            [
                suggestion(ids[0], 0.9),  # the entity first
                Suggestion(ids[1], second, nil, Stamp("b", 0), odd),
                Suggestion(ids[2], second[:1], nil, Stamp("b", 0), ""),  # only others
                suggestion(ids[3], 0.0),  # by name, without probabilities
                Suggestion(ids[4], (), nil, Stamp("b", 0), ""),
            ]
        )
        unit.documents.set_state(2, DocumentState.DONE)
    with store.read() as unit:
        found = unit.queue.uses("A", unit.links.linked_to(["A"]))
        assert [one.context.mention_id for one in found] == ids
        assert [one.probability for one in found] == [0.9, 0.125, 0.0, None, 0.0, None]
        assert [one.suggested for one in found] == [True] * 5 + [False]
        assert [one.state for one in found] == [DocumentState.TODO] * 3 + [DocumentState.DONE] * 3
        assert {(one.split, one.at, one.context.head) for one in found} == {(Split.TRAIN, AT, None)}
        assert found[0].context.text == "Heart attacks"


def test_uses_without_a_decision_and_deleted_ones_are_left_out(ids: list[int], store: SqlStore, fill: Filler) -> None:
    fill.decide(ids[0], Verdict.link("A", "a"))
    fill.decide(ids[1], Verdict.link("a"))
    fill.decide(ids[2], Verdict.link("AB"))
    with store.read() as unit:
        assert unit.links.linked_to(["A"]) == ids[:1], "case matters to identifiers"
        assert unit.links.linked_to(["a"]) == ids[:2]
        assert [one.context.mention_id for one in unit.queue.uses("A", ids)] == ids[:3]
    with store.write() as unit:
        unit.mentions.set_deleted([ids[0]], True)
    with store.read() as unit:
        assert unit.queue.uses("A", unit.links.linked_to(["A"])) == []
