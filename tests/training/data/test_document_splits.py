import pytest

from models.errors import ModelError
from training.data.document_splits import divide, linked_count, place
from training.data.snapshot import Gold, Snapshot, SnapshotDocument, SnapshotMention, Split


def document(key: str, split: Split = Split.TRAIN, *, links: int = 12, nils: int = 0) -> SnapshotDocument:
    golds = [Gold(ids=("X",))] * links + [Gold(nil=True)] * nils
    mentions = tuple(SnapshotMention(f"{key}.{n}", ((0, 1),), gold=gold) for n, gold in enumerate(golds))
    return SnapshotDocument(key, split, "text", (*mentions, SnapshotMention(f"{key}.u", ((0, 1),))))


def snapshot(*documents: SnapshotDocument) -> Snapshot:
    return Snapshot(documents, kb_hash="", data_hash="")


def keys(documents: tuple[SnapshotDocument, ...]) -> set[str]:
    return {document.key for document in documents}


def test_place_is_spread_and_fixed() -> None:
    places = [place(str(number), salt="a") for number in range(1000)]
    assert 0.45 < sum(places) / 1000 < 0.55
    assert place("1", salt="a") == places[1] != place("1", salt="b")


@pytest.mark.parametrize(("documents", "sizes"), [(30, [6] * 5), (8, [2] * 4), (6, [2] * 3), (4, [2] * 2), (3, [3])])
def test_folds_are_as_many_as_have_twenty_links_each(documents: int, sizes: list[int]) -> None:
    validation = [document(f"v{number}", Split.VALIDATION) for number in range(documents)]
    parts = divide(snapshot(document("t1"), document("t2"), *validation))
    assert [len(fold) for fold in parts.folds] == sizes


def test_validation_documents_make_folds() -> None:
    validation = [document(f"v{number}", Split.VALIDATION) for number in range(30)]
    parts = divide(snapshot(document("t1"), document("t2"), document("empty", links=0), *validation))
    assert keys(parts.train) == {"t1", "t2"}
    assert set().union(*map(keys, parts.folds)) == keys(parts.held_out) == {document.key for document in validation}
    assert parts.notes == ()
    again = divide(snapshot(document("t1"), document("t2"), *validation[::-1]))
    assert [keys(fold) for fold in again.folds] == [keys(fold) for fold in parts.folds]


def test_what_was_held_out_of_train_stays_so() -> None:
    documents = [document(f"t{number}") for number in range(60)]
    first, later = divide(snapshot(*documents[:40])), divide(snapshot(*documents))
    assert keys(first.held_out) < keys(later.held_out)


def test_few_validation_documents_tune_and_judge_and_it_is_said() -> None:
    parts = divide(snapshot(document("t1"), document("t2"), document("v1", Split.VALIDATION)))
    assert [keys(fold) for fold in parts.folds] == [{"v1"}]
    assert len(parts.notes) == 1
    assert "too few to divide in half" in parts.notes[0]


def test_without_validation_a_fifth_of_train_is_held_out() -> None:
    parts = divide(snapshot(*(document(f"t{number}") for number in range(100))))
    assert 10 <= len(parts.held_out) <= 30
    assert not keys(parts.held_out) & keys(parts.train)
    assert "held out by hash" in parts.notes[0]
    two = divide(snapshot(document("a", links=30), document("b", links=30)))
    assert len(two.train) == len(two.held_out) == 1


@pytest.mark.parametrize(
    ("documents", "complaint"),
    [
        ([], "nothing to learn from"),
        ([document("a", links=0, nils=30)], "nothing to learn from"),
        ([document("v", Split.VALIDATION)], "nothing to learn from"),
        ([document("a", links=30)], "one document"),
        ([document("a", links=5), document("b", links=5)], "10 linked mentions .* not enough"),
        ([document("a", links=30), document("v", Split.VALIDATION, links=0, nils=3)], "no linked mention"),
        ([document("a", links=30), document("b", links=0, nils=3)], "Only one document"),
    ],
)
def test_too_little_is_explained(documents: list[SnapshotDocument], complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        divide(snapshot(*documents))


def test_links_are_counted() -> None:
    assert linked_count([document("a", links=3, nils=2)]) == 3


def test_a_quick_recipe_is_judged_on_no_more_mentions_than_asked() -> None:
    validation = [document(f"v{number}", Split.VALIDATION) for number in range(30)]
    given = snapshot(document("t1"), document("t2"), *validation)
    whole, few = divide(given), divide(given, most=40)
    assert 40 <= linked_count(few.held_out) < 40 + 12
    assert keys(few.held_out) < keys(whole.held_out)
    assert divide(given, most=40).folds == few.folds
    assert "4 of 30 held-out documents" in few.notes[0]
    assert divide(given, most=10**6) == whole
