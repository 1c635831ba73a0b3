from __future__ import annotations

import pytest

from curator.domain.documents import MentionOrigin, Span
from curator.domain.wording import UserError
from tests.curator.storage.filler import document, mention


def test_mentions_come_in_text_order_longer_first(fill):
    fill.file(document(mentions=[mention(5, 6), mention(0, 2), mention(0, 9), mention(1, 2)]))
    with fill.store.read() as unit:
        found = unit.mentions.of_document(fill.stored[0][0])
    assert [m.spans[0] for m in found] == [Span(0, 9), Span(0, 2), Span(1, 2), Span(5, 6)]
    assert fill.stored[0][1] == [found[3].id, found[1].id, found[0].id, found[2].id]


def test_fragments_and_source_fields_are_kept_in_order(fill):
    fill.file(document(mentions=[mention(8, 9, (2, 4)), mention(3, 5)]))
    with fill.store.read() as unit:
        first, second = unit.mentions.of_document(fill.stored[0][0])
        assert unit.mentions.get(first.id) == first
    assert first.spans == (Span(8, 9), Span(2, 4))
    assert (first.text, first.type, first.raw_ids, first.record) == ("text 8", "Disease", "D1", 8)
    assert (first.origin, second.spans) == (MentionOrigin.SOURCE, (Span(3, 5),))


def test_adding_deleting_and_restoring_raise_the_revision_once_each(fill):
    ids = fill.mentions(2)

    def revision():
        with fill.store.read() as unit:
            return unit.documents.get(fill.document_id).revision

    with fill.store.write() as unit:
        added = unit.mentions.add(fill.document_id, [mention(9, 11)], origin=MentionOrigin.CURATOR)
    assert revision() == 1
    with fill.store.write() as unit:
        unit.mentions.set_deleted(ids + added, True)
    assert revision() == 2
    with fill.store.write() as unit:
        unit.mentions.set_deleted(ids, True)
    assert revision() == 2
    with fill.store.write() as unit:
        unit.mentions.set_deleted(ids, False)
        assert [m.id for m in unit.mentions.of_document(fill.document_id)] == ids
        assert [m.deleted for m in unit.mentions.of_document(fill.document_id, deleted=True)] == [False, False, True]
    assert revision() == 3


def test_unknown_ids_are_named_and_nothing_changes(fill):
    ids = fill.mentions()
    with pytest.raises(UserError, match="mention 999"), fill.store.write() as unit:
        unit.mentions.set_deleted([ids[0], 999], True)
    with pytest.raises(UserError, match="document 77"), fill.store.write() as unit:
        unit.mentions.add(77, [mention(0, 1)], origin=MentionOrigin.CURATOR)
    with fill.store.read() as unit:
        assert len(unit.mentions.of_document(fill.document_id)) == 3
        with pytest.raises(UserError, match="mention 999"):
            unit.mentions.get(999)
