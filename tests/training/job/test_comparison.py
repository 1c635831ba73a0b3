"""The old linker beside the new one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from models.linker.bundle import Bundle
from models.linker.linker import Linker
from models.types import LinkedMention, NilEstimate, ScoredCandidate
from training.data.gold import GoldMention, GoldSet
from training.data.snapshot import Gold, SnapshotDocument, SnapshotMention, Split
from training.job.gate import QUEUE_DOCUMENTS, comparison, queue_changes, undecided


def answer(key: str, entity: str, *, nil: bool = False) -> LinkedMention:
    candidate = ScoredCandidate(entity, entity, (), entity, 0.9, {}, probability=0.9)
    return LinkedMention(key, "x", "", (candidate,), NilEstimate(0.9 if nil else 0.1, nil, True))


def test_differences_and_tests_are_of_new_against_old() -> None:
    gold = GoldSet(tuple(GoldMention(str(n), f"d{n % 5}", "x", (), ("A",)) for n in range(20)))
    old = [answer(str(n), "A" if n < 12 else "B") for n in range(20)]
    new = [answer(str(n), "A" if n < 18 else "B") for n in range(20)]
    found = comparison(old, new, gold, k=64)
    recall = found["figures"]["recall@1"]
    assert (recall["this"], recall["other"]) == (0.9, 0.6)
    assert recall["difference"]["low"] < recall["difference"]["value"] < recall["difference"]["high"]
    assert (found["first"]["only_this"], found["first"]["only_other"]) == (6, 0)
    assert found["first"]["p_value"] == 2 / 2**6


def document(key: str, *golds: Gold | None) -> SnapshotDocument:
    text = "heart failure and a fever"
    spans = ((0, 13), (20, 25))
    mentions = tuple(SnapshotMention(f"{key}.{n}", (spans[n % 2],), gold=gold) for n, gold in enumerate(golds))
    return SnapshotDocument(key, Split.TRAIN, text, mentions)


def test_the_queue_is_what_is_undecided_in_some_documents() -> None:
    half, full, bare = document("a", Gold(("X",)), None), document("b", Gold(nil=True)), document("c")
    (found,) = undecided([half, full, bare])
    assert [mention.key for mention in found.mentions] == ["a.1"]
    many = [document(f"d{number}", None) for number in range(QUEUE_DOCUMENTS + 20)]
    assert len(undecided(many)) == QUEUE_DOCUMENTS
    assert [one.key for one in undecided(many)] == [one.key for one in undecided(many[::-1])]


def test_changes_name_the_answers_before_and_after(base_bundle: Bundle) -> None:
    linker = Linker.load(base_bundle.path, device="cpu")
    queue = undecided([document("a", None, None)])
    *_, same = _run(linker, linker, queue)
    assert same == {"documents": 1, "mentions": 2, "changes": []}
    other = linker.with_weights(nil=replace(linker.nil, threshold=-1.0))
    *_, changed = _run(linker, other, queue)
    answers = {one["mention"]: (one["before"], one["after"]) for one in changed["changes"]}
    assert all(after == "NIL" != before for before, after in answers.values())
    assert answers


def _run(old: Linker, new: Linker, queue: Any) -> list[Any]:
    work, seen = queue_changes(old, new, queue), []
    while True:
        try:
            seen.append(next(work))
        except StopIteration as stop:
            return [*seen, stop.value]
