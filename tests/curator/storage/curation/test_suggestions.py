from __future__ import annotations

import pytest

from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import DocumentState, MentionOrigin
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.domain.wording import UserError
from tests.curator.storage.filler import document, mention


def suggestion(mention_id, *, bundle="b1", revision=0):
    candidates = (
        Candidate("MESH:D1", "Name", ("Disease", "X"), "Synonym", 0.75, {"lexical": 0.5, "names": -1.25}),
        Candidate("MESH:D2", "Näme", (), "Näme", 0.123456, {"names": 3.0}),
    )
    return Suggestion(mention_id, candidates, NilEstimate(1 / 3, True, False), Stamp(bundle, revision), "long form")


def save(fill, ids, **stamp):
    with fill.store.write() as unit:
        unit.suggestions.save([suggestion(mention_id, **stamp) for mention_id in ids])


def stale(fill, bundle="b1", **more):
    with fill.store.read() as unit:
        return unit.suggestions.stale_documents(bundle, **more)


def test_a_suggestion_comes_back_and_a_newer_one_replaces_it(fill):
    ids = fill.mentions()
    save(fill, ids[:2], bundle="old")
    save(fill, ids[:1])
    with fill.store.read() as unit:
        assert unit.suggestions.get(ids[0]) == suggestion(ids[0])
        assert unit.suggestions.get(ids[2]) is None
        assert list(unit.suggestions.of_document(fill.document_id)) == ids[:2]


def test_a_document_is_stale_until_every_undecided_mention_has_this_stamp(fill):
    ids = fill.mentions()
    assert stale(fill) == [fill.document_id]
    save(fill, ids[:2])
    assert stale(fill) == [fill.document_id]
    fill.decide(ids[2], Verdict.nil())
    assert (stale(fill), stale(fill, "b2")) == ([], [fill.document_id])
    fill.decide(ids[2], Verdict(Outcome.CLEARED))
    assert stale(fill) == [fill.document_id]
    save(fill, ids[2:], bundle="b2")
    assert stale(fill) == stale(fill, "b2") == [fill.document_id]
    save(fill, ids)
    assert stale(fill) == []


def test_a_new_revision_makes_stale_and_a_decided_or_empty_document_never_is(fill):
    ids = fill.mentions(1)
    fill.file(document("empty"))
    save(fill, ids)
    with fill.store.write() as unit:
        added = unit.mentions.add(fill.document_id, [mention(20, 22)], origin=MentionOrigin.CURATOR)
    assert stale(fill) == [fill.document_id]
    save(fill, ids + added, revision=1)
    assert stale(fill) == []
    for mention_id in ids + added:
        fill.decide(mention_id, Verdict.nil())
    assert stale(fill, "another") == []


def test_stale_documents_come_in_queue_order_up_to_the_limit(fill):
    fill.file(*(document(str(i), mentions=[mention(0, 1)]) for i in range(5)))
    ids = [document_id for document_id, _ in fill.stored]
    assert (stale(fill), stale(fill, ahead=2)) == (ids, ids[:2])
    assert stale(fill, ahead=0) == []


def test_stale_documents_are_looked_for_from_the_curators_place_on_and_once_round(fill):
    fill.file(*(document(str(i), mentions=[mention(0, 1)]) for i in range(5)))
    ids = [document_id for document_id, _ in fill.stored]
    assert stale(fill, position=ids[3]) == [*ids[3:], *ids[:3]]
    assert stale(fill, position=ids[3], ahead=4) == [*ids[3:], *ids[:2]]
    with fill.store.write() as unit:
        unit.documents.set_state(ids[4], DocumentState.DONE)
    save(fill, [mention_ids[0] for _, mention_ids in fill.stored[:1]])
    assert stale(fill, position=ids[3], ahead=4) == [ids[3], ids[1], ids[2]], "what is done is nobody's next"


def test_documents_with_an_undecided_mention_of_a_type_become_stale(fill):
    texts = ("Disease", "Chemical"), ("Chemical",), ("Disease",), ("Disease",)
    fill.file(
        *(
            document(str(i), mentions=[mention(2 * n, 2 * n + 1, type_=type_) for n, type_ in enumerate(types)])
            for i, types in enumerate(texts)
        )
    )
    save(fill, [one for _, ids in fill.stored for one in ids])
    fill.decide(fill.stored[3][1][0], Verdict.nil())
    assert stale(fill) == []
    with fill.store.write() as unit:
        unit.suggestions.make_stale(["Disease"])
    first, _, third, _ = (document_id for document_id, _ in fill.stored)
    assert stale(fill) == [first, third]
    fill.decide(fill.stored[0][1][1], Verdict.nil())
    assert stale(fill) == [first, third], "also after its counters were made again"


def test_a_mention_that_does_not_exist_is_refused(fill):
    with pytest.raises(UserError, match="mention 5"):
        save(fill, [5])
