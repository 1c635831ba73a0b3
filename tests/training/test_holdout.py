import pytest

from models.errors import ModelError
from training.holdout import divide, linked_count, place
from training.snapshot import Gold, Snapshot, SnapshotDocument, SnapshotMention, Split


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


def test_validation_documents_are_halved_into_fit_and_gate() -> None:
    validation = [document(f"v{number}", Split.VALIDATION) for number in range(30)]
    parts = divide(snapshot(document("t1"), document("t2"), document("empty", links=0), *validation))
    assert keys(parts.train) == {"t1", "t2"}
    assert keys(parts.fit) | keys(parts.gate) == {document.key for document in validation}
    assert not keys(parts.fit) & keys(parts.gate)
    assert parts.notes == ()
    assert len(parts.fit) == 15
    assert divide(snapshot(document("t1"), document("t2"), *validation[::-1])).gate == parts.gate[::-1]


def test_what_was_held_out_of_train_stays_so() -> None:
    documents = [document(f"t{number}") for number in range(60)]
    first, later = divide(snapshot(*documents[:40])), divide(snapshot(*documents))
    assert keys(first.fit) | keys(first.gate) <= keys(later.fit) | keys(later.gate)


def test_few_validation_documents_serve_as_both_and_it_is_said() -> None:
    parts = divide(snapshot(document("t1"), document("t2"), document("v1", Split.VALIDATION)))
    assert keys(parts.fit) == keys(parts.gate) == {"v1"}
    assert len(parts.notes) == 1
    assert "too few to be halved" in parts.notes[0]


def test_without_validation_a_fifth_of_train_is_held_out() -> None:
    parts = divide(snapshot(*(document(f"t{number}") for number in range(100))))
    held_out = keys(parts.fit) | keys(parts.gate)
    assert 10 <= len(held_out) <= 30
    assert not held_out & keys(parts.train)
    assert "held out by hash" in parts.notes[0]
    two = divide(snapshot(document("a", links=30), document("b", links=30)))
    assert len(two.train) == len(two.gate) == 1


@pytest.mark.parametrize(
    ("documents", "complaint"),
    [
        ([], "nothing to learn from"),
        ([document("a", links=0, nils=30)], "nothing to learn from"),
        ([document("v", Split.VALIDATION)], "nothing to learn from"),
        ([document("a", links=30)], "one document"),
        ([document("a", links=5), document("b", links=5)], "10 linked mentions .* too few"),
        ([document("a", links=30), document("v", Split.VALIDATION, links=0, nils=3)], "no linked mention"),
        ([document("a", links=30), document("b", links=0, nils=3)], "Only one document"),
    ],
)
def test_too_little_is_explained(documents: list[SnapshotDocument], complaint: str) -> None:
    with pytest.raises(ModelError, match=complaint):
        divide(snapshot(*documents))


def test_links_are_counted() -> None:
    assert linked_count([document("a", links=3, nils=2)]) == 3
