from __future__ import annotations

import pytest

from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import DocumentState, SourceDocument, Split
from curator.domain.wording import DamagedTextError, UserError
from curator.services.ports.queue import QueueFilter
from tests.curator.storage.filler import AT, Filler, document, in_a_folder, mention


@in_a_folder
def test_text_and_raw_record_come_back_exactly(fill):
    text = "é e\u0301 \r\n\u00a0\u2029 \U0001f600 nul\x00after \ufeff"
    fill.file(SourceDocument("1", "t\x00t", text, (), (), raw=text + "\r"))
    with fill.store.read() as unit:
        stored = unit.documents.get(fill.stored[0][0])
        assert (stored.text, stored.title, unit.documents.raw(stored.id)) == (text, "t\x00t", text + "\r")


@pytest.mark.parametrize("other", ["text || 'x'", "replace(text, 'text', 'test')", "x'00'", "CAST(x'41ff' AS TEXT)"])
def test_a_text_that_is_not_the_one_that_was_imported_is_named_where_it_is_compared(fill, other):
    fill.file(document("100"), document("101"))
    (first, _), (second, _) = fill.stored
    with fill.store.write() as unit:
        unit.connection.exec_driver_sql(f"UPDATE document_texts SET text = {other} WHERE document_id = {second}")
    with fill.store.read() as unit:
        assert unit.documents.get(first, compared=True).external_id == "100"
        with pytest.raises(DamagedTextError, match=r"document 101 differs from the one imported.*restore a backup"):
            unit.documents.get(second, compared=True)


@in_a_folder
def test_every_text_that_can_be_imported_is_the_one_that_was(fill):
    texts = ["", "é e\u0301 \r\n\U0001f600", "\ufeffx", "nul\x00after"]
    fill.file(*(SourceDocument(str(n), "t", text, (), (), raw=text) for n, text in enumerate(texts)))
    with fill.store.read() as unit:
        assert [unit.documents.get(one, compared=True).text for one, _ in fill.stored] == texts


def test_document_keeps_passages_split_and_state(fill):
    file_id = fill.file(document(), split=Split.TEST)
    with fill.store.read() as unit:
        stored = unit.documents.get(fill.stored[0][0])
    assert stored.passages == document().passages
    assert (stored.source_file_id, stored.split, stored.state, stored.revision) == (
        file_id,
        Split.TEST,
        DocumentState.TODO,
        0,
    )


def test_two_records_of_one_id_in_a_file_are_two_documents(fill):
    file_id = fill.file(document("7"), document("8"), document("7"), complete=False)
    with fill.store.write() as unit:
        later = unit.documents.add_documents(file_id, [document("7")], split=Split.TRAIN)
        ids = [document_id for document_id, _ in fill.stored + later]
        assert [unit.documents.get(id_).occurrence for id_ in ids] == [0, 0, 1, 2]


def test_documents_of_an_incomplete_file_are_invisible_until_it_is_complete(fill):
    file_id = fill.file(document(mentions=[mention(0, 1)]), complete=False)
    with fill.store.write() as unit:
        hidden = unit.documents
        assert (hidden.ids(), hidden.rows(QueueFilter(), offset=0, limit=9), hidden.count(QueueFilter())) == ([], [], 0)
        assert (unit.files.all(), unit.files.find("s"), hidden.mention_types()) == ([], None, {})
        assert (hidden.counts().mentions, hidden.ids_of_file(file_id)) == (0, [])
        assert unit.suggestions.stale_documents("b") == []
        unit.files.complete(file_id, tail="T", extra="E")
    with fill.store.read() as unit:
        assert unit.documents.ids() == unit.documents.ids_of_file(file_id) == [fill.stored[0][0]]
        file = unit.files.find("s")
        assert file is not None
        assert (file.tail, file.extra, file.imported_at) == ("T", "E", AT)


def test_what_an_interrupted_import_left_is_removed_with_its_gold(fill):
    kept = fill.mentions()
    fill.file(document("9", mentions=[mention(0, 1, (3, 4))]), complete=False)
    fill.decide(fill.stored[0][1][0], Verdict.link("D1"))
    fill.decide(kept[0], Verdict.link("D1"))
    with fill.store.write() as unit:
        assert unit.files.remove_incomplete() == 1
    with fill.store.read() as unit:
        assert [d.mention_id for d in unit.decisions.current(kept).values()] == kept[:1]
        assert unit.decisions.count() == 1
        assert len(unit.files.all()) == 1


def test_queue_filters_by_state_split_and_text_in_any_case(fill):
    fill.file(document("A1", title="ΑΣΘΜΑ and 100% more"), document("a2", title="Other"), split=Split.TRAIN)
    first, second = (document_id for document_id, _ in fill.stored)
    with fill.store.write() as unit:
        unit.documents.set_state(second, DocumentState.DONE)
        unit.documents.set_split([second], Split.TEST)
    with fill.store.read() as unit:

        def found(**where):
            ids = [row.document_id for row in unit.documents.rows(QueueFilter(**where), offset=0, limit=9)]
            assert unit.documents.count(QueueFilter(**where)) == len(ids)
            return ids

        assert found() == [first, second]
        assert found(text="ασθμα") == found(text="0% M") == found(split=Split.TRAIN) == [first]
        assert found(text="a%2") == []
        assert found(text="A2") == found(state=DocumentState.DONE) == [second]
        assert unit.documents.ids(state=DocumentState.DONE, split=Split.TEST) == [second]
        assert [row.document_id for row in unit.documents.rows(QueueFilter(), offset=1, limit=1)] == [second]


def test_counts_follow_decisions_and_deletions(fill: Filler):
    ids = fill.mentions(4)
    fill.decide(ids[0], Verdict.link("D1"))
    fill.decide(ids[0], Verdict.nil())
    fill.decide(ids[1], Verdict.skip())
    fill.decide(ids[2], Verdict.reject())
    with fill.store.write() as unit:
        unit.mentions.set_deleted([ids[2]], True)
    with fill.store.read() as unit:
        row = unit.documents.row(fill.document_id)
        assert (row.decided, row.skipped, row.undecided, row.mentions) == (1, 1, 1, 3)
        counts = unit.documents.counts()
    assert counts.mentions == 3
    assert counts.decisions_by_outcome == {Outcome.LINK: 0, Outcome.NIL: 1, Outcome.REJECTED: 0, Outcome.SKIPPED: 1}
    assert counts.documents[DocumentState.TODO] == counts.documents_by_split[Split.TRAIN] == 1


def test_answered_documents_hold_a_link_or_nil(fill: Filler):
    first, second = fill.mentions(2)

    def answered() -> list[int]:
        with fill.store.read() as unit:
            return unit.documents.ids(split=Split.TRAIN, answered=True)

    fill.decide(first, Verdict.skip())
    assert answered() == []
    fill.decide(second, Verdict.nil())
    assert answered() == [fill.document_id]
    fill.decide(second, Verdict(Outcome.CLEARED))
    assert answered() == []


def test_mention_types_counts_what_is_not_deleted(fill):
    fill.file(document(mentions=[mention(0, 1), mention(2, 3, type_="Chemical"), mention(4, 5, type_="Chemical")]))
    with fill.store.write() as unit:
        unit.mentions.set_deleted(fill.stored[0][1][:1], True)
        assert unit.documents.mention_types() == {"Chemical": 2}


def test_unknown_document_is_named(store):
    with store.write() as unit:
        for ask in (unit.documents.get, unit.documents.raw, unit.documents.row):
            with pytest.raises(UserError, match="document 5"):
                ask(5)
        with pytest.raises(UserError, match="document 5"):
            unit.documents.set_state(5, DocumentState.DONE)
        with pytest.raises(UserError, match="split"):
            unit.documents.set_split([5], Split.TEST)


def test_the_document_beside_another_follows_filter_and_direction(fill: Filler) -> None:
    fill.file(document("a"), document("b"), document("c"), split=Split.TRAIN)
    first, second, third = (document_id for document_id, _ in fill.stored)
    with fill.store.write() as unit:
        unit.documents.set_state(second, DocumentState.DONE)
    done, todo, every = QueueFilter(state=DocumentState.DONE), QueueFilter(state=DocumentState.TODO), QueueFilter()
    with fill.store.read() as unit:
        beside = unit.documents.beside
        assert beside(None, every, forward=True) == first
        assert beside(None, every, forward=False) == third
        assert beside(first, every, forward=True) == second
        assert beside(first, todo, forward=True) == third
        assert beside(first, done, forward=False) is None
        assert beside(second, todo, forward=False) == first, "the filter need not hold the document itself"
        assert beside(third, every, forward=True) is None
        assert beside(None, every, forward=True, undecided=True) is None, "they have no mentions"
